"""The explorer in a window of its own: Chromium in app mode."""

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from browser.chromium import find
from browser.conftest import ARGUMENTS, free_port
from browser.explorer_page import ExplorerPage
from kdegraph_explorer.serving import window

PATIENCE = 300  # seconds
WRAPPER = """#!/bin/sh
echo "$@" > {log}
exec {chromium} --headless=new {options} --remote-debugging-port={port} "$@"
"""


@pytest.fixture
def chromium_on_path(tmp_path, monkeypatch):
    """A Chromium that can be watched and that runs without a screen is the first on the path;
    returns the file with its arguments and the port.
    """
    folder, port = tmp_path / "bin", free_port()
    folder.mkdir()
    (folder / "chromium").write_text(
        WRAPPER.format(
            log=tmp_path / "arguments", chromium=find(), options=" ".join(ARGUMENTS), port=port
        )
    )
    (folder / "chromium").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "arguments", port


def wait_until(condition, process=None):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert process is None or process.poll() is None, process.stdout.read()
        assert time.monotonic() < end
        time.sleep(0.2)


def test_a_screenshot_of_a_window_whose_server_ends_with_it(
    chromium_on_path, chromium, screenshot, subtests
):
    arguments, port = chromium_on_path
    command = [sys.executable, "-m", "kdegraph", "explore", "--window"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        wait_until(arguments.exists, process)
        wait_until(lambda: arguments.read_text(), process)
        address = re.search(r"--app=(\S+)", arguments.read_text()).group(1)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/\?token=[\w-]{43}", address)
        root = address.rsplit("/", 2)[0]
        for other in (f"{root}/", f"{root}/explorer"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(other, timeout=PATIENCE)
        watch(port, chromium, screenshot, subtests, address)
        process.wait(PATIENCE)
        assert "The explorer is in a window of chromium" in process.stdout.read()
        assert process.returncode == 0
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(address, timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def watch(port, chromium, screenshot, subtests, address):
    """See that the explorer is in the window, and close that; the browser ends with it."""
    wait_until(lambda: answers(port))
    browser = chromium.browser_type.connect_over_cdp(
        f"http://127.0.0.1:{port}", timeout=PATIENCE * 1000
    )
    page = browser.contexts[0].pages[0]
    explorer = ExplorerPage(page)
    page.locator(".kg-headline b", has_text="/").wait_for(timeout=PATIENCE * 1000)
    assert "token" not in page.url
    # Whoever has seen the command of the window comes too late.
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address, timeout=PATIENCE)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    explorer.expect_theme("light")
    with subtests.test("the looks"):
        screenshot(page, "window-light")
    browser.new_browser_cdp_session().send("Browser.close")


def answers(port):
    """Return whether a Chromium with remote debugging listens at a port."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/version", timeout=PATIENCE):
            return True
    except OSError:
        return False


def test_without_anything_that_makes_windows_the_browser_is_opened(monkeypatch):
    monkeypatch.setattr(window, "has_pywebview", lambda: False)
    monkeypatch.setattr(window, "BROWSERS", ("no-such-browser",))
    with window.window_command("http://127.0.0.1:1/x") as (kind, command):
        assert (kind, command) == (None, None)


def test_pywebview_comes_first(monkeypatch):
    monkeypatch.setattr(window, "has_pywebview", lambda: True)
    with window.window_command("http://127.0.0.1:1/x") as (kind, command):
        assert kind == "pywebview"
        assert command[-1] == "http://127.0.0.1:1/x"
