"""Every test that docs/failure-cards.md names exists and runs; every line has a report, or names the project, and a test."""

import re

LINE = re.compile(r"^\| (?:\[[^]]+\]\(https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+\)|[^\[\]|]+ \([A-Z][^()|]+\)) \| (.+) \|$")
NAME = re.compile(r"`([a-z]+/test_\w+\.(?:c|cpp|py)):(\w+)`")


def test_every_test_on_the_page_exists(root):
    lines = [line for line in (root / "docs" / "failure-cards.md").read_text().splitlines() if line.startswith("| ")]
    lines = [line for line in lines if not line.startswith("| what went wrong |")]
    assert lines
    faults, sources = [], {}
    for line in lines:
        found = LINE.match(line)
        names = NAME.findall(found[1]) if found else []
        if not names or NAME.sub("", found[1]).strip(" ,"):
            faults.append(f"not '| [fault](https://report) | `layer/test_file.c:name` |', nor '| fault (Project) | ...': {line}")
        for file, name in names:
            path = root / "tests" / file
            if file not in sources:
                sources[file] = path.read_text() if path.is_file() else ""
            defined = rf"^def {name}\(" if file.endswith(".py") else rf"^static void {name}\("
            if not re.search(defined, sources[file], re.M):
                faults.append(f"tests/{file} has no {name}")
            elif not file.endswith(".py") and not re.search(rf"^    +.*\b{name}\(", sources[file], re.M):
                faults.append(f"tests/{file} never calls {name}")
    assert not faults, "\n".join(faults)
