"""
What if one cluster is far denser than another?
===============================================

A bandwidth of its own for each point follows the density. The circles show bandwidths: small where
points are dense, large where they are thin.
"""

import kdegraph
import matplotlib.pyplot as plt
from matplotlib.collections import EllipseCollection

data = kdegraph.datasets.make("varied", n=300, seed=0)
sigmas = kdegraph.local_bandwidths(data.X, perplexity=10)
labels = kdegraph.KDESpectralClustering(
    3, sigma="local", perplexity=10, random_state=0
).fit_predict(data.X)

figure, axes = plt.subplots(figsize=(6, 4.4))
circles = EllipseCollection(
    2 * sigmas,
    2 * sigmas,
    0,
    units="xy",
    offsets=data.X,
    offset_transform=axes.transData,
    facecolors="none",
    edgecolors="lightgray",
    linewidths=0.5,
)
axes.add_collection(circles)
axes.scatter(*data.X.T, c=labels, s=8, cmap="tab10", vmax=9)
axes.set_aspect("equal")
axes.set_axis_off()
figure.tight_layout()
