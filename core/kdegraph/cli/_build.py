"""From the options to a graph, and reports of what was done."""

from dataclasses import dataclass, field
from typing import Any

import click

from kdegraph.cli._options import LOCAL_WORDS, GraphOptions

DEFAULT_NEIGHBORS = 10


@dataclass
class Built:
    """A graph and how to describe it.

    Attributes
    ----------
    graph : SimilarityGraph or csr_array
    adjacency : csr_array
    words : str
        The method and its parameters.
    timings : dict
        Seconds of each stage.
    """

    graph: Any
    adjacency: Any
    words: str
    timings: dict[str, float] = field(default_factory=dict)

    def describe(self, n_points: int) -> str:
        """Return one line on the graph of so many points."""
        n_edges = self.adjacency.nnz // 2
        return f"{self.words}: {n_edges:,} edges, {2 * n_edges / n_points:.1f} per point"

    def describe_timings(self) -> str:
        """Return the seconds of the stages: ``"samples 0.12, graph 0.30"``."""
        return ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in self.timings.items())


def check_options(options: GraphOptions) -> None:
    """Refuse options that the method does not use.

    Raises
    ------
    click.UsageError
    """
    if options.method == "knn" and options.rounds is not None:
        raise click.UsageError("--rounds goes with --method kde; a k-NN graph has --neighbors")
    if options.method == "kde" and options.neighbors is not None:
        raise click.UsageError("--neighbors goes with --method knn; a kernel graph has --rounds")
    if options.method == "knn" and options.sigma in LOCAL_WORDS:
        raise click.UsageError(f"--sigma {options.sigma} goes with --method kde")
    if options.method == "knn" and options.alpha is not None:
        raise click.UsageError("--alpha goes with --method kde")
    if options.perplexity is not None and options.sigma not in LOCAL_WORDS:
        raise click.UsageError("--perplexity goes with --sigma local and --sigma moderate")


def build(data, options: GraphOptions, progress) -> Built:
    """Build the graph of a data set.

    Parameters
    ----------
    data : kdegraph.datasets.Dataset
    options : GraphOptions
    progress : callable or None

    Returns
    -------
    Built
    """
    if options.method == "knn":
        return _build_knn(data, options, progress)
    return _build_kde(data, options, progress)


def _build_kde(data, options, progress):
    from kdegraph.diagnosis import bandwidth_in_words
    from kdegraph.graph import similarity_graph

    sigma, how = options.sigma, "given"
    if sigma is None and data.image is not None:
        sigma, how = data.sigma, "estimated for pictures"
    elif sigma in (None, "auto", *LOCAL_WORDS):
        sigma, how = sigma or "auto", "estimated"
    graph = similarity_graph(
        data.X,
        sigma=sigma,
        perplexity=options.perplexity,
        alpha=options.alpha or 0.0,
        kernel=options.kernel,
        n_rounds=options.rounds or "auto",
        seed=options.seed,
        progress=progress,
    )
    counted = "automatic" if options.rounds in (None, "auto") else "given"
    density = f"alpha {graph.alpha:g}, " if graph.alpha > 0 else ""
    words = (
        f"{options.kernel} kernel, {bandwidth_in_words(graph.sigma)} ({how}), {density}"
        f"{graph.n_rounds} rounds ({counted})"
    )
    return Built(graph, graph.adjacency, words, dict(graph.timings))


def _build_knn(data, options, progress):
    from kdegraph.bandwidth import estimate_sigma
    from kdegraph.baselines import knn_graph
    from kdegraph.runtime.progress import StageTimer

    stages = StageTimer(progress)
    neighbors = DEFAULT_NEIGHBORS if options.neighbors is None else options.neighbors
    sigma, how = options.sigma, "given"
    if sigma == "auto":
        stages.enter("sigma")
        sigma, how = estimate_sigma(data.X, seed=options.seed), "estimated"
    stages.enter("nearest neighbors")
    adjacency = knn_graph(
        data.X,
        neighbors,
        mode="connectivity" if sigma is None else "kernel",
        sigma=sigma,
        kernel=options.kernel,
        progress=progress,
    )
    stages.leave()
    weights = (
        "weights 1" if sigma is None else f"{options.kernel} kernel, sigma {sigma:.4g} ({how})"
    )
    words = f"{neighbors} nearest neighbors, {weights}"
    return Built(adjacency, adjacency, words, stages.timings)


def print_warnings(built: Built, data, n_clusters: int | None = None) -> None:
    """Print what may be wrong with a graph, and what to do about it, to standard error."""
    from kdegraph.diagnosis import diagnose

    found = diagnose(
        built.graph, points=data.X, n_clusters=n_clusters, feature_names=data.feature_names
    )
    for sentence in found:
        click.echo(f"Warning: {sentence}", err=True)


def print_report(lines: list[tuple[str, str]]) -> None:
    """Print pairs of a title and a text, with the texts aligned."""
    for title, text in lines:
        click.echo(f"{title:<12} {text}")
