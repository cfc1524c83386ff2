"""The package's types: the library is clean under `mypy --strict`, and so is what a user writes with it."""

import re
import subprocess
import sys

import pytest

DOCS = ["README.md", "docs/configs.md", "docs/python.md", "docs/training.md"]

# What inference must give a user, and what it must refuse: an ignore that is not needed is an error of its own.
PROBE = """
import numpy as np
import omnigram
from typing_extensions import assert_type

with omnigram.Addressing("mix64", orders=[2], rows=[7]) as addressing, omnigram.Pool(2) as pool:
    assert_type(addressing, omnigram.Addressing)
    assert_type(pool, omnigram.Pool)
    assert_type(addressing.rows([1, 2, 3], pool=pool), np.ndarray)
    assert_type(addressing.columns[0].rows, int)
    assert_type(addressing.history().save(), bytes)
    assert_type(addressing.map(np.zeros(3, np.int32)).signs, np.ndarray | None)
with omnigram.Table(3, 4).fill(seed=1) as table, omnigram.Lookup(table) as lookup:
    assert_type(table, omnigram.Table)
    assert_type(table[0], np.ndarray)
    assert_type(table.report()["bytes"], int)
    assert_type(lookup.submit([0]), omnigram.Ticket)
for pack in omnigram.Packs.load("packs.safetensors"):
    assert_type(pack.tokens, np.ndarray)

omnigram.Table("3", 4)  # type: ignore[arg-type]
omnigram.Addressing("mix64").rows([1], pool=2)  # type: ignore[arg-type]
omnigram.Lookup(lookup)  # type: ignore[arg-type]
omnigram.Packs.load(3)  # type: ignore[arg-type]
omnigram.RowOptimizer("adam", lr="fast")  # type: ignore[arg-type]
"""


def python_blocks(page):
    """The page's blocks of Python as one program, as a reader would go through it."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    return "import json\nimport numpy as np\nimport omnigram\nimport torch\ntree: object = None\n" + "\n".join(blocks)


@pytest.fixture(scope="module")
def findings(root, tmp_path_factory):
    """One run of mypy over everything: its lines, each with the file's name."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "probe.py").write_text(PROBE)
    for page in DOCS:
        (folder / f"page_{re.sub(r'[^a-z]', '_', page.lower())}.py").write_text(python_blocks(root / page))
    library = sorted((root / "python" / "omnigram").glob("*.py"))
    run = subprocess.run([sys.executable, "-m", "mypy", "--config-file", root / "pyproject.toml", "--cache-dir", folder / "cache",
                          "--no-error-summary", *library, *sorted(folder.glob("*.py"))], capture_output=True, text=True, cwd=root)
    assert run.returncode in (0, 1), run.stderr
    return run.stdout.splitlines()


def test_the_library_is_strictly_typed(findings):
    assert [line for line in findings if "/omnigram/" in line] == []


def test_a_users_program_is_typed(findings):
    assert [line for line in findings if "probe.py" in line] == []


def test_the_examples_of_the_docs_are_typed(findings):
    assert [line for line in findings if "/page_" in line] == []
