"""`kdegraph cluster`."""

from pathlib import Path

import click

from kdegraph.cli import _build, _options, _output, _tiles
from kdegraph.cli._progress import progress_line
from kdegraph.runtime.replacing import writing

EXTENSIONS = (".csv", ".parquet", ".npy")


@click.command()
@click.argument("file", type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--clusters",
    "-k",
    type=_options.Auto(_options.Integer(min=1), "number"),
    default="auto",
    show_default=True,
    help="Number of clusters; auto: by the spectrum.",
)
@click.option(
    "--output",
    "-o",
    metavar="PATH",
    help="Where to write FILE's table with a column of clusters: .csv, .parquet, or - for standard "
    "output as CSV; the labels alone: .npy; of a picture also .png; of tiles also .zarr.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print a JSON object instead of the report, with the labels unless -o writes them.",
)
@click.option(
    "--store",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Keep the graph in a folder, tile by tile: it need not fit into memory, and the same "
    "command goes on after an interruption.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Have the workers of a Dask scheduler compute the tiles.",
)
@click.option(
    "--memory-limit",
    callback=_tiles.as_bytes,
    metavar="SIZE",
    help="Compute the tiles by worker processes with this much memory in all, such as 4GB, and at "
    f"least {_tiles.MIN_WORKER // 10**6}MB. Those of a scheduler have limits of their own.",
)
@click.option(
    "--noise",
    type=_options.Number(0, 1, min_open=True),
    metavar="NUMBER",
    help="Write the label -1 for points that are in their cluster in less than this share of the "
    "graphs, such as 0.9; only without --sigma.",
)
@_options.scale_option("auto")
@_options.data_and_graph_options
def cluster(file, clusters, output, as_json, store, scheduler, memory_limit, quiet, **given):
    """Cluster points, or segment a picture, by spectral clustering of a similarity graph.

    Prints a report; with -o writes the table in FILE with the column "cluster" (0, 1, ...). Of a
    picture it writes one label per pixel, and to .png the picture with each segment in its mean
    color. Columns of very different units are standardized, see --scale. A FILE of - is standard
    input, whose type is recognized by its content.

    \b
    Examples:
      kdegraph cluster moons.csv -k 2 -o labels.csv
      kdegraph cluster - -k 2 -o -                                   in pipes, with CSV
      kdegraph cluster people.csv --categories auto --json           numbers and text
      kdegraph cluster points.parquet --columns x,y,z --sigma 0.2     the report only
      kdegraph cluster points.csv -k 3 --sigma moderate              dense and sparse clusters
      kdegraph cluster points.csv --noise 0.9 -o labels.csv          doubtful points get label -1
      kdegraph cluster iris.csv -k 3 --label species                 compare with known labels
      kdegraph cluster points.npy --method knn --neighbors 15        the usual k-NN graph instead
      kdegraph cluster photo.jpg -k 4 -o segments.png
      kdegraph cluster points.zarr -k 8 --memory-limit 4GB -o labels.zarr
    """
    if as_json and output == "-":
        raise click.UsageError("--json and -o - both write to standard output; give -o a file")
    if file.lower().endswith(_tiles.BLOCKWISE) or store or scheduler or memory_limit:
        workers = _tiles.workers(scheduler, memory_limit)
        lines, facts = _cluster_by_tiles(file, clusters, output, store, workers, given, quiet)
    else:
        path = _output.check_output(output, _extensions(file), file)
        lines, facts = _cluster_in_memory(file, clusters, path, given, quiet)
    if as_json:
        labels = facts.pop("labels")
        _output.print_json(
            facts | ({"labels": labels.tolist()} if output is None else {"written": output})
        )
    elif not quiet:
        _build.print_report(lines, output=output)


def _extensions(file):
    """Return the extensions of files for the labels of a file."""
    from kdegraph.datasets import file_type

    if Path(file).is_dir():
        raise click.BadParameter(f"File {file!r} is a directory.", param_hint="'FILE'")
    picture = file == "-" or file_type(file) in ("png", "jpeg")
    return (*EXTENSIONS, ".png") if picture else EXTENSIONS


def _cluster_by_tiles(file, clusters, output, store, workers, given, quiet):
    """Cluster a file tile by tile; return the lines of the report, and the facts for JSON."""
    from kdegraph.dispatch import spectral_clustering

    options = _options.check_options(given)
    _tiles.check_options(options)
    path = _output.check_output(output, (*EXTENSIONS, ".zarr"), file)
    with progress_line(quiet, options.deadline) as progress, workers:
        graph = _tiles.build(file, options, store, progress)
        result = spectral_clustering(graph, clusters, seed=options.seed, progress=progress)
        labels = result.labels.compute()
        if path is not None:
            _output.write_columns(path, {"label": labels})
    words = f"{_build.describe_kernel(graph)}{graph.n_rounds} rounds"
    title, text = _build.line_on_graph(words, graph.n_edges, len(graph.points))
    lines = [
        ("data", f"{file}: {_build.size_in_words(graph.points)}"),
        (title, f"{text}, {graph.n_blocks} tiles"),
        *_lines_on_clusters(result, labels, _how(clusters, result.n_clusters)),
    ]
    return lines, _facts(file, result, labels) | {"labels": labels}


def _cluster_in_memory(file, clusters, path, given, quiet):
    """Cluster the points of a file; return the lines of the report, and the facts for JSON."""
    options = _options.check_options(given)
    with progress_line(quiet, options.deadline) as progress:
        found = _options.read_input(file, options, progress)
        data = found.data
        if path is not None and path.suffix.lower() == ".png" and data.image is None:
            raise click.BadParameter(
                "only the labels of a picture can be written as .png.", param_hint="'--output'"
            )
        built, result, decision = _cluster(found.scaled, clusters, options, progress)
        labels = result.labels if decision is None else decision.labels(options.noise)
        full = _labels_of_rows(found, labels)
        if path is not None:
            _write(path, found, full)
    if not quiet:
        wanted = None if clusters == "auto" else clusters
        _build.print_warnings(built, found, options, wanted)
    n_left_out = 0 if found.table is None else found.table.n_rows - data.n_points
    lines = [
        *_build.lines_on_data(
            file, found, f", {_build.counted(n_left_out, 'row')} left out" if n_left_out else ""
        ),
        _build.line_on_graph(built.words, built.adjacency.nnz // 2, data.n_points),
        *_lines_on_clusters(result, result.labels, _how(clusters, result.n_clusters, decision)),
        *_lines_on_vote(decision, options.noise),
    ]
    facts = _facts(file, result, result.labels, decision) | {"labels": full}
    facts |= {"columns": found.scaled.feature_names, "not_used": found.unused}
    if found.identifier is not None:
        facts["ids"] = found.table.to_arrow()[found.identifier.name].to_pylist()
    if data.y is not None:
        facts["agreement"], text = _agreement(found, result.labels, options)
        lines.append(("agreement", text))
    facts["seconds"] = built.timings
    return [*lines, _build.line_on_seconds(built.timings)], facts


def _agreement(found, labels, options):
    """Return the agreement of clusters with known labels, and the text of its line."""
    from sklearn.metrics import adjusted_rand_score

    agreement = adjusted_rand_score(found.data.y, labels)
    score = round(agreement, 3) + 0.0  # no minus before a zero
    text = f"{score:.3f} (adjusted Rand index with column {found.label!r})"
    if options.label is None:
        text += ", which is not a feature unless --columns names it"
    return agreement, text


def _facts(file, result, labels, decision=None):
    """Return what --json prints of all clusters; None where it is not known."""
    import numpy as np

    vote = decision and decision.vote
    return {
        "file": file,
        "n_points": len(labels),
        "n_clusters": len(result.conductances),
        "sizes": np.bincount(labels, minlength=len(result.conductances)).tolist(),
        "conductances": result.conductances.tolist(),
        "confidence": decision and decision.confidence,
        "candidates": decision.candidates if decision else (),
        "stability": vote and vote.stability.tolist(),
        "doubtful": vote and vote.n_doubtful,
    }


def _cluster(data, clusters, options, progress):
    """Return the graph, its clusters and the `Decision`, if nothing says which graph is meant."""
    from kdegraph.dispatch import spectral_clustering
    from kdegraph.runtime.progress import StageTimer

    several = options.method == "kde" and options.sigma is None
    if options.noise is not None:
        from kdegraph.decision import check_noise  # imports scikit-learn, which is slow

        check_noise(options.noise, data.X, one_graph=not several)
    if several:
        built, decision = _build.build_with_clusters(data, clusters, options, progress)
        return built, decision.clusters, decision
    built = _build.build(data, options, progress)
    stages = StageTimer(progress)
    stages.enter("clusters")
    result = spectral_clustering(
        built.graph, clusters, seed=options.seed, points=data.X, progress=progress
    )
    stages.leave()
    return built._replace(timings=built.timings | stages.timings), result, None


def _how(clusters, found, decision=None):
    """Say where the number of clusters that were found comes from."""
    if clusters != "auto":
        return "given" if clusters == found else f"{clusters} given"
    if decision is None:
        return "by the eigengap"
    # Other numbers are named if they have a tenth of all weights.
    others = ", ".join(str(k) for k, share in decision.candidates[1:] if share >= 0.1)
    return f"confidence {decision.confidence:.2f}" + (f"; or {others}" if others else "")


def _numbers(values):
    """Return the first values as text, whole numbers in full and others with three digits."""
    style, n_shown = ",d" if values.dtype.kind == "i" else ".3g", 12
    shown = " ".join(format(value, style) for value in values[:n_shown].tolist())
    return shown + (" ..." if len(values) > n_shown else "")


def _lines_on_vote(decision, noise):
    """Return the line of the report on how sure the clusters are."""
    if decision is None or decision.vote is None:
        return []
    from kdegraph.votes import SURE

    sure = SURE if noise is None else noise
    doubtful = int((decision.vote.probabilities < sure).sum())
    text = f"{_numbers(decision.vote.stability)}; {_build.counted(doubtful, 'doubtful point')}"
    label = "" if noise is None else "; their label is -1"
    text += f" (in fewer than {sure:.0%} of the graphs in their cluster{label})"
    return [("stability", text)]


def _lines_on_clusters(result, labels, how):
    """Return the lines of the report about the clusters, `how` many there are was found."""
    import numpy as np

    sizes = np.bincount(labels, minlength=len(result.conductances))
    eigenvalues = "none: the graph has no edges"
    if result.spectrum is not None:
        eigenvalues = _numbers(result.spectrum.eigenvalues)
    lines = [
        ("clusters", f"{len(sizes)} ({how}), of {_numbers(sizes)} points"),
        ("conductance", _numbers(result.conductances)),
        ("eigenvalues", eigenvalues),
    ]
    if n_isolated := len(result.isolated):
        text = (
            f"{_build.counted(n_isolated, 'point')} without an edge, labeled like the nearest one"
        )
        lines.append(("isolated", f"{text}; a larger sigma adds edges"))
    return lines


def _labels_of_rows(found, labels):
    """Return one label for each row of the file, or for each pixel of the picture."""
    import numpy as np

    if found.table is None:
        return found.data.label_image(labels).astype(np.int32)
    full = np.full(found.table.n_rows, -1, np.int32)
    full[found.data.rows] = labels
    return full


def _write(path, found, full):
    """Write the labels of the rows of the file, or of the pixels of the picture."""
    import numpy as np

    if path.suffix.lower() == ".npy":
        _output.write_columns(path, {"label": full})
    elif found.table is not None:
        _output.write_frame(path, found.table.to_arrow({"cluster": full}))
    elif path.suffix.lower() == ".png":
        from PIL import Image

        with writing(path) as temporary:
            Image.fromarray(_mean_colors(found.data.image, full)).save(temporary, "PNG")
    else:
        row, column = np.indices(full.shape, dtype=np.int32)
        columns = {"row": row, "column": column, "label": full}
        _output.write_columns(path, {name: values.ravel() for name, values in columns.items()})


def _mean_colors(image, labels):
    """Return the picture with each segment in its mean color."""
    import numpy as np

    counts = np.maximum(np.bincount(labels.ravel()), 1)
    colors = image.reshape(-1, 3).T
    sums = np.stack([np.bincount(labels.ravel(), weights=color) for color in colors], axis=1)
    return np.round(sums / counts[:, None]).astype(np.uint8)[labels]
