"""
Where does a graph of nearest neighbors go wrong?
=================================================

The same place measured many times: all nearest neighbors of a point are at its own place, so their
graph falls apart. The kernel graph sees the places beside it.
"""

import kdegraph
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection

data = kdegraph.datasets.make("clumps", n=800, seed=0)
graphs = {
    "10 nearest neighbors": kdegraph.knn_graph(data.X, 10),
    "kernel graph": kdegraph.similarity_graph(data.X, sigma=data.sigma, seed=0).adjacency,
}
figure, both = plt.subplots(1, 2, figsize=(8.5, 3.4))
for axes, (name, graph) in zip(both, graphs.items(), strict=True):
    edges = graph.tocoo()
    lines = data.X[[edges.row, edges.col]].transpose(1, 0, 2)
    axes.add_collection(LineCollection(lines, colors="tab:blue", linewidths=0.3, alpha=0.3))
    labels = kdegraph.spectral_clustering(graph, 2, points=data.X, seed=0).labels
    axes.scatter(*data.X.T, c=labels, s=4, cmap="coolwarm", zorder=2)
    axes.set_title(name, fontsize=10)
    axes.set_axis_off()
figure.tight_layout()
