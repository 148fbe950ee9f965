"""The smallest eigenpairs of sampled graphs: `kdegraph.spectrum` beside scipy's `eigsh` on the same
matrix, in the same run.

    python benchmarks/spectrum.py [--n 15000 --n 1000000] [--data moons --data photograph.jpg]
    [--csv benchmarks/results/spectrum.csv]

All compute 8 pairs to a residual of 1e-3; seconds are medians of the runs, wall clock and
processor. "missed" counts the eigenvalues that eigsh leaves out. The ways:

    coarse      starts from the coarse graph of groups of points (what `spectrum` does)
    random      starts from random vectors
    unchecked   starts from the coarse graph and does not look for missed eigenvectors; the package
                never does that, it shows what the check costs

"product" is a single product of the matrix with the block. "fixed" is the part of "coarse" that is
not spent on products: checking and renumbering the matrix, Rayleigh-Ritz steps, and putting the
eigenvectors in the order of the points.
"""

import math
import statistics
import time
from contextlib import nullcontext
from unittest import mock

import click
import kdegraph
import numpy as np
from _common import clock, csv_option, medians, moons, show, write
from kdegraph.spectral.checked_graph import check_adjacency
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.products import aligned_zeros
from scipy.sparse.linalg import eigsh

PAIRS = 8
TOL = 1e-3
ROUNDS = 10
WAKE = 0.2  # seconds that the machine takes to give both cores again after the pause
SETTLE = 0.3  # seconds in which the threads of eigsh's BLAS still spin on the other cores


def load(data, n):
    """Points and a sigma."""
    if data == "moons":
        return moons(n), 0.1
    if data == "blobs":
        blobs = kdegraph.datasets.make("blobs", n=n, seed=0)
        return blobs.X, blobs.sigma
    from PIL import Image

    pixels = kdegraph.datasets.image_points(Image.open(data), max_pixels=n)
    return np.ascontiguousarray(pixels.X), 0.2


def peer(adjacency, seed):
    """eigsh on the normalized adjacency matrix, the matrix included; eigenvalues of the Laplacian
    and the largest residual.
    """
    degrees = adjacency.sum(axis=1)
    scale = np.where(degrees > 0, 1 / np.sqrt(np.maximum(degrees, 1e-300)), 0.0)
    matrix = adjacency.copy()
    matrix.data *= scale[matrix.indices] * np.repeat(scale, np.diff(matrix.indptr))
    v0 = np.random.default_rng(seed).standard_normal(len(scale))
    values, vectors = eigsh(matrix, PAIRS, which="LA", tol=TOL, v0=v0)
    return np.sort(1 - values), np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max()


def one_product(graph, runs):
    """Seconds of a product of the matrix with 16 vectors, wall clock and processor."""
    checked = check_adjacency(graph)
    operator = NormalizedAdjacency.of_graph(checked, checked.order)
    block, image = (aligned_zeros(operator.n, 16, np.float32) for _ in range(2))
    operator.step(block, image)
    return medians(clock(operator.step, block, image)[1:] for _ in range(5 * runs))


def timed_runs(graph, runs):
    """What each way found last, and lists of its seconds, wall clock and processor."""
    no_groups = mock.patch("kdegraph.spectral.spectrum.coarse_vectors", return_value=None)
    # With so low a threshold whatever could be missed counts as detected.
    no_check = mock.patch(
        "kdegraph.spectral.solver.missed.detection_threshold", return_value=-math.inf
    )
    ways = {"coarse": nullcontext(), "random": no_groups, "unchecked": no_check}
    found, seconds = {}, {name: [] for name in [*ways, "eigsh"]}
    for run in range(-1, runs):  # the first run, which may compile, does not count
        awake = time.perf_counter() + WAKE
        while time.perf_counter() < awake:
            kdegraph.spectrum(graph, PAIRS, tol=TOL)
        for name, context in ways.items():
            with context:
                found[name], *pair = clock(
                    kdegraph.spectrum, graph, PAIRS, tol=TOL, seed=max(run, 0)
                )
            seconds[name].append(pair)
        found["eigsh"], *pair = clock(peer, graph.adjacency, max(run, 0))
        seconds["eigsh"].append(pair)
        time.sleep(SETTLE)
    return found, {name: pairs[1:] for name, pairs in seconds.items()}


def measure(data, n, runs):
    """One row of the table."""
    X, sigma = load(data, n)
    graph = kdegraph.similarity_graph(X, sigma=sigma, n_rounds=ROUNDS, seed=0)
    found, seconds = timed_runs(graph, runs)
    row = {"data": data.rpartition("/")[2], "n": len(X), "edges": graph.n_edges}
    for place, clocked in enumerate(("wall", "cpu")):
        times = {
            name: statistics.median(pair[place] for pair in pairs)
            for name, pairs in seconds.items()
        }
        product = one_product(graph, runs)[place]
        row |= {f"{name} {clocked}": value for name, value in times.items()}
        row[f"product {clocked}"] = product
        row[f"fixed {clocked}"] = times["coarse"] - product * found["coarse"].n_products
        row |= {
            f"{name} / coarse {clocked}": times[name] / times["coarse"]
            for name in ("eigsh", "random", "unchecked")
        }
    eigsh_values, eigsh_residual = found.pop("eigsh")
    exact = found["coarse"].eigenvalues
    row |= {f"products {name}": one.n_products for name, one in found.items()}
    row |= {f"residual {name}": one.residuals.max() for name, one in found.items()}
    row["residual eigsh"] = eigsh_residual
    row["missed by eigsh"] = int(np.sum(eigsh_values > exact + 0.1 * exact[-1]))
    return row


@click.command()
@click.option("--n", "sizes", type=int, multiple=True, default=(15_000, 100_000), show_default=True)
@click.option(
    "--data",
    multiple=True,
    default=("moons",),
    show_default=True,
    help="Or blobs, or a picture, whose pixels are the points.",
)
@click.option("--runs", default=3, show_default=True)
@csv_option
def main(sizes, data, runs, path):
    """Print the table, one column a size."""
    rows = [measure(name, n, runs) for name in data for n in sizes]
    show(rows)
    write(path, rows)


if __name__ == "__main__":
    main()
