"""Describe a computation: what to compute, how far each stage is, and the results."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from kdegraph.datasets import Dataset
from kdegraph.validation import LOCAL_WORDS
from kdegraph.votes import Vote

from .edits import applied, number_of, numbers_in
from .numbering import align

METHODS = {"kde": "KDE graph", "knn": "k-NN graph"}
ALL_METHODS = {
    "kde": METHODS["kde"],
    "other": "Other bandwidth",  # the KDE graph with the kind of bandwidth that is not chosen
    "knn": METHODS["knn"],
    "full": "Full graph",
}
FIRST_LOOK = "First look"  # the name of a KDE graph of few rounds for users
DECISION = "Automatic choice"  # and of the comparison of scales
DECIDED = "auto"  # the kind of bandwidth that `kdegraph.decision.decide` chooses
FULL_UP_TO = 4000  # points up to which the full graph is computed, too
UPLOADING = "File: arriving"  # the stage that a session reports while a file arrives
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
    DECISION: {"number of clusters": "number", "scales": "scales", "clusters": "vote"},
    ALL_METHODS["kde"]: SAMPLED_BARS,
    ALL_METHODS["other"]: SAMPLED_BARS,
    ALL_METHODS["knn"]: {"nearest neighbors": "neighbors", **SPECTRUM_BARS, **CLUSTER_BARS},
    ALL_METHODS["full"]: {"full graph": "graph", **SPECTRUM_BARS, **CLUSTER_BARS},
}


def too_many(dataset):
    """Return whether points, or None, are too many for the full graph."""
    return dataset is not None and dataset.n_points > FULL_UP_TO


@dataclass(frozen=True)
class Bandwidth:
    """The width of the kernel: `sigma` and `perplexity` of `kdegraph.similarity_graph`."""

    sigma: float | str
    perplexity: float | None = None

    @property
    def is_local(self):
        """Return whether each point has a bandwidth of its own."""
        return self.sigma in LOCAL_WORDS

    @property
    def arguments(self):
        """Return the same by name, as `similarity_graph` takes them."""
        return {"sigma": self.sigma, "perplexity": self.perplexity}

    @property
    def words(self):
        """Return which points have one bandwidth, within a sentence."""
        each = {"local": "each its own σ", "moderate": "each its own, moderate σ"}
        return each.get(self.sigma, "one σ for all")

    @classmethod
    def of_each_point(cls, kind, perplexity, n_points):
        """Return bandwidths of one of the `LOCAL_WORDS`.

        The perplexity is reduced if `n_points` do not have enough neighbors for it.
        """
        largest = (n_points - 1) / 3  # the neighbors that `kdegraph.local_bandwidths` takes
        return cls(kind, min(perplexity, largest) if largest >= 1 else None)


@dataclass(frozen=True)
class Request:
    """What to compute; the parameters are those of `kdegraph.similarity_graph`, `knn_graph` and
    `spectral_clustering`.

    The sigma "preset" is that of the dataset. If the kind of bandwidth is one of `LOCAL_WORDS`,
    each point has its own, from the perplexity; if it is "one", sigma is that of all points; if it
    is `DECIDED`, the bandwidths and the number of rounds are those that `decide` chooses.
    """

    dataset: Dataset
    sigma: float | str = "auto"
    n_rounds: int | str = "auto"
    n_clusters: int | str = "auto"
    n_neighbors: int = 10
    seed: int = 0
    bandwidth: str = "one"
    perplexity: float = 5
    # Keys of `ALL_METHODS`; the full graph is not computed for more than `FULL_UP_TO` points.
    extra_methods: tuple = ()
    only_kde: bool = False  # whether no graph besides the KDE graph is computed

    @property
    def is_local(self):
        """Return whether each point is to have a bandwidth of its own."""
        return self.bandwidth in LOCAL_WORDS

    @property
    def is_decided(self):
        """Return whether the clusters are to be those that `decide` finds."""
        return self.bandwidth == DECIDED and self.n_clusters == "auto"

    def settled(self, decision):
        """Return the request with the bandwidths and the rounds of a `Decision`."""
        kind, perplexity = decision.scale
        if kind in LOCAL_WORDS:
            chosen = {"bandwidth": kind, "perplexity": perplexity or self.perplexity}
        else:
            chosen = {"bandwidth": "one", "sigma": decision.graph.sigma}
        return replace(self, n_rounds=decision.graph.n_rounds, **chosen)

    @property
    def methods(self):
        """Return the keys of `ALL_METHODS` that are computed, in order."""
        wanted = {"kde"} if self.only_kde else {*METHODS, *self.extra_methods}
        if too_many(self.dataset):
            wanted.discard("full")
        return tuple(method for method in ALL_METHODS if method in wanted)

    def bandwidths(self, sigma):
        """Return the `Bandwidth` of each method that has one, by its key.

        `sigma` is the bandwidth that serves all points.
        """
        kind = self.bandwidth if self.is_local else "local"
        local = Bandwidth.of_each_point(kind, self.perplexity, self.dataset.n_points)
        one = Bandwidth(sigma)
        chosen, other = (local, one) if self.is_local else (one, local)
        return {"kde": chosen, "other": other, "full": chosen}


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of one method."""

    method: str  # a key of `ALL_METHODS`
    bandwidth: Bandwidth | None  # None for the k-NN graph
    graph: object  # a `SimilarityGraph` or a csr_array
    spectrum: object
    n_clusters: int
    # That of `kdegraph.suggest_n_clusters`, where this graph's eigenvalues or `decide` give the
    # number of clusters; None for a number of segments, of which nothing is known.
    confidence: float | None
    # Exactly what `kdegraph.spectral_clustering` returns; of edited clusters, numbers in order.
    labels: np.ndarray
    # The same clusters, numbered so that they keep their colors from one result to the next and
    # between the methods.
    colors: np.ndarray
    scores: dict  # name of a score to its value
    # What may be wrong with the graph; only of the KDE graph with the chosen bandwidth.
    findings: tuple
    seconds: dict  # name of a stage to its duration
    vote: Vote | None = None  # how sure the labels are, where `decide` has found them
    # What the user reads for each cluster, such as "2" or "2a", by its number in `colors`, in
    # order; see `edits.Clusters`.
    marks: dict = field(default_factory=dict)
    # The numbers in `colors` of the clusters that were merged or split by hand.
    edited: frozenset = frozenset()
    computed: "Outcome | None" = None  # before the edits by hand, if there are any

    @property
    def stability(self):
        """Return the stability of the clusters by their numbers in `colors`; NaN if edited."""
        computed = self.computed or self
        found = np.full(max(self.colors.max(), computed.colors.max()) + 1, np.nan)
        found[computed.colors] = self.vote.stability[computed.labels]
        found[list(self.edited)] = np.nan
        return found

    @cached_property
    def doubtful(self):
        """Return whether each point is in doubt, always the same array; None where not known."""
        return None if self.vote is None else self.vote.doubtful

    @property
    def clusters(self):
        """Return the numbers in `colors` of all clusters, in the order of their marks."""
        present = numbers_in(self.colors)
        return sorted(present, key=[*self.marks, *present].index)

    @property
    def n_shown(self):
        """Return the number of clusters after the edits by hand."""
        return self.n_clusters if self.computed is None else len(self.clusters)

    @property
    def adjacency(self):
        """Return the (n, n) csr_array of the graph."""
        return matrix_of(self.graph)


def matrix_of(graph):
    """Return the (n, n) csr_array of a `SimilarityGraph`, or of a k-NN graph, which is one."""
    return getattr(graph, "adjacency", graph)


@dataclass(frozen=True, eq=False)
class Result:
    """Outcomes by method; a method that is still under way is missing.

    If `coarse`, the KDE graph is one of few rounds, which is shown until the real one is there.
    `misfits` are the edits by hand that do not fit the clusters.
    """

    request: Request
    sigma: float | None = None
    outcomes: dict = field(default_factory=dict)
    coarse: bool = False
    misfits: tuple = ()

    def edited(self, edits, last=None):
        """Return the result with the edits by hand, and with marks of all clusters.

        The edits are of the clusters of the KDE graph, with which those of other graphs are
        compared. Arrays of clusters that are equal to those of the `last` result are the same
        object, so that views notice.
        """
        kde, dataset = self.outcomes.get("kde"), self.request.dataset
        if kde is None:
            return self
        found = applied(edits, kde.colors, rows_of(dataset))
        outcomes = dict(self.outcomes)
        if found.edited:
            label_of = np.zeros(max(found.marks) + 1, dtype=kde.labels.dtype)
            label_of[list(found.marks)] = np.arange(len(found.marks))
            new = {"labels": label_of[found.colors], "colors": found.colors, "computed": kde}
            scores = with_agreement(kde.scores, dataset.y, new["labels"])
            outcomes["kde"] = replace(kde, edited=found.edited, scores=scores, **new)
            for method in outcomes.keys() - {"kde"}:
                colors = align(outcomes[method].labels, found.colors)
                outcomes[method] = replace(outcomes[method], colors=colors)
        n_numbers = len(set(map(number_of, found.marks.values())))
        everywhere = set().union(*(numbers_in(outcome.colors) for outcome in outcomes.values()))
        others = sorted(everywhere - found.marks.keys())
        marks = found.marks | {c: f"{n_numbers + i}" for i, c in enumerate(others, 1)}
        before = {} if last is None else last.outcomes
        for method, outcome in outcomes.items():
            colors = outcome.colors
            if method in before and np.array_equal(before[method].colors, colors):
                colors = before[method].colors
            outcomes[method] = replace(outcome, colors=colors, marks=marks)
        return replace(self, outcomes=outcomes, misfits=found.misfits)


def rows_of(dataset):
    """Return the row of each point of a data set."""
    return np.arange(dataset.n_points) if dataset.rows is None else dataset.rows


def with_agreement(scores, y, labels):
    """Return scores with the agreement of labels with the true ones, if these are known."""
    if y is None:
        return scores
    # Slow to import: the page does not wait for it.
    from sklearn.metrics import adjusted_rand_score

    return {**scores, "Adjusted Rand index": float(adjusted_rand_score(y, labels))}


@dataclass(frozen=True, eq=False)
class Early:
    """A KDE graph without clusters, so that its edges can be drawn already."""

    request: Request
    graph: object


class ProgressRows:
    """Turn the reports of one piece of work into progress bars.

    `first` are the rows to begin with, besides those of the graphs.
    """

    def __init__(self, *first):
        # These rows are certain to come; the others appear when they are reported.
        self._shown = {*METHODS.values(), *first}
        self._at = (0, 0, 0.0)  # the last report: its row, its bar, and how far that is

    def note(self, stage, fraction):
        """Take a report, "row: stage"; reports of less progress than known are ignored."""
        row, _, name = stage.partition(": ")
        if name in ROWS.get(row, ()):
            bars = list(dict.fromkeys(ROWS[row].values()))
            self._at = max(
                self._at,
                (list(ROWS).index(row), bars.index(ROWS[row][name]), min(max(fraction, 0.0), 1.0)),
            )
            self._shown.add(row)

    def rows(self):
        """Return the bars: a tuple of (row, ((bar, fraction), ...))."""
        *now, fraction = self._at
        found = []
        for row, name in enumerate(ROWS):
            bars = dict.fromkeys(ROWS[name].values())
            done = [
                fraction if [row, bar] == now else float([row, bar] < now)
                for bar in range(len(bars))
            ]
            if name in self._shown:
                found.append((name, tuple(zip(bars, done, strict=True))))
        return tuple(found)
