"""Provide Chromium, the served explorer, and the rules of every browser test.

A test fails on any error, and on any request that leaves the machine.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from browser.chromium import find
from browser.explorer_page import ExplorerPage
from browser.pages import PATIENCE, SIZE, Pages
from browser.screenshots import Report
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REPORT = ROOT / "test-report"
MOONS = "?source=generators"  # a page that begins with the moons and the view of both graphs
# The same pixels on every machine, and no calls home.
ARGUMENTS = [
    "--no-sandbox",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
RECORD = re.compile(r"^(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} )", re.MULTILINE)
# How a record in the log of the server ends when a page was closed while a message was on its way
# to it, or from it.
LEFT_EARLY = re.compile(
    r"\ntornado\.websocket\.WebSocketClosedError\n\Z"
    r"|\n +assert self\._session is not None\n([ ^~]+\n)?AssertionError\n\Z"
)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(3600))  # many times PATIENCE, which says more


@pytest.fixture(scope="package")
def chromium():
    """A Chromium; the package's own, so that tests outside it may run event loops."""
    path = find()
    if path is None:
        pytest.fail(
            "no Chromium: run `make test`, or install chromium or google-chrome, "
            "or set CHROMIUM=/path/to/it"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def serve(tmp_path_factory):
    """Start a program that serves HTTP; return its address and the path of its log."""
    running = []

    def start(command, path="/", **environment):
        port = free_port()
        log = tmp_path_factory.mktemp("server") / "log.txt"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [part.format(port=port) for part in command],
                cwd=ROOT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        running.append(process)
        address = f"http://localhost:{port}{path}"
        wait_for(address, process, log)
        return address, log

    yield start
    for process in running:
        process.terminate()
    for process in running:
        process.wait(PATIENCE / 1000)


@pytest.fixture
def server(tmp_path):
    """Start `kdegraph explore` with options, always on the same port; return the process.

    Its attribute `port` is that, `address` the one without a path, and `log` what was printed. The
    `path` of the page is that of the option `--prefix`.
    """
    port, running = free_port(), []

    def start(*options, path=""):
        command = [sys.executable, "-m", "kdegraph", "explore", "--no-browser", "--port", str(port)]
        with start.log.open("ab") as output:
            process = subprocess.Popen(
                [*command, *options],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        running.append(process)
        wait_for(start.address + path, process, start.log)
        return process

    start.port, start.address, start.log = port, f"http://localhost:{port}/", tmp_path / "log.txt"
    yield start
    for process in running:
        process.kill()
        process.wait(20)


@pytest.fixture(scope="package")
def explorer_server(serve):
    """(address, log) of the explorer, served as the README says."""
    return serve(
        [sys.executable, "-m", "panel", "serve", "apps/explorer.py", "--port", "{port}"],
        path="/explorer",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.failed = getattr(item, "failed", False) or report.failed
    return report


@pytest.fixture
def new_page(chromium, request):
    """Make pages, with options for the browser context; fail the test if one had a problem."""
    pages = Pages(chromium)
    yield pages.open
    if getattr(request.node, "failed", False):
        pages.take_pictures(REPORT, request.node.name)
    pages.close()
    assert not (problems := pages.problems()), "\n".join(problems)


@pytest.fixture
def clean_log(explorer_server):
    """Fail the test if the server has logged an error meanwhile."""
    _, log = explorer_server
    start = log.stat().st_size
    yield
    records = RECORD.split(log.read_bytes()[start:].decode())
    logged = "".join(record for record in records if not LEFT_EARLY.search(record))
    assert "ERROR" not in logged, logged
    assert "Traceback" not in logged, logged


@pytest.fixture
def explorer(clean_log, new_page, explorer_server):
    """Open the explorer in a page of its own."""
    return lambda query=MOONS, **options: ExplorerPage(new_page(**options)).open(
        explorer_server[0] + query
    )


@pytest.fixture(scope="package")
def first_views():
    """Keep the page of `first_view`: at most one pair of `Pages` and the `ExplorerPage` in it."""
    return []


@pytest.fixture
def first_view(clean_log, first_views, chromium, explorer_server, request):
    """Provide the explorer as it opens, in a page that tests share.

    A test has to leave it as it was.
    """
    if first_views:
        pages, explorer = first_views.pop()
    else:
        pages = Pages(chromium)
        explorer = ExplorerPage(pages.open()).open(explorer_server[0] + MOONS)
    seen = explorer.seen()
    yield explorer
    if getattr(request.node, "failed", False):
        pages.take_pictures(REPORT, request.node.name)
        pages.close()
        return
    explorer.page.set_viewport_size(SIZE)
    assert explorer.settle().seen() == seen, "this test has changed what others begin with"
    assert not (problems := pages.problems()), "\n".join(problems)
    first_views.append((pages, explorer))


@pytest.fixture(scope="package")
def report(request):
    """Compare screenshots with the baselines; see test-report/index.html."""
    return Report(REPORT, request.config.getoption("--update-screenshots"))


@pytest.fixture
def screenshot(report):
    """``screenshot(shown, name, hide=[locators])`` fails unless a page, or a part of one, looks
    like the baseline `name`, or soon does: some of what is shown is drawn late.
    """
    fonts = (
        subprocess.run(["fc-match", "Helvetica"], capture_output=True, text=True).stdout
        if shutil.which("fc-match")
        else ""
    )

    def check(shown, name, hide=()):
        if "Liberation" not in fonts:
            pytest.skip(
                "the baselines are drawn with the Liberation fonts, which are not installed here"
            )
        page = getattr(shown, "page", shown)
        page.mouse.move(0, 0)
        looks = {"animations": "disabled", "caret": "hide", "mask_color": "#888888"}
        end = time.monotonic() + report.patience
        while True:
            png = shown.screenshot(mask=list(hide), **looks)
            if report.agrees(name, png) or time.monotonic() > end:
                break
            page.wait_for_timeout(200)
        report.check(name, png)

    return check


def free_port():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


def wait_for(address, process, log, seconds=PATIENCE / 500):
    """Wait until a server answers; what it has printed is the message when it does not."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=120):
                return
        except OSError as error:
            if getattr(error, "code", None) == 403:  # it asks for a password
                return
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"no answer from {address}:\n{log.read_text()}") from None
        time.sleep(0.1)
