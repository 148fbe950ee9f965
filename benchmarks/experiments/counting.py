"""The number of clusters of points in many dimensions, and their principal components."""

from functools import partial
from unittest import mock

import kdegraph
import numpy as np
from kdegraph import automatic, principal
from kdegraph.automatic import count_clusters
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from benchmarks.experiment import experiment, grid
from benchmarks.experiments.reference_sets import names, read

MOST = 3_000  # points of a set; a random part stands for more
SEEDS = 3


def normal(rng, d, n=1_500):
    return rng.normal(size=(n, d))


def sphere(rng, d):
    X = normal(rng, d)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


SHAPES = {  # single clusters, from a generator of random numbers and a number of dimensions
    "normal": normal,
    "normal, axes of many lengths": lambda rng, d: normal(rng, d) / np.arange(1, d + 1),
    "Student": lambda rng, d: rng.standard_t(4, size=(1_500, d)),
    "uniform": lambda rng, d: rng.uniform(size=(1_500, d)),
    "sphere": sphere,
    "five dimensions and noise": lambda rng, d: (
        normal(rng, 5) @ normal(rng, d, 5) + 0.3 * normal(rng, d)
    ),
    "normal, 200 points": lambda rng, d: normal(rng, d, 200),
}


def blobs(d, k, n=1_000):
    """Clouds of different sizes, densities and orientations, which overlap a little."""
    rng = np.random.default_rng((d, k))
    y = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3.0)))
    centers = 3.5 * normal(rng, d, k) / np.sqrt(d)
    axes = rng.uniform(0.2, 0.5, size=(k, 1, 1)) * rng.normal(size=(k, d, d)) / np.sqrt(d)
    return centers[y] + np.einsum("nij,nj->ni", axes[y], normal(rng, d, n)), y


def waveforms(n=1_500):
    """Mixtures of two of three waves of 21 values, with noise (Breiman et al., 1984)."""
    rng = np.random.default_rng(0)
    waves = np.maximum(6 - abs(np.arange(21) - np.array([[6], [14], [10]])), 0)
    y, share = rng.integers(3, size=n), rng.uniform(size=(n, 1))
    first, second = waves[[0, 0, 1]][y], waves[[1, 2, 2]][y]
    return share * first + (1 - share) * second + normal(rng, 21, n), y


def clouds(d, n=800, k=4):
    """Clouds whose centers are 11 standard deviations apart, whatever the dimension."""
    rng = np.random.default_rng(d)
    y = rng.integers(k, size=n)
    return (8 / np.sqrt(d) * normal(rng, d, k))[y] + normal(rng, d, n), y


def expressions(n=2_000, d=500, k=6):
    """Standardized expressions of genes, 25 of which each of six types of cells has more of."""
    rng = np.random.default_rng(1)
    y, more = rng.integers(k, size=n), np.ones((k, d))
    for of_type in more:
        of_type[rng.choice(d, 25, replace=False)] = 4
    depth = rng.lognormal(0, 0.3, size=(n, 1))
    counts = rng.poisson(0.7 * rng.gamma(0.5, 2, size=d) * more[y] * depth)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return StandardScaler().fit_transform(np.log1p(500 * shares)), y


def table(load):
    """A table of scikit-learn; standardized, as its columns have different units."""
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def single(shape, d):
    X = shape(np.random.default_rng(0), d)
    return X, np.zeros(len(X), dtype=int)


SINGLES = {
    f"{name}, {d}": partial(single, shape, d)
    for name, shape in SHAPES.items()
    for d in (4, 8, 20, 60)
}
CLASSES = {
    "iris": partial(table, datasets.load_iris),
    "wine": partial(table, datasets.load_wine),
    "breast cancer": partial(table, datasets.load_breast_cancer),
    "digits": partial(datasets.load_digits, return_X_y=True),
    "waveforms": waveforms,
} | {f"blobs, {d}, {k}": partial(blobs, d, k) for k in (3, 5, 8, 12) for d in (5, 10, 30, 100)}
WIDE = {f"clouds, {d}": partial(clouds, d) for d in (100, 300, 1_000, 2_000)} | {
    "expressions": expressions
}


def data(name, sets):
    """The points of a set, or of a random part of it, and their clusters."""
    known = SINGLES | CLASSES | WIDE
    X, y = known[name]() if name in known else _read(sets, name)
    part = np.random.default_rng(0).permutation(len(X))[:MOST]
    return X[part], y[part]


def _read(sets, name):
    X, references = read(sets, name)
    return X, references[0]


def from_folder(sets, least):
    """The names of the sets of a folder in at least so many dimensions."""
    for name in names(sets):
        X, _ = _read(sets, name)
        if X.shape[1] >= least and np.isfinite(X).all():
            yield name


def number_right(rows):
    """How many numbers are right, of single clusters and of others."""
    for kind in ("one cluster", "several clusters"):
        some = [row for row in rows if (row["k"] == 1) == (kind == "one cluster")]
        right = {
            way: f"{sum(row[way] == row['k'] for row in some)} of {len(some)}"
            for way in ("found", "without layouts")
        }
        wrong = [row["confidence"] for row in some if row["found"] != row["k"]]
        yield {"sets": kind, **right, "highest confidence of a wrong one": max(wrong, default=0)}


@experiment(
    lambda *, sets: grid(set=[*SINGLES, *CLASSES, *from_folder(sets, least=4)]),
    source="How many clusters: in more than three dimensions numbers are counted in layouts, too.",
    summary=number_right,
)
def counting(set, *, sets):
    """The number of clusters in more than three dimensions, with and without layouts.

    Single clusters of seven shapes in 4 to 60 dimensions, and sets with classes, which may not be
    clusters: overlapping clouds, tables of scikit-learn, and those of the folder --sets.
    """
    X, y = data(set, sets)
    found = count_clusters(X, seed=0)
    with mock.patch.object(automatic, "LAYOUTS", ()):
        without = count_clusters(X, seed=0)
    return {
        "points": len(X),
        "d": X.shape[1],
        "k": len(np.unique(y)),
        "found": int(found),
        "confidence": found.confidence,
        "without layouts": int(without),
    }


@experiment(
    lambda *, sets: grid(set=["digits", *WIDE, *from_folder(sets, least=51)]),
    source="Embeddings: in more than 50 dimensions, clusters are those of 50 principal components.",
)
def components(set, *, sets):
    """Clusters of points in more than 50 dimensions, by 50 principal components and by all columns.

    The number is given; adjusted Rand indices, means of three random states.
    """
    X, y = data(set, sets)
    model = kdegraph.KDESpectralClustering(len(np.unique(y)))

    def score():
        labels = [model.set_params(random_state=seed).fit_predict(X) for seed in range(SEEDS)]
        return np.mean([adjusted_rand_score(y, found) for found in labels])

    values = {"points": len(X), "d": X.shape[1], "components": score()}
    with mock.patch.object(principal, "MAX_COMPONENTS", X.shape[1]):
        return values | {"all columns": score()}
