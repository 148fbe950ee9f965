"""Synthetic data: the paper's sets, and cases that show what the graphs can and cannot do."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kdegraph.io.dataset import Dataset
from kdegraph.validation import check_choice, check_count, check_seed


@dataclass(frozen=True)
class Generator:
    """One kind of data: how to draw it, and what suits it."""

    draw: Any  # draw(n, noise, rng) -> X, y
    description: str
    noise: float
    sigma: float
    n_clusters: int | None


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
    return centers[y] + rng.standard_normal((n, 2)) * (noise * np.array([1.0, 1.0, 30.0, 30.0]))[
        y, None
    ], y


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


GENERATORS = {
    "moons": Generator(
        _moons,
        "Two interleaved half circles, from the paper: clusters that are not convex.",
        0.05,
        0.1,
        2,
    ),
    "circles": Generator(
        _circles, "One circle inside another, from the paper: no line parts them.", 0.05, 0.1, 2
    ),
    "anisotropic": Generator(
        _anisotropic,
        "Three transformed blobs, from the paper: long and thin, so that k-means cuts across them.",
        1.0,
        0.5,
        3,
    ),
    "blobs": Generator(
        _blobs, "Three round blobs far apart: every method should find them.", 1.0, 0.6, 3
    ),
    "varied": Generator(
        _varied,
        "Three blobs whose spread differs sixfold: one bandwidth must serve dense and thin clusters.",
        1.0,
        1.0,
        3,
    ),
    "spirals": Generator(
        _spirals, "Three arms wound round each other: clusters only along the arms.", 0.01, 0.06, 3
    ),
    "rings": Generator(
        _rings, "Two interlocked rings in 3 dimensions: no plane parts them.", 0.05, 0.2, 2
    ),
    "blobs3d": Generator(
        _blobs3d, "Four round blobs at the corners of a tetrahedron, in 3 dimensions.", 1.0, 0.9, 4
    ),
    "blobs20d": Generator(
        _blobs20d, "Five blobs in 20 dimensions, where all distances look alike.", 0.5, 1.5, 5
    ),
    "swiss_roll": Generator(
        _swiss_roll,
        "A rolled-up sheet in 3 dimensions: one curved surface without clusters.",
        0.1,
        1.5,
        None,
    ),
    "s_curve": Generator(
        _s_curve,
        "A sheet bent like an S, in 3 dimensions: one curved surface without clusters.",
        0.05,
        0.2,
        None,
    ),
    "uniform": Generator(
        _uniform,
        "Points without any structure: the eigenvalues show no gap, and any clusters are made up.",
        0.0,
        0.05,
        None,
    ),
    "clumps": Generator(
        _clumps,
        "Two moons, each place measured some 25 times: a k-NN graph falls apart into the places, the kernel graph sees moons.",
        0.002,
        0.2,
        2,
    ),
    "scales": Generator(
        _scales,
        "Two tiny blobs side by side and two wide ones: a bandwidth that parts the tiny ones tears the wide ones apart, where k-NN adapts.",
        0.015,
        0.1,
        4,
    ),
    "bridge": Generator(
        _bridge,
        "Two blobs joined by a thin chain of points: the eigenvalue of the cut tells how weak the chain is.",
        0.5,
        0.3,
        2,
    ),
}


def names():
    """The names that `make` knows, the paper's sets first.

    Returns
    -------
    tuple of str
    """
    return tuple(GENERATORS)


def describe(name):
    """One sentence on what the data of this name show.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    str
    """
    return GENERATORS[check_choice(name, "name", names())].description


def default_noise(name):
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
    """
    return GENERATORS[check_choice(name, "name", names())].noise


def make(name, n=2000, noise=None, seed=None):
    """Draw synthetic data.

    Parameters
    ----------
    name : str
        One of `names()`: the paper's "moons", "circles" and "anisotropic" (transformed blobs), and
        more; see `describe`.
    n : int
        Number of points, exactly.
    noise : float, optional
        Standard deviation of the noise, or of a blob, in the units of the data (for "varied" and
        "scales": its factor); 0 or more. By default what makes the set interesting.
    seed : None, int or numpy Generator
        The same seed gives the same points.

    Returns
    -------
    Dataset
        With labels where there are clusters, and with the sigma and the number of clusters that
        suit the default noise.

    Raises
    ------
    ValueError, TypeError
        For an unknown name, fewer than one point, a noise or a seed that cannot be used.
    """
    generator = GENERATORS[check_choice(name, "name", names())]
    n = check_count(n, "n")
    if noise is None:
        noise = generator.noise
    elif isinstance(noise, (str, bytes, bool)) or not np.isreal(noise) or np.ndim(noise):
        raise TypeError(f"noise must be a number >= 0, got {noise!r}")
    elif not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise must be a finite number >= 0, got {noise!r}")
    # A RandomState, because that is what scikit-learn takes; from a bit generator, because a seed
    # may have 64 bits.
    rng = np.random.RandomState(np.random.MT19937(check_seed(seed)))
    X, y = generator.draw(n, float(noise), rng)
    return Dataset(
        X=np.ascontiguousarray(X, dtype=np.float64),
        y=None if y is None else y.astype(np.int64),
        name=name,
        description=generator.description,
        feature_names=tuple("xyz"[: X.shape[1]]) if X.shape[1] <= 3 else (),
        label_names=() if y is None else tuple(str(label) for label in range(generator.n_clusters)),
        sigma=generator.sigma,
        n_clusters=generator.n_clusters,
    )
