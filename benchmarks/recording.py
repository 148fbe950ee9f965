"""Record the moving picture of the README: `python -m benchmarks.recording`.

The mouse drags along the bands in the explorer's view "Scales", from small scales to large ones and
back. Each frame is taken when the page has followed.
"""

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.browser import PATIENCE, chromium, served

DATA = "?source=generators&data.shape=smiling_face&data.n=2000"
WINDOW = {"width": 1280, "height": 720}
PART = {"x": 320, "y": 96, "width": 960, "height": 624}  # the cards of the view
SHARES = np.linspace(0.2, 0.93, 23)  # of the width of the bands, where the mouse stops
FILE = Path(__file__).parents[1] / "docs" / "scales.webp"


def frames(page):
    """Yield a picture of the view for each place on the way of the mouse."""
    page.open_view("Scales")
    page.page.locator(".kg-scales").filter(has_text="1 from σ").wait_for()
    box = page.page.locator(".kg-scales-bands canvas").first.bounding_box()
    places = box["x"] + SHARES * box["width"]
    mouse, y = page.page.mouse, box["y"] + 0.7 * box["height"]
    mouse.move(places[0], y)
    mouse.down()
    for start, end in pairwise([*places, *places[-2::-1]]):
        for x in ((start + end) / 2, end):
            mouse.move(x, y)
            # A browser makes one event of all moves between two frames, which is no drag.
            page.page.evaluate("() => new Promise(done => requestAnimationFrame(done))")
        page.page.wait_for_timeout(200)
        page.settle()
        yield Image.open(io.BytesIO(page.page.screenshot(clip=PART)))
    mouse.up()


def record(path):
    """Write the moving picture."""
    from browser.explorer_page import ExplorerPage

    with served() as (address, _), chromium() as browser:
        page = browser.new_page(viewport=WINDOW)
        page.set_default_timeout(PATIENCE)
        first, *others = frames(ExplorerPage(page).open(address + DATA))
    first.save(path, append_images=others, save_all=True, duration=200, loop=0, quality=70)


if __name__ == "__main__":
    record(FILE)
