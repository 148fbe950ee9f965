"""From the choice of 1,000,000 points to what is seen of them, in a browser: seconds.

    python benchmarks/first_view.py [--patience 60] [--csv benchmarks/results/first_view.csv]

The page shows 2,000 points; then the slider of their number is moved to its end. First the points
are seen, then the edges of a KDE graph of few rounds, then its spectrum and clusters ("first
look"), then those of all rounds, then the k-NN graph. What still goes on after `--patience` seconds
is cancelled, and "cancel" is how long that takes.
"""

import os
import time

import click
from _browser import PATIENCE, chromium, open_explorer, served
from _common import csv_option, show, write

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


def watch(explorer, patience):
    """Seconds until each thing was seen."""
    page, seen, start = explorer.page, {}, time.perf_counter()
    while "k-NN graph" not in seen and time.perf_counter() - start < patience:
        images, edges = (
            page.evaluate("() => window.images"),
            explorer.scores().get("Edges", ["–", "–"]),
        )
        bars = page.locator(".kg-stages").is_visible()
        facts = {
            "points": images > 0,
            "bars": bars,
            "edges": images > 1,
            "first look": images > 1 and edges[0] != "–",
            "KDE graph": "first look" in seen and edges[0] not in ("–", seen["first look"][1]),
            "k-NN graph": "KDE graph" in seen and edges[1] != "–",
        }
        for name in [name for name, holds in facts.items() if holds and name not in seen]:
            seen[name] = (time.perf_counter() - start, edges[0])
        page.wait_for_timeout(50)
    return {name: seconds for name, (seconds, _) in seen.items()}


@click.command()
@click.option("--patience", default=60, show_default=True, help="Seconds.")
@csv_option
def main(patience, path):
    """Print a column of seconds."""
    with served() as (address, _), chromium() as browser:
        explorer = open_explorer(browser, address)
        explorer.page.evaluate(COUNT_IMAGES)
        explorer.page.get_by_role("slider", name="Points n").focus()
        explorer.page.keyboard.press("End")
        row = {
            "n": 1_000_000,
            **watch(explorer, patience),
            "load of the machine": os.getloadavg()[0],
        }
        if explorer.page.locator(".kg-cancel").is_visible():
            start = time.perf_counter()
            explorer.page.locator(".kg-cancel button").click()
            explorer.page.locator(".kg-cancel").wait_for(state="hidden", timeout=PATIENCE)
            row["cancel"] = time.perf_counter() - start
    show([row])
    write(path, [row])


if __name__ == "__main__":
    main()
