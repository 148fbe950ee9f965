"""Clusters of sets of points whose clusters are known: bandwidths and graphs, beside other methods.

    python benchmarks/reference_sets.py FOLDER [--csv benchmarks/results/reference_sets.csv]

FOLDER has a subfolder for each battery. A set is either ``NAME.data.gz``, a table of points, with
one or more alternative references ``NAME.labels0.gz``, ... (0 is noise, which does not count), or
``NAME.npz`` with points X and labels y. That is the layout of the benchmark suite of M. Gagolewski
(SoftwareX 20, 2022).

Each method is given the number of clusters, but for HDBSCAN, whose noise is one more cluster. All
else is the default, with one setting for all sets and one run. The table has the adjusted Rand
index against the reference that fits best, and the normalized mutual information; the last lines
are the means over each battery. Genie is left out where genieclust is not installed.
"""

import warnings
from functools import partial
from pathlib import Path

import click
import kdegraph
import numpy as np
import sklearn.cluster
from _common import cell, csv_option, write
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

N_NEIGHBORS = 10  # of k-NN graphs, the default of scikit-learn
MAX_POINTS = 25_000  # Larger sets take some of the methods an hour.
SCORES = {"ARI": adjusted_rand_score, "NMI": normalized_mutual_info_score}


def reference_sets(folder, max_points):
    """The name, the points and the references of each set, which are positive but for noise."""
    for path in sorted(folder.glob("*/*.data.gz")):
        name = path.name.removesuffix(".data.gz")
        references = sorted(path.parent.glob(f"{name}.labels*.gz"))
        X = np.loadtxt(path, ndmin=2)
        if len(X) <= max_points:
            yield path.parent.name, name, X, [np.loadtxt(file, dtype=int) for file in references]
    for path in sorted(folder.glob("*/*.npz")):
        with np.load(path) as file:
            X, y = file["X"].astype(float), np.unique(file["y"], return_inverse=True)[1]
        if len(X) <= max_points:
            yield path.parent.name, path.stem, X, [y + 1]


def by_kde(X, k, sigma=None):
    return kdegraph.KDESpectralClustering(k, sigma=sigma, random_state=0).fit_predict(X)


def by_distance_to_neighbor(X, k):
    return by_kde(X, k, kdegraph.local_bandwidths(X, rule="neighbor"))


def by_knn(X, k):
    graph = kdegraph.knn_graph(X, min(N_NEIGHBORS, len(X) - 1))
    return kdegraph.spectral_clustering(graph, k, points=X, seed=0).labels


def by_scikit_learn(X, k):
    model = sklearn.cluster.SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=N_NEIGHBORS, random_state=0
    )
    return model.fit_predict(X)


def by_genie(X, k):
    import genieclust

    return genieclust.Genie(n_clusters=k).fit_predict(X)


def by_hdbscan(X, k):
    return sklearn.cluster.HDBSCAN(copy=True).fit_predict(X)


METHODS = {
    "default": by_kde,
    "one sigma": partial(by_kde, sigma="auto"),
    "local, perplexity": partial(by_kde, sigma="local"),
    "local, 7th neighbor": by_distance_to_neighbor,
    "k-NN": by_knn,
    "k-NN, scikit-learn": by_scikit_learn,
    "genie": by_genie,
    "HDBSCAN": by_hdbscan,
}


def judge(method, X, references):
    """Each score of a method, against the reference that fits it best."""
    best = dict.fromkeys(SCORES, -np.inf)
    for reference in references:
        counts = reference > 0
        labels = method(X, len(np.unique(reference[counts])))
        for name, score in SCORES.items():
            best[name] = max(best[name], score(reference[counts], labels[counts]))
    return best


def measure(battery, name, X, references):
    """One row of the table."""
    row = {"battery": battery, "set": name, "n": len(X), "d": X.shape[1]}
    for title, method in METHODS.items():
        try:
            scores = judge(method, X, references)
        except ImportError:
            continue
        row |= {f"{title} {score}": value for score, value in scores.items()}
    return row


def mean_row(battery, rows):
    """The means over the sets of a battery."""
    some = [row for row in rows if row["battery"] == battery]
    scores = [name for name in some[0] if name.endswith(tuple(SCORES))]
    means = {name: float(np.mean([row[name] for row in some])) for name in scores}
    return {"battery": battery, "set": f"mean of {len(some)}", "n": "", "d": ""} | means


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--max-points", default=MAX_POINTS, show_default=True, help="Larger sets are left out."
)
@csv_option
def main(folder, max_points, path):
    """Print the table."""
    warnings.filterwarnings("ignore")  # what is said of single graphs
    rows = []
    for of_set in reference_sets(folder, max_points):
        rows.append(measure(*of_set))
        show(rows[-1])
    batteries = list(dict.fromkeys(row["battery"] for row in rows))
    rows += [mean_row(battery, rows) for battery in batteries]
    for row in rows[-len(batteries) :]:
        show(row)
    write(path, rows)


def show(row):
    """Print a row, all methods beside each other."""
    click.echo(f"{row['battery']}/{row['set']}, n = {row['n']}, d = {row['d']}")
    for title in METHODS:
        values = [row[f"{title} {score}"] for score in SCORES if f"{title} {score}" in row]
        click.echo(f"{title:>24}" + "".join(cell(value) for value in values))


if __name__ == "__main__":
    main()
