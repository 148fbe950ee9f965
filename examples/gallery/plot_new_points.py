"""
To which cluster does a new point belong?
=========================================

``predict_proba`` says, for any place, how the similarities to the fitted points are divided between
the clusters.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np

data = kdegraph.datasets.make("moons", n=300, seed=0)
model = kdegraph.KDESpectralClustering(2, sigma=0.3, random_state=0).fit(data.X)

x, y = np.meshgrid(np.linspace(-1.4, 2.4, 80), np.linspace(-1.0, 1.5, 60))
shares = model.predict_proba(np.column_stack([x.ravel(), y.ravel()]))[:, 1].reshape(x.shape)

figure, axes = plt.subplots(figsize=(6, 3.8))
field = axes.contourf(x, y, shares, levels=20, cmap="coolwarm", alpha=0.7)
axes.scatter(*data.X.T, c=model.labels_, s=6, cmap="coolwarm", edgecolors="black", linewidths=0.2)
figure.colorbar(field, label="share of cluster 1")
axes.set_aspect("equal")
figure.tight_layout()
