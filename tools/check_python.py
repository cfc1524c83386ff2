"""Names the packages of the requirement files that this Python lacks (a newer version than the pin is fine)."""

import importlib.metadata
import sys


def release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split(".") if part.isdigit())


def main(paths: list[str]) -> int:
    missing = []
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                name, _, pin = line.split("#")[0].strip().partition("==")
                if not name:
                    continue
                try:
                    have = importlib.metadata.version(name)
                except importlib.metadata.PackageNotFoundError:
                    missing.append(f"{name}=={pin}")
                    continue
                if release(have) < release(pin):
                    missing.append(f"{name}=={pin} (it has {have})")
    if missing:
        print(f"setup: {sys.executable} lacks: {', '.join(missing)}", file=sys.stderr)
        return 1
    print(f"setup: Python packages: all there in {sys.executable}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
