"""Comparison of screenshots with baselines, and a report to look at."""

import html
import io
import shutil
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops
from pixelmatch.contrib.PIL import pixelmatch

BASELINES = Path(__file__).parent / "baselines"
# Another build of Chromium smooths edges and letters a little differently: colors may differ by
# this much (0 to 1, as the eye sees it) ...
COLOR_TOLERANCE = 0.15
# ... and this share of the pixels by more. A moved line of text, a missing plot or another color of
# a cluster is far above it.
MAX_DIFFERENT = 0.001
PATIENCE = 20.0  # seconds that a page has to look like its baseline
REST = 1.0  # seconds that a page rests before it is made the baseline


def name_of(view, *looks):
    """Return the name of a screenshot of a view."""
    return "-".join([view.lower().replace(" ", "-"), *looks])


def hidden(page):
    """Return the parts that differ from run to run."""
    return [
        page.locator(f"{table} tr", has_text="Seconds").locator("td:visible")
        for table in (".kg-scores", ".kg-compare")
    ]


class Report:
    """Compares screenshots with the baselines and writes expected, actual and difference side by
    side as a page.

    Parameters
    ----------
    folder : Path
        Where the page and its pictures go.
    update : bool
        Make what is seen the new baseline.

    Attributes
    ----------
    patience : float
        Seconds that a page has to look like its baseline.
    """

    def __init__(self, folder, update=False):
        self.folder, self.update = folder, update
        self.patience = REST if update else PATIENCE
        self._rows = []

    def agrees(self, name, png):
        """Return whether the screenshot `png` (bytes) looks like the baseline `name`.

        It never does when the baseline is to be made.
        """
        baseline = BASELINES / f"{name}.png"
        return not self.update and baseline.exists() and not compare(baseline, io.BytesIO(png))[0]

    def check(self, name, png):
        """Fail unless the screenshot `png` (bytes) looks like the baseline `name`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        baseline, actual = BASELINES / f"{name}.png", self.folder / f"{name}-actual.png"
        actual.write_bytes(png)
        if self.update:
            BASELINES.mkdir(exist_ok=True)
            shutil.copy(actual, baseline)
        if not baseline.exists():
            raise AssertionError(
                f"there is no baseline {baseline.name}: run `make screenshots`, "
                "look at the picture, commit it"
            )
        problem, difference = compare(baseline, actual)
        shutil.copy(baseline, self.folder / f"{name}-expected.png")
        if difference is not None:
            difference.save(self.folder / f"{name}-difference.png")
        self._rows.append((name, problem, difference is not None))
        self._write()
        assert not problem, f"{name}: {problem}; see {self.folder / 'index.html'}"

    def _write(self):
        cells = "".join(
            f"<h2>{html.escape(name)}: {problem or 'as expected'}</h2><div>"
            + "".join(
                f"<figure><img src='{name}-{kind}.png'><figcaption>{kind}</figcaption></figure>"
                for kind in ("expected", "actual", *(["difference"] if different else []))
            )
            + "</div>"
            for name, problem, different in self._rows
        )
        style = (
            "body { font: 15px sans-serif } div { display: flex; gap: 8px } "
            "figure { margin: 0; flex: 1 } img { width: 100%; border: 1px solid #999 }"
        )
        (self.folder / "index.html").write_text(
            f"<!doctype html><title>Screenshots</title><style>{style}</style>{cells}"
        )


def compare(expected, actual):
    """Compare two pictures: return the problem, or "", and a picture of the difference, or None.

    Parameters
    ----------
    expected, actual : path or open file
    """
    expected, actual = (Image.open(path).convert("RGBA") for path in (expected, actual))
    if expected.size != actual.size:
        sizes = ["{} x {} pixels".format(*picture.size) for picture in (actual, expected)]
        return f"{sizes[0]}, expected {sizes[1]}", None
    changed = np.asarray(ImageChops.difference(expected, actual)) > 255 * COLOR_TOLERANCE
    # A color differs by more than the tolerance only if one of its channels does. Of these pixels,
    # pixelmatch would count a part, and take seconds for it.
    if changed.any(axis=2).mean() <= MAX_DIFFERENT:
        return "", None
    difference = Image.new("RGBA", expected.size)
    share = pixelmatch(expected, actual, difference, threshold=COLOR_TOLERANCE) / (
        expected.size[0] * expected.size[1]
    )
    return (
        f"{share:.2%} of the pixels differ, allowed are {MAX_DIFFERENT:.2%}"
        if share > MAX_DIFFERENT
        else ""
    ), difference
