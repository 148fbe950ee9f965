"""The command line: `python -m benchmarks`."""

import signal
import subprocess
import sys
import venv
from pathlib import Path

import click
import numpy as np

from benchmarks.experiment import EXPERIMENTS, options_of
from benchmarks.experiments import load
from benchmarks.row import FACTS, FAILURE, measure_row
from benchmarks.table import Table, as_text, succeeded

HERE = Path(__file__).parent
folder = click.Path(path_type=Path, exists=True, file_okay=False)
results_option = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=HERE / "results",
    help="Folder of the tables; by default benchmarks/results.",
)


def row_options(command):
    """The options that rows depend on."""
    for option in (
        click.option("--sets", type=folder, help="Folder of sets of points with known clusters."),
        click.option("--keel", type=folder, help="Folder of .dat files of the KEEL repository."),
        click.option("--n-images", default=12, show_default=True, help="How many of them."),
        click.option("--at-once", default=20, show_default=True, help="Visitors of `server_load`."),
        click.option("--sessions", default=200, show_default=True, help="Visits in all there."),
        click.option("--minutes", default=30.0, show_default=True, help="How long they take."),
        click.option("--images", type=folder, help="Folder of BSDS500: images/ and groundTruth/."),
    ):
        command = option(command)
    return command


@click.group()
def main():
    """Measure experiments, and write the page of their results."""
    load()


@main.command("list")
@row_options
@results_option
def list_experiments(results, **options):
    """List all experiments, and how many of their rows have been measured.

    Without the folder that rows depend on, only those of the table are counted.
    """
    for name, experiment in EXPERIMENTS.items():
        table, n_rows = Table(results, experiment), "?"
        n_measured = len(table.rows)
        if not _missing(experiment, options):
            rows = list(experiment.rows(**_part(options, experiment.rows)))
            n_measured, n_rows = sum(table.find(row) is not None for row in rows), len(rows)
        click.echo(f"{name:<18}{n_measured:>4} of {n_rows:>4} rows  {experiment.description}")


@main.command()
@click.argument("names", nargs=-1, required=True)
@row_options
@click.option(
    "--stag", type=click.Path(exists=True), help="A Python that can import stag; see `stag`."
)
@click.option(
    "--only",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only rows with this value, where they have this column.",
)
@click.option(
    "--most", default=1_000_000, show_default=True, help="No rows of more points (n) than these."
)
@click.option("--limit", type=float, help="Seconds for a row, in place of those of the experiment.")
@click.option("--retry", is_flag=True, help="Measure again what has failed.")
@click.option("--again", is_flag=True, help="Measure again what has been measured.")
@results_option
def run(names, only, most, limit, retry, again, results, **options):
    """Measure the rows of experiments that have not been measured yet.

    Each row is measured in a process of its own. If it fails, the table says why, and the run goes
    on with the next one.
    """
    chosen = _chosen(only)
    if unknown := set(names) - set(EXPERIMENTS):
        raise click.UsageError(f"there is no experiment {', '.join(sorted(unknown))}; see `list`")
    for name in names:
        experiment = EXPERIMENTS[name]
        if missing := _missing(experiment, options):
            click.echo(f"{name}: skipped, as it needs {' and '.join(missing)}")
            continue
        table = Table(results, experiment)
        rows = [
            row
            for row in experiment.rows(**_part(options, experiment.rows))
            if row.get("n", 0) <= most
            and all(as_text(row[c]) in values for c, values in chosen.items() if c in row)
        ]
        for number, row in enumerate(rows, 1):
            click.echo(f"{name} {number}/{len(rows)}: {_text(row)}", nl=False)
            known = table.find(row)
            if known and not again and not (retry and known[FAILURE]):
                click.echo("  is already there")
                continue
            given = _part(options, experiment.measure)
            found = measure_row(experiment.measure, row, given, limit or experiment.limit)
            table.put(row | found)
            values = {key: value for key, value in found.items() if key not in FACTS}
            click.echo(f"  -> {found[FAILURE] or _text(values)}  ({found['row seconds']:.1f} s)")
        if experiment.summary and (done := succeeded(table.rows)):
            for line in experiment.summary(done):
                click.echo(f"{name}, all of the table: {_text(line)}")


def _missing(experiment, options):
    """The options that an experiment needs and that are not given."""
    return sorted(f"--{o}".replace("_", "-") for o in experiment.options if options[o] is None)


def _chosen(only):
    """From `--only` to the values that a column may have."""
    chosen = {}
    for text in only:
        column, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--only takes COLUMN=VALUE, got {text!r}")
        chosen.setdefault(column, set()).add(value)
    return chosen


def _part(options, function):
    return {name: options[name] for name in options_of(function)}


def _text(values):
    shown = {name: value for name, value in values.items() if not isinstance(value, np.ndarray)}
    return " ".join(f"{name}={as_text(value)}" for name, value in shown.items())


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
def stag(folder):
    """Make an environment in FOLDER that can import STAG, which needs an older NumPy.

    The other packages that rows ask for are installed by `pip install -e .[bench]`.
    """
    venv.create(folder, with_pip=True)
    python = folder.absolute() / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "numpy<2", "stag"], check=True)
    click.echo(f"Use it with: python -m benchmarks run NAME --stag {python}")


@main.command()
@results_option
@click.option(
    "--docs",
    type=click.Path(path_type=Path, file_okay=False),
    default=HERE.parent / "docs",
    help="Folder that the page is written to; by default docs.",
)
def report(results, docs):
    """Write the page measurements.md and its pictures from the tables alone."""
    from benchmarks.report import write_report

    click.echo(write_report(EXPERIMENTS.values(), results, docs))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # It ends the process of a row, too.
    main()
