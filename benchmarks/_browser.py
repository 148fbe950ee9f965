"""The served explorer and a browser, for the benchmarks that look at the page. Both run on this
machine.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser.chromium import find  # noqa: E402
from browser.conftest import ARGUMENTS  # noqa: E402
from browser.explorer_page import ExplorerPage  # noqa: E402

PATIENCE = 300_000  # milliseconds


@contextmanager
def served(**environment):
    """The address of a new server, and its process; its environment has these variables besides."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "panel", "serve", "apps/explorer.py", "--port", str(port)]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            address = f"http://localhost:{port}/explorer"
            _wait_for(address, process)
            yield address, process
        finally:
            process.terminate()


def _wait_for(address, process):
    for _ in range(300):
        try:
            with urllib.request.urlopen(address, timeout=30):
                return
        except OSError:
            if process.poll() is not None:
                raise RuntimeError("the server has stopped") from None
            time.sleep(0.2)
    raise TimeoutError(address)


@contextmanager
def chromium():
    """A browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        yield browser
        browser.close()


def open_explorer(browser, address, **choices):
    """A page of the explorer with these choices, which has its first result."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    query = "&".join(f"{name}={value}" for name, value in choices.items())
    return ExplorerPage(page).open(f"{address}?{query}")
