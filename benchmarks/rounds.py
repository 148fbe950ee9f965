"""How many rounds a sampled graph needs: its spectrum and its clusters beside those of the full
graph, on data with and without clusters.

    python benchmarks/rounds.py [--n 2500] [--csv benchmarks/results/rounds.csv]

For every data set and number of rounds L, the table has medians over some seeds of

- error: the largest relative error of the eigenvalues 2 ... k + 1 (those above 1e-4) of the
  normalized Laplacian,
- agreement: the adjusted Rand index between the clusters of the sampled and of the full graph; ARI:
  against the true classes,
- C: the constant with which the paper's ``L = 6 C log(n) / lambda_{k+1}`` gives this L.

Last come lines that compare the automatic number with each fixed one: the mean number of rounds,
which is the cost, the mean and the largest error, and on how many sets the error is small.
"""

import math

import click
import kdegraph
import numpy as np
from _common import cell, csv_option, write
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

ROUNDS = (3, 5, 7, 10, 15, 20, 30, 50, 100, "auto")
SMALL = 0.15  # error; the automatic number is made for one of about 0.1
TINY = 1e-4  # eigenvalues below are zero for all purposes, their relative errors mean nothing


def data_sets(n, seed=0):
    """Name, points, true classes or None, sigma and number of clusters of every data set."""
    for name in kdegraph.datasets.names():
        data = kdegraph.datasets.make(name, n=n, seed=seed)
        yield name, data.X, data.y, data.sigma, data.n_clusters or 4
    rng = np.random.default_rng(seed)
    centers, y = rng.uniform(-6, 6, (8, 2)), np.arange(n) % 8
    yield "touching blobs", centers[y] + rng.normal(size=(n, 2)), y, 1.0, 8
    digits = load_digits()
    yield "digits", digits.data / 16, digits.target, 1.5, 10
    yield "one Gaussian", rng.normal(size=(n, 3)), None, 1.0, 4
    y = (np.arange(n) >= 0.95 * n).astype(int)
    yield (
        "small beside large",
        rng.normal(size=(n, 2)) * np.where(y, 0.2, 1.0)[:, None] + np.where(y, 5.0, 0.0)[:, None],
        y,
        0.5,
        2,
    )


def measure(name, X, y, sigma, k, n_seeds):
    """Rows of the table for one data set."""
    n = len(X)
    full = kdegraph.full_graph(X, sigma=sigma)
    exact = kdegraph.spectrum(full, k + 1).eigenvalues
    reference = kdegraph.spectral_clustering(full, k, seed=0).labels
    above = np.flatnonzero(exact > TINY)
    for n_rounds in ROUNDS:
        errors, agreements, truths = [], [], []
        for seed in range(n_seeds):
            graph = kdegraph.similarity_graph(X, sigma=sigma, n_rounds=n_rounds, seed=seed)
            found = kdegraph.spectrum(graph, k + 1).eigenvalues
            errors.append(np.abs(found[above] / exact[above] - 1).max() if len(above) else 0.0)
            labels = kdegraph.spectral_clustering(graph, k, seed=0).labels
            agreements.append(adjusted_rand_score(reference, labels))
            truths.append(math.nan if y is None else adjusted_rand_score(y, labels))
        yield {
            "data": name,
            "n": n,
            "d": X.shape[1],
            "sigma": sigma,
            "k": k,
            "lambda_k": exact[k - 1],
            "lambda_k+1": exact[k],
            "rounds": n_rounds,
            "L": graph.n_rounds,
            "C": graph.n_rounds * exact[k] / (6 * math.log(n)),
            "error": np.median(errors),
            "agreement": np.median(agreements),
            "ARI": np.median(truths),
            "ARI of the full graph": math.nan if y is None else adjusted_rand_score(y, reference),
        }


@click.command()
@click.option("--n", default=2500, show_default=True)
@click.option("--seeds", default=3, show_default=True)
@csv_option
def main(n, seeds, path):
    """Print the table."""
    rows = []
    for data in data_sets(n):
        for row in measure(*data, seeds):
            rows.append(row)
            click.echo(
                "".join(cell(value, 24 if isinstance(value, str) else 11) for value in row.values())
            )
    for n_rounds in ROUNDS:
        L, error, agreement = np.array(
            [
                (row["L"], row["error"], row["agreement"])
                for row in rows
                if row["rounds"] == n_rounds
            ]
        ).T
        click.echo(
            f"{n_rounds!s:>5}: mean L {L.mean():.1f}, "
            f"error mean {error.mean():.3f}, largest {error.max():.3f}, "
            f"at most {SMALL} on {np.sum(error <= SMALL)} of {len(error)} sets, "
            f"agreement {agreement.mean():.3f}"
        )
    write(path, rows)


if __name__ == "__main__":
    main()
