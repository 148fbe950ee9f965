"""What is said of the clusters of a graph: their scores, and numbers that keep their colors."""

import numpy as np


def cluster_scores(dataset, adjacency, n_counted, clustering):
    """The scores of a `Clustering` by name; `n_counted` vertices are in large enough components."""
    scores = {
        "Edges": adjacency.nnz // 2,
        "Mean degree": adjacency.nnz / dataset.n_points,
        "Megabytes": (adjacency.data.nbytes + adjacency.indices.nbytes + adjacency.indptr.nbytes)
        / 1e6,
    }
    if isolated := int(np.count_nonzero(np.diff(adjacency.indptr) == 0)):
        scores["Isolated points"] = isolated
    if small := dataset.n_points - isolated - n_counted:
        scores["Points in small components"] = small
    if dataset.y is not None:
        from sklearn.metrics import adjusted_rand_score  # takes long: the page need not wait for it

        scores["Adjusted Rand index"] = float(adjusted_rand_score(dataset.y, clustering.labels))
    return scores


def align(labels, reference):
    """Renumber `labels` so that as many points as possible keep the number they have in
    `reference`.

    Parameters
    ----------
    labels : (n,) array of int >= 0
    reference : (n,) array of int >= 0, or None
        None leaves `labels` as they are.

    Returns
    -------
    (n,) int array
        The same partition.
    """
    labels = np.asarray(labels, dtype=np.int64)
    if reference is None:
        return labels
    from scipy.optimize import linear_sum_assignment  # the page need not wait for this one either

    size = int(max(labels.max(), reference.max())) + 1
    counts = np.bincount(labels * size + reference, minlength=size * size).reshape(size, size)
    _, numbers = linear_sum_assignment(-counts)
    return numbers[labels]
