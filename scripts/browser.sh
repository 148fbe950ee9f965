#!/usr/bin/env bash
# Usage: scripts/browser.sh PYTHON. Sees to it that the browser tests find a Chromium, the fonts of the screenshots, and nginx.
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

have_nginx() {
    PATH=$(dirname "$python"):$PATH:/usr/sbin nginx -v >/dev/null 2>&1
}

# The program alone, beside PYTHON: installed as a package, it would also start a server on this machine.
unpack_nginx() {
    local folder bin
    bin=$(cd "$(dirname "$python")" && pwd)
    folder=$(mktemp -d)
    (cd "$folder" && apt-get download -qq nginx 2>/dev/null && dpkg-deb -x nginx_*.deb . && install usr/sbin/nginx "$bin/nginx")
    rm -rf "$folder"
    have_nginx
}

packages=()
have_browser || packages+=(chromium)
have_fonts || packages+=(fontconfig fonts-liberation)
command -v openssl >/dev/null || packages+=(openssl)
if [ ${#packages[@]} -gt 0 ] && command -v apt-get >/dev/null; then
    echo "Installing ${packages[*]} for the browser tests ..."
    { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends "${packages[@]}"; } >/dev/null || true
fi
if ! have_nginx && command -v apt-get >/dev/null; then
    echo "Unpacking nginx for the browser tests ..."
    unpack_nginx || { as_root apt-get update -qq && unpack_nginx; } >/dev/null || true
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
have_nginx || echo "Without nginx the test behind it is skipped." >&2
