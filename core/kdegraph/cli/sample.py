"""`kdegraph sample`."""

import click

from kdegraph.cli._options import Integer, Number
from kdegraph.cli._output import check_output, write_columns


@click.command()
@click.argument("name", required=False)
@click.option(
    "-n",
    "--points",
    "n",
    type=Integer(min=1),
    default=2000,
    show_default=True,
    help="Number of points.",
)
@click.option(
    "--noise",
    type=Number(min=0),
    help="Standard deviation of the noise. [default: what makes the data interesting]",
)
@click.option(
    "--seed",
    type=Integer(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same points.",
)
@click.option(
    "--output",
    "-o",
    metavar="PATH",
    help="Where to write the points: .csv or .parquet, with a column of labels where there are "
    "clusters; - is standard output, for CSV.",
)
def sample(name, n, noise, seed, output):
    """Make data to try things on; without a NAME, list what there is.

    \b
    Examples:
      kdegraph sample
      kdegraph sample moons -n 15000 -o moons.csv
      kdegraph sample moons -o -          for pipes: | kdegraph cluster - -k 2
      kdegraph sample spirals --noise 0.02 --seed 7 -o spirals.parquet
    """
    from kdegraph import datasets

    if name is None:
        if output is not None:
            raise click.UsageError("say which points to write: kdegraph sample moons -o moons.csv")
        for known in datasets.names():
            click.echo(f"{known:<12} {datasets.describe(known)}")
        return
    if output is None:
        raise click.UsageError("say where to write the points: -o points.csv")
    path = check_output(output, (".csv", ".parquet"))
    data = datasets.make(name, n=n, noise=noise, seed=seed)
    columns = {feature: data.X[:, i] for i, feature in enumerate(data.feature_names)}
    write_columns(path, columns if data.y is None else columns | {"label": data.y})
