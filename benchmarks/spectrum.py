"""The smallest eigenpairs of sampled graphs: `kdegraph.spectrum` beside scipy's `eigsh` on the same
matrix, in the same run.

    python benchmarks/spectrum.py [--n 15000 --n 1000000] [--data moons --data photograph.jpg]
    [--csv benchmarks/results/spectrum.csv]

All compute 8 pairs to a residual of 1e-3; seconds are medians of the runs, wall clock and
processor. "missed" counts the eigenvalues that eigsh leaves out. The starts:

    random      random vectors cold        the graph of groups of points (the default) warm
    the spectrum of the graph with sigma 5% smaller, whose edges were drawn anew; "kept" is the
    share of them that this one has reweighted  that of this very graph with the weights of sigma 5%
    smaller: as if the same edges had been drawn

"unproven" are the same without the proof that no eigenvector is missing. The package never does
that; it shows what the proof costs.

Why a warm start is not several times as fast as a cold one: a random vector has about 1 / sqrt(n)
of a missing eigenvector, which a filter must first raise above all the rest. That takes the same
products whatever the start is worth ("products reweighted", "products same" with the very spectrum
that is sought). Without proof a start from the same edges takes half of them, but one from edges
drawn anew does not: the noise of the old edges is a fifth of the old vectors, and is damped no
faster than the proof is found. "fixed" is what remains whatever the number of products: checking
and renumbering the matrix, Rayleigh-Ritz, eigenvectors in the order of the points. So cold / warm
is below cold / fixed, which is the limit for a start that takes no product at all; "product" is a
single one.
"""

import statistics
import time
from contextlib import nullcontext
from dataclasses import replace
from unittest import mock

import click
import kdegraph
import numpy as np
from _common import clock, csv_option, medians, moons, show, write
from kdegraph.spectral.checked_graph import check_adjacency
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.products import aligned_zeros
from scipy.sparse.linalg import eigsh

PAIRS, TOL = 8, 1e-3
ROUNDS, CHANGE = 10, 1.05
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

    return np.ascontiguousarray(
        kdegraph.datasets.image_points(Image.open(data), max_pixels=n).X
    ), 0.2


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


def reweighted(graph, X, sigma):
    """The graph with its edges as they are, and their weights as if the kernel had been that of
    `sigma`.
    """
    rows = np.repeat(np.arange(len(X)), np.diff(graph.adjacency.indptr))
    squares = ((X[rows] - X[graph.adjacency.indices]) ** 2).sum(axis=1)
    adjacency = graph.adjacency.copy()
    adjacency.data *= np.exp(squares * (graph.sigma**-2 - sigma**-2))
    return replace(graph, adjacency=adjacency)


def one_product(graph, runs):
    """Seconds of a product of the matrix with 16 vectors, wall clock and processor."""
    checked = check_adjacency(graph)
    operator = NormalizedAdjacency.of_graph(checked, checked.order)
    block, image = (aligned_zeros(operator.n, 16, np.float32) for _ in range(2))
    operator.step(block, image)
    return medians(clock(operator.step, block, image)[1:] for _ in range(5 * runs))


def measure(data, n, runs):
    """One row of the table."""
    X, sigma = load(data, n)
    graph, other = (
        kdegraph.similarity_graph(X, sigma=sigma / ratio, n_rounds=ROUNDS, seed=0)
        for ratio in (1, CHANGE)
    )
    before, same_edges = (
        kdegraph.spectrum(one, PAIRS, tol=TOL)
        for one in (other, reweighted(graph, X, sigma / CHANGE))
    )
    kept = ((graph.adjacency > 0).multiply(other.adjacency > 0)).nnz / graph.adjacency.nnz
    no_groups = mock.patch("kdegraph.spectral.spectrum.coarse_start", return_value=None)
    no_proof = mock.patch(
        "kdegraph.spectral.solver.iteration._share", return_value=1e-30
    )  # what stands out so little always does
    starts = {
        "cold": (None, nullcontext()),
        "random": (None, no_groups),
        "warm": (before, nullcontext()),
    }
    starts |= {"reweighted": (same_edges, nullcontext()), "cold unproven": (None, no_proof)}
    starts |= {"warm unproven": (before, no_proof), "reweighted unproven": (same_edges, no_proof)}
    found, seconds = {}, {}
    for run in range(-1, runs):  # one before those that count: it compiles
        awake = time.perf_counter() + WAKE
        while time.perf_counter() < awake:
            kdegraph.spectrum(graph, PAIRS, tol=TOL)
        for name, (v0, context) in starts.items():
            with context:
                found[name], *pair = clock(
                    kdegraph.spectrum, graph, PAIRS, tol=TOL, seed=max(run, 0), v0=v0
                )
            if run >= 0:
                seconds.setdefault(name, []).append(pair)
        if run >= 0:
            (values, residual), *pair = clock(peer, graph.adjacency, run)
            seconds.setdefault("eigsh", []).append(pair)
            time.sleep(SETTLE)
    row = {"data": data.rpartition("/")[2], "n": len(X), "edges": graph.n_edges, "kept": kept}
    for place, clocked in enumerate(("wall", "cpu")):
        times = {
            name: statistics.median(pair[place] for pair in pairs)
            for name, pairs in seconds.items()
        }
        product = one_product(graph, runs)[place]
        fixed = times["warm"] - product * found["warm"].n_products
        row |= {f"{name} {clocked}": value for name, value in times.items()}
        row |= {f"product {clocked}": product, f"fixed {clocked}": fixed}
        row |= {
            f"{name} / cold {clocked}": times[name] / times["cold"] for name in ("eigsh", "random")
        }
        row |= {
            f"cold / {name} {clocked}": times["cold"] / times[name]
            for name in starts
            if name not in ("cold", "random")
        }
        row |= {f"cold / fixed {clocked}": times["cold"] / fixed}
    row |= {f"products {name}": found[name].n_products for name in starts}
    row |= {"products same": kdegraph.spectrum(graph, PAIRS, tol=TOL, v0=found["cold"]).n_products}
    row |= {f"residual {name}": found[name].residuals.max() for name in ("cold", "random", "warm")}
    exact = found["cold"].eigenvalues
    return row | {
        "residual eigsh": residual,
        "missed by eigsh": int(np.sum(values > exact + 0.1 * exact[-1])),
    }


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
