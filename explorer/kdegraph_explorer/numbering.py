"""Number clusters so that they keep their numbers and colors from one result to the next."""

import numpy as np
from kdegraph.votes import matched

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
    if reference is not None:
        labels = matched(labels, reference, int(max(labels.max(), reference.max())) + 1)
    return np.asarray(labels, dtype=np.int64)
