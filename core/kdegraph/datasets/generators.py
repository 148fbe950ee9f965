"""Synthetic data: the paper's sets, cases that show what the graphs can and cannot do, and shapes
like those of D. Huang et al., "Ultra-scalable spectral clustering and ensemble clustering", IEEE
Transactions on Knowledge and Data Engineering 32, 2020.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

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


def _split(n, parts):
    """Sizes of `parts` groups that add up to `n` and differ by at most one."""
    return np.diff(np.arange(parts + 1) * n // parts)


def _labels(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def _jitter(X, noise, rng):
    return X + rng.normal(scale=noise, size=X.shape) if noise > 0 else X


def _moons(n, noise, rng):
    from sklearn.datasets import make_moons

    return make_moons(n, noise=noise, random_state=rng)


def _circles(n, noise, rng):
    from sklearn.datasets import make_circles

    return make_circles(n, noise=noise, factor=0.5, random_state=rng)


def _blobs(n, noise, rng, centers=((-4.0, -3.0), (4.0, -3.0), (0.0, 4.0))):
    from sklearn.datasets import make_blobs

    return make_blobs(n, centers=np.array(centers), cluster_std=noise, random_state=rng)


def _anisotropic(n, noise, rng):
    X, y = _blobs(n, noise, rng, ((1.0, 5.0), (-5.0, -8.5), (-9.0, 0.5)))
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def _varied(n, noise, rng):
    from sklearn.datasets import make_blobs

    centers = np.array([(-6.0, 0.0), (4.0, 5.0), (4.0, -3.0)])
    return make_blobs(
        n, centers=centers, cluster_std=noise * np.array([2.5, 1.0, 0.4]), random_state=rng
    )


def _spirals(n, noise, rng):
    sizes = _split(n, 3)
    y = _labels(sizes)
    turn = np.sqrt(rng.uniform(0.04, 1.0, n))  # square root: points evenly spaced along the arm
    angle = 2.5 * np.pi * turn + y * (2 * np.pi / 3)
    return _jitter(np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1), noise, rng), y


def _uniform(n, noise, rng):
    return _jitter(rng.random((n, 2)), noise, rng), None


def _clumps(n, noise, rng):
    """Two moons made of places that were measured about 25 times each."""
    from sklearn.datasets import make_moons

    places, y = make_moons(max(2, n // 25), noise=0.05, random_state=rng)
    which = rng.permutation(np.arange(n) % len(places))
    return _jitter(places[which], noise, rng), y[which]


def _scales(n, noise, rng):
    """Two tiny blobs side by side, and two wide ones: no bandwidth suits both pairs."""
    centers = np.array([(-0.06, 0.0), (0.06, 0.0), (2.5, 1.5), (2.5, -1.5)])
    y = _labels(_split(n, 4))
    spread = noise * np.array([1.0, 1.0, 30.0, 30.0])
    return centers[y] + rng.standard_normal((n, 2)) * spread[y, None], y


def _bridge(n, noise, rng):
    """Two blobs joined by a thin chain of points."""
    on_chain = min(n // 20, n)
    y = np.concatenate([_labels(_split(n - on_chain, 2)), np.zeros(on_chain, int)])
    X = np.array([(-2.0, 0.0), (2.0, 0.0)])[y] + noise * rng.standard_normal((n, 2))
    if on_chain:
        chain = rng.uniform(-2.0, 2.0, on_chain)
        X[n - on_chain :] = np.stack([chain, 0.1 * noise * rng.standard_normal(on_chain)], axis=1)
        y[n - on_chain :] = chain > 0
    return X, y


def _rings(n, noise, rng):
    """Two interlocked rings in space."""
    y = _labels(_split(n, 2))
    angle = rng.uniform(0, 2 * np.pi, n)
    flat, zero = np.cos(angle), np.zeros(n)
    X = np.where(
        (y == 0)[:, None],
        np.stack([flat, np.sin(angle), zero], 1),
        np.stack([flat + 1.0, zero, np.sin(angle)], 1),
    )
    return _jitter(X, noise, rng), y


def _blobs3d(n, noise, rng):
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
    return _blobs(n, noise, rng, 3.0 * corners)


def _blobs20d(n, noise, rng):
    return _blobs(n, noise, rng, 3.0 * np.eye(20)[:5])


def _swiss_roll(n, noise, rng):
    from sklearn.datasets import make_swiss_roll

    return make_swiss_roll(n, noise=noise, random_state=rng)[0], None


def _s_curve(n, noise, rng):
    from sklearn.datasets import make_s_curve

    return make_s_curve(n, noise=noise, random_state=rng)[0], None


def _touching_blobs(n, noise, rng):
    centers, y = rng.uniform(-6, 6, (8, 2)), np.arange(n) % 8
    return _jitter(centers[y], noise, rng), y


def _small_beside_large(n, noise, rng):
    y = (np.arange(n) >= 0.95 * n).astype(int)
    X = rng.normal(size=(n, 2)) * (noise * np.where(y, 0.2, 1.0))[:, None]
    return X + 5.0 * y[:, None], y


def _one_gaussian(n, noise, rng):
    return noise * rng.normal(size=(n, 3)), None


def _circle(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _disc(n, rng):
    """Points that are evenly likely everywhere in a disc of radius 1."""
    return _circle(rng.uniform(0, 2 * np.pi, n)) * np.sqrt(rng.random(n))[:, None]


def _two_bananas(n, noise, rng):
    y = _labels(_split(n, 2))
    bent = _circle(np.pi * (rng.uniform(-0.875, 0.375, n) + y))
    return _jitter(bent - 0.75 * y[:, None], noise, rng), y


def _smiling_face(n, noise, rng):
    """The outline, two eyes and the mouth."""
    y = _labels(_split(n, 4))
    turn, eye, aside = rng.random(n), 0.12 * _disc(n, rng), np.array([0.35, 0.0])
    eye[:, 1] += 0.3
    mouth = 0.55 * _circle(np.pi * (1.15 + 0.7 * turn))
    places = _circle(2 * np.pi * turn), eye - aside, eye + aside, mouth
    return _jitter(np.choose(y[:, None], places), noise, rng), y


def _three_circles(n, noise, rng):
    """As many points on each part of a circle as on any other."""
    y = np.repeat([0, 1, 2], np.bincount([0, 1, 1, 2, 2, 2], _split(n, 6)).astype(int))
    return _jitter((1 + y)[:, None] * _circle(rng.uniform(0, 2 * np.pi, n)), noise, rng), y


def _circles_and_blobs(n, noise, rng):
    """Two circles around a blob each, and three blobs between them."""
    places = np.array([(-3, 0), (3, 0), (-3, 0), (3, 0), (0, -2), (0, 0), (0, 2)])
    y = _labels(_split(n, 7))
    on_circle = (y < 2)[:, None]
    X = places[y] + 1.5 * on_circle * _circle(rng.uniform(0, 2 * np.pi, n))
    return X + noise * np.where(on_circle, 1.0, 2.0) * rng.normal(size=(n, 2)), y


def _petals(n, noise, rng):
    """A disc in the middle, and six petals around it."""
    y = _labels(_split(n, 7))
    in_disc, angle = _disc(n, rng), y * (np.pi / 3)
    along, across = (in_disc * (0.5, 0.25) + (1.1, 0.0)).T
    petals = along * _circle(angle).T + across * _circle(angle + np.pi / 2).T
    return _jitter(np.where((y == 0)[:, None], 0.4 * in_disc, petals.T), noise, rng), y


GENERATORS = {
    "moons": Generator(
        _moons,
        "Two interleaved half circles, from the paper: clusters that are not convex.",
        noise=0.05,
        sigma=0.1,
        n_clusters=2,
    ),
    "circles": Generator(
        _circles,
        "One circle inside another, from the paper: no straight line separates them.",
        noise=0.05,
        sigma=0.1,
        n_clusters=2,
    ),
    "anisotropic": Generator(
        _anisotropic,
        "Three transformed blobs, from the paper: long and thin, so that k-means cuts across them.",
        noise=1.0,
        sigma=0.5,
        n_clusters=3,
    ),
    "blobs": Generator(
        _blobs,
        "Three round blobs far apart: every method should find them.",
        noise=1.0,
        sigma=0.6,
        n_clusters=3,
    ),
    "varied": Generator(
        _varied,
        "Three blobs whose spread differs sixfold: one bandwidth must serve dense and "
        "thin clusters.",
        noise=1.0,
        sigma=1.0,
        n_clusters=3,
    ),
    "spirals": Generator(
        _spirals,
        "Three arms wound round each other: clusters only along the arms.",
        noise=0.01,
        sigma=0.06,
        n_clusters=3,
    ),
    "rings": Generator(
        _rings,
        "Two interlocked rings in 3 dimensions: no plane separates them.",
        noise=0.05,
        sigma=0.2,
        n_clusters=2,
    ),
    "blobs3d": Generator(
        _blobs3d,
        "Four round blobs at the corners of a tetrahedron, in 3 dimensions.",
        noise=1.0,
        sigma=0.9,
        n_clusters=4,
    ),
    "blobs20d": Generator(
        _blobs20d,
        "Five blobs in 20 dimensions, where all distances look alike.",
        noise=0.5,
        sigma=1.5,
        n_clusters=5,
    ),
    "swiss_roll": Generator(
        _swiss_roll,
        "A rolled-up sheet in 3 dimensions: one curved surface without clusters.",
        noise=0.1,
        sigma=1.5,
        n_clusters=None,
    ),
    "s_curve": Generator(
        _s_curve,
        "A sheet bent like an S, in 3 dimensions: one curved surface without clusters.",
        noise=0.05,
        sigma=0.2,
        n_clusters=None,
    ),
    "uniform": Generator(
        _uniform,
        "Points without any structure: the eigenvalues show no gap, and any clusters are made up.",
        noise=0.0,
        sigma=0.05,
        n_clusters=None,
    ),
    "clumps": Generator(
        _clumps,
        "Two moons, each place measured some 25 times: a k-NN graph falls apart into the "
        "places, the kernel graph sees moons.",
        noise=0.002,
        sigma=0.2,
        n_clusters=2,
    ),
    "scales": Generator(
        _scales,
        "Two tiny blobs side by side and two wide ones: a bandwidth that separates the tiny "
        "ones tears the wide ones apart; a k-NN graph adapts.",
        noise=0.015,
        sigma=0.1,
        n_clusters=4,
    ),
    "bridge": Generator(
        _bridge,
        "Two blobs joined by a thin chain of points: the eigenvalue of the cut tells how "
        "weak the chain is.",
        noise=0.5,
        sigma=0.3,
        n_clusters=2,
    ),
    "touching_blobs": Generator(
        _touching_blobs,
        "Eight round blobs at random places, some of which touch: where they do, no method can "
        "tell them apart.",
        noise=1.0,
        sigma=1.0,
        n_clusters=8,
        new_rng=np.random.default_rng,
    ),
    "small_beside_large": Generator(
        _small_beside_large,
        "A wide blob of 95 % of the points, and a tight one of 5 %: a cluster may be small.",
        noise=1.0,
        sigma=0.5,
        n_clusters=2,
        new_rng=np.random.default_rng,
    ),
    "one_gaussian": Generator(
        _one_gaussian,
        "A single normal distribution in 3 dimensions: there is nothing to separate.",
        noise=1.0,
        sigma=1.0,
        n_clusters=None,
        new_rng=np.random.default_rng,
    ),
    "two_bananas": Generator(
        _two_bananas,
        "Two thick arcs bent round each other, as in large benchmarks (Huang et al., 2020).",
        noise=0.1,
        sigma=0.12,
        n_clusters=2,
        new_rng=np.random.default_rng,
    ),
    "smiling_face": Generator(
        _smiling_face,
        "Outline, eyes and mouth of a smiling face, as in large benchmarks (Huang et al., 2020).",
        noise=0.03,
        sigma=0.1,
        n_clusters=4,
        new_rng=np.random.default_rng,
    ),
    "three_circles": Generator(
        _three_circles,
        "Three circles with one center, as in large benchmarks (Huang et al., 2020).",
        noise=0.1,
        sigma=0.25,
        n_clusters=3,
        new_rng=np.random.default_rng,
    ),
    "circles_and_blobs": Generator(
        _circles_and_blobs,
        "Circles around blobs and blobs between circles, as in large benchmarks (Huang et al., "
        "2020).",
        noise=0.1,
        sigma=0.3,
        n_clusters=7,
        new_rng=np.random.default_rng,
    ),
    "petals": Generator(
        _petals,
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
