"""Finds the package in the source tree, and the test vectors."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def address_cases() -> list[dict]:
    return json.loads((ROOT / "tests" / "vectors" / "addresses.json").read_text())["cases"]


@pytest.fixture(scope="session")
def independent_cases() -> list[dict]:
    return json.loads((ROOT / "tests" / "vectors" / "independent.json").read_text())["cases"]
