"""Approximate eigenvectors from coarse graphs of coarse graphs: a start for the eigensolver, and
accurate enough to separate clusters.

The nodes of a coarse graph are groups of connected rows, as in algebraic multigrid, or runs of rows
that are near each other in space. The weights between two groups are summed. In other words,
vectors are restricted to those that vary like sqrt(degree) within each group (Galerkin's method).
The smallest eigenvalues of the Laplacian become two or three times as large, and their eigenvectors
keep their shape. These are prolonged to all rows and smoothed: a few products damp what varies
within the groups. The coarse graph has a coarse graph in turn, down to a few thousand nodes.

References
----------
P. Vanek, J. Mandel, M. Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth
order elliptic problems", Computing 56 (1996), 179-196.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.geometry.sparse_points import SparseRows
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.spectral.blocks import NullSpace, run_on_chunks
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.products import aligned_zeros
from kdegraph.spectral.solver.chebyshev import ChebyshevFilter, FilteredBlock
from kdegraph.spectral.solver.iteration import Eigenpairs, Start, block_width, solve
from kdegraph.spectral.solver.rayleigh_ritz import ritz_rotation, ritz_vectors

MIN_VERTICES = 5_000  # of a graph for which a coarse one is made; below, a random start is as fast
MIN_NODES_PER_VECTOR = 3  # nodes of a useful coarse graph for each vector of the block
# The coarse graph is not used if the last wanted value is smaller. That of a random vector is about
# 0.
MIN_COARSE_VALUE = 0.25
SMOOTHING_DEGREE = 4  # products in a round of smoothing
MAX_ROUNDS = 6
# Relative error of the wanted eigenvalues at which smoothing ends: see `has_settled`.
SETTLED = 0.1

# Consecutive rows within which groups are formed: the unit of work, whose part of all arrays stays
# in the caches.
CHUNK_ROWS = 4096

# Runs of rows are the groups if at most this share of the entries of a sample of rows lies in the
# run of their row. The share is 0.03 to 0.08 for points of the plane with one bandwidth, 0.26 and
# more for photographs and with local bandwidths.
MAX_SHARE_IN_RUN = 0.15
SAMPLED_ROWS = 256
MAX_RUNS = 1024


class CoarseGraph(NamedTuple):
    """A coarse graph, and the node of each row of the graph that it stands for."""

    operator: NormalizedAdjacency
    null: NullSpace  # of the coarse graph
    node: np.ndarray  # (n,) int32


def coarsen(operator, null, runs=None, progress=None):
    """Return the `CoarseGraph` whose nodes are groups of rows, in the order of their first rows.

    If the neighbors of a row are scattered over far more rows than a run of rows that are near each
    other in space, the rows of a run have nearly the same neighbors, and the `runs` are the groups.
    Otherwise groups are found along the entries of the matrix, which is read three times. `runs`
    has the run of each row, ascending within each component.
    """
    matrix = operator.matrix(np.float32)
    if runs is not None and are_scattered(sampled_rows(*matrix[:2]), runs.__getitem__):
        first = np.union1d(np.flatnonzero(np.diff(runs)) + 1, null.bounds[:-1])
        m = len(first)
        node = np.repeat(np.arange(m, dtype=np.int32), np.diff(first, append=operator.n))
    else:
        node, m = group_rows(matrix, progress)
    # The rows of node a are ``members[start[a]:start[a + 1]]``, ascending.
    members = np.argsort(node, kind="stable")
    start = np.searchsorted(node, np.arange(m + 1), sorter=members)
    lengths = np.sqrt(np.bincount(node, weights=null.vector**2, minlength=m))
    indptr = np.zeros(m + 1, matrix.indptr.dtype)
    args = members, start, node, matrix
    parallel.run(_count_entries, m, *args, indptr, progress=progress)
    np.cumsum(indptr, out=indptr)
    indices = np.empty(indptr[-1], matrix.indices.dtype)
    rows = SparseRows(indptr, indices, np.empty(indptr[-1], np.float32))
    scaled = (null.vector / lengths[node]).astype(np.float32)
    parallel.run(_sum_entries, m, *args, scaled, rows, progress=progress)
    bounds = np.r_[node[null.bounds[:-1]], m]
    return CoarseGraph(NormalizedAdjacency(rows), NullSpace(bounds, lengths), node)


def sampled_rows(indptr, indices, n_sampled=SAMPLED_ROWS, first=0):
    """Return some rows: pairs of a number, counted from `first`, and the columns of the entries."""
    sample = np.linspace(0, len(indptr) - 2, n_sampled).astype(np.int64)
    return [(first + i, indices[indptr[i] : indptr[i + 1]]) for i in sample]


def are_scattered(rows, run_of):
    """Return whether few of the entries of some rows lie in the run of their row."""
    n_within = sum(np.sum(run_of(columns) == run_of(i)) for i, columns in rows)
    return n_within <= MAX_SHARE_IN_RUN * max(1, sum(len(columns) for _, columns in rows))


def runs_in_space(order, points=None, max_runs=MAX_RUNS):
    """Return the bounds of runs of consecutive vertices in an order: at most `max_runs` of them, a
    power of two, or twice as many if wide runs are halved.

    In the order of a tree, runs are its nodes. A run that is much wider than others may lie across
    a gap between clusters, which its vertices would bridge in the coarse graph: runs wider than
    twice the median are halved, at most eight times. They have at least 16 vertices before that.
    """
    n = len(order)
    n_runs = min(max_runs, 2 ** (max(n // 16, 1).bit_length() - 1))
    bounds = np.arange(n_runs + 1) * n // n_runs
    if points is None:
        return bounds
    points, max_width = points[order], None
    for _ in range(8):
        low, high = (f.reduceat(points, bounds[:-1]) for f in (np.minimum, np.maximum))
        width = (high - low).max(axis=1)
        max_width = max_width or 2.0 * np.median(width)
        wide = (width > max_width) & (np.diff(bounds) > 1)
        if not wide.any() or len(bounds) + wide.sum() > 2 * n_runs:
            break
        bounds = np.sort(np.r_[bounds, ((bounds[:-1] + bounds[1:]) // 2)[wide]])
    return bounds


def group_rows(matrix, progress=None):
    """Find groups of connected rows of a symmetric matrix with entries >= 0. Return the group of
    each row, numbered in the order of their first rows, and the number of groups. No group has rows
    of two components.
    """
    n = len(matrix.indptr) - 1
    n_chunks = -(-n // CHUNK_ROWS)
    node, counts = np.empty(n, np.int32), np.zeros(n_chunks + 1, np.int32)
    args = matrix, node, counts
    parallel.run(_group_chunks, n_chunks, *args, chunk=1, progress=progress)
    np.cumsum(counts, out=counts)
    node += np.repeat(counts[:-1], CHUNK_ROWS)[:n]
    return node, int(counts[-1])


@jit
def _group_chunks(start, stop, matrix, node, counts):
    """Group the rows of each chunk, and count the groups in ``counts[1:]``."""
    for chunk in range(start, stop):
        first = chunk * CHUNK_ROWS
        last = min(first + CHUNK_ROWS, len(node))
        node[first:last] = -1
        n_nodes = _begin_groups(first, last, matrix, node)
        n_nodes = _join_groups(first, last, matrix, node, n_nodes)
        counts[chunk + 1] = _number_by_first_row(node[first:last], n_nodes)


@jit
def _begin_groups(first, last, matrix, node):
    """Let each row be a group with its strong neighbors, unless one of these is in a group.

    A neighbor is strong if its entry is at least a quarter of the largest one of the row, as in the
    reference. At most 16 rows begin a group.
    """
    indptr, indices, weights = matrix
    n_nodes = 0
    for i in range(first, last):
        largest = np.float32(0.0)
        for p in range(indptr[i], indptr[i + 1]):
            if indices[p] != i:
                largest = max(largest, weights[p])
        free, strong = node[i] < 0, 0.25 * largest
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if first <= j < last and weights[p] >= strong and node[j] >= 0:
                free = False
                break
        if free and largest > 0:
            node[i], size = n_nodes, 1
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if j != i and first <= j < last and weights[p] >= strong and size < 16:
                    node[j] = n_nodes
                    size += 1
            n_nodes += 1
    return n_nodes


@jit
def _join_groups(first, last, matrix, node, n_nodes):
    """Let each row without a group join that of its strongest neighbor, or begin one."""
    indptr, indices, weights = matrix
    for i in range(first, last):
        if node[i] < 0:
            best, largest = n_nodes, np.float32(0.0)
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if first <= j < last and node[j] >= 0 and weights[p] > largest:
                    best, largest = node[j], weights[p]
            node[i] = best
            n_nodes = max(n_nodes, best + 1)
    return n_nodes


@jit
def _number_by_first_row(node, n_nodes):
    """Number the groups by their first rows, in place; return how many there are."""
    number = np.full(n_nodes, -1, np.int32)
    n_numbered = 0
    for i in range(len(node)):
        if number[node[i]] < 0:
            number[node[i]] = n_numbered
            n_numbered += 1
        node[i] = number[node[i]]
    return n_numbered


@jit(distinct=True)
def _count_entries(begin, end, members, start, node, matrix, counts):
    """Count the entries of each row of the coarse graph, in ``counts[1:]``."""
    indptr, indices, _ = matrix
    seen = np.full(len(start) - 1, -1, np.int32)
    for a in range(begin, end):
        count = 0
        for q in range(start[a], start[a + 1]):
            for p in range(indptr[members[q]], indptr[members[q] + 1]):
                b = np.uint32(node[np.uint32(indices[p])])
                count += seen[b] != a
                seen[b] = a
        counts[a + 1] = count


@jit(distinct=True)
def _sum_entries(begin, end, members, start, node, matrix, scaled, out):
    """Fill the rows of the matrix of the coarse graph; `scaled` is the vector of the null space,
    with norm 1 on each node.
    """
    indptr, indices, weights = matrix
    out_indptr, out_indices, out_weights = out
    seen, total = np.full(len(start) - 1, -1, np.int32), np.empty(len(start) - 1)
    for a in range(begin, end):
        place = out_indptr[a]
        for q in range(start[a], start[a + 1]):
            i = members[q]
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint32(indices[p])
                b = np.uint32(node[j])
                if seen[b] != a:
                    seen[b], total[b] = a, 0.0
                    out_indices[place] = b
                    place += 1
                total[b] += scaled[i] * weights[p] * scaled[j]
        for p in range(out_indptr[a], place):
            out_weights[p] = total[out_indices[p]]


# ---------------------------------------------------------------- vectors


class CoarseVectors(NamedTuple):
    """Approximate eigenvectors, proportional to sqrt(degree) on each node of a coarse graph."""

    coarse: CoarseGraph
    pairs: Eigenpairs  # of the coarse graph, one for each vector of a block

    def start(self, null, n_given, rng, n_probes=0, progress=None):
        """Return the `Start` with the first `n_given` of these vectors, prolonged to all rows, and
        `n_probes` random vectors; `null` is the null space of the graph that was coarsened.
        """
        coarse, pairs = self
        n, width = len(coarse.node), n_given + n_probes
        values = pairs.vectors[:, :n_given] / coarse.null.vector[:, None]
        block = aligned_zeros(n, width, np.float32)

        def prolong(_, rows):
            block[rows, :n_given] = values[coarse.node[rows]] * null.vector[rows, None]

        run_on_chunks(prolong, block, progress)
        block[:, n_given:] = rng.random((n, n_probes), np.float32) - 0.5
        return Start(block, n_probes, pairs.values[:width])


def coarse_vectors(operator, null, k, rng, *, runs=None, progress=None):
    """Compute approximate eigenvectors, for the `k` wanted ones, from a coarse graph; see `coarsen`
    for the `runs`. None is returned for few vertices or too many components, and if the coarse
    graph does not show the wanted eigenvectors.
    """
    width = block_width(k)
    if operator.n < MIN_VERTICES:
        return None
    coarse = coarsen(operator, null, runs, progress)
    if MIN_NODES_PER_VECTOR * width + len(null) > coarse.operator.n:
        return None
    # The blocks of all coarse graphs have the same width. If each had guard vectors for those of
    # the one before, the coarsest graphs would take far more time than all others together.
    coarser = coarse_vectors(coarse.operator, coarse.null, k, rng, progress=progress)
    of_coarse = coarse.operator, coarse.null, width
    if coarser is None:
        # Smoothing does not remove errors of the coarsest graph. With a tolerance of 3e-3, labels
        # of photographs with rows of length 1 agree less (adjusted Rand index 0.84) with those of
        # the exact eigenvectors than with 3e-4 (0.94).
        pairs = solve(*of_coarse, 3e-4, rng=rng, report=progress)
    else:
        start = coarser.start(coarse.null, width, rng, progress=progress)
        pairs = refine(*of_coarse, start, progress)
    if len(pairs.values) < width or pairs.values[k - 1] < MIN_COARSE_VALUE:
        return None
    return CoarseVectors(coarse, pairs)


def refine(operator, null, k, start, progress=None):
    """Smooth the vectors of a start until the `k` largest eigenvalues beyond the null space settle.

    The block of the `Start`, which has no random vectors, is overwritten. The `Eigenpairs` have
    converged if the eigenvalues have settled to about `SETTLED`.
    """
    block, values = start.block, start.values
    for n_rounds in range(1, MAX_ROUNDS + 1):
        done = 1 - 0.5 ** (n_rounds - 1)
        at_present = partial_progress(progress, done, done)
        smoothing = smoothing_filter(1.0 - values[-1])
        filtered = FilteredBlock(smoothing, operator, block, progress=at_present)
        block = filtered.raise_to(SMOOTHING_DEGREE).vectors
        image = operator.step(block, filtered.previous, progress=at_present)
        overlaps = null.overlaps(block, image, at_present)
        ritz = ritz_rotation(overlaps.gram)
        dependent = len(ritz.values) < len(values)
        settled = not dependent and has_settled(values, ritz, k)
        values = ritz.values
        if settled or dependent or n_rounds == MAX_ROUNDS:
            break
        block = ritz_vectors(null, block, image, ritz, np.float32, overlaps, at_present)
    pairs = ritz.first(k)
    vectors = ritz_vectors(null, block, image, pairs, np.float64, overlaps, at_present)
    n_products = n_rounds * (SMOOTHING_DEGREE + 1)
    return Eigenpairs(pairs.values, vectors, pairs.residuals, settled, n_products)


def smoothing_filter(last):
    """Return the `ChebyshevFilter` of a round of smoothing for a block whose largest eigenvalue of
    the Laplacian is `last`. It damps eigenvalues above 0.2 that are clearly larger than this.
    """
    damped_from = min(1.5, max(1.5 * last, 0.2))
    return ChebyshevFilter(1.0 - damped_from, SMOOTHING_DEGREE, np.float32)


def has_settled(values, ritz, k):
    """Return whether the first `k` Ritz values are accurate, given those of the round before.

    The error of a Ritz value is at most the square of its residual over its distance from the
    eigenvalues beyond the block (Kato and Temple), which is about the part of the spectrum that the
    block covers. The sine of the angle between its vector and the eigenvectors is at most the
    residual over that distance (Davis and Kahan); for tiny eigenvalues 0.02 is accurate enough. A
    value has also settled if the round hardly changed it, up to rounding in single precision.
    """
    before, now = 1.0 - values[:k], 1.0 - ritz.values[:k]
    covered = 1.0 - ritz.values[-1]
    tolerable = np.sqrt(SETTLED * covered * np.maximum(now, 0.0))
    accurate = ritz.residuals[:k] <= np.maximum(tolerable, 0.02 * covered)
    unchanged = before - now <= np.maximum(SETTLED * before, 2.0**-24)
    return bool((accurate | unchanged).all())
