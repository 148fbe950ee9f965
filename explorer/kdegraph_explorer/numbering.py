"""Number clusters so that they keep their numbers and colors from one result to the next."""

import numpy as np

MAX_KNOWN = 100  # clusterings whose numbers are remembered


class Numbering:
    """Remember the numbers of clusters, for each set of points."""

    def __init__(self):
        self._known = {}

    def of(self, dataset, labels):
        """Return `labels`, an (n,) int array, numbered as the last ones of these points, also when
        they were loaded again; at first as the true ones.

        Clusters that return, as when a change is undone, have their numbers again.
        """
        rows = None if dataset.rows is None else dataset.rows.tobytes()
        points = (dataset.name, dataset.n_points, hash(rows))
        clusters = (*points, hash(labels.tobytes()))
        if clusters in self._known:
            found = self._known[clusters][labels]
        elif points in self._known:
            found = align(labels, self._known[points])
        else:  # there may be fewer clusters than true ones: no number is left out
            found = np.unique(align(labels, dataset.y), return_inverse=True)[1]
        number_of = np.zeros(int(labels.max()) + 1, dtype=found.dtype)
        number_of[labels] = found
        kept = {key: value for key, value in self._known.items() if key[0] == dataset.name}
        newest = {**kept, clusters: number_of, points: found}
        self._known = dict(list(newest.items())[-MAX_KNOWN:])
        return found


def align(labels, reference):
    """Renumber `labels` so that as many points as possible keep their number in `reference`.

    Both are (n,) int arrays from 0; without a reference, the labels stay.
    """
    labels = np.asarray(labels, dtype=np.int64)
    if reference is None:
        return labels
    from scipy.optimize import linear_sum_assignment  # slow to import: the page does not wait

    size = int(max(labels.max(), reference.max())) + 1
    counts = np.bincount(labels * size + reference, minlength=size * size).reshape(size, size)
    _, numbers = linear_sum_assignment(-counts)
    return numbers[labels]
