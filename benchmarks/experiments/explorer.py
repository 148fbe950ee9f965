"""The explorer: how soon things are seen, and stop. All but `cancel` need a browser."""

import http.client
import random
import statistics
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import kdegraph
import numpy as np

from benchmarks.browser import (
    PATIENCE,
    SERVERS,
    chromium,
    megabytes,
    open_explorer,
    processor_seconds,
    served,
)
from benchmarks.experiment import experiment, grid

SIGMA = 0.1
MOVES, TIMES, WARM_UP, SESSIONS = 20, 30, 10, 20  # moves of a slider, cancels, and visits
SESSION_ENDS = 40_000  # milliseconds until the server has noticed that a page is gone
WATCH = 60  # seconds
# Counts from the key to the frame in which everything has changed.
MEASURE_MOVE = """() => {
  const model = name => Bokeh.documents.map(doc => doc.get_model_by_name(name)).find(Boolean);
  const plot = model("KDE graph: points and edges"), spectrum = model("KDE graph: eigenvalues");
  const image = () => plot.renderers[0].data_source.data["image"];
  const values = () => spectrum.renderers.map(r => r.data_source.data["value"]).find(Boolean);
  const idle = () => Bokeh.documents.every(doc => doc.is_idle);
  window.latency = null;
  const before = [image(), values()];
  addEventListener("keydown", () => {
    const start = performance.now();
    const stop = () => { window.latency = performance.now() - start };
    const look = () => {
      if (image() !== before[0] && values() !== before[1] && idle())
        requestAnimationFrame(() => requestAnimationFrame(stop));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, {once: true, capture: true});
}"""
# How many images of the KDE graph have been seen since the call.
COUNT_IMAGES = """() => {
  const name = "KDE graph: points and edges"
  const plot = () => Bokeh.documents.map(doc => doc.get_model_by_name(name)).find(Boolean)
  const image = () => plot().renderers[0].data_source.data["image"]
  let last = image()
  window.images = 0
  const look = () => {
    if (image() !== last) { last = image(); window.images += 1 }
    requestAnimationFrame(look)
  }
  look()
}"""


@experiment(
    lambda: grid(n=[100_000]),
    source="The explorer answers the newest choice only: what is stale stops at once.",
)
def cancel(n):
    """How soon stale work of the explorer stops: milliseconds until the next request could begin.

    Sigma changes, as when its slider is moved, and the work is cancelled after a random part of its
    time.
    """
    from kdegraph_explorer.jobs import Latest, Mailbox
    from kdegraph_explorer.pipeline import Pipeline
    from kdegraph_explorer.process import wait
    from kdegraph_explorer.results import Request

    wait(lambda stage, fraction: None)
    dataset, rng = kdegraph.datasets.make("moons", n=n, seed=0), random.Random(0)
    job = Latest(Pipeline().run, mailbox=Mailbox(), deliver=lambda *arguments: None)

    def finish():
        start = time.perf_counter()
        while job.busy:
            time.sleep(0.0005)
        return 1000 * (time.perf_counter() - start)

    stopped = []
    for i in range(TIMES + 2):
        job.request(Request(dataset, sigma=SIGMA * 1.01**i, n_rounds=20))
        if i < 2:  # the first move builds what the second one, which is timed, keeps
            whole = finish()
            continue
        time.sleep(rng.uniform(0, whole / 1000))
        busy = job.busy
        job.cancel()
        took = finish()
        if busy:
            stopped.append(took)
    median, worst = statistics.median(stopped), max(stopped)
    return {"whole move, ms": whole, "cancelled": len(stopped), "median, ms": median,
            "worst, ms": worst}  # fmt: skip


@experiment(
    lambda: grid(interval=[5.0, 1.0, 0.5, 0.1], busy=[1, 3]),
    source="Changelog: on a busy server computations do not wait behind the pages that it draws.",
)
def turns(interval, busy):
    """Clusters of 62 points beside threads that are busy with Python: seconds.

    A server that draws pages has such threads. `interval` says after how many milliseconds Python
    passes its lock on to a thread that waits for it; 5 is its default, 0.1 that of the explorer's
    servers. "alone" is the time without other threads, at 5.
    """
    X, n_steps, stop = kdegraph.datasets.make("blobs", n=62, seed=0).X, 1_000, threading.Event()

    def seconds():
        start = time.perf_counter()
        kdegraph.KDESpectralClustering(random_state=0).fit(X)
        return time.perf_counter() - start

    def draw():
        while not stop.is_set():
            sum(range(n_steps))

    seconds()  # compiles
    alone = min(seconds() for _ in range(3))
    sys.setswitchinterval(interval / 1000)
    drawing = [threading.Thread(target=draw) for _ in range(busy)]
    for thread in drawing:
        thread.start()
    try:
        return {"alone": alone, "beside others": seconds()}
    finally:
        stop.set()


def focus_on_sigma(page):
    page.get_by_role("slider", name="Kernel width σ").focus()


@experiment(
    lambda: grid(n=(1_000, 15_000, 100_000)),
    source="A slider of the explorer answers while it is moved.",
)
def latency(n):
    """From the move of a slider to the painted result, in a browser: milliseconds, of 20 moves.

    The clock starts at the key and stops two frames after edges, spectrum and clusters show the
    first result of the new sigma (for many points that of a graph of few rounds). "full" is the
    time until the whole result is shown, "server" the processor time that the server spends.
    """
    times = []
    with served() as (address, process), chromium() as browser:
        explorer = open_explorer(browser, address, n, SIGMA)
        page = explorer.page
        focus_on_sigma(page)
        for move in range(MOVES + 2):
            explorer.settle()
            page.evaluate(MEASURE_MOVE)
            start, server = time.perf_counter(), processor_seconds(process)
            page.keyboard.press("ArrowRight" if move < MOVES / 2 else "ArrowLeft")
            page.wait_for_function("() => window.latency !== null", timeout=PATIENCE)
            page.locator(".kg-cancel").wait_for(state="hidden", timeout=PATIENCE)
            full = 1000 * (time.perf_counter() - start)
            first = page.evaluate("() => window.latency")
            times.append((first, max(first, full), 1000 * (processor_seconds(process) - server)))
    first, full, server = zip(*times[2:], strict=True)  # the first moves meet cold caches
    return {
        "first, ms": statistics.median(first),
        "first, worst, ms": max(first),
        "full, ms": statistics.median(full),
        "server, ms": statistics.median(server),
    }


@experiment(
    lambda: grid(n=[1_000_000]),
    source="A million points are seen within seconds, and refined while one looks.",
)
def first_view(n):
    """From the choice of a million points to what is seen of them, in a browser: seconds.

    First the points are seen, then the edges of a KDE graph of few rounds, then its spectrum and
    clusters ("first look"), then those of all rounds, then the k-NN graph. What still goes on after
    a minute is cancelled, and "cancel" is how long that takes.
    """
    with served() as (address, _), chromium() as browser:
        page = (explorer := open_explorer(browser, address)).page
        page.evaluate(COUNT_IMAGES)
        page.get_by_role("slider", name="Points n").focus()
        page.keyboard.press("End")
        seen = watch(explorer)
        if page.locator(".kg-cancel").is_visible():
            start = time.perf_counter()
            page.locator(".kg-cancel button").click()
            page.locator(".kg-cancel").wait_for(state="hidden", timeout=PATIENCE)
            seen["cancel"] = time.perf_counter() - start
    return seen


def watch(explorer):
    """Seconds until each thing was seen."""
    page, seen, start, few = explorer.page, {}, time.perf_counter(), None
    while "k-NN graph" not in seen and time.perf_counter() - start < WATCH:
        images = page.evaluate("() => window.images")
        edges = explorer.scores().get("Edges", ["–", "–"])
        facts = {
            "points": images > 0,
            "bars": page.locator(".kg-stages").is_visible(),
            "edges": images > 1,
            "first look": images > 1 and edges[0] != "–",
            "KDE graph": "first look" in seen and edges[0] not in ("–", few),
            "k-NN graph": "KDE graph" in seen and edges[1] != "–",
        }
        for name in [name for name, holds in facts.items() if holds and name not in seen]:
            seen[name] = time.perf_counter() - start
            few = edges[0] if name == "first look" else few
        page.wait_for_timeout(50)
    return seen


@experiment(
    lambda: grid(n=[5_000], arenas=["default", "one"], moves=[200]),
    source="Install: with `MALLOC_ARENA_MAX=1` a server with many visitors keeps less memory.",
    limit=3600,
)
def memory(n, arenas, moves):
    """Memory of the explorer's server: megabytes after moves of a slider, and after visits.

    Resident memory when nothing is being computed any more: after ten moves, after more of them,
    after ten visits one after the other, and after twenty more. By default glibc gives threads
    arenas of their own, and memory that a session has freed in one cannot be used from another.
    """
    environment = {"MALLOC_ARENA_MAX": "1"} if arenas == "one" else {}
    with served(**environment) as (address, process), chromium() as browser:
        explorer = open_explorer(browser, address, n, SIGMA)

        def visit(times):
            for _ in range(times):
                open_explorer(browser, address, n, SIGMA).page.close()
            explorer.page.wait_for_timeout(SESSION_ENDS)
            return megabytes(process)

        move(explorer, WARM_UP)
        values = {"MB after 10 moves": megabytes(process)}
        move(explorer, moves)
        values["after all moves"] = megabytes(process)
        return values | {"after 10 visits": visit(WARM_UP), "after 20 more": visit(SESSIONS)}


def move(explorer, times):
    """Move sigma to and fro, and wait for every result."""
    page = explorer.page
    focus_on_sigma(page)
    for i in range(times):
        before = explorer.column("KDE graph: eigenvalues", "value")
        page.keyboard.press("ArrowRight" if i % 2 else "ArrowLeft")
        while explorer.column("KDE graph: eigenvalues", "value") == before:
            page.wait_for_timeout(20)
        page.locator(".kg-cancel").wait_for(state="hidden", timeout=PATIENCE)
    explorer.settle()


@experiment(
    lambda: grid(program=SERVERS, size=[312]),
    source="Changelog: while a file arrives and is read, other pages do not wait for it.",
)
def upload(program, size):
    """How long another page waits at most while a table of `size` MB arrives and is read, in a
    browser.

    Another visitor asks the server for its icon a hundred times a second. "worst" and "99.9 %" are
    the longest time and the quantile of the times that this takes between the choice of the file
    and the sight of its points, "idle, worst" the longest time of five seconds before, and "above
    50 ms" the number of times that are longer.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        write_table(path, size)
        with served(program) as (address, process), chromium() as browser:
            explorer = open_explorer(browser, address)
            explorer.choose_source("File")
            explorer.settle()
            with visitor(address) as waits:
                explorer.page.wait_for_timeout(5_000)
                idle, start = max(waits), time.perf_counter()
                n_idle = len(waits)
                explorer.upload(path)
                # The line says so as soon as the points are there and their graph is computed.
                explorer.page.locator(".kg-status").filter(has_text="First look").wait_for()
                seconds = time.perf_counter() - start
            memory = megabytes(process, "VmHWM")
    waits = 1000 * np.array(waits[n_idle:])
    return {
        "seconds": seconds,
        "worst, ms": waits.max(),
        "99.9 %, ms": np.quantile(waits, 0.999),
        "above 50 ms": int((waits > 50).sum()),
        "idle, worst, ms": 1000 * idle,
        "memory at most, MB": memory,
    }


def write_table(path, size):
    """Write a table of eight columns of random numbers, of about `size` megabytes."""
    block = np.random.default_rng(0).normal(size=(10_000, 8))
    text = "".join(",".join(f"{value:.7f}" for value in row) + "\n" for row in block)
    times = round(1e6 * size / len(text))
    with path.open("w") as file:
        file.write("a,b,c,d,e,f,g,h\n")
        file.writelines(text for _ in range(times))


@contextmanager
def visitor(address):
    """Ask a server for something small again and again in a thread; collects the seconds that each
    answer takes.
    """
    waits, stop = [], threading.Event()

    def ask():
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
        while not stop.wait(0.01):
            start = time.perf_counter()
            connection.request("GET", "/favicon.ico")
            connection.getresponse().read()
            waits.append(time.perf_counter() - start)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield waits
    finally:
        stop.set()
        thread.join()
