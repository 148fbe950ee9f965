"""What the benchmarks share: two clocks, the data set of most tables, and tables that are printed
and written as CSV.
"""

import csv
import statistics
import time
from pathlib import Path

import click
import kdegraph

csv_option = click.option(
    "--csv", "path", type=click.Path(path_type=Path), help="Write the table there."
)


def clock(function, *arguments, **options):
    """What the function returns, its seconds by the clock, and its seconds of processor time."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = function(*arguments, **options)
    return value, time.perf_counter() - wall, time.process_time() - cpu


def medians(rows):
    """The median of every column of a list of equally long rows."""
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def moons(n):
    """(n, 2) points of two moons."""
    return kdegraph.datasets.make("moons", n=n, noise=0.05, seed=0).X


def keys(rows):
    """All columns of a table, in the order in which they first appear."""
    return list(dict.fromkeys(key for row in rows for key in row))


def show(rows):
    """Print a small table with one column for each row."""
    for key in keys(rows):
        click.echo(f"{key:>24}" + "".join(cell(row.get(key, "")) for row in rows))


def cell(value, width=14):
    """A value as it stands in a printed table."""
    return f"{value:>{width},.4g}" if isinstance(value, float) else f"{value:>{width}}"


def write(path, rows):
    """Write a table as CSV, four digits of each figure; nothing is done without a path."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, keys(rows))
        writer.writeheader()
        writer.writerows(
            {
                key: f"{value:.4g}" if isinstance(value, float) else value
                for key, value in row.items()
            }
            for row in rows
        )
