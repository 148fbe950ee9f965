"""
What happens to outliers?
=========================

Three points far from the rest have no edge to it. By default they do not use up clusters: each gets
the label of its nearest cluster. If they matter, ask for them.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np

data = kdegraph.datasets.make("blobs", n=300, seed=0)
far = data.X.max(axis=0) + np.array([[2.0, 2.0], [2.1, 2.0], [2.0, 2.1]])
X = np.vstack([data.X, far])

figure, both = plt.subplots(1, 2, figsize=(8, 3.4))
for axes, k, smallest in zip(both, (3, 4), ("auto", 2), strict=True):
    model = kdegraph.KDESpectralClustering(
        k, sigma="auto", smallest_component=smallest, random_state=0
    ).fit(X)
    axes.scatter(*X.T, c=model.labels_, s=10, cmap="tab10", vmax=9)
    axes.set_title(f"{k} clusters, smallest_component={smallest!r}", fontsize=9)
    axes.set_axis_off()
figure.tight_layout()
