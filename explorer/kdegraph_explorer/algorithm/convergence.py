"""Compute the graph after some of its rounds."""

from dataclasses import dataclass

import numpy as np
from kdegraph import similarity_graph, spectrum
from kdegraph.clustering import vertices_in_clusters
from kdegraph.explain import adjacency_after

from ..stages import TOLERANCE

MAX_COMPARED = 24  # graphs; of more rounds, some in geometric steps are taken

# The full graph is estimated from a graph with `MORE_ROUNDS` times as many rounds, or fewer if that
# were more than `MAX_DRAWS` in all, which take some seconds.
MORE_ROUNDS = 4
MAX_DRAWS = 20_000_000


@dataclass(frozen=True, eq=False)
class Convergence:
    """Eigenvalues and degrees of the sampled graph, round by round.

    `rounds` (m,), `eigenvalues` (m, k), with NaN where there are fewer, and `degree_errors` (m,):
    the root mean square of the relative errors of the degrees against the kernel degrees.
    """

    rounds: np.ndarray
    eigenvalues: np.ndarray
    degree_errors: np.ndarray


def degree_error(adjacency, kernel_degrees):
    """Compute the root mean square of the relative errors of the degrees of linked vertices."""
    linked = kernel_degrees > 0
    if not linked.any():
        return 0.0
    errors = adjacency.sum(axis=1)[linked] / kernel_degrees[linked] - 1
    return float(np.sqrt(np.mean(errors**2)))


def convergence(graph, tree, n_eigenvalues, progress, publish):
    """Follow eigenvalues and degrees through the rounds; return a `Convergence`.

    `publish` is called with the `Convergence` so far after every round.
    """
    rounds = np.arange(1, graph.n_rounds + 1)
    if len(rounds) > MAX_COMPARED:
        rounds = np.unique(np.geomspace(1, graph.n_rounds, MAX_COMPARED).round().astype(int))
    values = np.full((len(rounds), n_eigenvalues), np.nan)
    errors = np.full(len(rounds), np.nan)
    for i, n_rounds in enumerate(rounds.tolist()):
        progress("rounds", i / len(rounds))
        adjacency = adjacency_after(graph, tree, n_rounds)
        errors[i] = degree_error(adjacency, graph.kernel_degrees)
        eigenvalues(adjacency, n_eigenvalues, values[i], progress)
        publish(Convergence(rounds[: i + 1], values[: i + 1].copy(), errors[: i + 1].copy()))
    return Convergence(rounds, values, errors)


def eigenvalues(adjacency, n_eigenvalues, out, progress):
    """Write the smallest eigenvalues into `out`; none if the graph has no edges."""
    n_counted = len(vertices_in_clusters(adjacency))
    if not n_counted:
        return
    k = min(n_eigenvalues, n_counted)
    found = spectrum(
        adjacency, k, seed=0, tol=TOLERANCE, smallest_component="auto", progress=progress
    )
    out[: found.n_components] = found.eigenvalues


def estimated_eigenvalues(graph, n_eigenvalues, progress):
    """Estimate the eigenvalues of the full graph from a graph of more rounds.

    Return the values (n_eigenvalues,), NaN where there are fewer, and the number of rounds.
    """
    most = MAX_DRAWS // len(graph.points)
    n_rounds = max(graph.n_rounds, min(MORE_ROUNDS * graph.n_rounds, most))
    better = similarity_graph(
        graph.points,
        sigma=graph.sigma,
        kernel=graph.kernel,
        n_rounds=n_rounds,
        seed=graph.seed + 1,
        progress=progress,
    )
    values = np.full(n_eigenvalues, np.nan)
    eigenvalues(better.adjacency, n_eigenvalues, values, progress)
    return values, n_rounds
