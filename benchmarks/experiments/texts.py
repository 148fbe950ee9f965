"""Sparse points: texts."""

import kdegraph
import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from benchmarks.experiment import experiment
from benchmarks.measuring import peak_gib, timed

TOPICS, WORDS, N_NEIGHBORS = 20, 50_000, 15
FEW = 500  # documents on which everything is compiled
MOST_CLUSTERED = 20_000


def topics(n):
    """Return the TF-IDF of documents of 60 to 100 words, a CSR array, and their topics.

    Words have frequencies by Zipf's law. Four tenths of the words of a document are of its topic,
    in which other words are frequent than in the language.
    """
    rng = np.random.default_rng(0)
    labels, lengths = rng.integers(0, TOPICS, n), rng.integers(60, 101, n)
    document = np.repeat(np.arange(n), lengths)
    frequencies = np.cumsum(1 / np.arange(1, WORDS + 1))
    word = np.searchsorted(frequencies, rng.random(document.size) * frequencies[-1])
    of_topic = np.stack([rng.permutation(WORDS) for _ in range(TOPICS)])
    is_of_topic = rng.random(document.size) < 0.4
    word = np.where(is_of_topic, of_topic[labels[document], word], word)
    counts = scipy.sparse.coo_array((np.ones(word.size), (document, word)), shape=(n, WORDS))
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(counts.tocsr())
    return scipy.sparse.csr_array(tfidf), labels


def by_scikit_learn(X):
    index = NearestNeighbors(n_neighbors=N_NEIGHBORS, metric="cosine").fit(X)
    neighbors = index.kneighbors_graph()
    return neighbors.maximum(neighbors.T)


METHODS = {
    "kdegraph": lambda X: kdegraph.similarity_graph(X, sigma="local", metric="cosine", seed=0),
    "kdegraph, k-NN": lambda X: kdegraph.knn_graph(X, N_NEIGHBORS, metric="cosine"),
    "scikit-learn, k-NN": by_scikit_learn,
}


@experiment(
    lambda: [
        {"n": n, "method": method}
        for n in (MOST_CLUSTERED, 100_000)
        for method in METHODS
        if n <= MOST_CLUSTERED or "scikit" not in method
    ],
    source="CHANGELOG: sparse points do not become dense, and their nearest neighbors are exact.",
    why="Distances between such texts hardly differ: the squares of local bandwidths are about a "
    "hundredth of the squared distances, so that kernel values depend more on the bandwidths of "
    "two texts than on their distance. Take the k-NN graph there. The machine was busy with other "
    "work: the seconds are up to twice those of an idle one.",
    better={"seconds": "less", "cpu": "less", "ARI": "more"},
)
def texts(n, method):
    """Graphs of texts as sparse points, beside scikit-learn's.

    The texts are drawn: 60 to 100 of 50,000 words each, from 20 topics, as TF-IDF. "GiB" is the
    most memory of the process, the texts included; dense they would take 8 GB for 20,000. "ARI" is
    that of the clusters of the graph.
    """
    X, labels = topics(n)
    built = timed(lambda: METHODS[method](X), lambda: METHODS[method](X[:FEW]))
    values = {"seconds": built.seconds, "cpu": built.cpu, "GiB": peak_gib()}
    if n > MOST_CLUSTERED:
        return values
    clusters = kdegraph.spectral_clustering(built.value, TOPICS, seed=0)
    return values | {"ARI": adjusted_rand_score(labels, clusters.labels)}
