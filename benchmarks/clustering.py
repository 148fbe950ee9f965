"""End to end: `KDESpectralClustering` on two moons, by stages, beside scikit-learn on nearest
neighbors in the same run.

    python benchmarks/clustering.py [--n 15000 --n 100000] [--peer-up-to 100000] [--csv
    benchmarks/results/clustering.csv]

Seconds are medians of the runs after one that is not counted. Every size has a process of its own,
so that `GiB` is the most memory that fitting has ever taken.
"""

import multiprocessing
import resource
import statistics
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import click
import kdegraph
from _common import clock, csv_option, medians, show, write
from kdegraph.clustering import partition as clustering
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score


def timed(function, seconds):
    """The function, adding its wall clock time to the list."""

    def call(*args, **options):
        start = time.perf_counter()
        value = function(*args, **options)
        seconds.append(time.perf_counter() - start)
        return value

    return call


def measure(n, runs, with_peer):
    """One row of the table."""
    data = kdegraph.datasets.make("moons", n=n, noise=0.05, seed=0)
    X, y = data.X, data.y
    stages = {"checks": [], "spectrum": [], "embedding": [], "k-means": []}
    names = {
        "checks": "check_adjacency",
        "spectrum": "compute_spectrum",
        "embedding": "embed",
        "k-means": "kmeans",
    }
    for stage, name in names.items():
        setattr(clustering, name, timed(getattr(clustering, name), stages[stage]))
    rows, peer = [], []
    for run in range(runs + 1):
        for times in stages.values():
            times.clear()
        model = kdegraph.KDESpectralClustering(n_clusters=2, sigma=0.1, random_state=run)
        _, wall, cpu = clock(model.fit, X)
        row = {"total": wall, "cpu": cpu}
        row |= {f"graph: {stage}": seconds for stage, seconds in model.graph_.timings.items()}
        row |= {stage: sum(times) for stage, times in stages.items()}
        row["rest"] = row["total"] - sum(
            value for stage, value in row.items() if stage not in ("total", "cpu")
        )
        row["ARI"] = adjusted_rand_score(y, model.labels_)
        if run == 0:
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        if run:
            rows.append(row)
        if with_peer and run:
            other = SpectralClustering(2, affinity="nearest_neighbors", random_state=run, n_jobs=-1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the graph is not connected
                labels, wall, cpu = clock(other.fit_predict, X)
            peer.append((wall, cpu, adjusted_rand_score(y, labels)))
    found = {"n": n, "L": model.graph_.n_rounds, "edges": model.graph_.n_edges, "GiB": memory}
    found |= {stage: statistics.median(row[stage] for row in rows) for stage in rows[0]}
    if peer:
        wall, cpu, score = medians(peer)
        found |= {"scikit-learn": wall, "scikit-learn cpu": cpu, "ARI scikit-learn": score}
        found |= {
            "scikit-learn / total": wall / found["total"],
            "scikit-learn / total cpu": cpu / found["cpu"],
        }
    return found


@click.command()
@click.option("--n", "sizes", type=int, multiple=True, default=(15_000, 100_000), show_default=True)
@click.option("--runs", default=3, show_default=True)
@click.option(
    "--peer-up-to", default=100_000, show_default=True, help="Largest size for scikit-learn."
)
@csv_option
def main(sizes, runs, peer_up_to, path):
    """Print the table, one column a size."""
    rows = []
    for n in sizes:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            rows.append(pool.submit(measure, n, runs, n <= peer_up_to).result())
    show(rows)
    write(path, rows)


if __name__ == "__main__":
    main()
