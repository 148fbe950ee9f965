"""From the move of a slider to the painted result, in a browser: milliseconds, median of 20 moves.

    python benchmarks/latency.py [--n 1000 15000 100000] [--moves 20]

The slider of sigma is moved by the keyboard. The clock starts at the key and stops two frames after the image of the edges, both spectra
and the table show the first result of the new sigma (for many points a graph of few rounds); "full" is when the whole result stands.
Server and browser run on this machine.
"""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import click
import kdegraph
import numpy as np
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser.chromium import find  # noqa: E402
from browser.conftest import ARGUMENTS  # noqa: E402
from browser.explorer_page import ExplorerPage  # noqa: E402

# Called with the label of the slider: counts from the key to the frame in which everything has changed.
MEASURE = """() => {
  const model = name => Bokeh.documents.map(doc => doc.get_model_by_name(name)).find(Boolean);
  const image = () => model("KDE graph: points and edges").renderers[0].data_source.data["image"];
  const values = () => model("KDE graph: eigenvalues").renderers.map(r => r.data_source.data["value"]).find(Boolean);
  const idle = () => Bokeh.documents.every(doc => doc.is_idle);
  window.latency = null;
  const before = [image(), values()];
  addEventListener("keydown", () => {
    const start = performance.now();
    const look = () => {
      if (image() !== before[0] && values() !== before[1] && idle())
        requestAnimationFrame(() => requestAnimationFrame(() => { window.latency = performance.now() - start }));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, {once: true, capture: true});
}"""


def wait_for(address, process):
    """Wait until the server answers."""
    for _ in range(300):
        try:
            with urllib.request.urlopen(address, timeout=30):
                return
        except OSError:
            if process.poll() is not None:
                raise RuntimeError("the server has stopped") from None
            time.sleep(0.2)
    raise TimeoutError(address)


def measure(chromium, file, moves):
    """Milliseconds of every move to the first and to the full result."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "panel", "serve", "apps/explorer.py", "--port", str(port), "--args", str(file)]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            address = f"http://localhost:{port}/explorer"
            wait_for(address, process)
            page = chromium.new_page(viewport={"width": 1280, "height": 720})
            explorer = ExplorerPage(page).open(address)
            explorer.change(lambda: page.get_by_label("σ typed").fill("0.1") or page.keyboard.press("Enter"))
            page.get_by_role("slider", name="Kernel width σ").focus()
            first, full = [], []
            for move in range(moves + 2):
                explorer.settle()
                page.evaluate(MEASURE)
                start = time.perf_counter()
                page.keyboard.press("ArrowRight" if move % 2 else "ArrowLeft")
                page.wait_for_function("() => window.latency !== null", timeout=120_000, polling=10)
                first.append(page.evaluate("() => window.latency"))
                page.locator(".kg-cancel").wait_for(state="hidden", timeout=120_000)
                full.append(1000 * (time.perf_counter() - start))
            page.close()
            return first[2:], full[2:]  # the first moves meet cold caches
        finally:
            process.terminate()


@click.command()
@click.option("--n", "sizes", type=int, multiple=True, default=(1000, 15_000, 100_000), show_default=True)
@click.option("--moves", default=20, show_default=True)
def main(sizes, moves):
    """Print a line for each size."""
    click.echo(f"{'n':>9}{'first, ms':>12}{'worst':>9}{'full, ms':>12}    load of the machine {os.getloadavg()[0]:.1f}")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        chromium = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        for n in sizes:
            file = Path(folder) / f"moons-{n}.npy"
            np.save(file, kdegraph.datasets.make("moons", n=n, seed=0).X)
            first, full = measure(chromium, file, moves)
            click.echo(f"{n:>9,}{statistics.median(first):>12.0f}{max(first):>9.0f}{statistics.median(full):>12.0f}")
        chromium.close()


if __name__ == "__main__":
    main()
