"""`kdegraph cluster`."""

import click

from kdegraph.cli._build import build, check_options, print_report, seconds
from kdegraph.cli._options import FILE, Auto, data_and_graph_options, read_input
from kdegraph.cli._output import check_output, write_array, write_picture, write_table
from kdegraph.cli._progress import progress_line

EXTENSIONS = (".csv", ".parquet", ".npy")
_SHOWN = 12


@click.command()
@click.argument("file", type=FILE)
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
    help="Where to write the labels: .csv, .parquet, .npy; of a picture also .png.",
)
@data_and_graph_options
def cluster(
    file,
    clusters,
    output,
    columns,
    label,
    dropna,
    max_pixels,
    blur,
    method,
    sigma,
    kernel,
    rounds,
    neighbors,
    seed,
    quiet,
):
    """Cluster points, or segment a picture, by spectral clustering of a similarity graph.

    Prints a report; with -o writes one label (0, 1, ...) per row of FILE, in its order. Of a
    picture it writes one label per pixel, and to .png the picture with each segment in its mean
    color.

    \b
    Examples:
      kdegraph cluster moons.csv -k 2 -o labels.csv
      kdegraph cluster points.parquet --columns x,y,z --sigma 0.2     the report only
      kdegraph cluster iris.csv -k 3 --label species                 compare with known labels
      kdegraph cluster points.npy --method knn --neighbors 15        the usual k-NN graph instead
      kdegraph cluster photo.jpg -k 4 -o segments.png
    """
    from kdegraph.datasets import file_type

    picture = file_type(file) in ("png", "jpeg")
    path = check_output(output, (*EXTENSIONS, ".png") if picture else EXTENSIONS)
    check_options(method, sigma, rounds, neighbors)
    with progress_line(quiet) as progress:
        found = read_input(file, columns, label, dropna, max_pixels, blur)
        if path is not None and path.suffix.lower() == ".png" and found.data.image is None:
            raise click.BadParameter(
                "only the labels of a picture can be written as .png.", param_hint="'--output'"
            )
        built = build(
            found.data,
            method=method,
            sigma=sigma,
            kernel=kernel,
            rounds=rounds,
            neighbors=neighbors,
            seed=seed,
            progress=progress,
        )
        result = _cluster(built, found.data, clusters, seed, progress)
        if path is not None:
            _write(path, found, result.labels)
    if not quiet:
        print_report(
            _report(file, found, built, result, clusters)
            + ([("written", output)] if output else [])
        )


def _cluster(built, data, clusters, seed, progress):
    """The clustering; its time is added to that of the graph."""
    from kdegraph.clustering.partition import spectral_clustering
    from kdegraph.runtime.progress import StageTimer

    stages = StageTimer(progress)
    stages.enter("clusters")
    result = spectral_clustering(built.graph, clusters, seed=seed, points=data.X, progress=progress)
    stages.leave()
    built.timings |= stages.timings
    return result


def _numbers(values):
    """The first values, sizes in full and fractions to three digits."""
    shown = " ".join(
        f"{value:,}" if values.dtype.kind == "i" else f"{value:.3g}" for value in values[:_SHOWN]
    )
    return shown + (" ..." if len(values) > _SHOWN else "")


def _report(file, found, built, result, clusters):
    import numpy as np

    data = found.data
    sizes = np.bincount(result.labels, minlength=len(result.conductances))
    n_edges = built.adjacency.nnz // 2
    left_out = (
        f", {found.n_rows - data.n_points:,} rows left out" if found.n_rows > data.n_points else ""
    )
    lines = [
        ("data", f"{file}: {data.n_points:,} points, {data.X.shape[1]} columns{left_out}"),
        ("graph", f"{built.words}: {n_edges:,} edges, {2 * n_edges / data.n_points:.1f} per point"),
        (
            "clusters",
            f"{len(sizes)} ({'by the eigengap' if clusters == 'auto' else 'given'}), of {_numbers(sizes)} points",
        ),
        ("conductance", _numbers(result.conductances)),
        (
            "eigenvalues",
            "none: the graph has no edges"
            if result.spectrum is None
            else _numbers(result.spectrum.eigenvalues),
        ),
    ]
    if isolated := int((np.diff(built.adjacency.indptr) == 0).sum()):
        lines.append(
            (
                "isolated",
                f"{isolated:,} points without an edge, labeled like their nearest neighbors; a larger sigma connects them",
            )
        )
    if data.y is not None:
        from sklearn.metrics import adjusted_rand_score

        score = round(adjusted_rand_score(data.y, result.labels), 3) + 0.0  # no minus before a zero
        lines.append(
            ("agreement", f"{score:.3f} (adjusted Rand index with column {found.label!r})")
        )
    return [*lines, ("seconds", seconds(built.timings))]


def _write(path, found, labels):
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
    """The picture with each segment in its mean color."""
    import numpy as np

    counts = np.maximum(np.bincount(labels.ravel()), 1)
    sums = np.stack(
        [np.bincount(labels.ravel(), weights=image[:, :, c].ravel()) for c in range(3)], axis=1
    )
    return np.round(sums / counts[:, None]).astype(np.uint8)[labels]
