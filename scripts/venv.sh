#!/usr/bin/env bash
# Usage: scripts/venv.sh VENV EXTRA. Makes the environment if need be and installs the project (editable) with EXTRA.
set -euo pipefail
venv=$1 extra=$2

suitable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Runs its arguments as root, or fails when it may not.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

create() {
    rm -rf "$venv"
    "$1" -m venv "$venv" >/dev/null 2>&1
}

if ! { [ -x "$venv/bin/pip" ] && suitable "$venv/bin/python"; }; then
    found=""
    for python in ${PYTHON:-python3.13 python3.12 python3.11 python3 python}; do
        suitable "$python" || continue
        found=$python
        create "$python" && break
    done
    if [ -z "$found" ]; then
        echo "kdegraph needs Python 3.11 or newer: ${PYTHON:-none was found on PATH}. Install one, or name it: make PYTHON=/path/to/python3" >&2
        exit 1
    fi
    if [ ! -x "$venv/bin/pip" ]; then
        # Debian and Ubuntu keep the venv module in a package of its own.
        package=$("$found" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        echo "Installing $package ..."
        if ! { command -v apt-get && as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends "$package" &&
            create "$found"; } >/dev/null; then
            rm -rf "$venv"
            echo "$found cannot make a virtual environment: install its venv module ($package), then run make again" >&2
            exit 1
        fi
    fi
    echo "Made $venv with $("$venv/bin/python" --version)"
fi

echo "Installing kdegraph[$extra] and what it needs into $venv ..."
# Modules are compiled when they are first imported: few of all are.
"$venv/bin/python" -m pip install --no-compile --quiet --disable-pip-version-check -c constraints.txt -e ".[$extra]"
touch "$venv/.ready-$extra"
[ "$extra" != dev ] || touch "$venv/.ready-explorer"
