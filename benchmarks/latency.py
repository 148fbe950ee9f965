"""From the move of a slider to the painted result, in a browser: milliseconds, median of 20 moves.

    python benchmarks/latency.py [--n 1000 --n 15000 --n 100000] [--moves 20] [--csv
    benchmarks/results/latency.csv]

The slider of sigma is moved by the keyboard, with two moons as the data. The clock starts at the
key and stops two frames after the image of the edges, the spectrum and the clusters show the first
result of the new sigma (for many points that of a graph of few rounds). "full" is the time until
the whole result is shown. "server" is the processor time that the server spends on all of that.
"""

import os
import statistics
import time

import click
from _browser import PATIENCE, chromium, open_explorer, served
from _common import csv_option, show, write

# Counts from the key to the frame in which everything has changed.
MEASURE = """() => {
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


def processor_seconds(process):
    """What a process has used so far, also in threads that have ended."""
    return time.clock_gettime(~process.pid << 3 | 2)  # the number that clock_getcpuclockid gives


def measure(explorer, process, moves):
    """Milliseconds of every move to the first result, to the full one, and of the server's
    processor.
    """
    page = explorer.page
    page.get_by_role("slider", name="Kernel width σ").focus()
    times = []
    for move in range(moves + 2):
        explorer.settle()
        page.evaluate(MEASURE)
        start, server = time.perf_counter(), processor_seconds(process)
        page.keyboard.press("ArrowRight" if move < moves / 2 else "ArrowLeft")
        page.wait_for_function("() => window.latency !== null", timeout=PATIENCE)
        page.locator(".kg-cancel").wait_for(state="hidden", timeout=PATIENCE)
        full = 1000 * (time.perf_counter() - start)
        first = page.evaluate("() => window.latency")
        times.append((first, max(first, full), 1000 * (processor_seconds(process) - server)))
    return list(zip(*times[2:], strict=True))  # the first moves meet cold caches


@click.command()
@click.option(
    "--n", "sizes", type=int, multiple=True, default=(1000, 15_000, 100_000), show_default=True
)
@click.option("--moves", default=20, show_default=True)
@csv_option
def main(sizes, moves, path):
    """Print a column for each size."""
    rows = []
    with served() as (address, process), chromium() as browser:
        for n in sizes:
            explorer = open_explorer(
                browser, address, **{"data.n": n, "sigma": 0.1, "sigma_auto": "false"}
            )
            first, full, server = measure(explorer, process, moves)
            explorer.page.close()
            rows.append(
                {
                    "n": n,
                    "first, ms": statistics.median(first),
                    "first, worst, ms": max(first),
                    "full, ms": statistics.median(full),
                    "server, ms": statistics.median(server),
                    "load of the machine": os.getloadavg()[0],
                }
            )
    show(rows)
    write(path, rows)


if __name__ == "__main__":
    main()
