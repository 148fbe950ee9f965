#!/usr/bin/env bash
# Usage: scripts/browser.sh PYTHON. Sees to it that the browser tests find a Chromium and the fonts of the screenshots.
set -euo pipefail
python=$1

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

have_browser() {
    "$python" tests/browser/chromium.py >/dev/null 2>&1
}

have_fonts() {
    command -v fc-match >/dev/null && fc-match Helvetica | grep -q Liberation
}

packages=()
have_browser || packages+=(chromium)
have_fonts || packages+=(fontconfig fonts-liberation)
[ ${#packages[@]} -gt 0 ] || exit 0

if command -v apt-get >/dev/null; then
    echo "Installing ${packages[*]} for the browser tests ..."
    { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends "${packages[@]}"; } >/dev/null || true
fi
if ! have_browser; then
    echo "Installing Playwright's own Chromium ..."
    "$python" -m playwright install chromium || true
fi
if ! have_browser; then
    echo "No Chromium for the browser tests: install chromium or google-chrome, or set CHROMIUM=/path/to/it" >&2
    exit 1
fi
have_fonts || echo "Without the Liberation fonts the screenshot tests are skipped." >&2
