"""`kdegraph graph`."""

import click

from kdegraph.cli._build import build, check_options, print_report, print_warnings
from kdegraph.cli._options import FILE, data_and_graph_options, read_input
from kdegraph.cli._output import check_output, write_table
from kdegraph.cli._progress import progress_line
from kdegraph.runtime.replacing import writing

EXCHANGE = (".graphml", ".gexf")
EXTENSIONS = (".npz", ".csv", ".parquet", *EXCHANGE)


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="PATH",
    help="Where to write the graph: .npz, a list of edges as .csv or .parquet, or .graphml or "
    ".gexf for other programs.",
)
@data_and_graph_options
def graph(file, output, reading, options, quiet):
    """Build a similarity graph and write it to a file.

    \b
    The file, by its extension:
      .npz             the whole graph: in Python, kdegraph.SimilarityGraph.load(path) reads it back
                       (of --method knn: scipy.sparse.load_npz(path))
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
    path = check_output(output, EXTENSIONS)
    check_options(options)
    with progress_line(quiet) as progress:
        found = read_input(file, reading)
        data = found.data
        built = build(data, options, progress)
        _write(path, built, data)
    if not quiet:
        print_warnings(built, data)
        print_report(
            [
                ("data", f"{file}: {data.n_points:,} points, {data.X.shape[1]} columns"),
                *([("not used", found.unused)] if found.unused else []),
                ("graph", built.describe(data.n_points)),
                ("seconds", built.describe_timings()),
                ("written", output),
            ]
        )


def _write(path, built, data):
    """Write the graph of a data set; points are named by their rows in its file."""
    import numpy as np
    import scipy.sparse

    rows = data.rows
    if path.suffix.lower() in EXCHANGE:
        from kdegraph.exchange import export_graph

        export_graph(path, built.adjacency, attributes=_attributes(data))
        return

    if path.suffix.lower() == ".npz":
        if built.graph is not built.adjacency:
            built.graph.save(path)
            return
        with writing(path) as temporary:
            scipy.sparse.save_npz(temporary, built.adjacency)
        return
    upper = scipy.sparse.triu(built.adjacency, k=1, format="coo")
    source, target = (upper.row, upper.col) if rows is None else (rows[upper.row], rows[upper.col])
    order = np.lexsort([target, source])
    write_table(
        path, {"source": source[order], "target": target[order], "weight": upper.data[order]}
    )


def _attributes(data):
    """What is known of the points of a data set, by name."""
    import numpy as np

    known = dict(zip(data.feature_names, data.X.T, strict=True))
    if data.rows is not None:
        known["row"] = data.rows
    if data.y is not None:
        known["reference"] = np.asarray(data.label_names)[data.y] if data.label_names else data.y
    return known
