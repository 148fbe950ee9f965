"""Exact results for tests, in extended precision, without any code of the package."""

import itertools

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse
import scipy.stats
from threadpoolctl import threadpool_limits

KERNELS = ("gaussian", "laplacian", "exponential", "matern-3/2", "matern-5/2")
UNDERFLOW = 708  # exponents from here on count as zero


def exponents(Y, X, kernel, sigma):
    """The exponents t of k = exp(-t) between rows of Y and of X, in extended precision, (m, n).

    `sigma` is a number, or an (m, n) array with the bandwidths of the pairs.
    """
    Y, X = np.asarray(Y, dtype=float), np.asarray(X, dtype=float)
    sigma = np.longdouble(sigma)
    total = np.zeros((len(Y), len(X)), dtype=np.longdouble)
    with np.errstate(over="ignore"):
        for c in range(X.shape[1]):
            delta = (Y[:, c, None].astype(np.longdouble) - X[None, :, c]) / sigma
            total += np.abs(delta) if kernel == "laplacian" else delta * delta
    return exponent_of(kernel, total if kernel == "laplacian" else np.sqrt(total))


def exponent_of(kernel, r):
    """The exponent t of k = exp(-t) at the distance r in units of sigma, in extended precision."""
    if kernel == "gaussian":
        return r * r
    if kernel == "matern-3/2":
        r = np.sqrt(np.longdouble(3)) * r
        return r - np.log1p(np.minimum(r, 1e6))
    if kernel == "matern-5/2":
        r = np.sqrt(np.longdouble(5)) * r
        near = np.minimum(r, 1e6)
        return r - np.log1p(near + near * near / 3)
    return r


def reach(kernel):
    """The distance in units of sigma at which the exponent is `UNDERFLOW`."""
    return scipy.optimize.brentq(lambda r: float(exponent_of(kernel, r)) - UNDERFLOW, 1, 1000)


def kernel_matrix(Y, X, kernel, sigma):
    """k(y_i, x_j) in extended precision, (m, n)."""
    t = exponents(Y, X, kernel, sigma)
    values = np.exp(-t)
    values[t >= UNDERFLOW] = 0
    return values


def full_graph(X, kernel, sigma):
    """The fully connected similarity graph, float64, zero diagonal."""
    K = kernel_matrix(X, X, kernel, sigma).astype(float)
    np.fill_diagonal(K, 0.0)
    return K


def sums_and_masses(X, Y, kernel, sigma, weights=None):
    """Exact sum_j w_j k(y_i, x_j) and sum_j |w_j| k(y_i, x_j)."""
    K = kernel_matrix(Y, X, kernel, sigma)
    w = (
        np.ones(len(X), np.longdouble)
        if weights is None
        else np.asarray(weights).astype(np.longdouble)
    )
    return K @ w, K @ np.abs(w)


def excess(result, X, Y, kernel, sigma, eps, weights=None):
    """Return the largest error in units of the promised one: at most 1 is right.

    That is ``eps * mass + 1e-14 * sum |w|``, and half of the smallest double for the rounding to
    one.
    """
    exact, mass = sums_and_masses(X, Y, kernel, sigma, weights)
    total = len(X) if weights is None else np.abs(np.asarray(weights).astype(np.longdouble)).sum()
    allowed = np.longdouble(eps) * mass + np.longdouble(1e-14) * total + np.longdouble(5e-324) / 2
    return float((np.abs(result - exact) / allowed).max())


def dense(A):
    """The matrix as an array, also if it is sparse."""
    return A.toarray() if scipy.sparse.issparse(A) else np.asarray(A, dtype=float)


def normalized_laplacian(A):
    """I - D^{-1/2} A D^{-1/2}, dense; zero rows for isolated vertices."""
    A = dense(A)
    degrees = A.sum(axis=1)
    scale = np.array([1 / np.sqrt(d) if d > 0 else 0.0 for d in degrees])
    return np.diag((degrees > 0).astype(float)) - scale[:, None] * A * scale


def eigenvalues(A):
    """The eigenvalues of the normalized Laplacian, ascending."""
    with threadpool_limits(1, user_api="blas"):  # more threads would mostly wait
        return scipy.linalg.eigh(normalized_laplacian(A), eigvals_only=True)


def eigenpairs(A, count):
    """The `count` smallest eigenvalues of the normalized Laplacian, and their eigenvectors."""
    with threadpool_limits(1, user_api="blas"):
        return scipy.linalg.eigh(normalized_laplacian(A), subset_by_index=[0, count - 1])


def conductances(A, labels):
    """phi(S) of every cluster of the dense matrix A; negative labels are noise."""
    result = []
    for label in np.unique(labels[labels >= 0]):
        inside = labels == label
        result.append(A[np.ix_(inside, ~inside)].sum() / A[inside].sum())
    return np.array(result)


def chi_square_p(counts, probabilities, *, least=6.0):
    """p-value of multinomial `counts`; the cells of smallest expectation are merged."""
    assert (counts[probabilities == 0] == 0).all(), "a neighbor of probability zero was drawn"
    expected = counts.sum() * probabilities
    order = np.argsort(expected)
    before = np.cumsum(expected[order])
    tail = max(int(np.searchsorted(before, least)) + 1, int((expected < least).sum()))
    if tail >= len(order):
        return 1.0
    observed = np.concatenate([[counts[order[:tail]].sum()], counts[order[tail:]]])
    merged = np.concatenate([[expected[order[:tail]].sum()], expected[order[tail:]]])
    statistic = ((observed - merged) ** 2 / np.maximum(merged, 1e-300)).sum()
    return float(scipy.stats.chi2.sf(statistic, len(merged) - 1))


def check_draws(neighbors, W, *, stratified=False, least=None):
    """Check that every point draws from the law of its row of W: independent draws by a chi-square
    test of each row, with a p-value above `least`, and by the p-values of all rows together.

    Points with a row of zeros have the neighbor -1, and no point draws itself.
    """
    n = len(W)
    alone = W.sum(axis=1) == 0
    assert (neighbors[alone] == -1).all()
    assert (neighbors[~alone] >= 0).all()
    assert (neighbors != np.arange(n)[:, None]).all(), "a point drew itself"
    laws = (W[~alone] / W[~alone].sum(axis=1, keepdims=True)).astype(float)
    counts = np.array([np.bincount(row, minlength=n) for row in neighbors[~alone]])
    if stratified:
        # Every point owns an interval of [0, 1) of length p: a grid of L uniforms hits it L p
        # times, rounded down or up.
        assert np.abs(counts - neighbors.shape[1] * laws).max() < 1 + 1e-6
        return
    p_values = [chi_square_p(*pair) for pair in zip(counts, laws, strict=True)]
    assert min(p_values) > (1e-3 / n if least is None else least)
    tested = [p for p in p_values if p < 1]
    if len(tested) > 30:
        assert scipy.stats.kstest(tested, "uniform").pvalue > 1e-4


def check_parts(neighbors, P, part):
    """Check how often the points of each part draw from each part, where P has the probabilities
    of the draws: within four standard deviations.
    """
    n_rounds = neighbors.shape[1]
    for own, other in itertools.product(np.unique(part), repeat=2):
        p = P[np.ix_(part == own, part == other)].sum(axis=1)
        drawn = (part[neighbors[part == own]] == other).sum()
        spread = np.sqrt(n_rounds * (p * (1 - p)).sum())
        assert abs(drawn - n_rounds * p.sum()) <= 4 * spread + 1e-6


def inclusion(L, p, draws):
    """Probability that a neighbor of probability p is among L draws."""
    return np.minimum(L * p, 1.0) if draws == "stratified" else 1.0 - (1.0 - p) ** L


def check_unbiased(samples, W, n_rounds, draws):
    """Check that sampled adjacency matrices are W in the mean: single weights, and sums of rows."""
    p = inclusion(n_rounds, W / W.sum(axis=1, keepdims=True), draws)
    of_edge = np.maximum(p + p.T - p * p.T, 1e-12)
    variance = W**2 * (1 / of_edge - 1) / len(samples)
    mean, rounding = samples.mean(axis=0), 1e-8 * W.sum(axis=1)
    z = (mean.sum(axis=1) - W.sum(axis=1)) / np.maximum(np.sqrt(variance.sum(axis=1)), rounding)
    assert np.abs(z).max() < 4.5
    often = of_edge > 0.1
    z = (mean - W)[often] / np.maximum(np.sqrt(variance), rounding)[often]
    assert np.abs(z).max() < 5


def sampled_weights(neighbors, K, draws):
    """Adjacency matrix with k / (p + q - p q) on the sampled pairs, by plain loops."""
    degrees = K.sum(axis=1, keepdims=True)
    P = np.divide(K, degrees, out=np.zeros_like(K), where=degrees > 0)
    probability = inclusion(neighbors.shape[1], P, draws)
    A = np.zeros_like(K)
    for i, row in enumerate(neighbors):
        for j in row:
            if j >= 0:
                p, q = probability[i, j], probability[j, i]
                A[i, j] = A[j, i] = K[i, j] / (p + q - p * q)
    return A


def replicas(base, count):
    """`count` copies of `base` (rounded to a grid: differences are exact), so far apart that they
    do not see each other; and `base`.
    """
    base = np.round(base * 2**20) / 2**20
    shift = np.zeros((count, base.shape[1]))
    shift[:, 0] = np.arange(count) * 2.0**12
    return (base[None] + shift[:, None]).reshape(-1, base.shape[1]), base
