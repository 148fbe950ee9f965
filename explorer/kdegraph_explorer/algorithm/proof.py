"""Measure how close the sampled graph is to the full one, and why it can be."""

from dataclasses import dataclass

import numpy as np

SHOWN_EDGES = 1500  # edges that a plot of weights shows


@dataclass(frozen=True)
class Proof:
    """A comparison of the sampled graph and the k-NN graph with the full one.

    `edges` and `agreement` are by the key of the method: the numbers of edges, and the adjusted
    Rand index of the clusters with those of the full graph. `eigenvalue_error` is the largest
    relative difference between the smallest eigenvalues of the sampled graph and of the full graph,
    among those that are not zero in the full graph; 0 if there are none.
    """

    edges: dict
    agreement: dict
    eigenvalue_error: float

    @property
    def share(self):
        """Return the edges of the sampled graph as a share of those of the full graph, in words."""
        sampled, full = self.edges["kde"], self.edges["full"]
        if sampled == 0 or full < 2 * sampled:
            return f"{sampled / max(full, 1):.0%}"
        return f"1/{round(full / sampled):,}"


def proof(outcomes):
    """Return the `Proof` from the outcomes of "kde", "knn" and "full"."""
    from sklearn.metrics import adjusted_rand_score  # slow to import: the page does not wait for it

    full = outcomes["full"]
    return Proof(
        {method: found.adjacency.nnz // 2 for method, found in outcomes.items()},
        {
            method: float(adjusted_rand_score(full.colors, found.colors))
            for method, found in outcomes.items()
        },
        _eigenvalue_error(outcomes["kde"].spectrum.eigenvalues, full.spectrum.eigenvalues),
    )


def _eigenvalue_error(values, exact):
    n = min(len(values), len(exact))
    values, exact = np.asarray(values)[:n], np.asarray(exact)[:n]
    # Eigenvalues below a thousandth of the last one count as zero.
    known = exact > 1e-3 * exact[-1]
    return float(np.max(np.abs(values[known] / exact[known] - 1), initial=0.0))


def edge_weights(graph):
    """Measure some edges of a sampled graph, chosen at random.

    Return their lengths in units of the kernel width, and how many pairs of points each stands for:
    its weight over the kernel value of its ends.
    """
    entries = graph.adjacency.tocoo()
    above = np.flatnonzero(entries.row < entries.col)
    if len(above) > SHOWN_EDGES:
        above = np.random.default_rng(0).choice(above, SHOWN_EDGES, replace=False)
    one, other = entries.row[above], entries.col[above]
    sigma = np.broadcast_to(graph.sigma, len(graph.points))
    squares = ((graph.points[one] - graph.points[other]) ** 2).sum(axis=1)
    squares /= sigma[one] * sigma[other]
    return np.sqrt(squares), entries.data[above] * np.exp(squares)
