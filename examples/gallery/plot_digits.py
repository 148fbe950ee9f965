"""
What does a set of handwritten digits look like?
================================================

64 pixels are 64 dimensions. The layout of the graph is a map of them: neighbors lie near each
other, and the clusters, found without any label, are the digits.
"""

import kdegraph
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

digits = load_digits()
X, y = digits.data[:900], digits.target[:900]
model = kdegraph.KDESpectralClustering(10, random_state=0).fit(X)
print(f"agreement with the digits that were meant: {adjusted_rand_score(y, model.labels_):.2f}")

# %%
# Some of the pictures themselves, at their places.

places = kdegraph.graph_layout(model.graph_, seed=0)
figure, axes = plt.subplots(figsize=(7, 5.4))
axes.scatter(*places.T, c=model.labels_, s=10, cmap="tab10")
for point in range(0, 900, 15):
    picture = digits.images[point]
    left, bottom = places[point]
    side = 0.04 * (places[:, 0].max() - places[:, 0].min())
    axes.imshow(
        picture,
        cmap="gray_r",
        extent=(left, left + side, bottom, bottom + side),
        zorder=2,
        alpha=0.85,
    )
axes.set_xlim(places[:, 0].min() - side, places[:, 0].max() + 2 * side)
axes.set_ylim(places[:, 1].min() - side, places[:, 1].max() + 2 * side)
axes.set_axis_off()
figure.tight_layout()
