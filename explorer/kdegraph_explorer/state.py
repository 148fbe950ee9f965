"""Hold the results of a session beside its choices: parameters, no widgets, no threads."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import param
from kdegraph.datasets import Dataset
from kdegraph.validation import LOCAL_WORDS

from .choices import AUTOMATIC, Choices
from .cluster_names import assigned, check_name, renamed
from .coloring import CLUSTER, choices, coloring_of
from .edits import with_merge
from .projection import axes, first_axes
from .results import DECIDED, Early, Request, Result, rows_of


class State(Choices):
    """The choices and the results of one session.

    Views watch these parameters; this class knows none of them.
    """

    counted = param.Parameter(
        doc="The result of `count_clusters` for the points, once it was requested, otherwise None."
    )
    extra_methods = param.Parameter(
        default=(), doc="Methods that the view on the screen shows besides `METHODS`."
    )
    shown = param.ClassSelector(
        class_=Dataset,
        doc="The points that are drawn: those of `dataset`, or the earlier ones until "
        "there is a first result.",
    )
    coloring = param.Parameter(
        doc="The `Coloring` of the points that are drawn; None colors them by cluster."
    )
    named = param.Dict(
        default={}, doc="The names of the clusters of the KDE graph, by number; see `colors`."
    )
    written = param.Dict(
        default={}, doc="What is written on clusters in plots: names, and marks such as 2a."
    )
    in_part = param.Boolean(
        doc="Whether `dataset` is a part of the points; edits by hand are of all points."
    )
    refused = param.String(doc="Why the last name or edit by hand was refused, or an empty string.")
    stopped = param.Boolean(doc="Whether the user has stopped the work for the present choices.")
    selection = param.Array(
        default=np.empty(0, dtype=np.intp),
        doc="Indices of the points that were selected in a plot.",
    )
    result = param.ClassSelector(
        class_=Result, doc="The newest result; parts that are still under way are missing."
    )
    early = param.Parameter(
        doc="The newest KDE graph while its clusters are being computed, otherwise None."
    )
    judgements = param.Dict(
        default={},
        doc="The newest `Judgement` of each method, perhaps of earlier clusters; see `judgement`.",
    )
    error = param.String(doc="The error of the newest request, or an empty string.")
    refusal = param.String(
        doc="Why the data that are chosen could not be loaded; earlier ones are explored. It is "
        "the error again when nothing else is wrong.",
    )
    notice = param.String(
        doc="What was wrong when the session began; it stays until something is chosen.",
    )
    busy = param.Boolean(doc="Whether anything is computed or drawn at the moment.")
    outdated = param.Boolean(doc="Whether the results are older than what was asked for last.")
    stage = param.String(
        default=None, allow_None=True, doc="What is being computed; None when nothing is."
    )
    fraction = param.Number(default=1.0, doc="How much of the stage is done, from 0 to 1.")
    stages = param.Parameter(
        default=(),
        doc="All stages of the work and how much of each is done, as `ProgressRows.rows`.",
    )

    _computed = None  # the `result` before the edits by hand

    @property
    def has_sigma(self):
        """Return whether a sigma that suits the points came with them.

        That of a photograph is an estimate by the library.
        """
        dataset = self.dataset
        return dataset is not None and dataset.sigma is not None and dataset.image is None

    @property
    def decides(self):
        """Return whether the library is to decide on the bandwidths."""
        return self.bandwidth == DECIDED and not self.has_sigma

    @property
    def kind(self):
        """Return the kind of the bandwidths: "one", or one of `LOCAL_WORDS`.

        Where the library decides, it is that of the last result.
        """
        if not self.decides:
            return "one" if self.bandwidth == DECIDED else self.bandwidth
        kde = self.outcome("kde")
        return kde.bandwidth.sigma if kde is not None and kde.bandwidth.is_local else "one"

    @property
    def is_local(self):
        """Return whether each point has a bandwidth of its own."""
        return self.kind in LOCAL_WORDS

    @property
    def rounds(self):
        """Return the number of rounds: the chosen one, or that of the last result."""
        kde = self.outcome("kde")
        return kde.graph.n_rounds if self.decides and kde is not None else self.n_rounds

    @property
    def sigma_chosen(self):
        """Return what chooses sigma: "hand", "preset" of the data, or "auto", the library."""
        if self.decides:
            return "auto"
        if not self.sigma_auto:
            return "hand"
        known = self.dataset is not None and self.dataset.sigma is not None
        return "preset" if self.sigma_preset and known else "auto"

    @param.depends("dataset", watch=True)
    def _forget_sigma(self):
        """Forget a sigma that was set for other points."""
        if self.decides:
            self.sigma_auto = True

    def request(self):
        """Return the computation that the present choices ask for, or None without data."""
        if self.dataset is None:
            return None
        request = Request(
            dataset=self.dataset,
            n_clusters="auto" if self.clusters_auto else self.n_clusters,
            n_neighbors=self.n_neighbors,
            seed=self.seed,
            extra_methods=self.extra_methods,
        )
        if self.decides:
            return replace(request, bandwidth=DECIDED)
        return replace(
            request,
            sigma=self.sigma if self.sigma_chosen == "hand" else self.sigma_chosen,
            n_rounds="auto" if self.rounds_auto else self.n_rounds,
            bandwidth=self.kind,
            perplexity=self.perplexity,
        )

    def bandwidths(self):
        """Return the `Bandwidth` of each method that has one, by its key, for the present data."""
        request = replace(self.request(), bandwidth=self.kind, perplexity=self.perplexity)
        return request.bandwidths(self.sigma)

    def choose(self, **values):
        """Set parameters by hand: what is set is no longer automatic.

        The kind of bandwidth on which the library has decided stays, unless another is meant.
        """
        if self.decides and "bandwidth" not in values:
            kinds = {"sigma": "one", "sigma_auto": "one", "sigma_preset": "one"}
            kinds |= {"perplexity": "moderate", "n_rounds": self.kind, "rounds_auto": self.kind}
            meant = [kind for name, kind in kinds.items() if name in values]
            values["bandwidth"] = meant[0] if meant else DECIDED
        self.param.update(
            **values, **{flag: False for name, flag in AUTOMATIC.items() if name in values}
        )

    def show(self):
        """Draw the present data from now on: selection and axes start anew, other choices stay."""
        self._draw(self.dataset)

    def show_last(self):
        """Draw the data of the last result, if there is one, from now on."""
        if self.result is not None:
            self._draw(self.result.request.dataset)

    def _draw(self, dataset):
        if self.shown is dataset:
            return
        same = self.shown is None or self.shown.name == dataset.name
        with param.parameterized.batch_call_watchers(self):
            self.offer_axes(dataset)
            horizontal, vertical = first_axes(dataset)
            self.param.update(
                shown=dataset,
                horizontal=horizontal,
                vertical=vertical,
                color=self.color if self.color in choices(dataset).values() else CLUSTER,
                cluster_names=self.cluster_names if same else [],
                edits=self.edits if same else [],
                selection=np.empty(0, dtype=np.intp),
                early=None,
                counted=None,
            )

    def offer_axes(self, dataset):
        """Offer the axes along which the points can be drawn."""
        self.param.horizontal.objects = self.param.vertical.objects = list(axes(dataset))

    @param.depends("shown", "color", watch=True)
    def _color(self):
        self.coloring = coloring_of(self.shown, self.color)

    @param.depends("shown", "result", "cluster_names", watch=True)
    def _name_clusters(self):
        found = assigned(self.cluster_names, self._clusters(), self.shown)
        named = {number: self.cluster_names[i][0] for number, i in found.items()}
        marks = {} if (outcome := self.outcome("kde")) is None else outcome.marks
        parts = {number: mark for number, mark in marks.items() if not mark.isdigit()}
        for name, value in (("named", named), ("written", parts | named)):
            if value != getattr(self, name):
                setattr(self, name, value)

    def _clusters(self):
        outcome = self.outcome("kde")
        return None if outcome is None else outcome.colors

    def name_cluster(self, number, name):
        """Name a cluster of the KDE graph; an empty name removes it."""
        with self.refusing():
            check_name(name, number, self.named)
            clusters, names = self._clusters(), self.cluster_names
            self.cluster_names = renamed(names, number, name, clusters, self.shown)

    def merge(self, numbers):
        """Merge clusters of the KDE graph by hand."""
        with self.refusing():
            self.edits = with_merge(self.edits, self._clusters(), numbers, rows_of(self.shown))

    @contextmanager
    def refusing(self):
        """Take the message of a ValueError for the reason why an edit by hand is refused."""
        self.refused = ""
        try:
            yield
        except ValueError as error:
            self.refused = str(error)

    def mark(self, number):
        """Return the number of a cluster as the user reads it, such as 2 or 2a."""
        outcome = self.outcome("kde")
        return f"{number + 1}" if outcome is None else outcome.marks[number]

    def cluster_name(self, number):
        """Return what the user reads for a cluster: its name, or its number."""
        return self.named.get(number, f"Cluster {self.mark(number)}")

    def cluster_words(self, number):
        """Return the same within a sentence."""
        return self.named.get(number, f"cluster {self.mark(number)}")

    def pale_points(self, clusters):
        """Return which points are drawn pale, (n,) bool, or None for none of them.

        They are those in doubt if the `clusters` are those of the KDE graph, and the colors show
        them.
        """
        outcome = self.outcome("kde")
        if outcome is None or outcome.colors is not clusters or self.coloring is not None:
            return None
        return outcome.doubtful if self.fade else None

    def accept(self, result):
        """Take a `Result` of the present data, or an `Early` graph.

        Values that were chosen automatically for the result are taken over.
        """
        if isinstance(result, Early):
            with param.parameterized.batch_call_watchers(self):
                self.show()
                self.early = result.graph
            return
        self._computed = result
        values = {"result": self._edited(), "early": None, "error": self.refusal}
        request = result.request
        if self.sigma_chosen == request.sigma and result.sigma is not None:
            values["sigma"] = result.sigma
        if (kde := result.outcomes.get("kde")) is not None and not result.coarse:
            if self.rounds_auto and request.n_rounds == "auto":
                values["n_rounds"] = kde.graph.n_rounds
            if self.clusters_auto and request.n_clusters == "auto":
                values["n_clusters"] = kde.n_clusters
            if request.bandwidth == DECIDED and kde.bandwidth.perplexity is not None:
                low, _ = self.param.perplexity.bounds
                values["perplexity"] = max(low, round(kde.bandwidth.perplexity))
        with param.parameterized.batch_call_watchers(self):
            self.show()
            self.param.update(**values)

    def _edited(self):
        """Return the computed result with the edits by hand."""
        same = self.result is not None and self.result.request.dataset is self.dataset
        edits = [] if self.in_part else self.edits
        return self._computed.edited(edits, self.result if same else None)

    @param.depends("edits", watch=True)
    def _edit(self):
        if self._computed is not None and self._computed.request.dataset is self.dataset:
            self.result = self._edited()

    def outcome(self, method):
        """Return the newest outcome of a method for the points that are shown, or None."""
        if self.result is None or self.result.request.dataset is not self.shown:
            return None
        return self.result.outcomes.get(method)

    def has_all(self, request):
        """Return whether the present result is all that a request asks for."""
        found = self.result
        complete = found is not None and not found.coarse and found.request == request
        return complete and {*request.methods} <= {*found.outcomes}

    def outcomes(self, methods):
        """Return the outcomes of those methods that have one, by their keys."""
        found = {method: self.outcome(method) for method in methods}
        return {method: outcome for method, outcome in found.items() if outcome is not None}

    def judgement(self, method):
        """Return the `Judgement` of the newest clusters of a method, or None until there is one."""
        kde, outcome = self.outcome("kde"), self.outcome(method)
        found = self.judgements.get(method)
        if None in (kde, outcome, found) or not found.holds_for(outcome, kde.bandwidth):
            return None
        return found
