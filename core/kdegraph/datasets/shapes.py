"""How the synthetic data are drawn: points and classes from a number, the noise and a generator of
random numbers.
"""

import numpy as np


def _split(n, parts):
    """Sizes of `parts` groups that add up to `n` and differ by at most one."""
    return np.diff(np.arange(parts + 1) * n // parts)


def _labels(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def _jitter(X, noise, rng):
    return X + rng.normal(scale=noise, size=X.shape) if noise > 0 else X


def moons(n, noise, rng):
    from sklearn.datasets import make_moons

    return make_moons(n, noise=noise, random_state=rng)


def circles(n, noise, rng):
    from sklearn.datasets import make_circles

    return make_circles(n, noise=noise, factor=0.5, random_state=rng)


def blobs(n, noise, rng, centers=((-4.0, -3.0), (4.0, -3.0), (0.0, 4.0))):
    from sklearn.datasets import make_blobs

    return make_blobs(n, centers=np.array(centers), cluster_std=noise, random_state=rng)


def anisotropic(n, noise, rng):
    X, y = blobs(n, noise, rng, ((1.0, 5.0), (-5.0, -8.5), (-9.0, 0.5)))
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def varied(n, noise, rng):
    from sklearn.datasets import make_blobs

    centers = np.array([(-6.0, 0.0), (4.0, 5.0), (4.0, -3.0)])
    return make_blobs(
        n, centers=centers, cluster_std=noise * np.array([2.5, 1.0, 0.4]), random_state=rng
    )


def spirals(n, noise, rng):
    sizes = _split(n, 3)
    y = _labels(sizes)
    turn = np.sqrt(rng.uniform(0.04, 1.0, n))  # square root: points evenly spaced along the arm
    angle = 2.5 * np.pi * turn + y * (2 * np.pi / 3)
    return _jitter(np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1), noise, rng), y


def uniform(n, noise, rng):
    return _jitter(rng.random((n, 2)), noise, rng), None


def clumps(n, noise, rng):
    """Two moons made of places that were measured about 25 times each."""
    from sklearn.datasets import make_moons

    places, y = make_moons(max(2, n // 25), noise=0.05, random_state=rng)
    which = rng.permutation(np.arange(n) % len(places))
    return _jitter(places[which], noise, rng), y[which]


def scales(n, noise, rng):
    """Two tiny blobs side by side, and two wide ones: no bandwidth suits both pairs."""
    centers = np.array([(-0.06, 0.0), (0.06, 0.0), (2.5, 1.5), (2.5, -1.5)])
    y = _labels(_split(n, 4))
    spread = noise * np.array([1.0, 1.0, 30.0, 30.0])
    return centers[y] + rng.standard_normal((n, 2)) * spread[y, None], y


def bridge(n, noise, rng):
    """Two blobs joined by a thin chain of points."""
    on_chain = min(n // 20, n)
    y = np.concatenate([_labels(_split(n - on_chain, 2)), np.zeros(on_chain, int)])
    X = np.array([(-2.0, 0.0), (2.0, 0.0)])[y] + noise * rng.standard_normal((n, 2))
    if on_chain:
        chain = rng.uniform(-2.0, 2.0, on_chain)
        X[n - on_chain :] = np.stack([chain, 0.1 * noise * rng.standard_normal(on_chain)], axis=1)
        y[n - on_chain :] = chain > 0
    return X, y


def rings(n, noise, rng):
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


def blobs3d(n, noise, rng):
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
    return blobs(n, noise, rng, 3.0 * corners)


def blobs20d(n, noise, rng):
    return blobs(n, noise, rng, 3.0 * np.eye(20)[:5])


def swiss_roll(n, noise, rng):
    from sklearn.datasets import make_swiss_roll

    return make_swiss_roll(n, noise=noise, random_state=rng)[0], None


def s_curve(n, noise, rng):
    from sklearn.datasets import make_s_curve

    return make_s_curve(n, noise=noise, random_state=rng)[0], None


def touching_blobs(n, noise, rng):
    centers, y = rng.uniform(-6, 6, (8, 2)), np.arange(n) % 8
    return _jitter(centers[y], noise, rng), y


def small_beside_large(n, noise, rng):
    y = (np.arange(n) >= 0.95 * n).astype(int)
    X = rng.normal(size=(n, 2)) * (noise * np.where(y, 0.2, 1.0))[:, None]
    return X + 5.0 * y[:, None], y


def one_gaussian(n, noise, rng):
    return noise * rng.normal(size=(n, 3)), None


def _circle(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _disc(n, rng):
    """Points that are evenly likely everywhere in a disc of radius 1."""
    return _circle(rng.uniform(0, 2 * np.pi, n)) * np.sqrt(rng.random(n))[:, None]


def two_bananas(n, noise, rng):
    y = _labels(_split(n, 2))
    bent = _circle(np.pi * (rng.uniform(-0.875, 0.375, n) + y))
    return _jitter(bent - 0.75 * y[:, None], noise, rng), y


def smiling_face(n, noise, rng):
    """The outline, two eyes and the mouth."""
    y = _labels(_split(n, 4))
    turn, eye, aside = rng.random(n), 0.12 * _disc(n, rng), np.array([0.35, 0.0])
    eye[:, 1] += 0.3
    mouth = 0.55 * _circle(np.pi * (1.15 + 0.7 * turn))
    places = _circle(2 * np.pi * turn), eye - aside, eye + aside, mouth
    return _jitter(np.choose(y[:, None], places), noise, rng), y


def three_circles(n, noise, rng):
    """As many points on each part of a circle as on any other."""
    y = np.repeat([0, 1, 2], np.bincount([0, 1, 1, 2, 2, 2], _split(n, 6)).astype(int))
    return _jitter((1 + y)[:, None] * _circle(rng.uniform(0, 2 * np.pi, n)), noise, rng), y


def circles_and_blobs(n, noise, rng):
    """Two circles around a blob each, and three blobs between them."""
    places = np.array([(-3, 0), (3, 0), (-3, 0), (3, 0), (0, -2), (0, 0), (0, 2)])
    y = _labels(_split(n, 7))
    on_circle = (y < 2)[:, None]
    X = places[y] + 1.5 * on_circle * _circle(rng.uniform(0, 2 * np.pi, n))
    return X + noise * np.where(on_circle, 1.0, 2.0) * rng.normal(size=(n, 2)), y


def petals(n, noise, rng):
    """A disc in the middle, and six petals around it."""
    y = _labels(_split(n, 7))
    in_disc, angle = _disc(n, rng), y * (np.pi / 3)
    along, across = (in_disc * (0.5, 0.25) + (1.1, 0.0)).T
    petals = along * _circle(angle).T + across * _circle(angle + np.pi / 2).T
    return _jitter(np.where((y == 0)[:, None], 0.4 * in_disc, petals.T), noise, rng), y
