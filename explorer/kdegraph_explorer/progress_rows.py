"""How far each stage of the present work is, as plain values: a row for each graph, and in it a bar
for each stage.
"""

from .results import ALL_METHODS, FIRST_LOOK, METHODS

UPLOADING = "File: arriving"  # what a session reports while a file arrives
LOADING = "Data: loading"  # and while data are read or generated
SPECTRUM_BARS = {"eigenvalues": "spectrum", "components": "spectrum", "eigenvectors": "spectrum"}
CLUSTER_BARS = {"clusters": "clusters", "k-means": "clusters", "scores": "clusters"}
SAMPLED_BARS = {
    "bandwidth": "tree",
    "tree": "tree",
    "kernel degrees": "degrees",
    "samples": "samples",
    "graph": "graph",
    **SPECTRUM_BARS,
    **CLUSTER_BARS,
}
ROWS = {  # a row to its stages, as the computations report them, and the bar of each
    "File": {"arriving": "file"},
    "Data": {"loading": "data"},
    FIRST_LOOK: SAMPLED_BARS,
    ALL_METHODS["kde"]: SAMPLED_BARS,
    ALL_METHODS["other"]: SAMPLED_BARS,
    ALL_METHODS["knn"]: {"nearest neighbors": "neighbors", **SPECTRUM_BARS, **CLUSTER_BARS},
    ALL_METHODS["full"]: {"full graph": "graph", **SPECTRUM_BARS, **CLUSTER_BARS},
}


class ProgressRows:
    """Turns the reports of one piece of work into progress bars.

    Parameters
    ----------
    *first : str
        Rows that it begins with, besides the graphs.
    """

    def __init__(self, *first):
        # These rows are certain to come; the others appear when they are reported.
        self._shown = {*METHODS.values(), *first}
        self._at = (0, 0, 0.0)  # the last report: its row, its bar, and how far that is

    def note(self, stage, fraction):
        """Take in a report, "row: stage"; reports of less progress than is known are ignored."""
        row, _, name = stage.partition(": ")
        if name in ROWS.get(row, ()):
            bars = list(dict.fromkeys(ROWS[row].values()))
            self._at = max(
                self._at,
                (list(ROWS).index(row), bars.index(ROWS[row][name]), min(max(fraction, 0.0), 1.0)),
            )
            self._shown.add(row)

    def rows(self):
        """The bars.

        Returns
        -------
        tuple of (row, ((bar, fraction), ...))
        """
        row_at, bar_at, fraction = self._at
        return tuple(
            (
                name,
                tuple(
                    (bar, _done((row, i), (row_at, bar_at), fraction))
                    for i, bar in enumerate(dict.fromkeys(ROWS[name].values()))
                ),
            )
            for row, name in enumerate(ROWS)
            if name in self._shown
        )


def _done(place, now, fraction):
    return fraction if place == now else float(place < now)
