"""The automatic choices."""

from functools import partial

import kdegraph
import numpy as np
from kdegraph.clustering import vertices_in_clusters
from sklearn.metrics import adjusted_rand_score

from benchmarks import photographs
from benchmarks.data import ALL, points
from benchmarks.experiment import experiment, grid
from benchmarks.table import mean

SEEDS = 3
GUESSES = (2, 8)  # numbers of clusters; 8 is scikit-learn's default
WAYS = [(e, a) for e in ("soft", "degree", "row", "plain") for a in ("kmeans", "cluster_qr")]
SIGMAS = {"given": None, "auto / 2": 0.5, "auto": 1.0, "auto * 2": 2.0}


def judge(X, sigma, k, score, seed):
    """The number of rounds, the suggested number of clusters, and all scores, by name."""
    graph = kdegraph.similarity_graph(X, sigma=sigma, seed=seed)
    most = min(20, len(vertices_in_clusters(graph)))
    spectrum = kdegraph.spectrum(graph, most, smallest_component="auto")
    suggested = kdegraph.suggest_n_clusters(spectrum.eigenvalues)
    cluster = partial(
        kdegraph.spectral_clustering, graph, spectrum=spectrum, seed=seed, assign_labels="kmeans"
    )
    numbers = {"k = auto": suggested} | {f"k = {guess}": guess for guess in GUESSES}
    found = {"L": graph.n_rounds, "auto k": suggested}
    found |= {name: score(cluster(number).labels) for name, number in numbers.items()}
    for embedding, rounding in WAYS if k else ():
        labels = cluster(k, embedding=embedding, assign_labels=rounding).labels
        found[f"{embedding} {rounding}"] = score(labels)
    return found


def rows(*, images=None, n_images):
    for row in grid(data=ALL, n=[5_000], sigma=SIGMAS):
        yield row | {"n": 1_797} if row["data"] == "digits" else row  # all that there are
    names = photographs.names(images, n_images) if images else []
    yield from grid(data=names, n=[20_000], sigma=["given", "auto"])


def summary(rows):
    """Means over all sets of points, and over all photographs."""
    for kind in ("points", "photographs"):
        for sigma in SIGMAS:
            some = [r for r in rows if ("/" in r["data"]) == (kind == "photographs")]
            some = [r for r in some if r["sigma"] == sigma]
            if some:
                right = sum(r["auto k"] == r["k"] for r in some)
                scores = ("k = auto", "k = 2", "k = 8", *map(" ".join, WAYS))
                means = {name: mean(some, name) for name in scores}
                number = {"number right": f"{right} of {len(some)}"}
                yield {"data": kind, "sigma": sigma} | number | means


@experiment(
    rows,
    source="Results: over sets of points with classes the automatic choices were measured beside "
    "simpler ones; on photographs the automatic number of clusters is of no use.",
    summary=summary,
)
def automatic(data, n, sigma, *, images=None):
    """How good the automatic sigma and number of clusters, the embeddings and the roundings are.

    "auto k" is the number of clusters that the eigengap suggests, and 1 is right for data without
    clusters. The other values are adjusted Rand indices (of photographs, with the paper's protocol
    at 20,000 pixels, Rand indices): with that number, with numbers that one might guess, and with
    the true number for each embedding and rounding. Medians of three seeds, of photographs one.
    """
    if "/" in data:
        humans = photographs.segmentations(images, data)
        chosen, (k, closest) = photographs.pixels(images, data, n), photographs.protocol(humans)
        score, seeds = partial(photographs.score, chosen, human=humans[closest]), 1
    else:
        chosen, seeds = points(data, n), SEEDS
        y = chosen.y
        score = partial(adjusted_rand_score, np.zeros(len(chosen.X)) if y is None else y)
        k = None if y is None else chosen.n_clusters
    factor = SIGMAS[sigma]
    value = factor * kdegraph.estimate_sigma(chosen.X, seed=0) if factor else chosen.sigma
    found = [judge(chosen.X, value, k, score, seed) for seed in range(seeds)]
    medians = {name: np.median([one[name] for one in found]) for name in found[0]}
    return {"value": value, "k": k or 1} | medians
