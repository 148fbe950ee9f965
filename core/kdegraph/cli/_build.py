"""From the options to a graph."""

from dataclasses import dataclass, field
from typing import Any

import click

DEFAULT_NEIGHBORS = 10


@dataclass
class Built:
    """A graph and how to describe it.

    Parameters
    ----------
    graph : SimilarityGraph or csr_array
    adjacency : csr_array
    words : str
        The method and its parameters.
    timings : dict
        Seconds per stage.
    """

    graph: Any
    adjacency: Any
    words: str
    timings: dict = field(default_factory=dict)


def check_options(method, sigma, rounds, neighbors):
    """Refuse options that the method does not use.

    Raises
    ------
    click.UsageError
    """
    if method == "knn" and rounds is not None:
        raise click.UsageError("--rounds goes with --method kde; a k-NN graph has --neighbors")
    if method == "kde" and neighbors is not None:
        raise click.UsageError("--neighbors goes with --method knn; a kernel graph has --rounds")


def build(data, *, method, sigma, kernel, rounds, neighbors, seed, progress):
    """Build the graph of a data set.

    Parameters
    ----------
    data : kdegraph.datasets.Dataset
    method : {"kde", "knn"}
    sigma : float, "auto" or None
        A k-NN graph without one has weights 1. Pictures have the paper's by default.
    kernel : str
    rounds : int, "auto" or None
    neighbors : int or None
    seed : int
    progress : callable or None

    Returns
    -------
    Built
    """
    from kdegraph.graph import similarity_graph

    if method == "knn":
        return _build_knn(
            data,
            sigma,
            kernel,
            DEFAULT_NEIGHBORS if neighbors is None else neighbors,
            seed,
            progress,
        )
    how = "estimated" if sigma == "auto" else "given"
    if sigma is None:
        sigma, how = (
            (data.sigma, "the usual one for pictures")
            if data.image is not None
            else ("auto", "estimated")
        )
    graph = similarity_graph(
        data.X, sigma=sigma, kernel=kernel, n_rounds=rounds or "auto", seed=seed, progress=progress
    )
    counted = "automatic" if rounds in (None, "auto") else "given"
    words = f"{kernel} kernel, sigma {graph.sigma:.4g} ({how}), {graph.n_rounds} rounds ({counted})"
    return Built(graph, graph.adjacency, words, dict(graph.timings))


def _build_knn(data, sigma, kernel, neighbors, seed, progress):
    from kdegraph.bandwidth import estimate_sigma
    from kdegraph.baselines import knn_graph
    from kdegraph.runtime.progress import StageTimer

    stages = StageTimer(progress)
    words = f"{neighbors} nearest neighbors, weights 1"
    if sigma is not None:
        how = "given"
        if sigma == "auto":
            stages.enter("sigma")
            sigma, how = estimate_sigma(data.X, seed=seed), "estimated"
        words = f"{neighbors} nearest neighbors, {kernel} kernel, sigma {sigma:.4g} ({how})"
    stages.enter("nearest neighbors")
    mode = "connectivity" if sigma is None else "kernel"
    adjacency = knn_graph(
        data.X, neighbors, mode=mode, sigma=sigma, kernel=kernel, progress=progress
    )
    stages.leave()
    return Built(adjacency, adjacency, words, stages.timings)


def seconds(timings):
    """Timings for people: ``"samples 0.12, graph 0.30"``."""
    return ", ".join(f"{stage} {value:.2f}" for stage, value in timings.items())


def print_report(lines):
    """Print (title, text) pairs, texts aligned."""
    for title, text in lines:
        click.echo(f"{title:<12} {text}")
