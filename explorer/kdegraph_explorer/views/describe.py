"""Plots in words and as tables, for those who do not see them and for those who want the numbers."""

import numpy as np

from ..pipeline import METHODS
from .base import Description

WAITING = Description("There is no result yet.")


def clusters(state, method, full):
    """The clusters of a graph: how large they are, where they lie, and how well they are separated."""
    outcome = state.outcome(method)
    if outcome is None:
        return WAITING
    dataset = state.shown
    sizes = np.bincount(outcome.colours)
    present = np.flatnonzero(sizes)
    adjacency = outcome.adjacency
    summary = (
        f"{METHODS[method]}: {dataset.n_points:,} points, {adjacency.nnz // 2:,} edges, {len(present)} "
        f"cluster{'s' * (len(present) != 1)} of {listed(sizes[present])} points."
    )
    if len(state.selection):
        summary += f" {len(state.selection):,} selected."
    if not full:
        return Description(summary)
    inside, across = _weights(adjacency, outcome.colours, len(sizes))
    names = [name for name in dict.fromkeys((state.horizontal, state.vertical)) if name in dataset.feature_names]
    means = {name: _means(dataset.X[:, dataset.feature_names.index(name)], outcome.colours, len(sizes)) for name in names}
    selected = np.bincount(outcome.colours[state.selection], minlength=len(sizes))
    rows = [(f"Cluster {c + 1}", sizes[c], selected[c], inside[c], across[c], *(means[name][c] for name in names)) for c in present]
    return Description(
        summary, ("Cluster", "Points", "Selected", "Edge ends inside", "Edge ends leaving", *(f"Mean {name}" for name in names)), rows
    )


def segments(state, method, full):
    """The segments of a picture: their sizes and mean colours."""
    outcome = state.outcome(method)
    if outcome is None or state.shown.image is None:
        return WAITING
    sizes = np.bincount(outcome.colours)
    present = np.flatnonzero(sizes)
    share = sizes / sizes.sum()
    largest = ", ".join(f"{share[c]:.0%}" for c in present[np.argsort(-sizes[present])][:5])
    summary = f"{METHODS[method]}: {len(present)} segment{'s' * (len(present) != 1)}; the largest cover {largest} of the picture."
    if not full:
        return Description(summary)
    colours = [_means(state.shown.X[:, i], outcome.colours, len(sizes)) for i in range(3)]
    rows = [
        (f"Segment {c + 1}", sizes[c], f"{share[c]:.1%}", "#" + "".join(f"{round(255 * colour[c]):02x}" for colour in colours))
        for c in present
    ]
    return Description(summary, ("Segment", "Pixels", "Share", "Mean colour"), rows)


def eigenvalues(state, method, full):
    """The smallest eigenvalues, and the gap after the k-th."""
    outcome = state.outcome(method)
    if outcome is None:
        return WAITING
    values, k = np.asarray(outcome.spectrum.eigenvalues), outcome.n_clusters
    summary = f"{METHODS[method]}: {len(values)} eigenvalues from {values[0]:.3g} to {values[-1]:.3g}."
    if k < len(values):
        summary += f" The gap after eigenvalue {k} is {values[k] - values[k - 1]:.3g}."
    gaps = [f"{gap:.3g}" for gap in np.diff(values)] + [None]
    rows = [(i + 1, f"{value:.6f}", gap) for i, (value, gap) in enumerate(zip(values, gaps, strict=True))] if full else ()
    return Description(summary, ("Number", "Eigenvalue", "Gap to the next"), rows)


def listed(numbers, limit=8):
    """Numbers in a sentence."""
    words = [f"{n:,}" for n in numbers[:limit]]
    if len(numbers) > limit:
        words.append(f"{len(numbers) - limit} more sizes")
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _weights(adjacency, colours, n_clusters):
    """Ends of edges at the points of each cluster: of edges within it, and of edges that leave it."""
    rows = np.repeat(np.arange(len(colours)), np.diff(adjacency.indptr))
    own, other = colours[rows], colours[adjacency.indices]
    inside = np.bincount(own[own == other], minlength=n_clusters)
    return inside, np.bincount(own, minlength=n_clusters) - inside


def _means(values, colours, n_clusters):
    return np.bincount(colours, weights=values, minlength=n_clusters) / np.maximum(np.bincount(colours, minlength=n_clusters), 1)
