"""The served explorer and a browser, which both run on this machine."""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # they know how to serve and to drive the explorer
PATIENCE = 300_000  # milliseconds


SERVERS = {  # how the explorer is served, and the path of its page
    "panel serve": (["panel", "serve", "apps/explorer.py"], "/explorer"),
    "kdegraph explore": (["kdegraph", "explore", "--no-browser"], "/"),
}


@contextmanager
def served(program="panel serve", **environment):
    """The address of a new server, one of `SERVERS`, and its process; its environment has these
    variables besides.
    """
    from browser.conftest import free_port, wait_for

    port, (arguments, path) = str(free_port()), SERVERS[program]
    command = [sys.executable, "-m", *arguments, "--port", port]
    with tempfile.NamedTemporaryFile() as log:
        output = {"stdout": log, "stderr": subprocess.STDOUT}
        with subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, **output) as process:
            try:
                address = f"http://localhost:{port}{path}"
                wait_for(address, process, Path(log.name))
                yield address, process
            finally:
                process.terminate()


@contextmanager
def chromium():
    """A browser, with what the browser tests know about it."""
    from browser.chromium import find
    from browser.conftest import ARGUMENTS
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        yield browser
        browser.close()


def open_explorer(browser, address, n=2_000, sigma=None):
    """A page of the explorer with two moons, which has its first result."""
    from browser.explorer_page import ExplorerPage

    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    chosen = "" if sigma is None else f"&sigma={sigma}&sigma_auto=false"
    return ExplorerPage(page).open(f"{address}?data.n={n}{chosen}")


def processor_seconds(process):
    """What a process has used so far, also in threads that have ended."""
    return time.clock_gettime(~process.pid << 3 | 2)  # the number that clock_getcpuclockid gives


def megabytes(process, field="VmRSS"):
    """Resident memory of a process."""
    status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith(field))
