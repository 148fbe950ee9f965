"""Say what the library has decided on, and how sure that is."""

from .describe import counted, stability_words

# Numbers of clusters with a smaller confidence are wrong more often: no wrong 1 has a larger one.
CLEAR = 0.56
LISTED = 12  # clusters whose stability is told


def scale_words(state):
    """Return the bandwidths and rounds on which the library has decided, as a sentence."""
    outcome = state.outcome("kde")
    if not state.decides or outcome is None:
        return ""
    width = outcome.bandwidth
    if width.is_local:
        few = width.perplexity is None  # points: too few for a perplexity
        words = width.words if few else f"{width.words}, perplexity {width.perplexity:.3g}"
    else:
        words = f"one σ = {width.sigma:.3g} for all"
    return f"Chosen: {words}; L = {outcome.graph.n_rounds}."


def cluster_words(state):
    """Return the automatic number of clusters, and how sure that and the clusters are."""
    outcome = state.outcome("kde")
    if outcome is None or outcome.vote is None:
        return ""
    number = counted(outcome.n_clusters, "cluster") + " computed" * bool(outcome.edited)
    words = f"{number}, confidence {outcome.confidence:.2f}"
    if outcome.confidence < CLEAR:
        words += ", which is low: other numbers may suit, too"
    present = outcome.clusters
    values = ", ".join(map(stability_words, outcome.stability[present[:LISTED]]))
    more = " …" * (len(present) > LISTED)
    doubtful = counted(outcome.vote.n_doubtful, "doubtful point")
    return f"{words}. Stability: {values}{more}; {doubtful}."
