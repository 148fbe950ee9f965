"""The number of rounds."""

import math

import kdegraph
import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.data import ALL, points
from benchmarks.experiment import experiment, grid
from benchmarks.table import mean

ROUNDS = (3, 5, 7, 10, 15, 20, 30, 50, 100, "auto")
SEEDS = 3
SMALL = 0.15  # error; the automatic number is made for one of about 0.1
TINY = 1e-4  # eigenvalues below are zero for all purposes, their relative errors mean nothing


def judge(data, k, n_rounds, exact, reference, seed):
    """Number of rounds, error, agreement and adjusted Rand index of one graph."""
    graph = kdegraph.similarity_graph(data.X, sigma=data.sigma, n_rounds=n_rounds, seed=seed)
    found = kdegraph.spectrum(graph, k + 1).eigenvalues
    above = exact > TINY
    labels = kdegraph.spectral_clustering(graph, k, seed=0).labels
    return (
        graph.n_rounds,
        np.abs(found[above] / exact[above] - 1).max(initial=0.0),
        adjusted_rand_score(reference, labels),
        math.nan if data.y is None else adjusted_rand_score(data.y, labels),
    )


def summary(rows):
    """The automatic number beside each fixed one, over all sets."""
    for n_rounds in ROUNDS:
        some = [row for row in rows if row["rounds"] == n_rounds]
        errors = [row["error"] for row in some]
        if some:
            yield {
                "rounds": n_rounds,
                "mean L": mean(some, "L"),
                "mean error": mean(some, "error"),
                "largest error": max(errors),
                f"error at most {SMALL}": f"{sum(e <= SMALL for e in errors)} of {len(errors)}",
                "mean agreement": mean(some, "agreement"),
            }


def rows():
    for row in grid(data=ALL, n=[2_000], rounds=ROUNDS):
        yield row | {"n": 1_797} if row["data"] == "digits" else row  # all that there are


@experiment(
    rows,
    source='`n_rounds="auto"` is made for a relative error of the eigenvalues of about 0.1. The '
    "paper: L = 6 C log(n) / lambda_{k+1} rounds.",
    why="C is the constant with which the paper's formula gives the same number: far below 1, as "
    "the formula is a bound for the worst case.",
    summary=summary,
)
def rounds(data, n, rounds):
    """How near the sampled graph's spectrum and clusters are to those of the full graph, by rounds.

    Medians of three seeds. "error" is the largest relative error of the eigenvalues 2 to k + 1 of
    the normalized Laplacian, of those above 1e-4; "agreement" the adjusted Rand index between the
    clusters of the two graphs, and "ARI" that with the true classes.
    """
    data = points(data, n)
    k = data.n_clusters or 4
    full = kdegraph.full_graph(data.X, sigma=data.sigma)
    exact = kdegraph.spectrum(full, k + 1).eigenvalues
    reference = kdegraph.spectral_clustering(full, k, seed=0).labels
    found = [judge(data, k, rounds, exact, reference, seed) for seed in range(SEEDS)]
    L, error, agreement, score = np.median(found, axis=0)
    return {
        "k": k,
        "lambda_k": exact[k - 1],
        "lambda_k+1": exact[k],
        "L": int(L),
        "C": L * exact[k] / (6 * math.log(len(data.X))),
        "error": error,
        "agreement": agreement,
        "ARI": score,
        "ARI of the full graph": (
            math.nan if data.y is None else adjusted_rand_score(data.y, reference)
        ),
    }
