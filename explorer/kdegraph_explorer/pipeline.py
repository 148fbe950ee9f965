"""Compute graphs, spectra, clusters and scores, one cached stage after the other.

    points -> sigma -> decision -> graph -> spectrum -> clusters -> scores

Each stage of each method keeps its last value and the parameters that it came from, so that a
change recomputes only what depends on it: k changes neither graph nor spectrum, and the k-NN graph
does not depend on sigma and L. Where the user leaves the bandwidths open, the library decides on
them, as `kdegraph.KDESpectralClustering` does.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from kdegraph import (
    diagnose,
    estimate_sigma,
    knn_graph,
    similarity_graph,
    spectral_clustering,
    suggest_n_clusters,
)
from kdegraph.clustering import vertices_in_clusters
from kdegraph.decision import Decision, Settings, decide, seed_of

from .numbering import Numbering, align
from .results import (
    ALL_METHODS,
    DECIDED,
    DECISION,
    FIRST_LOOK,
    Bandwidth,
    Early,
    Outcome,
    Request,
    Result,
    matrix_of,
)
from .sources.generators import first_points
from .stages import (
    MOST_SEGMENTS,
    N_EIGENVALUES,
    cluster_scores,
    solved,
    sparse_full_graph,
    with_metric,
)

MANY_DRAWS = 2_000_000  # with more draws in all, a graph of `FEW_ROUNDS` is shown first
MANY_POINTS = 100_000  # and where bandwidths are to be decided for more points
FEW_ROUNDS = 6
SLOW_DRAWS = 100_000  # with more draws in all, edges are drawn while the spectrum is computed

# The stages of `first_request`, which many sessions of a server begin with.
_first: dict[object, "Kept"] = {}


def first_request():
    """Return what the first page asks for: the defaults of `State`, and the full graph of Start."""
    return Request(first_points(), sigma="preset", n_rounds=20, extra_methods=("full",))


class Kept(NamedTuple):
    """The value of a stage, the parameters that it came from, and the seconds that it took."""

    key: tuple
    value: object
    seconds: float


class Work(NamedTuple):
    """Describe what one method is to compute."""

    method: str  # a key of `ALL_METHODS`
    request: Request
    bandwidth: Bandwidth | None  # None for the k-NN graph
    progress: Callable[[str, float], object]
    reference: Outcome | None = None  # that of the KDE graph, for the other methods
    # Its graph is that of the method, and so are its clusters, unless their number is set.
    decision: Decision | None = None
    coarse: bool = False  # it is a KDE graph of few rounds, which is shown first

    @property
    def memory(self):
        """The name under which the stages are kept."""
        return "coarse" if self.coarse else self.method

    @property
    def decided(self):
        """The decision; None where there is none, or the number of clusters is set."""
        return self.decision if self.request.n_clusters == "auto" else None

    @property
    def n_clusters(self):
        """The number of clusters that is known before the spectrum, or None: the requested one,
        that of the decision and, for other graphs, that of the KDE graph, so that they can be
        compared.
        """
        if self.decided is not None:
            return self.decided.clusters.n_clusters
        if self.request.n_clusters != "auto":
            return self.request.n_clusters
        return None if self.method in ("kde", "other") else self.reference.n_clusters

    def announce(self, stage, fraction):
        """Report how far a stage of this method is."""
        name = FIRST_LOOK if self.coarse else ALL_METHODS[self.method]
        self.progress(f"{name}: {stage}", fraction)


class Pipeline:
    """Run the stages of one session with their caches. Used by one worker thread at a time."""

    def __init__(self):
        self._memory = {}
        self._numbering = Numbering()
        self._result = None
        self._ready = None  # publishes a result that has not been published yet

    def run(self, request, progress, publish):
        """Compute what `request` asks for, and return the whole `Result`, which is not published.

        `progress(stage, fraction)` may raise `kdegraph.Cancelled`; stages that were finished by
        then stay cached. `publish` is called with a `Result` of the methods that are done before
        work on another begins, as ``publish(result, enough=True)`` with one that is coarse, and
        with an `Early` if there is much to draw.
        """
        self._ready = None
        begins = not self._memory and request == first_request()
        if begins:
            self._memory = dict(_first)
        n_points, n_clusters = request.dataset.n_points, request.n_clusters
        if n_clusters != "auto" and n_clusters > n_points:
            raise ValueError(
                f"n_clusters must be at most {n_points}, the number of points, got {n_clusters}"
            )
        sigma = self._sigma(request, progress)
        known = self._same_data(request)
        outcomes = {method: known[method] for method in known if method in request.methods}
        if (coarse := self._coarse(request, sigma)) is not None:
            width = coarse.bandwidths(sigma)["kde"]
            work = Work("kde", coarse, width, progress, coarse=True)
            outcomes["kde"] = self._outcome(work, publish)
            self._result = Result(request, sigma, dict(outcomes), coarse=True)
            publish(self._result, enough=True)
        decision = self._decision(request, progress)
        settled = request if decision is None else request.settled(decision)
        if decision is not None and settled.bandwidth == "one":
            sigma = settled.sigma
        bandwidths = settled.bandwidths(sigma)
        for method in request.methods:
            work = Work(
                method,
                settled,
                bandwidths.get(method),
                progress,
                reference=outcomes.get("kde"),
                decision=decision if method == "kde" else None,
            )
            outcomes[method] = self._outcome(work, publish)
            self._result = Result(request, sigma, dict(outcomes))
            self._ready = partial(publish, self._result)
        if begins:
            _first.update(self._memory)
        return self._result

    def _sigma(self, request, progress):
        """Return the bandwidth that serves all points."""
        dataset = request.dataset
        if request.sigma == "preset":
            return dataset.sigma
        if request.sigma != "auto":
            return request.sigma
        progress("kernel width", 0.0)
        find = partial(estimate_sigma, dataset.embedded, seed=0)
        return self._stage("sigma", (dataset,), find).value

    def _coarse(self, request, sigma):
        """Return the request for a coarse graph.

        It is None if the requested graph is quick to build or known already.
        """
        n_points = request.dataset.n_points
        if request.bandwidth == DECIDED:
            known = self._known("decision", (request.dataset, request.seed))
            quick = n_points <= MANY_POINTS
            request = replace(request, bandwidth="moderate")
        elif request.n_rounds == "auto" or request.n_rounds <= FEW_ROUNDS:
            return None
        else:
            bandwidth = request.bandwidths(sigma)["kde"]
            known = self._known(("kde", "graph"), self._kde(request, bandwidth, None)[0])
            quick = n_points * request.n_rounds <= MANY_DRAWS
        return None if known or quick else replace(request, n_rounds=FEW_ROUNDS)

    def _decision(self, request, progress):
        """Return the `Decision` on the bandwidths; None where they are set.

        That on other points is forgotten.
        """
        last = self._memory.get("decision")
        if last is not None and last.key[0] is not request.dataset:
            del self._memory["decision"]
        if request.bandwidth != DECIDED:
            return None

        def announce(stage, fraction):
            progress(f"{DECISION}: {stage}", fraction)

        look = partial(
            decide, request.dataset.embedded, Settings(), seed_of(request.seed), progress=announce
        )
        return self._stage("decision", (request.dataset, request.seed), look).value

    def _same_data(self, request):
        """Return the earlier outcomes of the same data, which are valid until they are replaced."""
        last = self._result
        return last.outcomes if last is not None and last.request.dataset is request.dataset else {}

    def _outcome(self, work, publish):
        """Take one method through all stages; return its `Outcome`."""
        graph = self._graph(work, publish)
        spectrum = self._spectrum(work, graph)
        work.announce("clusters", 0.0)
        n_clusters, confidence = self._n_clusters(work, spectrum.value)
        clusters, vote = self._clusters(work, graph, spectrum, n_clusters)
        labels = clusters.value.labels
        work.announce("scores", 0.0)
        scores = self._scores(work, graph, clusters)
        findings = self._findings(work, graph.value, clusters.key, n_clusters)
        seconds = {"graph": graph.seconds, "eigenvalues": spectrum.seconds}
        if work.decision is not None:
            decided = sum(work.decision.timings.values())
            seconds = {"decision": decided, "eigenvalues": spectrum.seconds}
        if vote is None:
            seconds["clusters"] = clusters.seconds
        return Outcome(
            work.method,
            work.bandwidth,
            graph.value,
            spectrum.value,
            n_clusters,
            confidence,
            labels,
            self._colors(work, labels),
            scores,
            findings,
            seconds,
            vote,
        )

    def _graph(self, work, publish):
        """Return the graph of a method; a new KDE graph with many edges is published at once."""
        if work.decision is not None:
            key = (DECIDED, work.request.dataset, work.request.seed)
            build = partial(with_metric, work.decision.graph, work.request.dataset)
        else:
            prepare = {"kde": self._kde, "other": self._kde, "knn": self._knn, "full": self._full}
            key, build = prepare[work.method](work.request, work.bandwidth, work.announce)
        name = (work.memory, "graph")
        shown = work.method != "kde" or self._known(name, key)
        graph = self._stage(name, key, build)
        if not shown and graph.value.n_rounds * work.request.dataset.n_points > SLOW_DRAWS:
            publish(Early(work.request, graph.value))
        return graph

    def _kde(self, request, bandwidth, progress):
        widths_key = (request.dataset, bandwidth)

        def build():
            known = self._known("widths", widths_key)
            width = {"sigma": self._memory["widths"].value} if known else bandwidth.arguments
            graph = similarity_graph(
                request.dataset.embedded,
                **width,
                n_rounds=request.n_rounds,
                seed=request.seed,
                progress=progress,
            )
            if bandwidth.is_local:  # kept for other numbers of rounds
                self._memory["widths"] = Kept(widths_key, graph.sigma, 0.0)
            return with_metric(graph, request.dataset)

        return (*widths_key, request.n_rounds, request.seed), build

    def _knn(self, request, bandwidth, progress):
        points = request.dataset.embedded
        n_neighbors = max(1, min(request.n_neighbors, len(points) - 1))
        build = partial(knn_graph, points, n_neighbors, progress=progress)
        return (request.dataset, n_neighbors), build

    def _full(self, request, bandwidth, progress):
        def build():
            progress("full graph", 0.0)
            return sparse_full_graph(request.dataset.embedded, bandwidth, progress)

        return (request.dataset, bandwidth), build

    def _spectrum(self, work, graph):
        """Return the spectrum of a graph; known eigenvalues are kept, even if fewer are needed."""
        name, request = (work.memory, "spectrum"), work.request
        wanted = N_EIGENVALUES if request.dataset.image is None else MOST_SEGMENTS + 1
        if (n_clusters := work.n_clusters) is not None:
            wanted = max(wanted, n_clusters + 2)
        known = self._memory.get(name)
        if known is not None and known.key[0] == graph.key:
            wanted = max(wanted, known.key[1])
        n_counted = self._n_counted(work, graph)
        wanted = min(wanted, n_counted or matrix_of(graph.value).shape[0])
        solve = partial(solved, graph.value, wanted, n_counted, request, work.announce)
        return self._stage(name, (graph.key, wanted, request.seed), solve)

    def _n_clusters(self, work, spectrum):
        """Return the number of clusters, and the confidence in an automatic one of a KDE graph.

        Without a decision, it is that of the graph's own eigengap. The plotted eigenvalues decide
        alone, as users see them; eigenvectors would seldom change the number, and take long. If all
        are zero, the number is as unknown as if there were no edges.
        """
        if (n_clusters := work.n_clusters) is None:
            found = suggest_n_clusters(spectrum.eigenvalues)
            all_zero = found == len(spectrum.eigenvalues)
            return (1, 0.0) if all_zero else (int(found), found.confidence)
        if work.decided is None or work.request.dataset.image is not None:
            return n_clusters, None
        return n_clusters, work.decided.confidence

    def _clusters(self, work, graph, spectrum, n_clusters):
        """Return the clusters of a graph, and the vote about them: those of the decision, if there
        is one, unless their number is set.
        """
        if (decided := work.decided) is not None:
            return Kept(graph.key, decided.clusters, 0.0), decided.vote
        find = partial(
            spectral_clustering,
            graph.value,
            n_clusters,
            seed=work.request.seed,
            spectrum=spectrum.value,
            points=work.request.dataset.embedded,
            progress=work.announce,
        )
        return self._stage((work.memory, "clusters"), (spectrum.key, n_clusters), find), None

    def _scores(self, work, graph, clusters):
        dataset, n_counted = work.request.dataset, self._n_counted(work, graph)
        score = partial(cluster_scores, dataset, matrix_of(graph.value), n_counted, clusters.value)
        return self._stage((work.memory, "scores"), clusters.key, score).value

    def _findings(self, work, graph, key, n_clusters):
        """Return what may be wrong with the KDE graph.

        Of a coarse one, it is what was found for the last one, as it is replaced soon.
        """
        if work.coarse:
            last = self._same_data(work.request).get("kde")
            return () if last is None else last.findings
        if work.method != "kde":
            return ()
        points, names = work.request.dataset.X, work.request.dataset.feature_names
        look = partial(diagnose, graph, points=points, n_clusters=n_clusters, feature_names=names)
        return tuple(self._stage("findings", key, look).value)

    def _colors(self, work, labels):
        """Number the clusters so that they keep their colors, those of other graphs as in the KDE
        graph.

        If nothing has changed, the same object as in the last outcome is returned, so that views
        notice.
        """
        if work.method == "kde":
            colors = self._numbering.of(work.request.dataset, labels)
        else:
            colors = align(labels, work.reference.colors)
        last = self._same_data(work.request).get(work.method)
        return last.colors if last is not None and np.array_equal(colors, last.colors) else colors

    def _n_counted(self, work, graph):
        """Count the vertices in components that are large enough to be clusters."""
        name = (work.memory, "counted")
        return self._stage(name, graph.key, lambda: len(vertices_in_clusters(graph.value))).value

    def _stage(self, name, key, compute):
        """Return the `Kept` value of a stage, from memory if `key` has not changed."""
        if not self._known(name, key):
            if self._ready is not None:
                self._ready()
                self._ready = None
            start = time.perf_counter()
            value = compute()
            self._memory[name] = Kept(key, value, time.perf_counter() - start)
        return self._memory[name]

    def _known(self, name, key):
        """Return whether the value of a stage is in memory."""
        return name in self._memory and self._memory[name].key == key
