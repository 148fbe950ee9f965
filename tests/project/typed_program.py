"""A program as users write it, which mypy checks as strictly as it can: `make lint`.

Public names without types are errors here, and so are types other than those stated.
"""

from typing import assert_type

import kdegraph
import numpy as np
from kdegraph import datasets
from numpy.typing import NDArray

Floats = NDArray[np.float64]

data = datasets.make("moons", n=500, seed=0)
X = data.X
assert_type(X, Floats)
assert_type(data.label_names, tuple[str, ...])

# Graphs and what they show
sigma = kdegraph.estimate_sigma(X)
assert_type(sigma, float)
assert_type(kdegraph.local_bandwidths(X), Floats)
graph = kdegraph.similarity_graph(X, sigma=sigma, seed=0)
assert_type(graph, kdegraph.SimilarityGraph)
assert_type(graph.n_edges, int)
clustering = kdegraph.spectral_clustering(graph, n_clusters=2, seed=0)
assert_type(clustering.labels, NDArray[np.int32])
spectrum = kdegraph.spectrum(graph, 5)
assert_type(spectrum.eigenvalues, Floats)
number = kdegraph.suggest_n_clusters(spectrum.eigenvalues)
assert_type(number.confidence, float)
assert_type(kdegraph.conductance(graph, clustering.labels), Floats)
assert_type(kdegraph.graph_layout(graph), Floats)
for finding in kdegraph.diagnose(graph):
    assert_type(finding.remedy, str)
kdegraph.export_graph("moons.graphml", graph)

# Sums and other graphs
assert_type(kdegraph.gauss_transform(X, sigma=sigma), Floats)
assert_type(kdegraph.kernel_sum(X, X, sigma=sigma), Floats)
assert_type(kdegraph.get_num_threads(), int)

# Estimators
model = kdegraph.KDESpectralClustering(random_state=0).fit(X)
assert_type(model, kdegraph.KDESpectralClustering)
assert_type(model.labels_, NDArray[np.int32])
assert_type(model.n_clusters_, int)
assert_type(model.probabilities_, Floats | None)
assert_type(model.predict(X), NDArray[np.int32])
assert_type(model.transform(X), Floats)
transformer = kdegraph.SimilarityGraphTransformer().fit(X)
assert_type(transformer.graph_, kdegraph.SimilarityGraph)
people = {"age": [20.0, 30.0], "color": ["red", "blue"]}
table = kdegraph.TableTransformer().fit(people)
assert_type(table.transform(people), Floats)
assert_type(datasets.read(b"x,y\n0,1\n", filename="points.csv").name, str)
