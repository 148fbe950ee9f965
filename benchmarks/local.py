"""What local bandwidths cost: seconds of the same graph with one sigma and with a sigma for every
point.

    python benchmarks/local.py [--csv benchmarks/results/local.csv]

The points are two moons, and five normal clusters of very different widths in 3 and 5 dimensions.
The one sigma is `estimate_sigma`, the local ones are `local_bandwidths` (perplexity 5), whose own
time is given, too. L = 10; times are the least of alternating runs, by the clock and of the
processor.
"""

import time

import click
import kdegraph
import numpy as np
from _common import csv_option, write

CASES = ((3_000, 2), (15_000, 2), (100_000, 2), (1_000_000, 2), (15_000, 3), (100_000, 3),
         (15_000, 5), (100_000, 5))  # fmt: skip
N_ROUNDS = 10


def points(n, d):
    if d == 2:
        return kdegraph.datasets.make("moons", n=n, seed=0).X
    rng = np.random.default_rng(d)
    cluster = rng.integers(0, 5, n)
    widths = np.array([0.1, 0.2, 0.5, 1.0, 2.0])[cluster, None]
    return 6 * rng.normal(size=(5, d))[cluster] + widths * rng.normal(size=(n, d))


def measure(n, d, runs):
    """One row of the table."""
    X = points(n, d)
    sigmas = {"one": kdegraph.estimate_sigma(X, seed=0), "local": kdegraph.local_bandwidths(X)}
    start = time.perf_counter()
    kdegraph.local_bandwidths(X)
    row = {"n": n, "d": d, "bandwidths": time.perf_counter() - start}
    for name in sigmas:
        row |= {name: np.inf, f"{name} cpu": np.inf}
    for _ in range(runs):
        for name, sigma in sigmas.items():
            clock, processor = time.perf_counter(), time.process_time()
            graph = kdegraph.similarity_graph(X, sigma=sigma, n_rounds=N_ROUNDS, seed=0)
            row[f"{name} cpu"] = min(row[f"{name} cpu"], time.process_time() - processor)
            row[name] = min(row[name], time.perf_counter() - clock)
            row[f"{name} sampler"] = graph.sampler
    row["ratio"], row["ratio cpu"] = row["local"] / row["one"], row["local cpu"] / row["one cpu"]
    return row


@click.command()
@click.option("--runs", default=4, show_default=True)
@csv_option
def main(runs, path):
    """Print the table, one row a case."""
    table = []
    for n, d in CASES:
        table.append(measure(n, d, runs))
        click.echo(
            "  ".join(
                f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in table[-1].items()
            )
        )
    write(path, table)


if __name__ == "__main__":
    main()
