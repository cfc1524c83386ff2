"""`pip install .` gives a package that works alone: its own library and program, no torch, one version."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

import omnigram


@pytest.fixture(scope="module")
def installed(root, tmp_path_factory):
    for tool in ("cmake", "ninja"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not on the PATH")
    target = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                    "--no-build-isolation", "--target", target, root], check=True)
    return target


def run(installed, code):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OMNIGRAM")} | {"PYTHONPATH": str(installed)}
    prelude = "import sys\nsys.modules['torch'] = None  # an import of torch fails\n"
    done = subprocess.run([sys.executable, "-c", prelude + textwrap.dedent(code)], cwd=installed, env=environment,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_table_s_whole_life_without_torch(installed):
    out = run(installed, """
        import numpy as np, omnigram
        print(omnigram.library_path)
        with omnigram.Addressing("welm_knuth32", vocab=97, orders=[2], rows=[101], fill="zero_id") as addressing:
            rows = addressing.rows([1, 2, 3])
            table = omnigram.Table(101, 8, "bf16", state=1).fill(1, 0.5)
            omnigram.RowOptimizer("adagrad_row", lr=0.1).apply(table, rows[:, 0], np.ones((3, 8), np.float32), step=1)
            identity = omnigram.TableIdentity.of(addressing)
            omnigram.save_table(table, "t.safetensors", identity)
            with omnigram.Lookup(omnigram.open_table("t.safetensors", identity)) as lookup:
                assert np.array_equal(lookup.submit(rows).wait(), table.read(rows[:, 0]))
    """)
    assert out.strip().startswith(str(installed))


def test_the_program_comes_with_it_and_versions_agree(installed, root):
    version = re.search(r"project\(omnigram VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[1]
    out = run(installed, """
        import importlib.metadata, subprocess, omnigram
        from omnigram.program import find_program
        print(omnigram.__version__, importlib.metadata.version("omnigram"),
              subprocess.run([find_program(), "--version"], check=True, capture_output=True, text=True).stdout)
    """)
    assert out.split() == [version, version, "omnigram", version]


def test_the_target_of_make_builds_all_that_the_package_opens():
    """`make quickstart` of a fresh clone builds the target `program` alone."""
    build = pathlib.Path(omnigram.library_path).resolve().parents[1]
    if not (build / "build.ninja").exists() or shutil.which("ninja") is None:
        pytest.skip("the library is from no build folder of ninja's")
    told = subprocess.run(["ninja", "-C", build, "-t", "query", "program"], capture_output=True, text=True, check=True).stdout
    inputs = {line.strip() for line in told.split("outputs:")[0].splitlines()}
    assert {"lib/libomnigram.so", "omnigram", "omnigram_cdef"} <= inputs
    assert {f"lib/{module.name}" for module in (build / "lib").glob("libomnigram_*.so")} <= inputs
