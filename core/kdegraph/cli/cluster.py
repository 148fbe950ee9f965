"""`kdegraph cluster`."""

from pathlib import Path

import click

from kdegraph.cli import _tiles
from kdegraph.cli._build import build, check_options, print_report, print_warnings
from kdegraph.cli._options import Auto, data_and_graph_options, read_input
from kdegraph.cli._output import check_output, write_array, write_picture, write_table
from kdegraph.cli._progress import progress_line

EXTENSIONS = (".csv", ".parquet", ".npy")
# Sizes, conductances and eigenvalues that the report shows.
_N_SHOWN = 12


@click.command()
@click.argument("file", type=click.Path(exists=True))
@click.option(
    "--clusters",
    "-k",
    type=Auto(click.IntRange(min=1), "number"),
    default="auto",
    show_default=True,
    help="Number of clusters; auto: by the eigengap.",
)
@click.option(
    "--output",
    "-o",
    metavar="PATH",
    help="Where to write the labels: .csv, .parquet, .npy; of a picture also .png; of tiles also "
    ".zarr.",
)
@click.option(
    "--store",
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
    type=_tiles.Size(),
    help="Compute the tiles by worker processes with so much memory in all, such as 4GB. Those of "
    "a scheduler have limits of their own.",
)
@data_and_graph_options
def cluster(file, clusters, output, store, scheduler, memory_limit, reading, options, quiet):
    """Cluster points, or segment a picture, by spectral clustering of a similarity graph.

    Prints a report; with -o writes one label (0, 1, ...) per row of FILE, in its order. Of a
    picture it writes one label per pixel, and to .png the picture with each segment in its mean
    color.

    \b
    Examples:
      kdegraph cluster moons.csv -k 2 -o labels.csv
      kdegraph cluster points.parquet --columns x,y,z --sigma 0.2     the report only
      kdegraph cluster points.csv -k 3 --sigma moderate              dense and sparse clusters
      kdegraph cluster iris.csv -k 3 --label species                 compare with known labels
      kdegraph cluster points.npy --method knn --neighbors 15        the usual k-NN graph instead
      kdegraph cluster photo.jpg -k 4 -o segments.png
      kdegraph cluster points.zarr -k 8 --memory-limit 4GB -o labels.zarr
    """
    from kdegraph.datasets import file_type

    if file.lower().endswith(_tiles.BLOCKWISE) or store or scheduler or memory_limit:
        tiles = _tiles.Tiles(store, scheduler, memory_limit)
        _cluster_by_tiles(file, clusters, output, tiles, reading, options, quiet)
        return
    if Path(file).is_dir():
        raise click.BadParameter(f"File {file!r} is a directory.", param_hint="'FILE'")
    picture = file_type(file) in ("png", "jpeg")
    path = check_output(output, (*EXTENSIONS, ".png") if picture else EXTENSIONS)
    check_options(options)
    with progress_line(quiet) as progress:
        found = read_input(file, reading)
        if path is not None and path.suffix.lower() == ".png" and found.data.image is None:
            raise click.BadParameter(
                "only the labels of a picture can be written as .png.", param_hint="'--output'"
            )
        built = build(found.data, options, progress)
        result = _cluster(built, found.data, clusters, options.seed, progress)
        if path is not None:
            _write(path, found, result.labels)
    if not quiet:
        print_warnings(built, found.data, None if clusters == "auto" else clusters)
        lines = _report(file, found, built, result, clusters)
        print_report(lines + ([("written", output)] if output else []))


def _cluster_by_tiles(file, clusters, output, tiles, reading, options, quiet):
    """Cluster the points of a file tile by tile."""
    from kdegraph.dispatch import spectral_clustering

    check_options(options)
    _tiles.check_options(reading, options)
    path = check_output(output, _tiles.EXTENSIONS)
    with progress_line(quiet) as progress, tiles.workers():
        graph = tiles.graph(file, reading, options, progress)
        result = spectral_clustering(graph, clusters, seed=options.seed, progress=progress)
        labels = result.labels.compute()
        if path is not None:
            _tiles.write_labels(path, labels)
    if not quiet:
        lines = [
            ("data", f"{file}: {graph.n_vertices:,} points, {graph.points.shape[1]} columns"),
            ("graph", _tiles.describe(graph)),
            *_lines_on_clusters(result, labels, clusters),
        ]
        print_report(lines + ([("written", output)] if output else []))


def _cluster(built, data, clusters, seed, progress):
    """Cluster the points of a graph, and add the time to that of the graph."""
    from kdegraph.dispatch import spectral_clustering
    from kdegraph.runtime.progress import StageTimer

    stages = StageTimer(progress)
    stages.enter("clusters")
    result = spectral_clustering(built.graph, clusters, seed=seed, points=data.X, progress=progress)
    stages.leave()
    built.timings |= stages.timings
    return result


def _numbers(values):
    """Return the first values as text, whole numbers in full and others with three digits."""
    style = ",d" if values.dtype.kind == "i" else ".3g"
    shown = " ".join(format(value, style) for value in values[:_N_SHOWN].tolist())
    return shown + (" ..." if len(values) > _N_SHOWN else "")


def _report(file, found, built, result, clusters):
    """Return the lines of the report: pairs of a title and a text."""
    data = found.data
    n_left_out = found.n_rows - data.n_points
    left_out = f", {n_left_out:,} rows left out" if n_left_out > 0 else ""
    lines = [
        ("data", f"{file}: {data.n_points:,} points, {data.X.shape[1]} columns{left_out}"),
        *([("not used", found.unused)] if found.unused else []),
        ("graph", built.describe(data.n_points)),
        *_lines_on_clusters(result, result.labels, clusters),
    ]
    if data.y is not None:
        from sklearn.metrics import adjusted_rand_score

        score = round(adjusted_rand_score(data.y, result.labels), 3) + 0.0  # no minus before a zero
        text = f"{score:.3f} (adjusted Rand index with column {found.label!r})"
        lines.append(("agreement", text))
    return [*lines, ("seconds", built.describe_timings())]


def _lines_on_clusters(result, labels, clusters):
    """Return the lines of the report about the clusters."""
    import numpy as np

    sizes = np.bincount(labels, minlength=len(result.conductances))
    how = "by the eigengap" if clusters == "auto" else "given"
    eigenvalues = "none: the graph has no edges"
    if result.spectrum is not None:
        eigenvalues = _numbers(result.spectrum.eigenvalues)
    lines = [
        ("clusters", f"{len(sizes)} ({how}), of {_numbers(sizes)} points"),
        ("conductance", _numbers(result.conductances)),
        ("eigenvalues", eigenvalues),
    ]
    if n_isolated := len(result.isolated):
        what = f"{n_isolated:,} points without an edge, labeled like their nearest neighbors"
        lines.append(("isolated", f"{what}; a larger sigma connects them"))
    return lines


def _write(path, found, labels):
    """Write one label for each row of the file, or for each pixel of the picture."""
    import numpy as np

    data = found.data
    extension = path.suffix.lower()
    if data.image is None:
        full = np.full(found.n_rows, -1, np.int32)
        full[data.rows] = labels
        columns = {"label": full}
    else:
        full = data.label_image(labels).astype(np.int32)
        row, column = np.indices(full.shape, dtype=np.int32)
        columns = {"row": row.ravel(), "column": column.ravel(), "label": full.ravel()}
    if extension == ".png":
        write_picture(path, _mean_colors(data.image, full))
    elif extension == ".npy":
        write_array(path, full)
    else:
        write_table(path, columns)


def _mean_colors(image, labels):
    """Return the picture with each segment in its mean color."""
    import numpy as np

    counts = np.maximum(np.bincount(labels.ravel()), 1)
    colors = image.reshape(-1, 3).T
    sums = np.stack([np.bincount(labels.ravel(), weights=color) for color in colors], axis=1)
    return np.round(sums / counts[:, None]).astype(np.uint8)[labels]
