"""The Python sources are clean by the project's own rules (pyproject.toml)."""

import importlib.util
import subprocess
import sys

import pytest


def test_ruff_finds_nothing(root):
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("ruff is not installed (tools/requirements.txt)")
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--no-cache", "--quiet", "--output-format", "concise", "python",
                           "tests/python"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
