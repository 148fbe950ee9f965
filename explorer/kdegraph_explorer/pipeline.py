"""Compute graphs, spectra, clusters and scores, one cached stage after the other.

    points -> sigma -> decision -> graph -> spectrum -> clusters -> scores

Each stage of each method keeps its last value and the parameters that it came from, so that a
change recomputes only what depends on it: k changes neither graph nor spectrum, and the k-NN graph
does not depend on sigma and L. Where the user leaves the bandwidths open, the library decides on
them, as `kdegraph.KDESpectralClustering` does.
"""

import time
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse
from kdegraph import (
    diagnose,
    estimate_sigma,
    full_graph,
    knn_graph,
    similarity_graph,
    spectral_clustering,
    suggest_n_clusters,
)
from kdegraph import spectrum as find_spectrum
from kdegraph.clustering import vertices_in_clusters
from kdegraph.decision import Settings, decide, seed_of

from .results import (
    ALL_METHODS,
    DECIDED,
    DECISION,
    FIRST_LOOK,
    Early,
    Outcome,
    Result,
    align,
    matrix_of,
    with_agreement,
)

MAX_NUMBERS = 100  # clusterings whose numbers are remembered
N_EIGENVALUES = 10  # enough for the eigengap and for k <= 8 without another run of the eigensolver
MOST_SEGMENTS = 50  # of a photograph, which further numbers find without such a run

MANY_DRAWS = 2_000_000  # with more draws in all, a graph of `FEW_ROUNDS` is shown first
MANY_POINTS = 100_000  # and where bandwidths are to be decided for more points
FEW_ROUNDS = 6
SLOW_DRAWS = 100_000  # with more draws in all, edges are drawn while the spectrum is computed

# Tolerance of the eigenvectors. Where a graph has clusters it makes no difference; where it has
# none it saves most of the time.
TOLERANCE = 1e-3
# Eigenvalues remain estimates when the entries of the matrix in all products, which take some ten
# seconds, are more than this, but not before `MIN_PRODUCTS`.
MAX_ENTRIES = 1e9
MIN_PRODUCTS = 80
NEGLIGIBLE = 1e-9  # smaller kernel values are omitted, as they change no digit that is shown


class Pipeline:
    """Run the stages of one session with their caches. Used by one worker thread at a time."""

    def __init__(self):
        self._memory = {}
        self._numbers = {}  # of the clusters of each set of points
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
            outcomes["kde"] = self._outcome(
                "kde", coarse, width, None, progress, publish, memory="coarse"
            )
            self._result = Result(request, sigma, dict(outcomes), coarse=True)
            publish(self._result, enough=True)
        decision = self._decision(request, progress)
        settled = request if decision is None else request.settled(decision)
        if decision is not None and settled.bandwidth == "one":
            sigma = settled.sigma
        bandwidths = settled.bandwidths(sigma)
        for method in request.methods:
            width, reference = bandwidths.get(method), outcomes.get("kde")
            outcomes[method] = self._outcome(
                method,
                settled,
                width,
                reference,
                progress,
                publish,
                decision=decision if method == "kde" else None,
            )
            self._result = Result(request, sigma, dict(outcomes))
            self._ready = partial(publish, self._result)
        return self._result

    def _sigma(self, request, progress):
        """Return the bandwidth that serves all points."""
        dataset = request.dataset
        if request.sigma == "preset":
            return dataset.sigma
        if request.sigma != "auto":
            return request.sigma
        progress("kernel width", 0.0)
        return self._stage("sigma", (dataset,), lambda: estimate_sigma(dataset.embedded, seed=0))[0]

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
        if self._memory.get("decision", ((request.dataset,),))[0][0] is not request.dataset:
            del self._memory["decision"]
        if request.bandwidth != DECIDED:
            return None

        def announce(stage, fraction):
            progress(f"{DECISION}: {stage}", fraction)

        look = partial(
            decide, request.dataset.embedded, Settings(), seed_of(request.seed), progress=announce
        )
        return self._stage("decision", (request.dataset, request.seed), look)[0]

    def _same_data(self, request):
        """Return the earlier outcomes of the same data, which are valid until they are replaced."""
        last = self._result
        return last.outcomes if last is not None and last.request.dataset is request.dataset else {}

    def _outcome(
        self,
        method,
        request,
        bandwidth,
        reference,
        progress,
        publish,
        *,
        memory=None,
        decision=None,
    ):
        """Take one method through all stages; return its `Outcome`.

        `bandwidth` is None for the k-NN graph; `reference` is the outcome of the KDE graph, for the
        other methods. The stages are kept under the name `memory`, by default that of the method.
        The graph is that of the `decision`, if there is one, and so are the clusters, unless their
        number is set.
        """
        memory = memory or method
        name = ALL_METHODS[method] if memory == method else FIRST_LOOK

        def announce(stage, fraction):
            progress(f"{name}: {stage}", fraction)

        graph_key, build = self._graph(method, request, bandwidth, decision, announce)
        known = self._known((memory, "graph"), graph_key)
        graph, graph_seconds = self._stage((memory, "graph"), graph_key, build)
        if method == "kde" and not known and graph.n_rounds * request.dataset.n_points > SLOW_DRAWS:
            publish(Early(request, graph))
        spectrum_key, solve = self._spectrum(memory, request, graph_key, graph, announce)
        spectrum, spectrum_seconds = self._stage((memory, "spectrum"), spectrum_key, solve)
        seconds = {"graph": graph_seconds, "eigenvalues": spectrum_seconds}
        if decision is not None:
            seconds = {"decision": sum(decision.timings.values()), "eigenvalues": spectrum_seconds}

        announce("clusters", 0.0)
        n_clusters, confidence = self._n_clusters(method, request, reference, spectrum, decision)
        if decision is not None and request.n_clusters == "auto":
            clusters_key, clustering, vote = graph_key, decision.clusters, decision.vote
        else:
            clusters_key, vote = (spectrum_key, n_clusters), None
            cluster = partial(find_clusters, request, graph, n_clusters, spectrum, announce)
            clustering, seconds["clusters"] = self._stage(
                (memory, "clusters"), clusters_key, cluster
            )

        announce("scores", 0.0)
        n_counted = self._n_counted(memory, graph_key, graph)
        score = partial(cluster_scores, request.dataset, matrix_of(graph), n_counted, clustering)
        scores, _ = self._stage((memory, "scores"), clusters_key, score)
        return Outcome(
            method,
            bandwidth,
            graph,
            spectrum,
            n_clusters,
            confidence,
            clustering.labels,
            self._colors(method, request, clustering.labels, reference),
            scores,
            self._findings(memory, request, clusters_key, graph, n_clusters),
            seconds,
            vote,
        )

    def _graph(self, method, request, bandwidth, decision, progress):
        """Return the key of the graph of a method, and a function that builds it."""
        if decision is not None:
            key = (DECIDED, request.dataset, request.seed)
            return key, lambda: _with_metric(decision.graph, request.dataset)
        prepare = {"kde": self._kde, "other": self._kde, "knn": self._knn, "full": self._full}
        return prepare[method](request, bandwidth, progress)

    def _n_clusters(self, method, request, reference, spectrum, decision):
        """Return the requested number of clusters, or an automatic one with its confidence.

        Without a decision, it is for a KDE graph that of its own eigengap, for the others that of
        the KDE graph with the chosen bandwidth, so that they can be compared. The plotted
        eigenvalues decide alone, as users see them; eigenvectors would seldom change the number,
        and take long. If all are zero, the number is as unknown as if there were no edges.
        """
        if request.n_clusters != "auto":
            return request.n_clusters, None
        if decision is not None:
            segments = request.dataset.image is not None
            return decision.clusters.n_clusters, None if segments else decision.confidence
        if method not in ("kde", "other"):
            return reference.n_clusters, None
        found = suggest_n_clusters(spectrum.eigenvalues)
        all_zero = found == len(spectrum.eigenvalues)
        return (1, 0.0) if all_zero else (int(found), found.confidence)

    def _findings(self, memory, request, clusters_key, graph, n_clusters):
        """Return what may be wrong with the KDE graph.

        Of a coarse one, it is what was found for the last one, as it is replaced soon.
        """
        if memory == "coarse":
            last = self._same_data(request).get("kde")
            return () if last is None else last.findings
        if memory != "kde":
            return ()
        points, names = request.dataset.X, request.dataset.feature_names
        look = partial(diagnose, graph, points=points, n_clusters=n_clusters, feature_names=names)
        return tuple(self._stage("findings", clusters_key, look)[0])

    def _colors(self, method, request, labels, reference):
        """Number the clusters so that they keep their colors.

        If nothing has changed, the same object as in the last outcome is returned, so that views
        notice.
        """
        colors = self._aligned(method, request.dataset, labels, reference)
        last = self._same_data(request).get(method)
        return last.colors if last is not None and np.array_equal(colors, last.colors) else colors

    def _kde(self, request, bandwidth, progress):
        widths_key = (request.dataset, bandwidth)

        def build():
            progress("tree", 0.0)
            known = self._known("widths", widths_key)
            width = {"sigma": self._memory["widths"][1]} if known else bandwidth.arguments
            graph = similarity_graph(
                request.dataset.embedded,
                **width,
                n_rounds=request.n_rounds,
                seed=request.seed,
                progress=progress,
            )
            if bandwidth.is_local:  # kept for other numbers of rounds
                self._memory["widths"] = (widths_key, graph.sigma, 0.0)
            return _with_metric(graph, request.dataset)

        return (*widths_key, request.n_rounds, request.seed), build

    def _knn(self, request, bandwidth, progress):
        n_neighbors = max(1, min(request.n_neighbors, len(request.dataset.embedded) - 1))

        def build():
            progress("nearest neighbors", 0.0)
            return knn_graph(request.dataset.embedded, n_neighbors, progress=progress)

        return (request.dataset, n_neighbors), build

    def _full(self, request, bandwidth, progress):
        def build():
            progress("full graph", 0.0)
            return sparse_full_graph(request.dataset.embedded, bandwidth, progress)

        return (request.dataset, bandwidth), build

    def _spectrum(self, method, request, graph_key, graph, progress):
        wanted = N_EIGENVALUES
        if request.n_clusters != "auto":
            most = 0 if request.dataset.image is None else MOST_SEGMENTS + 1
            wanted = max(wanted, request.n_clusters + 2, most)
        known_key = self._memory.get((method, "spectrum"), ((None, 0, None),))[0]
        if known_key[0] == graph_key:  # known eigenvalues are kept, even if fewer are needed
            wanted = max(wanted, known_key[1])
        n_counted = self._n_counted(method, graph_key, graph)
        wanted = min(wanted, n_counted or matrix_of(graph).shape[0])

        def solve():
            return solved(graph, wanted, n_counted, request.seed, progress)

        return (graph_key, wanted, request.seed), solve

    def _n_counted(self, method, graph_key, graph):
        """Count the vertices in components that are large enough to be clusters."""
        return self._stage(
            (method, "counted"), graph_key, lambda: len(vertices_in_clusters(graph))
        )[0]

    def _stage(self, name, key, compute):
        """Return the value of a stage and its seconds, from memory if `key` has not changed."""
        if not self._known(name, key):
            if self._ready is not None:
                self._ready()
                self._ready = None
            start = time.perf_counter()
            value = compute()
            self._memory[name] = (key, value, time.perf_counter() - start)
        return self._memory[name][1:]

    def _known(self, name, key):
        """Return whether the value of a stage is in memory."""
        return name in self._memory and self._memory[name][0] == key

    def _aligned(self, method, dataset, labels, kde):
        """Number the clusters as in the last result for these points, also when they were loaded
        again, as the true ones, or for k-NN as those of the KDE graph.
        """
        if method != "kde":
            return align(labels, kde.colors)
        rows = None if dataset.rows is None else dataset.rows.tobytes()
        key = (dataset.name, dataset.n_points, hash(rows))
        same = (*key, hash(labels.tobytes()))
        if same in self._numbers:  # clusters that return, as by undo, have their numbers again
            found = self._numbers[same][labels]
        elif key in self._numbers:
            found = align(labels, self._numbers[key])
        else:  # there may be fewer clusters than true ones: no number is left out
            found = np.unique(align(labels, dataset.y), return_inverse=True)[1]
        number_of = np.zeros(int(labels.max()) + 1, dtype=found.dtype)
        number_of[labels] = found
        kept = {name: of for name, of in self._numbers.items() if name[0] == dataset.name}
        newest = {**kept, same: number_of, key: found}
        self._numbers = dict(list(newest.items())[-MAX_NUMBERS:])
        return found


def max_products(adjacency):
    """Return the number of products after which the eigenvalues are shown as they are.

    None leaves it to the library, if the graph is small.
    """
    found = max(MIN_PRODUCTS, int(MAX_ENTRIES / max(adjacency.nnz, 1)))
    return found if found < 1000 else None


def _with_metric(graph, dataset):
    """Return a graph of embedded points with the metric for which they were embedded."""
    return graph if graph.metric == dataset.metric else replace(graph, metric=dataset.metric)


def solved(graph, wanted, n_counted, seed, progress):
    """Return the spectrum of a graph, with as many eigenvalues as wanted.

    `n_counted` vertices are in components that are large enough to be clusters.
    """
    progress("eigenvalues", 0.0)
    return find_spectrum(
        graph,
        wanted,
        seed=seed,
        tol=TOLERANCE,
        max_products=max_products(matrix_of(graph)),
        smallest_component="auto" if n_counted else 1,
        progress=progress,
    )


def segment_spectrum(graph, known, seed, progress):
    """Return the spectrum of the graph of a photograph that serves up to `MOST_SEGMENTS`: the
    `known` one, if it has as many eigenvalues.
    """
    n_counted = len(vertices_in_clusters(graph))
    wanted = min(MOST_SEGMENTS + 1, n_counted or matrix_of(graph).shape[0])
    if known.n_components >= wanted:
        return known
    return solved(graph, wanted, n_counted, seed, progress)


def find_clusters(request, graph, n_clusters, spectrum, progress):
    """Return the `Clustering` of one graph by its `spectrum`."""
    return spectral_clustering(
        graph,
        n_clusters,
        seed=request.seed,
        spectrum=spectrum,
        points=request.dataset.embedded,
        progress=progress,
    )


def cluster_scores(dataset, adjacency, n_counted, clustering):
    """Return the scores of a `Clustering` by name.

    `n_counted` vertices are in components that are large enough.
    """
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
    return with_agreement(scores, dataset.y, clustering.labels)


def sparse_full_graph(X, bandwidth, progress=None):
    """Compute the full graph as a sparse matrix, like the other graphs.

    Kernel values below `NEGLIGIBLE` are omitted. It needs 16 n^2 bytes meanwhile, and can be
    interrupted.
    """
    kernel = full_graph(X, **bandwidth.arguments, progress=progress)
    if scipy.sparse.issparse(kernel):
        return kernel
    return scipy.sparse.csr_array(np.where(kernel < NEGLIGIBLE, 0.0, kernel))
