#!/usr/bin/env bash
# Installs what omnigram needs: system packages (tools/apt-packages.txt) and a .venv (tools/requirements.txt).
#   tools/setup.sh            everything; quick when done
#   PYTHON=/path/to/python    uses that Python instead of making .venv (it must have the packages; missing ones are named)
#   tools/setup.sh bench      also the peers that `omnigram bench` compares with (tools/requirements-bench.txt)
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }

system_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "this is not a Debian system: install the equivalents of tools/apt-packages.txt yourself"
        return
    fi
    local missing=() package
    while read -r package; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done < <(grep -v '^#' tools/apt-packages.txt)
    [ ${#missing[@]} -gt 0 ] || { say "system packages: all there"; return; }
    local sudo=()
    if [ "$(id -u)" != 0 ]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo=(sudo)
        else
            say "system packages missing, and neither root nor password-free sudo is at hand. Run:"
            say "  sudo apt-get install --no-install-recommends ${missing[*]}"
            exit 1
        fi
    fi
    say "installing ${#missing[@]} system packages: ${missing[*]}"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# A marker holds the checksum of what was installed, so that a second run costs nothing.
python_packages() {
    local lists=(tools/requirements.txt) marker
    [ "${1:-}" != bench ] || lists+=(tools/requirements-bench.txt)
    if [ -n "${PYTHON:-}" ]; then
        "$PYTHON" tools/check_python.py "${lists[@]}"
        return
    fi
    # Debian's Python when it is there: one that pyenv puts first on the PATH may lack venv or headers.
    local base=/usr/bin/python3
    [ -x $base ] || base=python3
    [ -x .venv/bin/python ] || { say "making .venv with $($base --version)"; $base -m venv .venv; }
    for list in "${lists[@]}"; do
        marker=.venv/.omnigram-$(basename "$list" .txt)
        if [ -f "$marker" ] && [ "$(cat "$marker")" = "$(sha256sum "$list")" ]; then
            say "Python packages of $list: all there"
            continue
        fi
        say "installing the Python packages of $list (torch: some 2 GB to download, once)"
        .venv/bin/python -m pip install -q --disable-pip-version-check -r "$list"
        sha256sum "$list" >"$marker"
    done
}

system_packages
python_packages "${1:-}"
