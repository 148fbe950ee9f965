"""Find the clusters of points where neither a bandwidth nor, perhaps, their number is given."""

import itertools
import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.automatic import count_clusters
from kdegraph.bandwidth import is_pixel_grid, pixel_sigma
from kdegraph.clustering.conductance import conductance
from kdegraph.clustering.partition import Clustering
from kdegraph.dispatch import spectral_clustering
from kdegraph.eigengap import Bounds, SuggestedNumber, suggest_n_clusters
from kdegraph.geometry.neighbor_forest import keeping_lists
from kdegraph.geometry.neighbors import groups_of_identical
from kdegraph.graph import similarity_graph
from kdegraph.graph_parameters import Scale
from kdegraph.manual import explained
from kdegraph.metrics import points_of
from kdegraph.neighbor_layout import (
    MAX_POINTS,
    MIN_POINTS,
    NeighborLayouts,
    neighbor_graph_bytes,
)
from kdegraph.principal import PrincipalComponents
from kdegraph.runtime.memory import check_memory
from kdegraph.runtime.progress import StageTimer, held_progress, responsive
from kdegraph.sampled_graph.sample import graph_bytes
from kdegraph.sampling.choice import draws_from_lists
from kdegraph.sampling.rounds import LOCAL_ROUNDS
from kdegraph.spectral.spectrum import spectrum_bytes
from kdegraph.stability import (
    N_REPLICATES,
    Replicates,
    affordable_replicates,
    compare,
    embeddings_for,
    in_turn,
    not_degenerate,
    random_part,
    scales,
)
from kdegraph.validation import check_choice, check_positive
from kdegraph.votes import Vote, vote

__all__ = ["Decision", "Settings", "decide", "seed_of"]

# Points for which scales are compared; a random sample stands for more.
MAX_COMPARED = 4_000


class Settings(NamedTuple):
    """Hold what the caller has set, except for the bandwidths.

    Attributes
    ----------
    n_clusters : int or "auto", default="auto"
    graph : dict
        Parameters of `similarity_graph`, without `sigma`, `perplexity` and `seed`; by default none.
    clusters : dict
        Parameters of `spectral_clustering`, without `n_clusters` and `seed`; by default none.
        Without "embedding", or where that is None, it is chosen for the points.
    bounds : Bounds
        Of an automatic number of clusters; by default none.
    """

    n_clusters: Any = "auto"
    graph: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    clusters: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    bounds: Bounds = Bounds()


class Decision(NamedTuple):
    """Hold the clusters of points, and what was decided to find them.

    Attributes
    ----------
    graph : SimilarityGraph or TiledGraph
        The first graph at the most stable scale.
    clusters : Clustering
        Its clusters, with the labels that most replicates have.
    scale : Scale
        The parameters of its bandwidths.
    confidence : float
        How clear the number of clusters is, see `suggest_n_clusters`; NaN where it was given, or
        read from the graph itself.
    candidates : tuple of (int, float)
        Numbers of clusters that come into question, the best first, see `SuggestedNumber`; empty
        where the number was given, or read from the graph itself.
    further_labels : tuple of (n,) int32 arrays
        Those of the same graph by other embeddings, which have a vote, too.
    vote : Vote or None
        How sure the labels are; None where there is one graph.
    components : PrincipalComponents
        What `decide` has reduced points in more than 50 dimensions to; the graph is that of the
        reduced points.
    timings : dict
        Seconds of each stage of `decide`, by its name.
    """

    graph: Any
    clusters: Clustering
    scale: Scale
    confidence: float = math.nan
    candidates: tuple[tuple[int, float], ...] = ()
    further_labels: tuple[NDArray[np.int32], ...] = ()
    vote: Vote | None = None
    components: PrincipalComponents = PrincipalComponents()
    timings: dict[str, float] | None = None

    def with_vote(self, labelings, identical=None) -> "Decision":
        """Return the decision with the labels that most of several replicates have; see `vote`."""
        found = vote(labelings, identical)
        conductances = conductance(self.graph, found.labels)
        clusters = replace(
            self.clusters,
            labels=found.labels,
            n_clusters=len(conductances),
            conductances=conductances,
        )
        return self._replace(clusters=clusters, vote=found)

    def labels(self, noise: float | None = None) -> NDArray[np.int32]:
        """Return the cluster of each point, and -1 where its probability is below `noise`."""
        if noise is None or self.vote is None:
            return self.clusters.labels
        return np.where(self.vote.probabilities < noise, np.int32(-1), self.clusters.labels)


def check_noise(noise: float, points, *, one_graph: bool) -> None:
    """Refuse a probability that is not in (0, 1], and any where one graph is made of the points."""
    if check_positive(noise, "noise") > 1:
        raise ValueError(f"noise must lie in (0, 1], got {noise!r}")
    if one_graph or is_pixel_grid(points):
        raise explained(
            ValueError,
            "error-noise",
            "noise needs several graphs, which vote about every point, but there is only one for a "
            "given sigma, a k-NN graph, a precomputed matrix, the pixels of a picture, and points "
            "that are read block by block, such as Dask arrays; leave out noise or sigma",
        )


def seed_of(random_state) -> int:
    """Return a seed for a `random_state` of scikit-learn: different ones have replicates with
    different seeds.
    """
    # It is slow to import, and the explorer serves its page without it.
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def cluster_at(
    scale: Scale, points, settings: Settings, seed, progress=None, *, embeddings=("soft",)
) -> Decision:
    """Return the clusters of one graph of the points, which may be a Dask array, by each of the
    embeddings, or by that of the settings.
    """
    graph = similarity_graph(
        points, **settings.graph, **scale._asdict(), seed=seed, progress=progress
    )
    return cluster_graph(graph, scale, settings, seed, progress, embeddings=embeddings)


def cluster_graph(
    graph, scale: Scale, settings: Settings, seed, progress=None, *, embeddings=("soft",)
) -> Decision:
    """Return the clusters of a graph as `cluster_at` does."""
    options = settings.clusters | {"seed": seed, "progress": progress}
    first, *others = [options["embedding"]] if options.get("embedding") else embeddings
    options["embedding"] = first
    clusters = spectral_clustering(graph, settings.n_clusters, **options)
    options["spectrum"] = clusters.spectrum
    if isinstance(settings.n_clusters, str):
        n_clusters = _within(settings.bounds, clusters)
        if n_clusters != clusters.n_clusters:
            clusters = spectral_clustering(graph, n_clusters, **options)
    further = []
    for options["embedding"] in others:
        further.append(spectral_clustering(graph, settings.n_clusters, **options).labels)
    return Decision(graph, clusters, scale, further_labels=tuple(further))


def _within(bounds, clusters):
    """Return the number of clusters of a graph, or the best one within the bounds."""
    nearest = bounds.nearest(clusters.n_clusters)
    if nearest == clusters.n_clusters or clusters.spectrum is None:
        return nearest
    values, (least, most) = clusters.spectrum.eigenvalues, bounds
    return suggest_n_clusters(values, min_clusters=least, max_clusters=most)


@responsive
def decide(
    points, settings: Settings, seed, *, perplexity=None, lazily=None, progress=None
) -> Decision:
    """Return the clusters of points at the scale at which they are most stable.

    `KDESpectralClustering` and ``kdegraph cluster`` do this by default. The notes of the former say
    how scales are compared, and what the pixels of a picture get.

    Parameters
    ----------
    points : (n, d) array
        Raw points: a metric is one of the parameters of the graph in the settings.
    settings : Settings
    seed : int
    perplexity : float, optional
        Moderate bandwidths of this perplexity are the only scale.
    lazily : callable, optional
        Turns the points into a Dask array. One graph of them is made, tile by tile, and there is no
        vote.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; it may raise `Cancelled`.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError, TypeError
        For settings that cannot be used, and for more clusters than points with an edge.

    Examples
    --------
    >>> import kdegraph
    >>> from kdegraph.decision import Settings, decide, seed_of
    >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
    >>> found = decide(X, Settings(), seed_of(0))
    >>> found.clusters.n_clusters, found.scale.sigma
    (3, 'moderate')
    """
    stages = StageTimer(progress)
    given = {"metric": "euclidean", "kernel": "gaussian"} | settings.graph
    points = points_of(points, given["metric"], kernel=given["kernel"], keep_single=True)
    components = PrincipalComponents()
    if lazily is None and given["kernel"] != "laplacian":  # whose distance is another one
        components = PrincipalComponents.of_points(points)
    points = components.transform(points)
    embedded = settings._replace(graph=given | {"metric": "euclidean"})
    settings, number = _with_number(points, embedded, seed, stages)
    whole = points if lazily is None else lazily(points)
    if is_pixel_grid(points):
        scale = Scale(pixel_sigma(points), perplexity)
        found = _one_graph(scale, whole, settings, seed, stages)
    else:
        compared = _compare_scales(points, settings, seed, perplexity, stages)
        if lazily is None:
            found = _vote(points, compared, settings, seed, stages)
        else:
            found = _one_graph(compared[0].fit.scale, whole, settings, seed, stages)
    stages.leave()
    return found._replace(
        graph=replace(found.graph, metric=given["metric"]),
        components=components,
        confidence=number.confidence,
        candidates=number.candidates,
        timings=stages.timings,
    )


def _with_number(points, settings, seed, stages):
    """Return settings with a number of clusters, and the `SuggestedNumber`."""
    if not isinstance(settings.n_clusters, str):
        return settings, SuggestedNumber(settings.n_clusters, math.nan)
    check_choice(settings.n_clusters, "n_clusters", ("auto",))
    stages.enter("number of clusters")
    least, most = settings.bounds
    number = count_clusters(
        points,
        min_clusters=least,
        max_clusters=most,
        sample_weight=settings.graph.get("sample_weight"),
        seed=seed,
        progress=held_progress(stages.progress, 0.0),
    )
    return settings._replace(n_clusters=int(number)), number


def _check_memory(points, settings, turns):
    """Raise a MemoryError if the replicates of all points, at these scales in turn, do not fit.

    One graph is kept while the next one is made and clustered. Trees, coarse graphs and the like
    take about 2,000 bytes for a point.
    """
    n, n_rounds = len(points), settings.graph.get("n_rounds")
    n_rounds = n_rounds if isinstance(n_rounds, (int, np.integer)) else LOCAL_ROUNDS
    sampler = settings.graph.get("sampler", "auto")
    if draws_from_lists(points, sampler, True):
        sampler = "mixture"
    laid_out = ()
    if _have_neighbor_layouts(points, settings):
        laid_out = [scale.perplexity for i, scale in enumerate(turns) if _is_laid_out(scale, i)]
    n_vectors = 2 * settings.n_clusters  # and as many columns of rows that are clustered
    check_memory(
        graph_bytes(n, n_rounds, sampler)
        + spectrum_bytes(n, n_vectors)
        + n * (2000 + 8 * n_vectors)
        + neighbor_graph_bytes(n, laid_out),
        f"clusters of {n:,} points by several graphs need",
        "use fewer n_rounds or n_clusters, fewer points, or a Dask array",
    )


def _one_graph(scale, whole, settings, seed, stages):
    """Return the clusters of one graph of all points."""
    stages.enter("clusters")
    return cluster_at(scale, whole, settings, seed, held_progress(stages.progress, 0.0))


def _compare_scales(points, settings, seed, perplexity, stages):
    """Return replicates of the points, or of a sample of them, at the most stable scales."""
    stages.enter("scales")
    part, chosen = random_part(points, MAX_COMPARED, seed)
    weight = settings.graph.get("sample_weight")
    if weight is not None:
        settings = settings._replace(graph=settings.graph | {"sample_weight": weight[chosen]})
    candidates = scales(len(part), perplexity)
    if settings.n_clusters == 1:
        candidates = candidates[:1]
    fit = _counting(part, settings, seed, len(candidates) * N_REPLICATES, stages)
    with keeping_lists(part):
        return compare(fit, candidates, settings.n_clusters)


def _vote(points, compared, settings, seed, stages):
    """Return the first fit at the most stable scale, with the labels that most replicates have."""
    identical = groups_of_identical(points)
    if len(compared[0].labelings[0]) == len(points):
        labelings = [labels for one in compared for labels in one.labelings]
        if identical is not None and identical.max() < settings.n_clusters:
            labelings = [identical]  # each pile of points is a cluster
        return compared[0].fit.with_vote(labelings, identical)
    stages.enter("clusters")
    turns = in_turn(compared, affordable_replicates(points.shape[1], points.size))
    _check_memory(points, settings, turns)
    with keeping_lists(points):
        fit = _counting(points, settings, seed, len(turns), stages)
        found, labelings = Replicates.of(fit, zip(turns, itertools.count(), strict=False))
    return found.with_vote(not_degenerate(labelings, compared), identical)


def _counting(points, settings, seed, n, stages):
    """Return ``fit(scale, number)`` for the points and the numbers of replicates, which reports how
    many of n fits are done.
    """
    done = itertools.count()
    embeddings = _embeddings(points, settings)
    layouts = None
    if _have_neighbor_layouts(points, settings):
        weight, n_init = settings.graph.get("sample_weight"), settings.clusters.get("n_init", 3)
        layouts = NeighborLayouts(points, weight, n_init)

    def fit(scale, number):
        report = held_progress(stages.progress, next(done) / n)
        options = scale, points, settings, seed + number, report
        found = cluster_at(*options, embeddings=embeddings)
        if layouts is None or not _is_laid_out(scale, number):
            return found
        labels = layouts.labels(scale.perplexity, settings.n_clusters, seed + number, report)
        return found._replace(further_labels=(*found.further_labels, labels))

    return fit


def _embeddings(points, settings):
    """Return the embeddings by which each graph is clustered where the user has chosen none."""
    return embeddings_for(points.shape[1], settings.clusters.get("assign_labels"))


def _have_neighbor_layouts(points, settings):
    """Return whether layouts of near neighbors vote beside each second replicate: not of few or
    very many points, of few dimensions, of the Laplacian kernel, whose distance is another one, and
    where the user has chosen an embedding.
    """
    return (
        MIN_POINTS <= len(points) <= MAX_POINTS
        and "layout" in _embeddings(points, settings)
        and not settings.clusters.get("embedding")
        and settings.graph["kernel"] != "laplacian"
    )


def _is_laid_out(scale, number):
    """Return whether such a layout votes beside the replicate with this number."""
    return scale.sigma != "auto" and number % 2 == 1
