"""The sources are clean by the project's own rules (pyproject.toml, .clang-format)."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest


def test_ruff_finds_nothing(root):
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("ruff is not installed (tools/requirements.txt)")
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--no-cache", "--quiet", "--output-format", "concise", "python",
                           "tests/python"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_clang_format_changes_nothing(root):
    program = pathlib.Path(sys.executable).parent / "clang-format"
    if not program.exists():
        pytest.skip("clang-format is not installed (tools/requirements.txt)")
    layers = "core tables quantizers modalities train eval cli tests python".split()
    files = [str(f) for layer in layers for kind in ("c", "h", "cpp", "hpp", "cu") for f in (root / layer).rglob(f"*.{kind}")]
    assert files
    done = subprocess.run([program, "--dry-run", "--Werror", *files], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, "run: clang-format -i on\n" + done.stderr[:4000]


def test_no_comment_ends_on_a_line_of_its_own(root):
    """That is what the formatter leaves of a comment that is a word too long."""
    files = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.cpp", "*.hpp", "*.cu"], cwd=root, capture_output=True, text=True)
    if files.returncode:
        pytest.skip("not a git checkout")
    ends = [f"{name}:{number}" for name in files.stdout.split()
            for number, line in enumerate((root / name).read_text().splitlines(), 1) if line.strip() == "*/"]
    assert not ends
