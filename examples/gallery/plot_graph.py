"""
What does a sampled graph look like?
====================================

The edges themselves, with more and more rounds. Near points are joined often, far ones rarely; an
edge that was unlikely gets a large weight for it, so that sums over many edges are right.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

data = kdegraph.datasets.make("bridge", n=200, seed=0)
figure, panels = plt.subplots(1, 3, figsize=(9, 3))
for axes, rounds in zip(panels, (1, 4, 20), strict=True):
    graph = kdegraph.similarity_graph(data.X, sigma=data.sigma, n_rounds=rounds, seed=0)
    edges = graph.adjacency.tocoo()
    lines = data.X[[edges.row, edges.col]].transpose(1, 0, 2)
    widths = 1.5 * np.sqrt(edges.data / edges.data.max())
    axes.add_collection(LineCollection(lines, colors="tab:blue", linewidths=widths, alpha=0.4))
    axes.scatter(*data.X.T, s=3, color="black", zorder=2)
    axes.set_title(f"{rounds} round{'s' * (rounds > 1)}: {graph.n_edges} edges", fontsize=10)
    axes.set_axis_off()
figure.tight_layout()
