"""The synthetic data that `make` draws: the paper's, cases that show what the graphs can and cannot
do, and shapes like those of D. Huang et al., "Ultra-scalable spectral clustering and ensemble
clustering", IEEE Transactions on Knowledge and Data Engineering 32, 2020.

To add a shape, write a function with the decorator `shape`; `describe` returns its docstring.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Shape(NamedTuple):
    """One kind of synthetic data."""

    # Called as ``draw(n, noise, rng)``; returns the points and their labels, or None for labels.
    draw: Callable[..., Any]
    noise: float  # the default noise; see `make`
    sigma: float  # a bandwidth that suits this noise
    n_clusters: int | None  # the number of clusters, if there are any
    new_rng: Callable[[int], Any]  # takes a seed, returns the `rng` of `draw`

    @property
    def description(self):
        """The docstring of the function, as one line."""
        return " ".join((self.draw.__doc__ or "").split())


# All shapes by name, in the order in which user interfaces list them.
SHAPES: dict[str, Shape] = {}


def _random_state(seed):
    """Return the generator from which scikit-learn draws, for a seed of 64 bits."""
    return np.random.RandomState(np.random.MT19937(seed))


def shape(noise, sigma, n_clusters, new_rng=_random_state):
    """Register the decorated function as the `Shape` of its name."""

    def register(draw):
        SHAPES[draw.__name__] = Shape(draw, noise, sigma, n_clusters, new_rng)
        return draw

    return register


def _from_sklearn(name, n, rng, **options):
    """Return the points and labels that scikit-learn draws; it is loaded when it is needed."""
    from sklearn import datasets

    return getattr(datasets, f"make_{name}")(n, random_state=rng, **options)


def _labels(n, parts):
    """Return the labels of `n` points in `parts` groups, whose sizes differ by at most one."""
    return np.repeat(np.arange(parts), np.diff(np.arange(parts + 1) * n // parts))


def _jitter(X, noise, rng):
    return X + rng.normal(scale=noise, size=X.shape) if noise > 0 else X


def _circle(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _disc(n, rng):
    """Draw points uniformly from a disc of radius 1."""
    return _circle(rng.uniform(0, 2 * np.pi, n)) * np.sqrt(rng.random(n))[:, None]


@shape(noise=0.05, sigma=0.1, n_clusters=2)
def moons(n, noise, rng):
    """Two interleaved half circles, from the paper: clusters that are not convex."""
    return _from_sklearn("moons", n, rng, noise=noise)


@shape(noise=0.05, sigma=0.1, n_clusters=2)
def circles(n, noise, rng):
    """One circle inside another, from the paper: no straight line separates them."""
    return _from_sklearn("circles", n, rng, noise=noise, factor=0.5)


@shape(noise=1.0, sigma=0.5, n_clusters=3)
def anisotropic(n, noise, rng):
    """Three transformed blobs, from the paper: long and thin, so that k-means cuts across them."""
    X, y = blobs(n, noise, rng, ((1.0, 5.0), (-5.0, -8.5), (-9.0, 0.5)))
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


@shape(noise=1.0, sigma=0.6, n_clusters=3)
def blobs(n, noise, rng, centers=((-4.0, -3.0), (4.0, -3.0), (0.0, 4.0))):
    """Three round blobs far apart: every method should find them."""
    return _from_sklearn("blobs", n, rng, centers=np.array(centers), cluster_std=noise)


@shape(noise=1.0, sigma=1.0, n_clusters=3)
def varied(n, noise, rng):
    """Three blobs whose spread differs sixfold: one bandwidth must serve dense and thin
    clusters.
    """
    centers = np.array([(-6.0, 0.0), (4.0, 5.0), (4.0, -3.0)])
    spread = noise * np.array([2.5, 1.0, 0.4])
    return _from_sklearn("blobs", n, rng, centers=centers, cluster_std=spread)


@shape(noise=0.01, sigma=0.06, n_clusters=3)
def spirals(n, noise, rng):
    """Three arms wound round each other: clusters only along the arms."""
    y = _labels(n, 3)
    turn = np.sqrt(rng.uniform(0.04, 1.0, n))  # square root: points evenly spaced along the arm
    angle = 2.5 * np.pi * turn + y * (2 * np.pi / 3)
    return _jitter(turn[:, None] * _circle(angle), noise, rng), y


@shape(noise=0.05, sigma=0.2, n_clusters=2)
def rings(n, noise, rng):
    """Two interlocked rings in 3 dimensions: no plane separates them."""
    y = _labels(n, 2)
    (across, along), zero = _circle(rng.uniform(0, 2 * np.pi, n)).T, np.zeros(n)
    X = np.where(y == 0, (across, along, zero), (across + 1.0, zero, along)).T
    return _jitter(X, noise, rng), y


@shape(noise=1.0, sigma=0.9, n_clusters=4)
def blobs3d(n, noise, rng):
    """Four round blobs at the corners of a tetrahedron, in 3 dimensions."""
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
    return blobs(n, noise, rng, 3.0 * corners)


@shape(noise=0.5, sigma=1.5, n_clusters=5)
def blobs20d(n, noise, rng):
    """Five blobs in 20 dimensions, where all distances look alike."""
    return blobs(n, noise, rng, 3.0 * np.eye(20)[:5])


@shape(noise=0.1, sigma=1.5, n_clusters=None)
def swiss_roll(n, noise, rng):
    """A rolled-up sheet in 3 dimensions: one curved surface without clusters."""
    return _from_sklearn("swiss_roll", n, rng, noise=noise)[0], None


@shape(noise=0.05, sigma=0.2, n_clusters=None)
def s_curve(n, noise, rng):
    """A sheet bent like an S, in 3 dimensions: one curved surface without clusters."""
    return _from_sklearn("s_curve", n, rng, noise=noise)[0], None


@shape(noise=0.0, sigma=0.05, n_clusters=None)
def uniform(n, noise, rng):
    """Points without any structure: the eigenvalues show no gap, and any clusters are made up."""
    return _jitter(rng.random((n, 2)), noise, rng), None


@shape(noise=0.002, sigma=0.2, n_clusters=2)
def clumps(n, noise, rng):
    """Two moons, each place measured some 25 times: a k-NN graph falls apart into the places, the
    kernel graph sees moons.
    """
    places, y = _from_sklearn("moons", max(2, n // 25), rng, noise=0.05)
    which = rng.permutation(np.arange(n) % len(places))
    return _jitter(places[which], noise, rng), y[which]


@shape(noise=0.015, sigma=0.1, n_clusters=4)
def scales(n, noise, rng):
    """Two tiny blobs side by side and two wide ones: a bandwidth that separates the tiny ones tears
    the wide ones apart; a k-NN graph adapts.
    """
    centers = np.array([(-0.06, 0.0), (0.06, 0.0), (2.5, 1.5), (2.5, -1.5)])
    y = _labels(n, 4)
    spread = noise * np.array([1.0, 1.0, 30.0, 30.0])
    return centers[y] + rng.standard_normal((n, 2)) * spread[y, None], y


@shape(noise=0.5, sigma=0.3, n_clusters=2)
def bridge(n, noise, rng):
    """Two blobs joined by a thin chain of points: the eigenvalue of the cut shows how weak the
    chain is.
    """
    on_chain = min(n // 20, n)
    y = np.concatenate([_labels(n - on_chain, 2), np.zeros(on_chain, int)])
    X = np.array([(-2.0, 0.0), (2.0, 0.0)])[y] + noise * rng.standard_normal((n, 2))
    if on_chain:
        chain = rng.uniform(-2.0, 2.0, on_chain)
        X[n - on_chain :] = np.stack([chain, 0.1 * noise * rng.standard_normal(on_chain)], axis=1)
        y[n - on_chain :] = chain > 0
    return X, y


@shape(noise=1.0, sigma=1.0, n_clusters=8, new_rng=np.random.default_rng)
def touching_blobs(n, noise, rng):
    """Eight round blobs at random places, some of which touch: where they do, no method can tell
    them apart.
    """
    centers, y = rng.uniform(-6, 6, (8, 2)), np.arange(n) % 8
    return _jitter(centers[y], noise, rng), y


@shape(noise=1.0, sigma=0.5, n_clusters=2, new_rng=np.random.default_rng)
def small_beside_large(n, noise, rng):
    """A wide blob of 95 % of the points, and a tight one of 5 %: a cluster may be small."""
    y = (np.arange(n) >= 0.95 * n).astype(int)
    X = rng.normal(size=(n, 2)) * (noise * np.where(y, 0.2, 1.0))[:, None]
    return X + 5.0 * y[:, None], y


@shape(noise=1.0, sigma=1.0, n_clusters=None, new_rng=np.random.default_rng)
def one_gaussian(n, noise, rng):
    """A single normal distribution in 3 dimensions: there is nothing to separate."""
    return noise * rng.normal(size=(n, 3)), None


@shape(noise=0.1, sigma=0.12, n_clusters=2, new_rng=np.random.default_rng)
def two_bananas(n, noise, rng):
    """Two thick arcs bent round each other, as in large benchmarks (Huang et al., 2020)."""
    y = _labels(n, 2)
    bent = _circle(np.pi * (rng.uniform(-0.875, 0.375, n) + y))
    return _jitter(bent - 0.75 * y[:, None], noise, rng), y


@shape(noise=0.03, sigma=0.1, n_clusters=4, new_rng=np.random.default_rng)
def smiling_face(n, noise, rng):
    """Outline, eyes and mouth of a smiling face, as in large benchmarks (Huang et al., 2020)."""
    y = _labels(n, 4)
    turn, eye, aside = rng.random(n), 0.12 * _disc(n, rng), np.array([0.35, 0.0])
    eye[:, 1] += 0.3
    mouth = 0.55 * _circle(np.pi * (1.15 + 0.7 * turn))
    places = _circle(2 * np.pi * turn), eye - aside, eye + aside, mouth
    return _jitter(np.choose(y[:, None], places), noise, rng), y


@shape(noise=0.1, sigma=0.25, n_clusters=3, new_rng=np.random.default_rng)
def three_circles(n, noise, rng):
    """Three circles with one center, as in large benchmarks (Huang et al., 2020)."""
    # As many points on each part of a circle as on any other.
    y = np.array([0, 1, 1, 2, 2, 2])[_labels(n, 6)]
    return _jitter((1 + y)[:, None] * _circle(rng.uniform(0, 2 * np.pi, n)), noise, rng), y


@shape(noise=0.1, sigma=0.3, n_clusters=7, new_rng=np.random.default_rng)
def circles_and_blobs(n, noise, rng):
    """Circles around blobs and blobs between circles, as in large benchmarks (Huang et al.,
    2020).
    """
    places = np.array([(-3, 0), (3, 0), (-3, 0), (3, 0), (0, -2), (0, 0), (0, 2)])
    y = _labels(n, 7)
    on_circle = (y < 2)[:, None]
    X = places[y] + 1.5 * on_circle * _circle(rng.uniform(0, 2 * np.pi, n))
    return X + noise * np.where(on_circle, 1.0, 2.0) * rng.normal(size=(n, 2)), y


@shape(noise=0.02, sigma=0.1, n_clusters=7, new_rng=np.random.default_rng)
def petals(n, noise, rng):
    """The middle and the petals of a flower, as in large benchmarks (Huang et al., 2020)."""
    y = _labels(n, 7)
    in_disc, angle = _disc(n, rng), y * (np.pi / 3)
    along, across = (in_disc * (0.5, 0.25) + (1.1, 0.0)).T
    petals = along * _circle(angle).T + across * _circle(angle + np.pi / 2).T
    return _jitter(np.where((y == 0)[:, None], 0.4 * in_disc, petals.T), noise, rng), y
