"""Many visitors of one server of the explorer, who do what visitors do, also to its connections."""

import asyncio
import contextlib
import itertools
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.browser import PATIENCE, ROOT, chromium, megabytes, open_explorer
from benchmarks.experiment import experiment
from benchmarks.experiments.explorer import MEASURE_MOVE, SIGMA, focus_on_sigma, write_table

AFTERWARDS = 60  # seconds after which nothing of a session may be left
MOVES = 10  # of a slider, of which the median counts
UPLOAD = 300  # megabytes
HALF_OPEN = 180  # seconds within which the server ends connections that stand still
HALVES = (
    "",
    "GET / HTTP/1.1\r\nHost: localhost:{port}\r\n",
    "POST / HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 99\r\n\r\nabc",
    "GET /ws HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\n",
)
ENDS = ("close the tab", "go elsewhere", "crash", "vanish")
SERIES = ("seconds", "MB", "threads", "descriptors", "sessions", "kept", "answer, ms")


class Server:
    """A server in a process of its own, which is measured each second.

    Attributes
    ----------
    address : str
    process : subprocess.Popen
    series : list of tuple
        The values of `SERIES`.
    """

    def __init__(self, folder):
        from browser.conftest import free_port, wait_for

        self.port, self._log, self._held = free_port(), folder / "log", folder / "held"
        self.address, self.series = f"http://localhost:{self.port}/", []
        command = [sys.executable, "-m", "benchmarks.watched_server", str(self.port), self._held]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=os.environ | {"KDEGRAPH_STATE_DIR": str(folder), "PYTHONUNBUFFERED": "1"},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        wait_for(f"{self.address}health", self.process, self._log)
        self._start, self._stop = time.monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self):
        while not self._stop.wait(1):
            if self._held.exists():
                self.series.append(self.now())

    def now(self):
        """The present values of `SERIES`."""
        start = time.monotonic()
        with urllib.request.urlopen(f"{self.address}health", timeout=PATIENCE) as answer:
            answer.read()
        took, place = 1000 * (time.monotonic() - start), Path(f"/proc/{self.process.pid}")
        threads, files = (len(list((place / name).iterdir())) for name in ("task", "fd"))
        held = json.loads(self._held.read_text())
        values = (megabytes(self.process), threads, files, held["sessions"], held["kept"], took)
        return (start - self._start, *values)

    def rest(self):
        """What it holds a minute from now: threads, descriptors, sessions, sessions in memory."""
        time.sleep(AFTERWARDS)
        return np.array(self.now()[2:6])

    def faults(self):
        """The errors in its log, without their tracebacks."""
        lines = self._log.read_text(errors="replace").splitlines()
        return [line for line in lines if re.search(r"ERROR|Error\b|Uncaught|Traceback", line)]

    def end(self):
        self._stop.set()
        self._thread.join()
        self.process.terminate()
        self.process.wait(60)


class Visitor:
    """A visitor with files of their own.

    Attributes
    ----------
    problems : list of str
        What was seen of another visitor's, and the errors of the page.
    waits : list of float
        Seconds from the move of a slider until nothing changes any more.
    """

    def __init__(self, browser, address, number, folder):
        self._browser, self._address, self._folder = browser, address, folder
        self._rng, self._number, self._n_files = random.Random(number), number, 0
        self.problems, self.waits, self._away = [], [], False

    async def visit(self, seconds):
        """Open the page, do things at random for some seconds from its first result, and leave."""
        from browser.explorer_page import LOOK

        context = await self._browser.new_context()
        context.set_default_timeout(PATIENCE)
        await context.add_init_script(LOOK)
        self._page = page = await context.new_page()
        page.on("pageerror", lambda error: self._note(f"error of the page: {error}"))
        page.on("console", lambda line: line.type == "error" and self._note(line.text))
        try:
            await page.goto(self._address)
            await self.upload()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                await self._rng.choice((self.slide, self.slide, self.upload, self.lose_network))()
                await asyncio.sleep(self._rng.uniform(0, 3))
            await self._leave(self._rng.choice(ENDS))
        except Exception as error:  # the others go on
            self.problems.append(f"visitor {self._number}: {type(error).__name__}: {error!s:.300}")
        finally:
            await context.close()

    def _note(self, text):
        if not (self._away or "net::ERR_" in text):
            self.problems.append(f"visitor {self._number}: {text:.300}")

    async def upload(self):
        """Give the page a new file, and wait for its points."""
        page, self._n_files = self._page, self._n_files + 1
        name, n = f"visitor{self._number}-{self._n_files}.csv", 50 + 3 * self._number
        X = (
            np.random.default_rng(self._number).normal(size=(n, 2))
            + 4 * (np.arange(n) % 3)[:, None]
        )
        np.savetxt(self._folder / name, X, delimiter=",", header="x,y", comments="")
        self._words = f"{name}: {n:,} points"
        await page.locator(".kg-status").filter(has_text="points").wait_for()
        source = page.get_by_label("Source", exact=True)
        if await source.inner_text() != "File":
            await source.click()
            await page.get_by_role("menuitem", name="File", exact=True).click()
        await page.locator("input[type=file]").set_input_files(self._folder / name)
        await page.locator(".kg-status").filter(has_text=self._words).wait_for()
        await self._check()

    async def _check(self):
        missing = await self._page.evaluate(f"() => look.settle({PATIENCE}, false)")
        status = await self._page.evaluate("() => look.status()")
        if missing or self._words not in status:
            self.problems.append(
                f"visitor {self._number}: {status!r} instead of {self._words!r} {missing}"
            )

    async def slide(self):
        """Move a slider to and fro, and wait until nothing changes any more."""
        slider = self._page.get_by_role("slider", name="Clusters k")
        for key in self._rng.choices(("ArrowLeft", "ArrowRight"), k=self._rng.randint(1, 5)):
            start = time.monotonic()
            await slider.press(key)
        await self._check()
        self.waits.append(time.monotonic() - start)

    async def lose_network(self):
        """Be without a network for a while; where the page has lost its session, begin again."""
        page, self._away = self._page, True
        await page.context.set_offline(True)
        await asyncio.sleep(self._rng.uniform(0, 5))
        await page.context.set_offline(False)
        await asyncio.sleep(3)
        await page.locator(".kg-connection").wait_for(state="detached")
        self._away = False
        if self._words not in await page.locator(".kg-status").inner_text():
            await self.upload()
        await self._check()

    async def _leave(self, way):
        self._away = True
        if way == "close the tab":
            await self._page.close()
        elif way == "vanish":
            await self._page.context.set_offline(True)
        else:
            address = {"crash": "chrome://crash", "go elsewhere": "about:blank"}[way]
            with contextlib.suppress(Exception):
                await self._page.goto(address, timeout=5000)


async def visits(address, at_once, sessions, seconds, folder):
    """Have visitors come one after the other, some at once; return them."""
    from browser.chromium import find
    from browser.conftest import ARGUMENTS
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        visitors = [Visitor(browser, address, i, folder) for i in range(sessions)]
        waiting = iter(visitors)

        async def one_after_the_other(place):
            await asyncio.sleep(place)
            for visitor in waiting:
                await visitor.visit(seconds * at_once / sessions)

        await asyncio.gather(*map(one_after_the_other, range(at_once)))
        await browser.close()
    return visitors


def half_open(server):
    """Open connections, and send a half of a request in each."""
    sockets = [socket.create_connection(("127.0.0.1", server.port), HALF_OPEN) for _ in HALVES]
    for client, text in zip(sockets, HALVES, strict=True):
        client.sendall(text.format(port=server.port).encode())
    return sockets


def count_open(sockets):
    """The number of connections that the server does not end."""
    found = 0
    for client in sockets:
        with client:
            try:
                while client.recv(2**16):
                    pass
            except TimeoutError:
                found += 1
    return found


def milliseconds(explorer, goes_on=lambda: True, most=MOVES):
    """The times from the move of a slider to the first result, for as long as something goes on."""
    page, found = explorer.page, []
    while len(found) < most and goes_on():
        explorer.settle()
        page.evaluate(MEASURE_MOVE)
        focus_on_sigma(page)
        page.keyboard.press("ArrowRight" if len(found) < most / 2 else "ArrowLeft")
        page.wait_for_function("() => window.latency !== null", timeout=PATIENCE)
        found.append(page.evaluate("() => window.latency"))
    return found


def beside_others(server, folder):
    """How a session answers alone, beside a million points, and beside a large upload."""
    write_table(folder / "large.csv", UPLOAD)
    with chromium() as browser:
        explorer = open_explorer(browser, server.address, sigma=SIGMA)
        milliseconds(explorer, most=2)  # meets cold caches
        alone = milliseconds(explorer)
        other = open_explorer(browser, server.address)
        other.page.get_by_role("slider", name="Points n").press("End")
        other.page.locator(".kg-cancel").wait_for()
        busy = milliseconds(explorer, other.page.locator(".kg-cancel").is_visible)
        if other.page.locator(".kg-cancel").is_visible():
            other.page.locator(".kg-cancel button").click()
        other.page.locator(".kg-cancel").wait_for(state="hidden")
        other.choose_source("File")
        other.upload(folder / "large.csv")
        arrives = other.page.locator(".kg-status").filter(has_text="large.csv")
        upload = milliseconds(explorer, lambda: not arrives.is_visible(), most=200)
    return {
        "slider alone, ms": statistics.median(alone),
        "beside 1,000,000 points, ms": statistics.median(busy),
        "times as long": statistics.median(busy) / statistics.median(alone),
        "beside 300 MB, ms": statistics.median(upload),
        "beside 300 MB, worst, ms": max(upload),
    }


def draw(rows, table):
    """Memory and latency over time, a column of plots for each row."""
    figure = Figure(figsize=(6 * len(rows), 7), layout="constrained")
    for row, column in zip(rows, figure.subplots(3, len(rows), squeeze=False).T, strict=True):
        with np.load(table.arrays_path(row)) as arrays:
            series = dict(zip(SERIES, arrays["series"].T, strict=True))
        minutes = series["seconds"] / 60
        column[0].set_title(f"{row['sessions']} sessions, {row['at_once']} at once")
        for axes, names in zip(
            column, (("MB",), ("threads", "descriptors", "sessions", "kept"), ("answer, ms",)),
            strict=True,
        ):  # fmt: skip
            for name in names:
                axes.plot(minutes, series[name], linewidth=1, label=name)
            axes.legend(frameon=False)
            axes.grid(color="#ddd")
        column[2].set(yscale="log", xlabel="minutes")
    return figure


def rows(*, at_once=20, sessions=200, minutes=30):
    return [{"at_once": at_once, "sessions": sessions, "minutes": minutes}]


@experiment(
    rows,
    source="A server that many people use for days mixes nothing up, and keeps nothing of them.",
    why="Twenty browsers draw on the two cores of their server, and get what that leaves, which "
    "is likely where most of the seconds of a slider go. Answers are timed by a process that waits "
    "for the server as the browsers do.",
    draw=draw,
    limit=6 * 3600,
)
def server_load(at_once, sessions, minutes):
    """Visitors of one server, in browsers: what goes wrong, what stays, and how long others wait.

    Each visitor moves sliders, uploads files, loses the network, and at last closes the tab, goes
    elsewhere, crashes or vanishes. "problems" counts what they saw of others or as an error, and
    "errors in log" the lines of the server's log. What is "left" a minute after the last one, is
    more than there was a minute after one visit before the first. Then one session moves a slider
    alone, while another computes, and while a file of 300 MB arrives.
    """
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        server = Server(folder := Path(name))
        stack.callback(server.end)
        # The browsers of visitors run on other machines: here they get what the server leaves.
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        # Pools of threads, and kernels, stay after the first session.
        asyncio.run(visits(server.address, 1, 1, 10, folder))
        before, start = server.rest(), len(server.series)
        visitors = asyncio.run(visits(server.address, at_once, sessions, 60 * minutes, folder))
        loaded = np.array(server.series[start:])
        left = server.rest() - before
        sockets = half_open(server)
        beside = beside_others(server, folder)
        n_open, faults = count_open(sockets), server.faults()
    problems = list(itertools.chain.from_iterable(visitor.problems for visitor in visitors))
    for line in [*problems, *faults]:
        sys.stderr.write(f"{line}\n")
    _, middle, last = (np.median(part[:, 1]) for part in np.array_split(loaded, 3))
    waits = [seconds for visitor in visitors for seconds in visitor.waits]
    return {
        "problems": len(problems),
        "errors in log": len(faults),
        **dict(zip([f"{name} left" for name in SERIES[2:6]], map(int, left), strict=True)),
        "MB, second third": middle,
        "MB, last third": last,
        "slider, median s": np.median(waits),
        "answer, worst, ms": loaded[:, 6].max(),
        **beside,
        "half-open left": n_open,
        "series": np.array(server.series),
    }
