"""What a program may pass to an explorer, checked."""

import numpy as np
from kdegraph.datasets import Dataset
from kdegraph.validation import check_count, check_points, check_positive

from .state import State


def choices_of(sigma, perplexity, n_rounds, n_clusters, dataset):
    """The parameters of the state that were given, checked."""
    choices = {}
    if isinstance(sigma, str) and sigma == "local":
        choices["bandwidth"] = "local"
    elif sigma is not None:
        choices["sigma"] = check_positive(sigma, "sigma")
    if perplexity is not None:
        low, high = State.param.perplexity.bounds
        choices["perplexity"] = check_count(perplexity, "perplexity", minimum=low, maximum=high)
    if n_rounds is not None:
        choices["n_rounds"] = check_count(n_rounds, "n_rounds")
    if n_clusters is not None:
        maximum = None if dataset is None else dataset.n_points
        choices["n_clusters"] = check_count(
            n_clusters, "n_clusters", maximum=maximum, reason="(the number of points)"
        )
    return choices


def dataset_of(X, y):
    points = check_points(X)
    if y is None:
        return Dataset(points, name="given points")
    labels = np.asarray(y)
    if labels.shape != (len(points),):
        raise ValueError(
            f"y must have shape ({len(points)},), one label per point, got {labels.shape}"
        )
    names, numbers = np.unique(labels, return_inverse=True)
    return Dataset(
        points, numbers.astype(np.int64), name="given points", label_names=tuple(map(str, names))
    )
