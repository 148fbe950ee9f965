"""The command line: `kdegraph explore`, `cluster`, `graph`, `sample` and `warmup`.

The modules of this package import only click and the standard library at the top, so that `--help`
does not wait for compilers.
"""

import click

from kdegraph.cli._errors import Program
from kdegraph.cli.cluster import cluster
from kdegraph.cli.explore import explore
from kdegraph.cli.graph import graph
from kdegraph.cli.sample import sample
from kdegraph.cli.warmup import warmup

__all__ = ["main"]


@click.group(
    "kdegraph",
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(
    package_name="kdegraph", message="kdegraph %(version)s", help="Show the version and leave."
)
@click.pass_context
def main(context):
    """Cluster points by the similarity graph of a kernel, built in nearly linear time.

    Every point is joined to a few others, drawn with a probability proportional to the kernel. The
    sampled graph has the clusters and the spectrum of the graph of all n^2 kernel values.

    \b
    Examples:
      kdegraph explore                              explore built-in data in the browser
      kdegraph explore points.csv                   explore your own
      kdegraph sample moons -n 15000 -o moons.csv   make data to try it on
      kdegraph cluster moons.csv -k 2 -o labels.csv
      kdegraph cluster photo.jpg -k 4 -o segments.png
      kdegraph graph points.npy --sigma 0.1 -o graph.npz

    FILE is a table with one point per row (.csv, .tsv, .txt, .data, .json, .jsonl, .arff, .parquet,
    .npy, .npz, .ply, .pcd, .xyz, .fcs, .xlsx, .h5ad, or .gz of these) or a picture whose pixels are
    the points (.png, .jpg). For all but explore, - is standard input.

    Exit status: 0 done, 2 wrong usage or bad input, 1 any other failure, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in (explore, cluster, graph, sample, warmup):
    main.add_command(_command)
