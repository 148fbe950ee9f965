"""Synthetic data: the paper's sets, cases that show what the graphs can and cannot do, and shapes
like those of D. Huang et al., "Ultra-scalable spectral clustering and ensemble clustering", IEEE
Transactions on Knowledge and Data Engineering 32, 2020.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kdegraph.datasets import shapes
from kdegraph.io.dataset import Dataset
from kdegraph.validation import check_choice, check_count, check_seed


def _random_state(seed):
    """What scikit-learn draws from. Made from a bit generator, it takes a seed of 64 bits."""
    return np.random.RandomState(np.random.MT19937(seed))


@dataclass(frozen=True)
class Generator:
    """One kind of data: how to draw it, and what suits it.

    Attributes
    ----------
    draw : callable
        Called as ``draw(n, noise, rng)``; returns the points and their labels, or None for labels.
    description : str
        One sentence on what the data show.
    noise : float
        The noise that makes the data interesting; see `make`.
    sigma : float
        A bandwidth that suits this noise.
    n_clusters : int or None
        The number of clusters, if there are any.
    new_rng : callable
        From a seed to the `rng` that `draw` is given.
    """

    draw: Callable[..., Any]
    description: str
    noise: float
    sigma: float
    n_clusters: int | None
    new_rng: Callable[[int], Any] = _random_state


GENERATORS = {
    "moons": Generator(
        shapes.moons,
        "Two interleaved half circles, from the paper: clusters that are not convex.",
        noise=0.05,
        sigma=0.1,
        n_clusters=2,
    ),
    "circles": Generator(
        shapes.circles,
        "One circle inside another, from the paper: no straight line separates them.",
        noise=0.05,
        sigma=0.1,
        n_clusters=2,
    ),
    "anisotropic": Generator(
        shapes.anisotropic,
        "Three transformed blobs, from the paper: long and thin, so that k-means cuts across them.",
        noise=1.0,
        sigma=0.5,
        n_clusters=3,
    ),
    "blobs": Generator(
        shapes.blobs,
        "Three round blobs far apart: every method should find them.",
        noise=1.0,
        sigma=0.6,
        n_clusters=3,
    ),
    "varied": Generator(
        shapes.varied,
        "Three blobs whose spread differs sixfold: one bandwidth must serve dense and "
        "thin clusters.",
        noise=1.0,
        sigma=1.0,
        n_clusters=3,
    ),
    "spirals": Generator(
        shapes.spirals,
        "Three arms wound round each other: clusters only along the arms.",
        noise=0.01,
        sigma=0.06,
        n_clusters=3,
    ),
    "rings": Generator(
        shapes.rings,
        "Two interlocked rings in 3 dimensions: no plane separates them.",
        noise=0.05,
        sigma=0.2,
        n_clusters=2,
    ),
    "blobs3d": Generator(
        shapes.blobs3d,
        "Four round blobs at the corners of a tetrahedron, in 3 dimensions.",
        noise=1.0,
        sigma=0.9,
        n_clusters=4,
    ),
    "blobs20d": Generator(
        shapes.blobs20d,
        "Five blobs in 20 dimensions, where all distances look alike.",
        noise=0.5,
        sigma=1.5,
        n_clusters=5,
    ),
    "swiss_roll": Generator(
        shapes.swiss_roll,
        "A rolled-up sheet in 3 dimensions: one curved surface without clusters.",
        noise=0.1,
        sigma=1.5,
        n_clusters=None,
    ),
    "s_curve": Generator(
        shapes.s_curve,
        "A sheet bent like an S, in 3 dimensions: one curved surface without clusters.",
        noise=0.05,
        sigma=0.2,
        n_clusters=None,
    ),
    "uniform": Generator(
        shapes.uniform,
        "Points without any structure: the eigenvalues show no gap, and any clusters are made up.",
        noise=0.0,
        sigma=0.05,
        n_clusters=None,
    ),
    "clumps": Generator(
        shapes.clumps,
        "Two moons, each place measured some 25 times: a k-NN graph falls apart into the "
        "places, the kernel graph sees moons.",
        noise=0.002,
        sigma=0.2,
        n_clusters=2,
    ),
    "scales": Generator(
        shapes.scales,
        "Two tiny blobs side by side and two wide ones: a bandwidth that separates the tiny "
        "ones tears the wide ones apart; a k-NN graph adapts.",
        noise=0.015,
        sigma=0.1,
        n_clusters=4,
    ),
    "bridge": Generator(
        shapes.bridge,
        "Two blobs joined by a thin chain of points: the eigenvalue of the cut tells how "
        "weak the chain is.",
        noise=0.5,
        sigma=0.3,
        n_clusters=2,
    ),
    "touching_blobs": Generator(
        shapes.touching_blobs,
        "Eight round blobs at random places, some of which touch: where they do, no method can "
        "tell them apart.",
        noise=1.0,
        sigma=1.0,
        n_clusters=8,
        new_rng=np.random.default_rng,
    ),
    "small_beside_large": Generator(
        shapes.small_beside_large,
        "A wide blob of 95 % of the points, and a tight one of 5 %: a cluster may be small.",
        noise=1.0,
        sigma=0.5,
        n_clusters=2,
        new_rng=np.random.default_rng,
    ),
    "one_gaussian": Generator(
        shapes.one_gaussian,
        "A single normal distribution in 3 dimensions: there is nothing to separate.",
        noise=1.0,
        sigma=1.0,
        n_clusters=None,
        new_rng=np.random.default_rng,
    ),
    "two_bananas": Generator(
        shapes.two_bananas,
        "Two thick arcs bent round each other, as in large benchmarks (Huang et al., 2020).",
        noise=0.1,
        sigma=0.12,
        n_clusters=2,
        new_rng=np.random.default_rng,
    ),
    "smiling_face": Generator(
        shapes.smiling_face,
        "Outline, eyes and mouth of a smiling face, as in large benchmarks (Huang et al., 2020).",
        noise=0.03,
        sigma=0.1,
        n_clusters=4,
        new_rng=np.random.default_rng,
    ),
    "three_circles": Generator(
        shapes.three_circles,
        "Three circles with one center, as in large benchmarks (Huang et al., 2020).",
        noise=0.1,
        sigma=0.25,
        n_clusters=3,
        new_rng=np.random.default_rng,
    ),
    "circles_and_blobs": Generator(
        shapes.circles_and_blobs,
        "Circles around blobs and blobs between circles, as in large benchmarks (Huang et al., "
        "2020).",
        noise=0.1,
        sigma=0.3,
        n_clusters=7,
        new_rng=np.random.default_rng,
    ),
    "petals": Generator(
        shapes.petals,
        "The middle and the petals of a flower, as in large benchmarks (Huang et al., 2020).",
        noise=0.02,
        sigma=0.1,
        n_clusters=7,
        new_rng=np.random.default_rng,
    ),
}


def names() -> tuple[str, ...]:
    """Return the names of the data that `make` draws.

    Returns
    -------
    tuple of str
        The paper's data come first.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> datasets.names()[:3]
    ('moons', 'circles', 'anisotropic')
    """
    return tuple(GENERATORS)


def describe(name: str) -> str:
    """Return one sentence on what the data of a name show.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    str

    Raises
    ------
    ValueError, TypeError
        If there are no data of this name.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> datasets.describe("blobs")
    'Three round blobs far apart: every method should find them.'
    """
    return GENERATORS[check_choice(name, "name", names())].description


def default_noise(name: str) -> float:
    """The noise that `make` uses by default.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    float
        In the units of the data; see the parameter `noise` of `make`.

    Raises
    ------
    ValueError, TypeError
        For an unknown name.

    Examples
    --------
    >>> import kdegraph
    >>> kdegraph.datasets.default_noise("moons")
    0.05
    """
    return GENERATORS[check_choice(name, "name", names())].noise


def make(
    name: str,
    n: int = 2000,
    noise: float | None = None,
    seed: int | np.random.Generator | None = None,
) -> Dataset:
    """Draw synthetic data.

    Parameters
    ----------
    name : str
        One of `names`: the paper's "moons", "circles" and "anisotropic" (transformed blobs), and
        more; see `describe`.
    n : int
        Number of points.
    noise : float, optional
        Standard deviation of the noise, or of a blob, in the units of the data; 0 or more. For
        "varied" and "scales" it is a factor of the standard deviations. By default the value that
        makes the data interesting.
    seed : None, int or numpy Generator
        The same seed gives the same points. None draws different points each time.

    Returns
    -------
    Dataset
        With labels where there are clusters, and with the bandwidth and the number of clusters that
        suit the default noise.

    Raises
    ------
    ValueError, TypeError
        If there are no data of this name, if `n` is less than 1, or if `noise` or `seed` is out of
        its range.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> data = datasets.make("moons", n=1000, seed=0)
    >>> data.X.shape, data.y.shape, data.sigma, data.n_clusters
    ((1000, 2), (1000,), 0.1, 2)
    """
    generator = GENERATORS[check_choice(name, "name", names())]
    n = check_count(n, "n")
    if noise is None:
        noise = generator.noise
    elif isinstance(noise, (str, bytes, bool)) or not np.isreal(noise) or np.ndim(noise):
        raise TypeError(f"noise must be a number >= 0, got {noise!r}")
    elif not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise must be a finite number >= 0, got {noise!r}")
    X, y = generator.draw(n, float(noise), generator.new_rng(check_seed(seed)))
    n_labels = 0 if y is None else generator.n_clusters or 0
    return Dataset(
        X=np.ascontiguousarray(X, dtype=np.float64),
        y=None if y is None else y.astype(np.int64),
        name=name,
        description=generator.description,
        feature_names=tuple("xyz"[: X.shape[1]]) if X.shape[1] <= 3 else (),
        label_names=tuple(str(label) for label in range(n_labels)),
        sigma=generator.sigma,
        n_clusters=generator.n_clusters,
    )
