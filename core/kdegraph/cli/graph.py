"""`kdegraph graph`."""

import click

from kdegraph.cli._build import build, check_options, print_report, print_warnings
from kdegraph.cli._options import FILE, data_and_graph_options, read_input
from kdegraph.cli._output import check_output, replacing, write_table
from kdegraph.cli._progress import progress_line

EXTENSIONS = (".npz", ".csv", ".parquet")


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="PATH",
    help="Where to write the graph: .npz, or a list of edges as .csv or .parquet.",
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

    \b
    Examples:
      kdegraph graph points.csv -o graph.npz
      kdegraph graph points.npy --sigma 0.1 --rounds 30 -o edges.parquet
      kdegraph graph points.npy --sigma local --perplexity 10 -o graph.npz
      kdegraph graph points.csv --columns x,y --kernel laplacian -o graph.npz
      kdegraph graph photo.jpg --max-pixels 5000 --method knn --neighbors 15 -o edges.csv
    """
    path = check_output(output, EXTENSIONS)
    check_options(options)
    with progress_line(quiet) as progress:
        found = read_input(file, reading)
        data = found.data
        built = build(data, options, progress)
        _write(path, built, data.rows)
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


def _write(path, built, rows):
    """Write the graph; `rows` are the rows of the file that its points come from."""
    import numpy as np
    import scipy.sparse

    if path.suffix.lower() == ".npz":
        with replacing(path) as temporary:
            if built.graph is built.adjacency:
                scipy.sparse.save_npz(temporary, built.adjacency)
            else:
                built.graph.save(temporary)
        return
    upper = scipy.sparse.triu(built.adjacency, k=1, format="coo")
    source, target = (upper.row, upper.col) if rows is None else (rows[upper.row], rows[upper.col])
    order = np.lexsort([target, source])
    write_table(
        path, {"source": source[order], "target": target[order], "weight": upper.data[order]}
    )
