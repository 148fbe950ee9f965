"""The smallest eigenpairs of sampled graphs: `kdegraph.spectrum` beside scipy's `eigsh` on the same matrix, in the same run.

    python benchmarks/spectrum.py [--n 15000 --n 1000000] [--data moons --data photograph.jpg] [--csv benchmarks/results/spectrum.csv]

All compute 8 pairs to a residual of 1e-3; seconds are medians of the runs, wall clock and processor. "missed" counts the eigenvalues that
eigsh leaves out. "random" starts from random vectors, "cold" from the graph of groups of points (the default), "warm" from the
spectrum of the graph with sigma 5% smaller.

No start takes fewer products than the proof that no eigenvector is missing: a random vector has about 1 / sqrt(n) of it, which a filter
must first raise above all the rest. "products same" starts from the very spectrum that is sought, and takes them all. A warm start saves
the coarse graph, and all that random vectors have to find before, but no more. "kept" is the share of the edges that are also in the
graph with the smaller sigma; what the old eigenvectors show of the edges that were drawn anew is gone before that proof is done.
"""

import statistics
import time
from unittest import mock

import click
import kdegraph
import numpy as np
from _common import clock, csv_option, moons, show, write
from scipy.sparse.linalg import eigsh

PAIRS, TOL = 8, 1e-3
ROUNDS = 10
SETTLE = 0.3  # seconds in which the threads of eigsh's BLAS still spin on the other cores


def load(data, n):
    """Points and a sigma."""
    if data == "moons":
        return moons(n), 0.1
    if data == "blobs":
        blobs = kdegraph.datasets.make("blobs", n=n, seed=0)
        return blobs.X, blobs.sigma
    from PIL import Image

    return np.ascontiguousarray(kdegraph.datasets.image_points(Image.open(data), max_pixels=n).X), 0.2


def peer(adjacency, seed):
    """eigsh on the normalised adjacency matrix, the matrix included; eigenvalues of the Laplacian and the largest residual."""
    degrees = adjacency.sum(axis=1)
    scale = np.where(degrees > 0, 1 / np.sqrt(np.maximum(degrees, 1e-300)), 0.0)
    matrix = adjacency.copy()
    matrix.data *= scale[matrix.indices] * np.repeat(scale, np.diff(matrix.indptr))
    v0 = np.random.default_rng(seed).standard_normal(len(scale))
    values, vectors = eigsh(matrix, PAIRS, which="LA", tol=TOL, v0=v0)
    return np.sort(1 - values), np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max()


def measure(data, n, runs):
    """One row of the table."""
    X, sigma = load(data, n)
    graph, other = (kdegraph.similarity_graph(X, sigma=sigma / ratio, n_rounds=ROUNDS, seed=0) for ratio in (1, 1.05))
    before = kdegraph.spectrum(other, PAIRS, tol=TOL)
    kept = ((graph.adjacency > 0).multiply(other.adjacency > 0)).nnz / graph.adjacency.nnz
    no_groups = mock.patch("kdegraph.spectra.coarse_start", return_value=None)
    solve, found, seconds = kdegraph.spectrum, {}, {}
    for run in range(-1, runs):  # one before those that count: it compiles
        with no_groups:
            random = clock(solve, graph, PAIRS, tol=TOL, seed=max(run, 0))
        cold = clock(solve, graph, PAIRS, tol=TOL, seed=max(run, 0))
        warm = clock(solve, graph, PAIRS, tol=TOL, seed=max(run, 0), v0=before)
        (values, residual), *peer_seconds = clock(peer, graph.adjacency, run) if run >= 0 else ((None, None), 0, 0)
        time.sleep(SETTLE)
        for name, (result, *pair) in {"cold": cold, "random": random, "warm": warm, "eigsh": (None, *peer_seconds)}.items():
            found[name] = result
            if run >= 0:
                seconds.setdefault(name, []).append(pair)
    row = {"data": data.rpartition("/")[2], "n": len(X), "edges": graph.n_edges, "kept": kept}
    for place, clocked in enumerate(("wall", "cpu")):
        times = {name: statistics.median(pair[place] for pair in pairs) for name, pairs in seconds.items()}
        row |= {f"{name} {clocked}": value for name, value in times.items()}
        row |= {f"{name} / cold {clocked}": times[name] / times["cold"] for name in ("eigsh", "random")}
        row |= {f"{name} / warm {clocked}": times[name] / times["warm"] for name in ("cold", "random")}
    for name in ("cold", "random", "warm"):
        row |= {f"products {name}": found[name].n_products, f"residual {name}": found[name].residuals.max()}
    row |= {"products same": solve(graph, PAIRS, tol=TOL, v0=found["cold"]).n_products, "residual eigsh": residual}
    exact = found["cold"].eigenvalues
    return row | {"missed by eigsh": int(np.sum(values > exact + 0.1 * exact[-1]))}


@click.command()
@click.option("--n", "sizes", type=int, multiple=True, default=(15_000, 100_000), show_default=True)
@click.option("--data", multiple=True, default=("moons",), show_default=True, help="Or blobs, or a picture, whose pixels are the points.")
@click.option("--runs", default=3, show_default=True)
@csv_option
def main(sizes, data, runs, path):
    """Print the table, one column a size."""
    rows = [measure(name, n, runs) for name in data for n in sizes]
    show(rows)
    write(path, rows)


if __name__ == "__main__":
    main()
