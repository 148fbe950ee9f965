"""Split a cluster by hand: its points are clustered alone."""

from dataclasses import replace

import numpy as np

from ..edits import with_split
from ..jobs import explain
from ..pipeline import Pipeline
from ..process import wait
from ..projection import prepare
from ..results import DECIDED, rows_of


class Splitter:
    """Split clusters of a session, as its `job`; the parts become an edit by hand."""

    def __init__(self, session):
        self._state = session.state
        self.job = session.latest(_alone, deliver=self._use, fail=self._refuse)

    def split(self, number, n_parts):
        """Split a cluster into a number of parts, in a thread."""
        members = np.flatnonzero(self._state.outcome("kde").colors == number)
        with self._state.refusing():
            if not 2 <= n_parts <= len(members):
                most = f"{len(members):,}, the number of its points"
                raise ValueError(f"Choose 2 parts or more, and at most {most}.")
            self.job.request((self._state.result.request, members, n_parts))

    def _use(self, request, found):
        whole, members, _ = request
        if whole.dataset is self._state.shown:
            with self._state.refusing():
                rows = rows_of(whole.dataset)[members]
                self._state.edits = with_split(self._state.edits, found, rows)

    def _refuse(self, request, error):
        self._state.refused = explain(error)


def _alone(request, progress, publish):
    """Cluster some of the points of a request into a number of clusters; return their labels."""
    whole, members, n_clusters = request
    wait(progress)
    dataset = whole.dataset.subset(members)
    prepare(dataset)
    change = {"dataset": dataset, "n_clusters": n_clusters, "only_kde": True, "extra_methods": ()}
    if whole.sigma == "preset":  # which is of all points
        change |= {"sigma": "auto", "bandwidth": DECIDED}
    part = replace(whole, **change)
    return Pipeline().run(part, progress, lambda *result, **options: None).outcomes["kde"].labels
