"""Tight clusters next to wide ones, for which no single bandwidth is right."""

from functools import partial
from typing import ClassVar

import numpy as np
import param
from kdegraph.datasets import Dataset

from .base import Source
from .generators import POINT_COUNTS

DESCRIPTION = (
    "Two tight discs side by side, two wide ones, a spiral around them: no bandwidth for all "
    "separates the tight ones without tearing the wide ones apart; choose “Local”."
)


class Contrast(Source):
    """Draw two tight discs, two wide ones, and a spiral around them."""

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
        return partial(tight_beside_wide, self.n, self.ratio, self.seed)

    def sized(self, n):
        return partial(tight_beside_wide, n, self.ratio, self.seed)


def tight_beside_wide(n, ratio, seed):
    """Return a `Dataset` of n points in five clusters of equal size.

    The wide discs have the radius 1, the tight ones 1 / `ratio`.
    """
    rng = np.random.default_rng(seed)
    sizes = np.diff(np.arange(6) * n // 5)
    tight = 1.0 / ratio
    # The gap between the tight discs is five times the distance between neighbors within one.
    apart = tight + 2.5 * tight * np.sqrt(np.pi / max(sizes[0], 1))
    parts = (
        _disc(sizes[0], (-1.2, -apart), tight, rng),
        _disc(sizes[1], (-1.2, apart), tight, rng),
        _disc(sizes[2], (0.7, 1.15), 1.0, rng),
        _disc(sizes[3], (0.7, -1.15), 1.0, rng),
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
    """Draw points uniformly from a disc."""
    angle, place = 2 * np.pi * rng.random(n), radius * np.sqrt(rng.random(n))
    return np.column_stack([place * np.cos(angle), place * np.sin(angle)]) + center


def _spiral(n, rng):
    """Draw points along a spiral, one in each of n parts of it."""
    along = (np.arange(n) + rng.random(n)) / max(n, 1)
    angle = 2 * np.pi * (0.5 + (1.15 - 0.5) * along)  # from 0.5 to 1.15 turns
    radius = 2.0 + 0.3 * angle
    radius += 0.15 * (rng.random(n) - 0.5)  # the thickness of the spiral
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
