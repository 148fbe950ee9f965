"""Generated shapes, and the photographs that come with scikit-learn."""

from functools import cache, partial
from typing import ClassVar

import numpy as np
import param
from kdegraph import datasets
from kdegraph.datasets import Dataset

from .base import Source

# 15,000 points are those of the paper's experiments.
POINT_COUNTS = sorted(
    [15_000, 1_000_000, *(digit * 10**power for power in range(2, 6) for digit in (1, 2, 5))]
)
PIXELS = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)
NOTES = {  # why a shape is offered, after its name
    "moons": "paper",
    "circles": "paper",
    "anisotropic": "paper",
    "clumps": "k-NN fails",
    "scales": "Gaussian fails",
}


def _titles(*names):
    """Return the names of shapes by the titles that the user reads."""
    words = {name: name.replace("_", " ").replace("gaussian", "Gaussian") for name in names}
    notes = {name: f" ({NOTES[name]})" if name in NOTES else "" for name in names}
    return {word[0].upper() + word[1:] + notes[name]: name for name, word in words.items()}


SHAPES = {
    "Curved": _titles(
        "moons",
        "circles",
        "two_bananas",
        "spirals",
        "rings",
        "three_circles",
        "smiling_face",
        "petals",
        "circles_and_blobs",
    ),
    "Blobs": _titles(
        "anisotropic",
        "blobs",
        "varied",
        "bridge",
        "touching_blobs",
        "small_beside_large",
        "blobs3d",
        "blobs20d",
    ),
    "Hard for one of the graphs": _titles("clumps", "scales"),
    "No clusters": _titles("uniform", "swiss_roll", "s_curve", "one_gaussian"),
}


class Generators(Source):
    """Draw points from a shape, with their true labels if it has clusters."""

    key = "generators"
    label = "Generated points"
    controls = ("shape", "n", "noise", "seed")
    widgets: ClassVar[dict] = {"shape": SHAPES, "n": "steps"}
    # Whether the points of the first page are those of other sessions, too. A notebook could change
    # arrays that are shared.
    shared = False

    shape = param.Selector(
        objects={title: name for titles in SHAPES.values() for title, name in titles.items()},
        label="Shape",
        doc="What the points form; the sentence below says what they show.",
    )
    n = param.Selector(
        default=2000, objects=list(POINT_COUNTS), label="Points n", doc="Number of points."
    )
    noise = param.Number(
        1.0,
        bounds=(0, 4),
        step=0.05,
        label="Noise",
        doc="Spread of the points, as a multiple of what is usual for the shape.",
    )
    seed = param.Integer(
        0, bounds=(0, 2**31 - 1), label="Data seed", doc="Start of the random draws of the points."
    )

    def loader(self):
        first = self.shared and self.recall() == FIRST
        return first_points if first else self.sized(self.n)

    def sized(self, n):
        noise = self.noise * datasets.default_noise(self.shape)
        return partial(datasets.make, self.shape, n=n, noise=noise, seed=self.seed)

    def script(self, data, dataset):
        noise = data["noise"] * datasets.default_noise(data["shape"])
        options = f"n={data['n']!r}, noise={noise!r}, seed={data['seed']!r}"
        return [f"data = kdegraph.datasets.make({data['shape']!r}, {options})"]


FIRST = {**Generators().defaults(), "shape": "clumps"}  # the parameters of the first page


@cache
def first_points():
    """Return the points of the first page, always the same object: sessions share their stages."""
    source = Generators()
    source.restore(FIRST)
    return source.sized(source.n)()


class Contrast(Source):
    """Draw two tight discs, two wide ones, and a spiral: no single bandwidth is right for them."""

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


class Photographs(Source):
    """Turn the pixels of a photograph into points, by color and place."""

    key = "photographs"
    label = "Photograph"
    controls = ("picture", "pixels")
    widgets: ClassVar[dict] = {"pixels": "steps"}

    picture = param.Selector(
        objects=list(datasets.photo_names()),
        label="Picture",
        doc="Photographs of 640 by 427 pixels.",
    )
    pixels = param.Selector(
        default=10_000,
        objects=list(PIXELS),
        label="Pixels",
        doc="The picture is scaled down to at most this many pixels.",
    )

    def loader(self):
        return partial(datasets.photo, self.picture, max_pixels=self.pixels)

    def script(self, data, dataset):
        return [
            f"data = kdegraph.datasets.photo({data['picture']!r}, max_pixels={data['pixels']!r})"
        ]


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
        description="Two tight discs side by side, two wide ones, a spiral around them: no "
        "bandwidth for all separates the tight ones without tearing the wide ones apart; "
        "choose “Local”.",
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
