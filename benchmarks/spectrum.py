"""The smallest eigenpairs of sampled graphs of two moons: `kdegraph.spectrum` beside scipy's `eigsh` on the same matrix, in the same run.

    python benchmarks/spectrum.py [--n 15000 --n 100000] [--csv benchmarks/results/spectrum.csv]

Both compute 8 pairs to a residual of 1e-3; seconds are medians of the runs, wall clock and processor. The multiplicities are compared:
`missed` counts eigenvalues that eigsh leaves out. "warm" starts from the spectrum of the graph with sigma 5% smaller.
"""

import statistics

import click
import kdegraph
import numpy as np
from _common import clock, csv_option, moons, show, write
from scipy.sparse.linalg import eigsh

PAIRS, TOL = 8, 1e-3
SIGMA, ROUNDS = 0.1, 10


def peer(adjacency, seed):
    """eigsh on the normalised adjacency matrix, the matrix included; eigenvalues of the Laplacian and the largest residual."""
    degrees = adjacency.sum(axis=1)
    scale = np.where(degrees > 0, 1 / np.sqrt(np.maximum(degrees, 1e-300)), 0.0)
    matrix = adjacency.copy()
    matrix.data *= scale[matrix.indices] * np.repeat(scale, np.diff(matrix.indptr))
    v0 = np.random.default_rng(seed).standard_normal(len(scale))
    values, vectors = eigsh(matrix, PAIRS, which="LA", tol=TOL, v0=v0)
    return np.sort(1 - values), np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max()


def measure(n, runs):
    """One row of the table."""
    X = moons(n)
    graph = kdegraph.similarity_graph(X, sigma=SIGMA, n_rounds=ROUNDS, seed=0)
    before = kdegraph.spectrum(kdegraph.similarity_graph(X, sigma=SIGMA / 1.05, n_rounds=ROUNDS, seed=0), PAIRS, tol=TOL)
    kdegraph.spectrum(graph, PAIRS, tol=TOL, v0=before)  # compiles
    seconds = {name: [] for name in ("kdegraph", "warm", "eigsh")}
    for run in range(runs):
        cold, *cold_seconds = clock(kdegraph.spectrum, graph, PAIRS, tol=TOL, seed=run)
        warm, *warm_seconds = clock(kdegraph.spectrum, graph, PAIRS, tol=TOL, seed=run, v0=before)
        (values, residual), *peer_seconds = clock(peer, graph.adjacency, run)
        for name, pair in (("kdegraph", cold_seconds), ("warm", warm_seconds), ("eigsh", peer_seconds)):
            seconds[name].append(pair)
    wall, cpu = ({name: statistics.median(pair[i] for pair in pairs) for name, pairs in seconds.items()} for i in (0, 1))
    row = {"n": n, "edges": graph.n_edges}
    row |= {f"{name} wall": wall[name] for name in wall} | {f"{name} cpu": cpu[name] for name in cpu}
    row |= {"eigsh / kdegraph wall": wall["eigsh"] / wall["kdegraph"], "eigsh / kdegraph cpu": cpu["eigsh"] / cpu["kdegraph"]}
    row |= {"cold / warm wall": wall["kdegraph"] / wall["warm"], "cold / warm cpu": cpu["kdegraph"] / cpu["warm"]}
    row |= {"products": cold.n_products, "products warm": warm.n_products}
    row |= {"residual": cold.residuals.max(), "residual warm": warm.residuals.max(), "residual eigsh": residual}
    return row | {"missed by eigsh": int(np.sum(values > cold.eigenvalues + 0.1 * cold.eigenvalues[-1]))}


@click.command()
@click.option("--n", "sizes", type=int, multiple=True, default=(15_000, 100_000), show_default=True)
@click.option("--runs", default=3, show_default=True)
@csv_option
def main(sizes, runs, path):
    """Print the table, one column a size."""
    rows = [measure(n, runs) for n in sizes]
    show(rows)
    write(path, rows)


if __name__ == "__main__":
    main()
