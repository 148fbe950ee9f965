"""Write a Python program that reproduces what a session shows."""

import numpy as np

from ..checks import as_code, as_text
from ..results import DECIDED
from ..stages import TOLERANCE, max_products


def write(session):
    """Write the program, as UTF-8.

    It uses the library alone. With the same versions of the libraries, it finds the same neighbors
    and the same labels to the last bit.
    """
    state = session.state
    kde, knn = state.outcome("kde"), state.outcome("knn")
    request = state.result.request
    source, data = session.origin
    n_neighbors = max(1, min(request.n_neighbors, len(state.shown.X) - 1))
    lines = [
        '"""Computes again what an explorer of similarity graphs has shown."""',
        "",
        "import kdegraph",
        "",
        *source.program(data, state.shown),
        *_points(state.shown),
        "",
        *_graph(kde, request),
        _spectrum("graph", "spectrum", kde, request),
        *_clusters("graph", "spectrum", "labels", kde, request),
        *_edits(state, kde),
        "",
        f"knn_graph = kdegraph.knn_graph(X, {n_neighbors})",
        _spectrum("knn_graph", "knn_spectrum", knn, request),
        *_clusters("knn_graph", "knn_spectrum", "knn_labels", knn, request),
        "",
        'if __name__ == "__main__":',
        '    print(f"{len(X):,} points, {graph.n_edges:,} edges")',
        '    print("eigenvalues:", spectrum.eigenvalues)',
        "    for cluster in range(labels.max() + 1):",
        '        print(f"cluster {cluster}: {(labels == cluster).sum():,} points")',
        "",
    ]
    return "\n".join(lines).encode()


def _points(dataset):
    lines = ["X = data.X"]
    if dataset.metric != "euclidean":
        lines = [
            "from kdegraph.metrics import points_of",
            "",
            "# Points between which the Euclidean distance is the chosen one.",
            f"X = points_of(data.X, {dataset.metric!r})",
        ]
    if dataset.embedded.shape[1] < dataset.X.shape[1]:
        lines += [
            "from kdegraph.principal import reduced",
            "",
            f"X = reduced(X)  # {dataset.embedded.shape[1]} principal components",
        ]
    return lines


def _graph(outcome, request):
    if request.bandwidth == DECIDED:
        return [
            f"model = kdegraph.KDESpectralClustering(random_state={request.seed}).fit(X)",
            "graph = model.graph_",
        ]
    graph, width = outcome.graph, outcome.bandwidth
    options = f"sigma={width.sigma!r}, " + f"perplexity={width.perplexity!r}, " * width.is_local
    sampled = f"X, {options}n_rounds={graph.n_rounds}, seed={request.seed}"
    return [f"graph = kdegraph.similarity_graph({sampled})"]


def _spectrum(graph, spectrum, outcome, request):
    smallest = "auto" if outcome.adjacency.nnz else 1
    n_components = len(outcome.spectrum.eigenvalues)
    effort = max_products(outcome.adjacency)
    options = (
        f"tol={TOLERANCE!r}, "
        + f"max_products={effort}, " * (effort is not None)
        + f"smallest_component={smallest!r}"
        + ", approximate=True" * (request.dataset.image is not None)
    )
    return (
        f"{spectrum} = kdegraph.spectrum({graph}, {n_components}, seed={request.seed}, {options})"
    )


def _clusters(graph, spectrum, labels, outcome, request):
    if outcome.method == "kde" and request.is_decided:
        return ["labels = model.labels_"]
    return [
        f"{labels} = kdegraph.spectral_clustering(",
        f"    {graph}, {outcome.n_clusters}, seed={request.seed}, spectrum={spectrum}, points=X",
        ").labels",
    ]


def _edits(state, outcome):
    """Return the lines that merge, split and name clusters as it was done by hand."""
    lines = []
    if outcome.computed is not None:
        lines = ["", "# The points of clusters as they were merged and split by hand."]
        for label in range(len(outcome.clusters)):
            points = as_code(as_text(np.flatnonzero(outcome.labels == label)))
            lines.append(f"labels[{points}] = {label}")
    label_of = {c: int(outcome.labels[np.argmax(outcome.colors == c)]) for c in state.named}
    names = {label_of[c]: name for c, name in state.named.items()}
    return lines + [f"cluster_names = {names!r}"] * bool(names)
