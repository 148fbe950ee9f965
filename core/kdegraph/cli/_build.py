"""From the options to a graph, and reports of what was done."""

from typing import Any, NamedTuple

import click

from kdegraph.cli._options import LOCAL_WORDS


class Built(NamedTuple):
    """A graph and its description."""

    graph: Any  # a SimilarityGraph or a csr_array
    adjacency: Any  # a csr_array
    words: str  # the method and its parameters
    timings: dict[str, float]  # seconds of each stage


def build(data, options, progress):
    """Build the graph of a `kdegraph.datasets.Dataset` and return it as `Built`."""
    if options.method == "knn":
        return _build_knn(data, options, progress)
    from kdegraph.graph import similarity_graph

    how = "given"
    if options.sigma is None and data.image is not None:
        options.sigma, how = data.sigma, "estimated for pictures"
    elif options.sigma in (None, "auto", *LOCAL_WORDS):
        how = "estimated"
    graph = similarity_graph(data.X, progress=progress, **kde_parameters(options))
    return _built(graph, how, options, dict(graph.timings))


def _built(graph, how, options, timings):
    counted = "automatic" if options.rounds in (None, "auto") else "given"
    words = f"{describe_kernel(graph, f' ({how})')}{graph.n_rounds} rounds ({counted})"
    return Built(graph, graph.adjacency, words, timings)


def build_with_clusters(data, clusters, options, progress):
    """Build the graph at the most stable scale; return it as `Built`, and the `Decision`."""
    from kdegraph.decision import Settings, decide, seed_of

    parameters = kde_parameters(options)
    given = {name: parameters[name] for name in ("alpha", "kernel", "metric", "n_rounds")}
    settings = Settings(clusters, given, {})
    seed = seed_of(options.seed % 2**32)  # NumPy's RandomState takes no larger ones
    found = decide(data.X, settings, seed, progress=progress)
    how = "the most stable" if data.image is None else "estimated for pictures"
    return _built(found.graph, how, options, found.timings), found


def kde_parameters(options):
    """Return the parameters of `similarity_graph` that the options stand for."""
    return {
        "sigma": options.sigma or "auto",
        "perplexity": options.perplexity,
        "alpha": options.alpha or 0.0,
        "kernel": options.kernel,
        "metric": options.metric,
        "n_rounds": options.rounds or "auto",
        "seed": options.seed,
    }


def describe_kernel(graph, how=""):
    """Describe the kernel of a graph, with a comma at the end; `how` the bandwidth was found."""
    from kdegraph.diagnosis import bandwidth_in_words

    density = f"alpha {graph.alpha:g}, " if graph.alpha > 0 else ""
    metric = f"{graph.metric} metric, " if graph.metric != "euclidean" else ""
    return f"{metric}{graph.kernel} kernel, {bandwidth_in_words(graph.sigma)}{how}, {density}"


def _build_knn(data, options, progress):
    from kdegraph.bandwidth import estimate_sigma
    from kdegraph.baselines import knn_graph
    from kdegraph.runtime.progress import StageTimer

    stages = StageTimer(progress)
    neighbors = options.neighbors or 10
    sigma, how = options.sigma, "given"
    if sigma == "auto":
        stages.enter("sigma")
        sigma, how = estimate_sigma(data.X, seed=options.seed, metric=options.metric), "estimated"
    stages.enter("nearest neighbors")
    adjacency = knn_graph(
        data.X,
        neighbors,
        mode="connectivity" if sigma is None else "kernel",
        sigma=sigma,
        kernel=options.kernel,
        metric=options.metric,
        progress=progress,
    )
    stages.leave()
    weights = "weights 1"
    if sigma is not None:
        weights = f"{options.kernel} kernel, sigma {sigma:.4g} ({how})"
    words = f"{neighbors} nearest neighbors, {weights}"
    return Built(adjacency, adjacency, words, stages.timings)


def counted(n, noun):
    """Return a number with its noun, in the singular or the plural."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def size_in_words(X, column="column"):
    """Return how many points and columns an array has; `column` is what one of them is called."""
    n_points, n_columns = X.shape
    return f"{counted(n_points, 'point')}, {counted(n_columns, column)}"


def lines_on_data(file, found, left_out=""):
    """Return the first lines of a report: pairs of a title and a text."""
    column = "column" if found.scaled is found.data else "standardized column"
    lines = [("data", f"{file}: {size_in_words(found.data.X, column)}{left_out}")]
    return lines + ([("not used", found.unused)] if found.unused else [])


def line_on_graph(words, n_edges, n_points):
    """Return the line of a report on the graph."""
    return "graph", f"{words}: {n_edges:,} edges, {2 * n_edges / n_points:.1f} per point"


def print_warnings(built, found, options, n_clusters=None):
    """Print what --scale auto has done with the columns of an `Input`, and possible problems of the
    graph, with their remedies, to standard error.
    """
    from kdegraph.diagnosis import diagnose

    if found.note is not None:
        click.echo(f"Note: {found.note}", err=True)
    points, names = found.scaled.X, found.scaled.feature_names
    one_unit = options.metric != "euclidean" or options.categories
    for finding in diagnose(built.graph, points=points, n_clusters=n_clusters, feature_names=names):
        if finding.problem == "columns" and one_unit:
            continue
        sentence = finding
        if finding.problem == "columns":
            remedy = "look for outliers there, or take others with --columns"
            if found.scaled is found.data:
                remedy = "take --scale standardize, or the same unit for all"
            sentence = f"{finding.observation}; {remedy}"
        click.echo(f"Warning: {sentence}", err=True)


def line_on_seconds(timings):
    """Return the line of a report on the seconds of the stages."""
    return "seconds", ", ".join(f"{stage} {spent:.2f}" for stage, spent in timings.items())


def print_report(lines, output=None):
    """Print pairs of a title and a text, with the texts aligned, and the path of a written file; to
    standard error if that is standard output.
    """
    if output and output != "-":
        lines = [*lines, ("written", output)]
    for title, text in lines:
        click.echo(f"{title:<12} {text}", err=output == "-")
