"""
Which clusters are there at which scale?
========================================

Clusters can have clusters in them. A band is a cluster: as high as it is large, and faint where
another part of the points is cut elsewhere. Bands that last are structure.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np

# Three groups of two subgroups each.
centers = np.array([(x + dx, y) for x, y in [(0, 0), (10, 0), (5, 9)] for dx in (-1, 1)])
rng = np.random.default_rng(0)
X = centers[rng.integers(6, size=600)] + 0.25 * rng.normal(size=(600, 2))
found = kdegraph.cluster_scales(X, seed=0)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.6), width_ratios=[1, 2], layout="constrained"
)
left.scatter(*X.T, s=3, color="tab:gray")
left.set_aspect("equal")
found.plot(right)

# %%
# The same as a table; `parent` is the cluster at the next scale.

table = found.to_arrow().select(["sigma", "cluster", "size", "stability", "parent"])
print(table.to_pandas().iloc[20:32].round(2).to_string(index=False))
