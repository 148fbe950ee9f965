"""Rules for an automatic sigma, and guesses: which of them finds the classes, and does a rule carry
over to data that it was not chosen on?

    python benchmarks/sigma.py [--n 500 --n 1500] [--csv benchmarks/results/sigma.csv]

The first table has the adjusted Rand index on each of 15 sets of points with classes, given their
number, for a grid of sigmas around the default of `estimate_sigma`. It is a mean over sizes and
samples: one sample alone says little, as classes that touch are found or missed by chance. The
second table has for each rule the mean over the sets, the worst of them, and on how many sets it is
within .02 of the best of the grid. It also has on how many sets the eigengap of the rule's graph
suggests the right number of clusters, of the 15 and of 4 more without any.

- Rules that pick from the grid: a fixed multiple; the mean, the median or the 90 % quantile of the
  distances to the 5th, 10th, 20th or 50th neighbor (the nearest sigma of the grid); and the largest
  relative eigengap of the graph of tree nodes, at the given number of clusters or at any. "One set
  left out": on each set, the rule that is best on all others.
- Guesses: scikit-learn's gamma = 1 (the kernel is exp(-gamma |x - y|^2), so sigma is 1 /
  sqrt(gamma)), on points as they are and on standardized ones, and gamma = 1 / d on standardized
  ones; the median distance of two points; the rules of Silverman and of Scott for density
  estimates; and a sigma at random, log-uniform over the last two or three orders of magnitude below
  the extent of the data (the mean over quantiles of that law).
"""

import math

import click
import kdegraph
import numpy as np
from _common import cell, csv_option, write
from kdegraph.clustering.partition import vertices_in_clusters
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.neighbors import nearest
from kdegraph.geometry.tree import build_tree
from kdegraph.sampling.rounds import coarse_eigenvalues
from rounds import data_sets
from scipy.spatial.distance import pdist
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

MULTIPLES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)
RANGES = ((0.5, 2.8), (0.7, 2.8), (0.7, 4.0), (1.0, 2.8))
NEIGHBORS = (5, 10, 20, 50)
STATISTICS = {"mean": np.mean, "median": np.median, "90 %": lambda d: np.quantile(d, 0.9)}
BY_HAND = "chosen by hand"
CLOSE = 0.02  # to the best of the grid
N_RANDOM = 4  # sigmas for an order of magnitude
N_PAIRED = 1000  # points whose distances have the median


def judge(X, y, sigma, k, seed):
    """Adjusted Rand index (0 where there is no such clustering), and whether the suggested number
    of clusters is right.
    """
    graph = kdegraph.similarity_graph(X, sigma=sigma, seed=seed)
    n_counted = len(vertices_in_clusters(graph))
    if n_counted < k:
        return (math.nan if y is None else 0.0), False
    spectrum = kdegraph.spectrum(graph, min(20, n_counted), smallest_component="auto")
    right = kdegraph.suggest_n_clusters(spectrum.eigenvalues) == (1 if y is None else k)
    if y is None:
        return math.nan, right
    labels = kdegraph.spectral_clustering(graph, k, seed=0, spectrum=spectrum).labels
    return adjusted_rand_score(y, labels), right


def gaps(tree, sigma):
    """Relative gaps behind the eigenvalues 1, 2, ... of the graph of tree nodes."""
    values = coarse_eigenvalues(Kernel("gaussian", sigma), tree, 20)
    return np.diff(values) / (values[1:] + 1e-3 * values[-1] + 1e-300)


def picked(X, k, unit):
    """For each rule, the index of its multiple of `unit`."""
    grid = np.array(MULTIPLES)
    rules = {f"times {multiple}": i for i, multiple in enumerate(MULTIPLES)}
    distances, _ = nearest(X, np.arange(len(X)), max(NEIGHBORS) + 1)
    for neighbor in NEIGHBORS:
        positive = distances[distances[:, neighbor] > 0, neighbor]
        for name, statistic in STATISTICS.items():
            rules[f"{name} of neighbor {neighbor}"] = int(
                np.argmin(np.abs(np.log(grid * unit / statistic(positive))))
            )
    tree = build_tree(X, 8)
    found = [gaps(tree, multiple * unit) for multiple in MULTIPLES]
    for low, high in RANGES:
        among = np.flatnonzero((grid >= low) & (grid <= high))
        rules[f"gap at k, {low} to {high}"] = among[
            np.argmax([found[i][k - 1] if len(found[i]) >= k else 0.0 for i in among])
        ]
        rules[f"largest gap, {low} to {high}"] = among[
            np.argmax([found[i][1:].max(initial=0.0) for i in among])
        ]
    return rules


def guesses(X):
    """For each guess the points, scaled or not, and its sigmas, of which one is as likely as
    another.
    """
    n, d = X.shape
    spread, extent = math.sqrt(X.var(axis=0).mean()), np.ptp(X, axis=0).max()
    some = np.random.default_rng(0).permutation(n)[:N_PAIRED]
    # A Gaussian of standard deviation s is exp(-|x|^2 / sigma^2) with sigma = sqrt(2) s.
    scott = math.sqrt(2) * spread * n ** (-1 / (d + 4))
    found = {
        "gamma 1": (X, 1.0),
        "gamma 1, standardized": (scale(X), 1.0),
        "gamma 1 / d, standardized": (scale(X), math.sqrt(d)),
        "median distance": (X, np.median(pdist(X[some]))),
        "Scott": (X, scott),
        "Silverman": (X, scott * (4 / (d + 2)) ** (1 / (d + 4))),
    }
    found = {f"guess: {name}": (points, [sigma]) for name, (points, sigma) in found.items()}
    for orders in (2, 3):
        at_random = extent * 10.0 ** -((np.arange(orders * N_RANDOM) + 0.5) / N_RANDOM)
        found[f"guess: random, {orders} orders of magnitude"] = (X, at_random)
    return found


def sample(X, y, given, k, seed):
    """What `judge` says of each multiple of the grid, of each rule and of each guess, for one
    sample of a data set.
    """
    unit = kdegraph.estimate_sigma(X, seed=0)
    grid = [judge(X, y, multiple * unit, k, seed) for multiple in MULTIPLES]
    found = {BY_HAND: judge(X, y, given, k, seed)} | {
        rule: grid[i] for rule, i in picked(X, k, unit).items()
    }
    for guess, (points, sigmas) in guesses(X).items():
        found[guess] = np.mean([judge(points, y, sigma, k, seed) for sigma in sigmas], axis=0)
    return found


def summary(found):
    """A row for each rule, and the mean over the sets if on each of them the rule is taken that is
    best on all others.
    """
    rules = list(next(iter(found.values())))
    scores = {rule: np.array([one[rule][0] for one in found.values()]) for rule in rules}
    right = {rule: np.array([one[rule][1] for one in found.values()]) for rule in rules}
    classes = ~np.isnan(scores[BY_HAND])
    best = np.max([scores[f"times {multiple}"] for multiple in MULTIPLES], axis=0)
    rows = []
    for rule in sorted(rules, key=lambda rule: -scores[rule][classes].mean()):
        row = {
            "rule": rule,
            "mean": scores[rule][classes].mean(),
            "worst": scores[rule][classes].min(),
        }
        row |= {
            "close": int(np.sum(scores[rule] >= best - CLOSE)),
            "right k": right[rule][classes].sum(),
        }
        rows.append(row | {"right k without classes": right[rule][~classes].sum()})
    table = np.array(
        [
            scores[rule][classes]
            for rule in rules
            if not rule.startswith("guess") and rule != BY_HAND
        ]
    )
    others = table.sum(axis=1, keepdims=True) - table
    return rows, np.mean(table[others.argmax(axis=0), np.arange(table.shape[1])])


@click.command()
@click.option("--n", "sizes", type=int, multiple=True, default=(500, 1500), show_default=True)
@click.option("--samples", default=2, show_default=True, help="Of each set and size.")
@csv_option
def main(sizes, samples, path):
    """Print both tables; they are written beside each other."""
    found = {}
    for n in sizes:
        for seed in range(samples):
            for name, *data in data_sets(n, seed):
                found.setdefault(name, []).append(sample(*data, seed))
            click.echo(f"sample {seed} of {n} points")
    found = {
        name: {rule: np.mean([one[rule] for one in several], axis=0) for rule in several[0]}
        for name, several in found.items()
    }
    columns = [BY_HAND] + [rule for rule in found["moons"] if rule.startswith(("times", "guess"))]
    rows = [
        {"data": name} | {rule: one[rule][0] for rule in columns}
        for name, one in found.items()
        if not np.isnan(one[BY_HAND][0])
    ]
    table, carried = summary(found)
    for row in rows:
        click.echo(
            "".join(cell(value, 24 if isinstance(value, str) else 8) for value in row.values())
        )
    click.echo(f"{'':>40}" + "".join(f"{name:>24}" for name in list(table[0])[1:]))
    for row in table:
        click.echo(
            f"{row['rule']:>40}" + "".join(cell(value, 24) for value in list(row.values())[1:])
        )
    click.echo(f"{'one set left out':>40}{carried:>24.3f}")
    write(path, rows)
    write(path and path.with_stem(f"{path.stem}_rules"), table)


if __name__ == "__main__":
    main()
