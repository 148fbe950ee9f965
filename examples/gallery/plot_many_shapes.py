"""
Which shapes can be told apart?
===============================

Four sets of points, clustered by k-means and by kdegraph with nothing given but the number of
clusters. k-means looks for balls; a graph follows whatever shape the points have.
"""

import kdegraph
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

names = ("blobs", "moons", "circles", "anisotropic")
figure, axes = plt.subplots(2, len(names), figsize=(9, 4.6))
for (above, below), name in zip(axes.T, names, strict=True):
    data = kdegraph.datasets.make(name, n=300, seed=0)
    k = data.n_clusters
    means = KMeans(k, n_init=3, random_state=0).fit_predict(data.X)
    graph = kdegraph.KDESpectralClustering(k, random_state=0).fit_predict(data.X)
    for panel, labels, method in ((above, means, "k-means"), (below, graph, "kdegraph")):
        panel.scatter(*data.X.T, c=labels, s=5, cmap="tab10", vmax=9)
        panel.set_title(f"{name}, {method}", fontsize=9)
        panel.set_axis_off()
figure.tight_layout()

# %%
# Where the clusters are balls, both are right, and k-means is faster.
