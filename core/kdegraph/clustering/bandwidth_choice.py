"""Which perplexities are tried for the points to be clustered, where users do not say, and when the
clusters that they give are no good.
"""

import numpy as np

# Effective numbers of neighbors that are tried, until the clusters are not degenerate.
PERPLEXITIES = (5.0, 10.0, 20.0, 40.0)
# Points for each unit of the perplexity: fewer say nothing about a density.
POINTS_PER_PERPLEXITY = 30
# Share of the number of clusters: clusters are degenerate if they are fewer in effect, by the
# entropy of their sizes. On the standard sets nothing changes from 0.3 to 0.6.
LEAST_EFFECTIVE = 0.6


def perplexities(n, perplexity):
    """The perplexities to try for n points, where this one is asked for, or None."""
    if perplexity is not None:
        return [perplexity]
    larger = [p for p in PERPLEXITIES[1:] if n >= POINTS_PER_PERPLEXITY * p]
    return [None, *larger]  # None adapts to few points


def is_degenerate(labels, n_clusters):
    """Whether a few clusters hold nearly all points though more were asked for."""
    labels = np.asarray(labels)
    shares = np.bincount(labels[labels >= 0]) / max(np.sum(labels >= 0), 1)
    shares = shares[shares > 0]
    return bool(np.exp(-np.sum(shares * np.log(shares))) < LEAST_EFFECTIVE * n_clusters)
