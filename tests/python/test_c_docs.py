"""docs/c.md: its program compiles with what `cmake --install` leaves, as the page says, runs, and gives what Python gives."""

import re
import subprocess

import pytest

import omnigram


@pytest.fixture(scope="module")
def program(root, tmp_path_factory):
    """The page's program, built against an installed tree by pkg-config's flags."""
    folder = tmp_path_factory.mktemp("c")
    build = omnigram.library_path.parent.parent
    if not (build / "cmake_install.cmake").is_file():
        pytest.skip("the library does not lie in a build folder")
    subprocess.run(["cmake", "--install", build, "--prefix", folder / "installed"], check=True, capture_output=True)
    (source,) = re.findall(r"^```c\n(.*?)^```", (root / "docs" / "c.md").read_text(), re.DOTALL | re.MULTILINE)
    (folder / "life.c").write_text(source)
    (packages,) = (folder / "installed").glob("**/pkgconfig")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "omnigram"], env={"PKG_CONFIG_PATH": str(packages), "PATH": "/usr/bin:/bin"},
                           check=True, capture_output=True, text=True).stdout.split()
    libraries = packages.parent
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "life.c", *flags, f"-Wl,-rpath,{libraries}", "-o", "life"],
                   cwd=folder, check=True)
    return folder


def test_the_program_leaves_the_table_that_python_makes(program):
    out = subprocess.run(["./life"], cwd=program, check=True, capture_output=True, text=True).stdout
    addressing = omnigram.Addressing("welm_knuth32", vocab=5000, orders=[2, 3], rows=[100003, 100019], global_rows=True)
    rows = addressing.rows([5, 7, 9, 7, 5], [0, 2])
    adagrad = omnigram.RowOptimizer("adagrad_row", lr=0.02, stochastic_rounding=True)
    table = omnigram.Table(addressing.total_rows, 64, "bf16", state=adagrad.state(64)).fill(seed=1, scale=0.02)
    adagrad.apply(table, rows.ravel(), table.read(rows.ravel()), step=1)
    with omnigram.open_table(program / "table.safetensors", omnigram.TableIdentity.of(addressing, "text")) as file:
        assert file.read(rows.ravel()).tobytes() == table.read(rows.ravel()).tobytes()
    assert out == f"row {rows[0, 0]}: {table[rows[0, 0]][0]:g}\n"


def test_another_vocabulary_is_refused_in_the_words_of_the_page(program, root):
    other = omnigram.TableIdentity.of(omnigram.Addressing("welm_knuth32", vocab=5001, orders=[2, 3], rows=[100003, 100019], global_rows=True), "text")
    with pytest.raises(ValueError, match="needs") as refused:
        omnigram.open_table(program / "table.safetensors", other)
    words = re.sub("[0-9a-f]{64}", "...", str(refused.value).removeprefix(f"{program}/"))
    assert words in (root / "docs" / "c.md").read_text()
