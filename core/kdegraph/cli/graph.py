"""`kdegraph graph`."""

import click

from kdegraph.cli import _build, _options, _output
from kdegraph.cli._progress import progress_line
from kdegraph.runtime.replacing import writing

EXCHANGE = (".graphml", ".gexf")


@click.command()
@click.argument("file", type=_options.DATA_FILE)
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="PATH",
    help="Where to write the graph: .npz, a list of edges as .csv or .parquet, or .graphml or "
    ".gexf for other programs; - is standard output, for edges as CSV.",
)
@_options.scale_option("none")
@_options.data_and_graph_options
def graph(file, output, quiet, **given):
    """Build a similarity graph and write it to a file.

    \b
    The file, by its extension:
      .npz             the whole graph: in Python, kdegraph.SimilarityGraph.load(path) reads it back
                       (of --method knn: scipy.sparse.load_npz(path)); its points have the
                       scales of --scale
      .csv, .parquet   one row per edge: source, target (numbers of points from 0, source < target),
      weight
      .graphml, .gexf  for other programs, such as NetworkX and Gephi: a vertex for each point, with
      its number from 0 and its columns; edges have weights

    \b
    Examples:
      kdegraph graph points.csv -o graph.npz
      kdegraph graph points.npy --sigma 0.1 --rounds 30 -o edges.parquet
      kdegraph graph points.npy --sigma local --perplexity 10 -o graph.npz
      kdegraph graph points.csv -o graph.gexf
      kdegraph graph points.csv --columns x,y --kernel laplacian -o graph.npz
      kdegraph graph photo.jpg --max-pixels 5000 --method knn --neighbors 15 -o edges.csv
    """
    path = _output.check_output(output, (".npz", ".csv", ".parquet", *EXCHANGE), file)
    options = _options.check_options(given)
    with progress_line(quiet, options.deadline) as progress:
        found = _options.read_input(file, options, progress)
        built = _build.build(found.scaled, options, progress)
        _write(path, built, found.data)
    if not quiet:
        _build.print_warnings(built, found, options)
        lines = [
            *_build.lines_on_data(file, found),
            _build.line_on_graph(built.words, built.adjacency.nnz // 2, found.data.n_points),
            _build.line_on_seconds(built.timings),
        ]
        _build.print_report(lines, output)


def _write(path, built, data):
    """Write the graph of a data set; points are named by their rows in its file."""
    import numpy as np
    import scipy.sparse

    if path.suffix.lower() in EXCHANGE:
        from kdegraph.exchange import export_graph

        export_graph(path, built.adjacency, attributes=_attributes(data))
    elif path.suffix.lower() != ".npz":
        upper = scipy.sparse.triu(built.adjacency, k=1, format="coo")
        rows = np.arange(data.n_points, dtype=np.int32) if data.rows is None else data.rows
        source, target = rows[upper.row], rows[upper.col]
        order = np.lexsort([target, source])
        columns = {"source": source, "target": target, "weight": upper.data}
        _output.write_columns(path, {name: values[order] for name, values in columns.items()})
    elif built.graph is built.adjacency:
        with writing(path) as temporary:
            scipy.sparse.save_npz(temporary, built.adjacency)
    else:
        built.graph.save(path)


def _attributes(data):
    """Return the values that are known of the points of a data set, by name."""
    import numpy as np

    known = dict(zip(data.feature_names, data.X.T, strict=True))
    if data.rows is not None:
        known["row"] = data.rows
    if data.y is not None:
        known["reference"] = np.asarray(data.label_names)[data.y] if data.label_names else data.y
    return known
