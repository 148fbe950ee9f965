"""
Over which bandwidths do clusters stay?
=======================================

A range of bandwidths in which the smallest eigenvalues do not cross is one in which the clusters do
not change. Too small a bandwidth makes pieces, too large a one makes everything similar.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

data = kdegraph.datasets.make("moons", n=400, seed=0)
bandwidths = np.geomspace(0.04, 1.0, 12)

# %%
# Eigenvalues and the agreement with the truth, bandwidth by bandwidth.

values, scores = [], []
for sigma in bandwidths:
    graph = kdegraph.similarity_graph(data.X, sigma=sigma, seed=0)
    values.append(kdegraph.spectrum(graph, 5).eigenvalues)
    labels = kdegraph.spectral_clustering(graph, 2, seed=0).labels
    scores.append(adjusted_rand_score(data.y, labels))

figure, (above, below) = plt.subplots(2, 1, figsize=(6, 4.6), sharex=True)
above.semilogx(bandwidths, values, ".-")
above.set_ylabel("eigenvalues")
above.legend([f"{i}." for i in range(1, 6)], fontsize=7, ncols=5)
below.semilogx(bandwidths, scores, "k.-")
below.axvline(kdegraph.estimate_sigma(data.X), color="tab:red", lw=1, label='"auto"')
below.set_ylabel("adjusted Rand index")
below.set_xlabel("bandwidth")
below.legend(fontsize=8)
figure.tight_layout()
