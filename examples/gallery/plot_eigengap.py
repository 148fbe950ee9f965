"""
What is the eigengap?
=====================

A page for teaching: three groups of points move towards each other, and the eigenvalues of their
graph follow. As long as the groups hang together only weakly, three eigenvalues are near zero, and
the gap behind the third says that there are three clusters.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
group = np.repeat([0, 1, 2], 100)
noise = rng.normal(size=(300, 2))
corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]])

# %%
# The same noise around three corners, whose distance shrinks from the left to the right.

figure, axes = plt.subplots(2, 3, figsize=(9, 5))
for (above, below), distance in zip(axes.T, (9, 6, 3), strict=True):
    X = distance * corners[group] + noise
    graph = kdegraph.similarity_graph(X, sigma=1.0, seed=0)
    values = kdegraph.spectrum(graph, 8).eigenvalues
    above.scatter(*X.T, c=group, s=6, cmap="tab10", vmax=9)
    above.set_title(f"corners {distance} apart", fontsize=10)
    above.set_axis_off()
    below.plot(range(1, 9), values, "o-", color="tab:gray", ms=4)
    below.plot([3, 4], values[2:4], color="tab:red", lw=3)
    below.set_ylim(0, 0.5)
    below.set_xlabel("number of the eigenvalue")
axes[1, 0].set_ylabel("eigenvalue")
figure.tight_layout()

# %%
# **Why zero?** For a group without an edge to the rest, the vector that is constant on it (times
# the square root of the degrees) is an eigenvector with the eigenvalue 0. Three such groups have
# three of them. Weak edges between the groups move these eigenvalues a little away from zero, and
# the next eigenvalue belongs to a cut *through* a group, which is expensive.
#
# The eigenvectors say where the clusters are: each point gets the first three of its entries as
# coordinates.

X = 6 * corners[group] + noise
vectors = kdegraph.spectrum(kdegraph.similarity_graph(X, sigma=1.0, seed=0), 3).eigenvectors
figure, axes = plt.subplots(figsize=(4, 3.2))
axes.scatter(vectors[:, 1], vectors[:, 2], c=group, s=8, cmap="tab10", vmax=9)
axes.set_xlabel("second eigenvector")
axes.set_ylabel("third eigenvector")
figure.tight_layout()
