"""PROVISIONAL (being replaced): exact dense sampler with the final interface."""

import json
import math
import zipfile
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from ._validation import check_choice, check_count, check_points, check_seed
from .kernels import Kernel
from .parallel import Stages


@dataclass(frozen=True)
class SimilarityGraph:
    adjacency: scipy.sparse.csr_array
    kernel_degrees: np.ndarray
    neighbors: np.ndarray
    sigma: float
    kernel: str
    n_rounds: int
    seed: int
    sampler: str = "rejection"
    draws: str = "independent"
    weighting: str = "inclusion"
    timings: dict = field(default_factory=dict)
    points: np.ndarray | None = None

    @property
    def n_edges(self):
        return self.adjacency.nnz // 2


def similarity_graph(X, *, sigma="auto", kernel="gaussian", n_rounds="auto", sampler="auto", draws="stratified", kde="auto",
                     weighting="inclusion", eps=None, seed=None, progress=None):
    X = check_points(X)
    if isinstance(sigma, str):
        from .baselines import estimate_sigma
        sigma = estimate_sigma(X, seed=0)
    k = Kernel(kernel, sigma)
    n = len(X)
    L = max(1, int(3 * math.log(max(n, 2)))) if isinstance(n_rounds, str) else check_count(n_rounds, "n_rounds")
    seed = check_seed(seed)
    stages = Stages(progress)
    rng = np.random.default_rng(seed)
    stages.enter("kernel degrees")
    K = k.pairwise(X, X)
    np.fill_diagonal(K, 0)
    deg = K.sum(1)
    stages.enter("samples")
    neighbors = np.full((n, L), -1, np.int32)
    for i in range(n):
        if deg[i] > 0:
            neighbors[i] = np.minimum(np.searchsorted(np.cumsum(K[i]), rng.random(L) * deg[i]), n - 1)
        if i % 200 == 0:
            stages.report(i / n)
    stages.enter("graph")
    rows = np.repeat(np.arange(n), L)[neighbors.ravel() >= 0]
    cols = neighbors.ravel()[neighbors.ravel() >= 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        P = np.where(deg[:, None] > 0, 1 - (1 - K / deg[:, None]) ** L, 0)
    a, b = np.minimum(rows, cols), np.maximum(rows, cols)
    key = np.unique(a * np.int64(n) + b)
    a, b = key // n, key % n
    w = K[a, b] / (P[a, b] + P[b, a] - P[a, b] * P[b, a])
    A = scipy.sparse.csr_array((np.r_[w, w], (np.r_[a, b], np.r_[b, a])), shape=(n, n))
    A.sort_indices()
    stages.leave()
    return SimilarityGraph(A, deg, neighbors, sigma, kernel, L, seed, timings=stages.timings, points=X)
