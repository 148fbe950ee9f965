"""Seconds per stage of `similarity_graph` on two moons, beside the direct kernel sum in the same run.

    python benchmarks/stages.py [--n 15000 100000] [--csv benchmarks/results/stages.csv]

Every figure is the median of the runs. The direct sum of large sets is measured on a part of the targets and extrapolated.
"""

import csv
import statistics
import time
from pathlib import Path

import click
import kdegraph
import numpy as np

DIRECT_PAIRS = 3e8  # the direct sum is measured on at most so many


def direct_seconds(X, sigma):
    """Seconds of the direct sum over all pairs, from a random part of the targets."""
    m = min(len(X), int(DIRECT_PAIRS / len(X)) + 1)
    targets = X[np.random.default_rng(0).choice(len(X), m, replace=False)]
    start = time.perf_counter()
    kdegraph.gauss_transform(X, targets, sigma=sigma, method="direct")
    return (time.perf_counter() - start) * len(X) / m


def measure(n, sigma, n_rounds, runs):
    """One row of the table for `n` points."""
    X = kdegraph.datasets.make("moons", n=n, noise=0.05, seed=0).X
    graphs, direct = [], []
    for run in range(runs + 1):  # the first run compiles or loads the kernels
        graph = kdegraph.similarity_graph(X, sigma=sigma, n_rounds=n_rounds, seed=run)
        seconds = direct_seconds(X, sigma)
        if run:
            graphs.append(graph)
            direct.append(seconds)
    stages = {stage: statistics.median(g.timings[stage] for g in graphs) for stage in graphs[0].timings}
    total = statistics.median(sum(g.timings.values()) for g in graphs)
    row = {"n": n, "sigma": sigma, "L": n_rounds, "edges": graphs[0].n_edges, **stages, "total": total}
    return row | {"direct sum": statistics.median(direct), "direct / total": statistics.median(direct) / total}


@click.command()
@click.option("--n", "sizes", type=int, multiple=True, default=(15_000, 100_000), show_default=True)
@click.option("--sigma", default=0.1, show_default=True)
@click.option("--rounds", default=30, show_default=True)
@click.option("--runs", default=5, show_default=True)
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Write the table there.")
def main(sizes, sigma, rounds, runs, path):
    """Print the table, one column a size."""
    rows = [measure(n, sigma, rounds, runs) for n in sizes]
    for key in rows[0]:
        click.echo(f"{key:>16}" + "".join(f"{row[key]:>14,.4g}" if isinstance(row[key], float) else f"{row[key]:>14,}" for row in rows))
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
