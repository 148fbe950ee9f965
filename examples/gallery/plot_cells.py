"""
Which types of cells are in this sample?
========================================

Counts of genes in cells, as single-cell sequencing gives them: many zeros, and cells that were read
more or less deeply. The usual preparation is a few lines of NumPy and scikit-learn; in scanpy,
kdegraph takes the place of the nearest neighbors (see the recipes of the manual).
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

# %%
# Five types, each with its own active genes, and depths that differ between cells.

rng = np.random.default_rng(0)
n_genes, sizes = 400, (220, 160, 110, 70, 40)
truth = np.repeat(range(5), sizes)
activity = rng.lognormal(0, 1, size=(5, n_genes)) * np.exp(rng.normal(0, 0.3, n_genes))
depth = rng.lognormal(6.5, 0.4, len(truth))
rates = activity[truth] / activity[truth].sum(axis=1, keepdims=True) * depth[:, None]
counts = rng.poisson(rates)

# %%
# Equal depths, logarithms, and the main directions.

normal = counts / counts.sum(axis=1, keepdims=True) * np.median(counts.sum(axis=1))
X = PCA(20, random_state=0).fit_transform(np.log1p(normal))
model = kdegraph.KDESpectralClustering(random_state=0).fit(X)
agreement = adjusted_rand_score(truth, model.labels_)
print(f"{model.n_clusters_} types found; agreement with the truth {agreement:.2f}")

# %%
# A map of the cells, by the graph in which they were clustered.

places = kdegraph.graph_layout(model.graph_, seed=0)
figure, axes = plt.subplots(figsize=(5.5, 4))
axes.scatter(*places.T, c=model.labels_, s=8, cmap="tab10", vmax=9)
axes.set_axis_off()
figure.tight_layout()
