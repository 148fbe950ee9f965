"""Tight clusters beside wide ones, for which no bandwidth serves all points."""

from functools import partial
from typing import ClassVar

import numpy as np
import param
from kdegraph.datasets import Dataset

from .base import Source
from .generators import POINT_COUNTS

WIDE = 1.0  # radius of the wide discs, the unit of all lengths here
# Gap between the tight discs: distances between neighbors within one. It is narrower than the
# distances within the wide discs where those are more than so many times as wide.
GAP = 5.0
TURNS = (0.5, 1.15)  # of the spiral, counted from the horizontal axis
SPIRAL_RADIUS, SPIRAL_GROWTH = 2.0, 0.3  # at angle 0, and per radian
SPIRAL_THICKNESS = 0.15
DESCRIPTION = (
    "Two tight discs side by side, two wide ones, a spiral around them: no bandwidth for all "
    "separates the tight ones without tearing the wide ones apart; choose “Local”."
)


class Contrast(Source):
    """Two tight discs, two wide ones, and a spiral around them."""

    key = "contrast"
    label = "Tight beside wide"
    controls = ("n", "ratio", "seed")
    widgets: ClassVar[dict] = {"n": "steps"}

    n = param.Selector(
        default=2000, objects=list(POINT_COUNTS), label="Points in all", doc="Number of points."
    )
    ratio = param.Integer(
        12,
        bounds=(1, 40),
        label="Times as wide",
        doc="How many times as wide as the tight discs the wide ones are. "
        "Below about 5, one bandwidth serves all.",
    )
    seed = param.Integer(
        0, bounds=(0, 2**31 - 1), label="Point seed", doc="Start of the draws of the points."
    )

    def loader(self):
        """See `Source.loader`."""
        return partial(tight_beside_wide, self.n, self.ratio, self.seed)

    def sized(self, n):
        """See `Source.sized`."""
        return partial(tight_beside_wide, n, self.ratio, self.seed)


def tight_beside_wide(n, ratio, seed):
    """Draw points.

    Parameters
    ----------
    n : int
    ratio : float
        Radius of the wide discs over that of the tight ones.
    seed : int

    Returns
    -------
    Dataset
        With the labels of five clusters of as many points each.
    """
    rng = np.random.default_rng(seed)
    sizes = np.diff(np.arange(6) * n // 5)
    tight = WIDE / ratio
    apart = tight + GAP / 2 * tight * np.sqrt(np.pi / max(sizes[0], 1))
    parts = (
        _disc(sizes[0], (-1.2, -apart), tight, rng),
        _disc(sizes[1], (-1.2, apart), tight, rng),
        _disc(sizes[2], (0.7, 1.15), WIDE, rng),
        _disc(sizes[3], (0.7, -1.15), WIDE, rng),
        _spiral(sizes[4], rng),
    )
    return Dataset(
        np.concatenate(parts),
        np.repeat(np.arange(5), sizes),
        name="tight beside wide",
        description=DESCRIPTION,
        feature_names=("x", "y"),
        n_clusters=5,
    )


def _disc(n, center, radius, rng):
    """Points that are evenly likely everywhere in a disc."""
    angle, place = 2 * np.pi * rng.random(n), radius * np.sqrt(rng.random(n))
    return np.column_stack([place * np.cos(angle), place * np.sin(angle)]) + center


def _spiral(n, rng):
    """Points along a spiral, one in each of n parts of it."""
    along = (np.arange(n) + rng.random(n)) / max(n, 1)
    angle = 2 * np.pi * (TURNS[0] + (TURNS[1] - TURNS[0]) * along)
    radius = SPIRAL_RADIUS + SPIRAL_GROWTH * angle
    radius += SPIRAL_THICKNESS * (rng.random(n) - 0.5)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
