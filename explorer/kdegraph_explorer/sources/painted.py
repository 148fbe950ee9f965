"""Points painted with the mouse."""

import base64
from typing import ClassVar

import numpy as np
import param
from kdegraph.datasets import Dataset

from ..checks import quoted
from .base import Source

# Steps along a side of the canvas: two coordinates of 12 bits and a class fit into 32 bits.
GRID_STEPS = 4095
CANVAS = np.array([1.6, 1.0])  # its width and height
MAX_PAINTED = 20_000
MAX_ADDRESS = 1200  # painted points that an address of the page can hold
N_CLASSES = 5


def pack(points):
    """Return painted points as text.

    Each row of the (n, 3) int array is the column and the row on the grid, and the class, from 0.
    """
    x, y, label = np.asarray(points, dtype="<u4").reshape(-1, 3).T
    return base64.urlsafe_b64encode((x | y << 12 | label << 24).astype("<u4").tobytes()).decode()


def unpack(text):
    """Return the (n, 3) int array that `pack` has turned into text; refuse other text."""
    known = f"at most {MAX_PAINTED:,} painted points of {N_CLASSES} classes"
    wrong = ValueError(f"{quoted(text)} does not hold {known}")
    if len(text) > 4 * ((4 * MAX_PAINTED + 2) // 3):  # base64 turns three bytes into four
        raise wrong
    try:
        codes = np.frombuffer(base64.b64decode(text, altchars=b"-_", validate=True), dtype="<u4")
    except (ValueError, TypeError):
        raise wrong from None
    points = np.stack([codes & 4095, (codes >> 12) & 4095, codes >> 24], axis=1).astype(np.int64)
    if len(points) > MAX_PAINTED or (len(points) and points[:, 2].max() >= N_CLASSES):
        raise wrong
    return points


def along(path, amount, spread, label, seed):
    """Scatter points of a class along a stroke, as `pack` takes them.

    The `path` (m, 2) holds points of the stroke on the canvas, a single one for a dab; `spread` is
    the standard deviation of the distance from it. Points stay on the canvas.
    """
    rng = np.random.default_rng(seed)
    lengths = np.r_[0.0, np.cumsum(np.hypot(*np.diff(path, axis=0).T))]
    places = rng.uniform(0, lengths[-1], amount)
    middle = np.stack([np.interp(places, lengths, path[:, i]) for i in range(2)], axis=1)
    X = np.clip(middle + rng.normal(scale=spread, size=(amount, 2)), 0, CANVAS)
    return np.column_stack(
        [np.rint(GRID_STEPS * X / CANVAS).astype(np.int64), np.full(amount, label)]
    )


def coordinates(points):
    """Return the places of painted points on the canvas, (n, 2) float."""
    return points[:, :2] / GRID_STEPS * CANVAS


def near(points, path, reach):
    """Return for each painted point whether it lies within `reach` of a stroke; see `along`."""
    X, found = coordinates(points), np.zeros(len(points), dtype=bool)
    for start, end in zip(path, path[1:] if len(path) > 1 else path, strict=False):
        way = end - start
        share = np.clip((X - start) @ way / max(way @ way, 1e-12), 0, 1)
        found |= np.hypot(*(X - start - share[:, None] * way).T) <= reach
    return found


def _first_picture():
    """Return two arcs as text, with which painting begins."""
    turn = np.linspace(0, np.pi, 30)
    upper = np.stack([0.68 + 0.27 * np.cos(turn), 0.5 + 0.3 * np.sin(turn)], axis=1)
    lower = np.stack([0.92 + 0.27 * np.cos(turn), 0.52 - 0.3 * np.sin(turn)], axis=1)
    return pack(np.concatenate([along(upper, 150, 0.02, 0, 0), along(lower, 150, 0.02, 1, 1)]))


class Painted(Source):
    """Hold points that the user paints; the class of the paint is their known label."""

    key = "painted"
    label = "Painted points"
    controls = ("points",)
    missing = "Paint points in the view Paint."
    widgets: ClassVar[dict] = {"points": "none"}

    points = param.String(
        default=_first_picture(),
        label="Painted",
        doc="Paint in the view Paint: every stroke adds points, or takes some away.",
    )

    def loader(self):
        points = unpack(self.points)
        if len(points) == 0:
            return None
        return lambda: to_dataset(points)

    def add(self, points):
        """Paint more points; if there are more than `MAX_PAINTED`, the oldest ones are removed."""
        self.points = pack(np.concatenate([unpack(self.points), points])[-MAX_PAINTED:])

    def erase(self, path, reach):
        """Remove the points within `reach` of a stroke."""
        points = unpack(self.points)
        self.points = pack(points[~near(points, path, reach)])

    def checked(self, data):
        data = super().checked(data)
        if data["points"] == "many":
            raise ValueError(
                f"an address holds up to {MAX_ADDRESS:,} painted points; "
                "open a session file for more"
            )
        unpack(data["points"])
        return data

    def addressed(self, data):
        return data if len(unpack(data["points"])) <= MAX_ADDRESS else {**data, "points": "many"}


def to_dataset(points):
    """Return the data set of painted points, with labels if there are several classes."""
    classes, y = np.unique(points[:, 2], return_inverse=True)
    several = len(classes) > 1
    return Dataset(
        X=coordinates(points),
        y=y.astype(np.int64) if several else None,
        name="painted points",
        description=f"{len(points):,} points painted by hand.",
        feature_names=("x", "y"),
        label_names=tuple(f"paint {c + 1}" for c in classes) if several else (),
    )
