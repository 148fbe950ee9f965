"""
Which objects are in this scan?
===============================

A point cloud of two rings that are linked like a chain, in three dimensions: no plane separates
them, and each is one object.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np

scan = kdegraph.datasets.make("rings", n=800, seed=0)
model = kdegraph.KDESpectralClustering(random_state=0).fit(scan.X)
sizes = np.bincount(model.labels_).tolist()
print(f"{model.n_clusters_} objects, of {sizes} points")

figure = plt.figure(figsize=(5, 4.4))
axes = figure.add_subplot(projection="3d")
axes.scatter(*scan.X.T, c=model.labels_, s=5, cmap="coolwarm")
axes.set_box_aspect((1, 1, 1))
figure.tight_layout()
