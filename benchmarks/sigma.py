"""Rules for an automatic sigma: which finds the classes best, and does the choice of a rule carry over to data it was not chosen on?

    python benchmarks/sigma.py [--n 3000] [--csv benchmarks/results/sigma.csv]

The adjusted Rand index on each of 15 sets of points with classes, given their number, for a grid of sigmas around the default of
`estimate_sigma`; then its mean over the sets for rules that pick from that grid: a fixed multiple; the mean, the median or the 90 %
quantile of the distances to the 5th, 10th, 20th or 50th neighbour (the nearest sigma of the grid); and the largest relative eigengap of
the graph of tree nodes, at the given number of clusters or at any. "One set left out": on each set, the rule that is best on all others.
"""

import click
import kdegraph
import numpy as np
from _common import csv_option, write
from kdegraph._neighbors import nearest
from kdegraph.kernels import Kernel
from kdegraph.rounds import coarse_eigenvalues
from kdegraph.tree import build_tree
from rounds import data_sets
from sklearn.metrics import adjusted_rand_score

MULTIPLES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)
RANGES = ((0.5, 2.8), (0.7, 2.8), (0.7, 4.0), (1.0, 2.8))
NEIGHBOURS = (5, 10, 20, 50)
STATISTICS = {"mean": np.mean, "median": np.median, "90 %": lambda d: np.quantile(d, 0.9)}


def score(X, y, sigma, k, seeds):
    """Median adjusted Rand index."""
    graphs = [kdegraph.similarity_graph(X, sigma=sigma, seed=seed) for seed in range(seeds)]
    return float(np.median([adjusted_rand_score(y, kdegraph.spectral_clustering(graph, k, seed=0).labels) for graph in graphs]))


def gaps(tree, sigma):
    """Relative gaps behind the eigenvalues 1, 2, ... of the graph of tree nodes."""
    values = coarse_eigenvalues(Kernel("gaussian", sigma), tree, 20)
    return np.diff(values) / (values[1:] + 1e-3 * values[-1] + 1e-300)


def picked(X, k, unit):
    """For each rule, the index of its multiple of `unit`."""
    grid = np.array(MULTIPLES)
    rules = {f"times {multiple}": i for i, multiple in enumerate(MULTIPLES)}
    distances, _ = nearest(X, np.arange(len(X)), max(NEIGHBOURS) + 1)
    for neighbour in NEIGHBOURS:
        positive = distances[distances[:, neighbour] > 0, neighbour]
        for name, statistic in STATISTICS.items():
            rules[f"{name} of neighbour {neighbour}"] = int(np.argmin(np.abs(np.log(grid * unit / statistic(positive)))))
    tree = build_tree(X, 8)
    found = [gaps(tree, multiple * unit) for multiple in MULTIPLES]
    for low, high in RANGES:
        among = np.flatnonzero((grid >= low) & (grid <= high))
        rules[f"gap at k, {low} to {high}"] = among[np.argmax([found[i][k - 1] if len(found[i]) >= k else 0.0 for i in among])]
        rules[f"largest gap, {low} to {high}"] = among[np.argmax([found[i][1:].max(initial=0.0) for i in among])]
    return rules


@click.command()
@click.option("--n", default=3000, show_default=True)
@click.option("--seeds", default=2, show_default=True)
@csv_option
def main(n, seeds, path):
    """Print both tables."""
    rows, scores = [], []
    for name, X, y, given, k in data_sets(n):
        if y is None:
            continue
        unit = kdegraph.estimate_sigma(X, seed=0)
        found = [score(X, y, multiple * unit, k, seeds) for multiple in MULTIPLES]
        rows.append({"data": name, "given": score(X, y, given, k, seeds)} | dict(zip(map(str, MULTIPLES), found, strict=True)))
        scores.append({rule: found[i] for rule, i in picked(X, k, unit).items()})
        click.echo(f"{name:>24}" + "".join(f"{value:>8.2f}" for value in list(rows[-1].values())[1:]))
    means = {rule: np.mean([one[rule] for one in scores]) for rule in scores[0]}
    for rule, mean in sorted(means.items(), key=lambda item: -item[1]):
        click.echo(f"{rule:>32}: {mean:.3f}")
    carried = [one[max(one, key=lambda rule: sum(other[rule] for other in scores if other is not one))] for one in scores]
    click.echo(f"{'one set left out':>32}: {np.mean(carried):.3f}")
    write(path, rows)


if __name__ == "__main__":
    main()
