"""Describe plots in words and as tables, for those who cannot see them or want the numbers.

Rows that take a while are there only if `full`.
"""

from itertools import zip_longest

import numpy as np
from kdegraph.explain import sample_of

from ..algorithm.convergence import degree_error
from ..drawing.eigenvalue_plot import gap_words, ratios
from ..drawing.palette import in_hex
from ..drawing.segments import mean_colors
from ..results import ALL_METHODS
from .base import Description

WAITING = Description("There is no result yet.")


def clusters(state, method, full):
    """Describe the clusters of a graph: how large they are, where they lie, how well separated."""
    outcome = state.outcome(method)
    if outcome is None:
        return WAITING
    dataset = state.shown
    sizes = np.bincount(outcome.colors)
    present = np.array(outcome.clusters)
    adjacency = outcome.adjacency
    summary = (
        f"{ALL_METHODS[method]}: {dataset.n_points:,} points, {adjacency.nnz // 2:,} edges, "
        f"{counted(len(present), 'cluster')} of {listed(sizes[present])} points."
    )
    if outcome.vote is not None:
        summary += f" {counted(outcome.vote.n_doubtful, 'point')} in doubt."
    if len(state.selection):
        summary += f" {len(state.selection):,} selected."
    if not full:
        return Description(summary)
    selected = np.bincount(outcome.colors[state.selection], minlength=len(sizes))
    columns = {
        "Cluster": {c: state.cluster_name(c) for c in present},
        "Points": sizes,
        "Selected": selected,
    }
    if outcome.vote is not None:
        columns["Stability"] = [stability_words(value) for value in outcome.stability]
    columns["Ends inside"], columns["Ends leaving"] = _weights(adjacency, outcome.colors)
    for name in (state.horizontal, state.vertical):
        if name in dataset.feature_names:
            values = dataset.X[:, dataset.feature_names.index(name)]
            columns[f"Mean {name}"] = _means(values, outcome.colors)
    rows = [tuple(values[c] for values in columns.values()) for c in present]
    return Description(summary, tuple(columns), rows)


def segments(state, method, full):
    """Describe the segments of a picture: their sizes and mean colors."""
    outcome = state.outcome(method)
    if outcome is None or state.shown.image is None:
        return WAITING
    sizes = np.bincount(outcome.colors)
    present = np.array(outcome.clusters)
    share = sizes / sizes.sum()
    largest = ", ".join(f"{share[c]:.0%}" for c in present[np.argsort(-sizes[present])][:5])
    summary = (
        f"{ALL_METHODS[method]}: {counted(len(present), 'segment')}; "
        f"the largest cover {largest} of the picture."
    )
    if not full:
        return Description(summary)
    colors = mean_colors(outcome.colors.reshape(state.shown.shape), state.shown.image)
    rows = [
        (
            f"Segment {state.mark(c)}",
            sizes[c],
            f"{share[c]:.1%}",
            in_hex(colors[c]),
        )
        for c in present
    ]
    return Description(summary, ("Segment", "Pixels", "Share", "Mean color"), rows)


def eigenvalues(state, method, full):
    """Describe the smallest eigenvalues, and the gap after the k-th."""
    outcome = state.outcome(method)
    if outcome is None:
        return WAITING
    values, k = np.asarray(outcome.spectrum.eigenvalues), outcome.n_clusters
    summary = eigenvalue_range(ALL_METHODS[method], values)
    for words in gap_words(values, k):
        summary += f" {words[0].upper()}{words[1:]}."
    if not outcome.spectrum.converged:
        summary += " They have not converged within the limit on the work: take them as estimates."
    gaps = [f"{ratio:.3g}" for ratio in ratios(values)] + [None]
    rows = [
        (i, f"{value:.6f}", gap) for i, (value, gap) in enumerate(zip(values, gaps, strict=True), 1)
    ]
    return Description(summary, ("Number", "Eigenvalue", "Ratio of the next to it"), rows)


def spectra(state, full):
    """Describe the smallest eigenvalues of all graphs."""
    known = state.outcomes(ALL_METHODS)
    found = {ALL_METHODS[method]: known[method].spectrum.eigenvalues for method in known}
    if not found:
        return WAITING
    summary = " ".join(eigenvalue_range(name, values) for name, values in found.items())
    columns = [[f"{value:.6f}" for value in values] for values in found.values()]
    rows = [(i, *values) for i, values in enumerate(zip_longest(*columns), start=1)]
    return Description(summary, ("Number", *found), rows)


def embedding(state, places, names, full):
    """Describe where the clusters lie in the space of two eigenvectors."""
    outcome = state.outcome("kde")
    if outcome is None or places is None or len(places) != len(outcome.colors):
        return WAITING
    sizes = np.bincount(outcome.colors)
    present = np.array(outcome.clusters)
    summary = (
        f"The points along {' and '.join(names)}, in {counted(len(present), 'cluster')}; "
        "each axis is scaled to 1. "
        "k-means compares directions from 0, in as many eigenvectors as there are clusters."
    )
    if not full:
        return Description(summary)
    columns = []
    for values in places.T:
        means = _means(values, outcome.colors)
        squares = (values - means[outcome.colors]) ** 2
        columns += [means, np.sqrt(_means(squares, outcome.colors))]
    rows = [
        (state.cluster_name(c), sizes[c], *(float(column[c]) for column in columns))
        for c in present
    ]
    heads = [f"{word} {name}" for name in names for word in ("Mean", "Spread")]
    return Description(summary, ("Cluster", "Points", *heads), rows)


def degrees(state, full):
    """Describe how close the degrees of the sampled graph are to the kernel degrees."""
    outcome = state.outcome("kde")
    if outcome is None:
        return WAITING
    graph, sizes = outcome.graph, np.bincount(outcome.colors)
    summary = (
        "Degrees in the sampled graph against kernel degrees: "
        "root mean square of the relative error "
        f"{degree_error(graph.adjacency, graph.kernel_degrees):.3g}."
    )
    if not full:
        return Description(summary)
    exact = _means(graph.kernel_degrees, outcome.colors)
    sampled = _means(graph.adjacency.sum(axis=1), outcome.colors)
    rows = [
        (state.cluster_name(c), sizes[c], f"{exact[c]:.4g}", f"{sampled[c]:.4g}")
        for c in outcome.clusters
    ]
    columns = ("Cluster", "Points", "Mean kernel degree", "Mean sampled degree")
    return Description(summary, columns, rows)


def conductances(state, methods, full):
    """Describe the conductance of every cluster."""
    judgements = {
        name: judgement
        for method, name in methods.items()
        if (judgement := state.judgement(method)) is not None
    }
    if not judgements:
        return WAITING
    summary = " ".join(
        f"{name}: there are no edges."
        if np.isnan(judgement.largest)
        else f"{name}: largest conductance in the full graph {judgement.largest:.3g}."
        for name, judgement in judgements.items()
    )
    order = list(state.outcome("kde").marks)
    columns = [
        [f"{value:.3g}" if np.isfinite(value) else None for value in judgement.of(order)]
        for judgement in judgements.values()
    ]
    words = map(state.cluster_name, order)
    rows = list(zip(words, *columns, strict=True))
    return Description(summary, ("Cluster", *judgements), rows)


def neighbors(graph, found, full, to_scale):
    """Describe one point's neighbors: how many were drawn, and which.

    `to_scale` says that no distance is larger on the screen than between the points; the kernel
    width is drawn then.
    """
    both = set(found.sampled.tolist()) & set(found.nearest.tolist())
    of_all = "" if np.ndim(graph.sigma) else ", as that of all points"
    circle = " (dashed circle)" if to_scale else ""
    summary = (
        f"Point {found.point:,}: kernel width σ = {found.sigma:.3g}{circle}{of_all}; "
        f"kernel degree {found.degree:.3g}. "
        f"{graph.n_rounds} draws found {len(found.sampled)} points, "
        f"{len(both)} of them among the {len(found.nearest)} nearest."
    )
    if not to_scale:
        summary += " Distances on the screen are not those between the points."
    elif graph.points.shape[1] > 2:
        summary += " In this projection, points may look nearer than they are."
    if not full:
        return Description(summary)
    points = dict.fromkeys([*found.sampled.tolist(), *found.nearest.tolist()])
    weight = dict(zip(found.sampled.tolist(), found.weight.tolist(), strict=True))
    nearest = {j: place for place, j in enumerate(found.nearest.tolist(), start=1)}
    rows = [
        (
            f"{j:,}",
            f"{found.distances[j]:.3g}",
            f"{found.chance(j):.2g}",
            found.times_drawn(j),
            weight.get(j),
            nearest.get(j),
        )
        for j in points
    ]
    return Description(summary, ("Point", "Distance", "Chance", "Drawn", "Weight", "Nearest"), rows)


def halving(point, draw, steps, tree, full):
    """Describe how one neighbor was drawn, halving by halving."""
    if not steps:
        return Description(
            f"Point {point:,} has no neighbor to be drawn: the kernel is 0 everywhere."
        )
    summary = (
        f"Draw {draw} of point {point:,}: {len(steps)} halvings of {len(tree.order):,} points "
        f"lead to point {sample_of(steps, tree):,}."
    )
    rows = [
        (
            i + 1,
            step.stop - step.start,
            f"{step.left:.3g}",
            f"{step.right:.3g}",
            f"{step.share:.3f}",
            f"{step.uniform:.3f}",
            "left" if step.goes_left else "right",
        )
        for i, step in enumerate(steps)
    ]
    columns = ("Halving", "Points", "Left sum", "Right sum", "Chance of left", "Uniform", "Half")
    return Description(summary, columns, rows)


def edges_so_far(adjacency, n_rounds, of, full):
    """Describe the graph after some of the rounds."""
    if adjacency is None:
        return WAITING
    edges, n = adjacency.nnz // 2, max(adjacency.shape[0], 1)
    isolated = int(np.count_nonzero(np.diff(adjacency.indptr) == 0))
    rows = (
        ("Edges", edges),
        ("Mean degree", float(2 * edges / n)),
        ("Points without an edge", isolated),
    )
    summary = f"After {n_rounds} of {of} rounds the graph has {edges:,} edges."
    return Description(summary, ("", "Number"), rows)


def convergence(found, limit, limit_of, full):
    """Describe the eigenvalues over the rounds, and those of the full graph."""
    if found is None or not len(found.rounds):
        return WAITING

    def words(values):
        return [f"{value:.4g}" if np.isfinite(value) else None for value in values]

    last = ", ".join(filter(None, words(found.eigenvalues[-1])))
    summary = f"Eigenvalues after {found.rounds[-1]} rounds: {last}."
    rows = [
        (int(n), *words(values)) for n, values in zip(found.rounds, found.eigenvalues, strict=True)
    ]
    if limit is not None:
        summary += f" {limit_of[0].upper()}{limit_of[1:]}: {', '.join(filter(None, words(limit)))}."
        rows.append((limit_of, *words(limit)))
    heads = [f"λ{i + 1}" for i in range(found.eigenvalues.shape[1])]
    return Description(summary, ("Rounds", *heads), rows)


def degree_errors(found, full):
    """Describe the error of the degrees over the rounds."""
    if found is None or not len(found.rounds):
        return WAITING
    first, last = found.degree_errors[[0, -1]]
    summary = (
        "Root mean square of the relative error of the degrees: "
        f"{first:.3g} after round {found.rounds[0]}, "
        f"{last:.3g} after round {found.rounds[-1]}."
    )
    rows = [
        (int(n), f"{error:.4g}") for n, error in zip(found.rounds, found.degree_errors, strict=True)
    ]
    return Description(summary, ("Rounds", "Error"), rows)


def timings(found, full):
    """Describe the seconds against the number of points."""
    if not found:
        return Description("Nothing has been measured yet.")
    summary = " ".join(
        f"{name}: {last[-1].total:.3g} s for {last[-1].n:,} points."
        for method, name in ALL_METHODS.items()
        if (last := [timing for timing in found if timing.method == method])
    )
    rows = [(ALL_METHODS[timing.method], timing.n, f"{timing.total:.3g}") for timing in found]
    return Description(summary, ("Graph", "Points", "Seconds"), rows)


def stability_words(value):
    """Return the stability of a cluster as text; one that was edited by hand has none."""
    return "–" if np.isnan(value) else f"{value:.2f}"


def counted(n, noun):
    """Return a number with its noun, in the singular or the plural."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def eigenvalue_range(name, values):
    """Return a sentence on the eigenvalues of a graph."""
    return f"{name}: {len(values)} eigenvalues from {values[0]:.3g} to {values[-1]:.3g}."


def listed(numbers, limit=8):
    """List numbers in a sentence."""
    words = [f"{n:,}" for n in numbers[:limit]]
    if len(numbers) > limit:
        words.append(f"{len(numbers) - limit} more sizes")
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _weights(adjacency, colors):
    """Count the ends of edges at the points of each cluster, inside it and leaving it."""
    rows = np.repeat(np.arange(len(colors)), np.diff(adjacency.indptr))
    own, other = colors[rows], colors[adjacency.indices]
    n_clusters = int(colors.max()) + 1
    inside = np.bincount(own[own == other], minlength=n_clusters)
    return inside, np.bincount(own, minlength=n_clusters) - inside


def _means(values, colors):
    return np.bincount(colors, weights=values) / np.maximum(np.bincount(colors), 1)
