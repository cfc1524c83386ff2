#!/bin/bash
# Fetches the data set that the quickstart uses: the Debian package tuxpaint-stamps-default (GPL-2, 161 MB), unpacked
# without installing it.
#   tools/fetch-data.sh [FOLDER]      default: data/tuxpaint beside this folder
# Exit status: 0 the folder is there and whole, 2 bad usage, 3 no package archive can be reached, 1 anything else.
# A second run does nothing: FOLDER/.complete records the version and the SHA-256 of the package.
set -u -o pipefail
package=tuxpaint-stamps-default
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -le 1 ] || { echo "usage: tools/fetch-data.sh [FOLDER]" >&2; exit 2; }
case "${1:-}" in -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;; -*) echo "unknown option $1" >&2; exit 2 ;; esac
folder=${1:-$root/data/tuxpaint}

if [ -f "$folder/.complete" ]; then
    echo "data: $folder holds $(head -1 "$folder/.complete"); nothing to do"
    exit 0
fi
if [ -e "$folder" ] && [ -n "$(ls -A "$folder" 2>/dev/null)" ]; then
    echo "data: $folder exists, is not empty and was not made by this script; remove it or name another folder" >&2
    exit 1
fi
for tool in apt-get dpkg-deb sha256sum; do
    command -v "$tool" >/dev/null || { echo "data: no archive reached: $tool is not on this machine" >&2; exit 3; }
done

parent=$(dirname "$folder")
mkdir -p "$parent" || exit 1
parent=$(cd "$parent" && pwd)
folder=$parent/$(basename "$folder")
find "$parent" -maxdepth 1 -name '.fetch-??????' -mmin +60 -exec rm -rf {} + # left by a killed run
work=$(mktemp -d "$parent/.fetch-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# apt's download user may not enter the folder, and may not be wanted at all: fetch as the caller.
apt=(apt-get -q -o APT::Sandbox::User=root)
download() { (cd "$work" && "${apt[@]}" download "$package") >"$work/log" 2>&1; }
start=$SECONDS
if ! download; then
    # Package lists may be missing or old. Root refreshes the system's; anyone else keeps lists of his own here.
    if [ "$(id -u)" != 0 ]; then
        mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
        apt+=(-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache")
    fi
    if ! "${apt[@]}" update >"$work/log" 2>&1 || ! download; then
        echo "data: no archive reached for $package: $(grep -E '^(E|W):' "$work/log" | tail -1)" >&2
        exit 3
    fi
fi
archive=$(find "$work" -maxdepth 1 -name "${package}_*.deb" | head -1)
[ -n "$archive" ] || { echo "data: apt-get download left no $package archive" >&2; exit 1; }
version=$(dpkg-deb -f "$archive" Version) || exit 1
sum=$(sha256sum "$archive" | cut -c1-64) || exit 1
size=$(stat -c %s "$archive")
mkdir "$work/unpacked" && dpkg-deb -x "$archive" "$work/unpacked" || {
    echo "data: cannot unpack $archive into $parent (is the disk full?)" >&2
    exit 1
}
printf '%s %s\nsha256 %s\nbytes %s\n' "$package" "$version" "$sum" "$size" >"$work/unpacked/.complete" || exit 1
chmod 755 "$work/unpacked"
[ -d "$folder" ] && rmdir "$folder"
mv -T "$work/unpacked" "$folder" || exit 1
echo "data: $package $version, $size bytes, sha256 $sum, into $folder in $((SECONDS - start)) s"
