"""Show the explorer in a window of its own, with a server that ends with it."""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import threading
import webbrowser
from contextlib import contextmanager
from pathlib import Path

from .. import process
from ..app import create_app
from ..kept_files import KeptFiles
from .access import Access
from .page import TITLE
from .servers import hidden_server_of
from .user_secret import user_secret

SIZE = (1360, 860)  # pixels
# Browsers that have windows without an address bar.
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
)
HAS_BACK_END = "import webview.guilib; webview.guilib.initialize()"
SHOW = (
    "import sys, webview; "
    "webview.create_window(sys.argv[1], sys.argv[2], width={}, height={}); webview.start()"
)


def show(file=None):
    """Show the explorer in a window, until that is closed.

    The server listens at 127.0.0.1, on a free port, answers only under a path that nobody can
    guess, and lets in only the window. If there is no program that makes windows, the page is
    opened in the browser, and the server runs until it is interrupted. `file` holds data to begin
    with, as for `kdegraph_explorer.app.create_app`.
    """
    process.start()
    access = Access(token=True)
    kept = KeptFiles.of_user(user_secret(), alone=True)
    server, address = hidden_server_of(lambda: create_app(file, checked=True, kept=kept), access)
    server.start()
    once = access.invitation(address, once=True)
    with process.only_serving(), window_command(once) as (kind, command):
        if command is None:
            _say("No program that makes windows was found; the explorer is opened in the browser:")
            _say(f"{access.invitation(address)}  (Ctrl+C stops it)")
            webbrowser.open(once)
            server.io_loop.start()
        else:
            _say(f"The explorer is in a window of {kind} and ends with it.")
            _run_beside(command, server.io_loop)
    server.stop()


def _run_beside(command, loop):
    """Run an event loop for as long as a process takes."""
    silent = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent)

    def stop():
        process.wait()
        loop.add_callback(loop.stop)

    threading.Thread(target=stop, daemon=True).start()
    try:
        loop.start()
    finally:
        process.terminate()
        process.wait()


@contextmanager
def window_command(address):
    """Yield the name of a program and its command that shows a page in a window.

    The process ends with the window. Both are None if there is no such program.
    """
    if has_pywebview():
        yield "pywebview", [sys.executable, "-c", SHOW.format(*SIZE), TITLE, address]
        return
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        yield None, None
        return
    # With a profile of its own, the browser starts a new process, which ends with the window.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        width, height = SIZE
        options = [
            f"--app={address}",
            f"--user-data-dir={profile}",
            f"--window-size={width},{height}",
            "--no-first-run",
            "--no-default-browser-check",
        ]
        yield Path(browser).stem, [browser, *options]


def has_pywebview():
    """Return whether pywebview is installed and can make windows."""
    if importlib.util.find_spec("webview") is None:
        return False
    trial = subprocess.run([sys.executable, "-c", HAS_BACK_END], capture_output=True)
    return trial.returncode == 0


def _say(words):
    print(words, flush=True)  # noqa: T201
