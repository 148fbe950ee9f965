"""
Which points are doubtful?
==========================

Where clusters touch, the label of a point is partly luck. The graphs that vote about it say how
much: ``probabilities_`` is the share that agrees.
"""

import kdegraph
import matplotlib.pyplot as plt

data = kdegraph.datasets.make("touching_blobs", n=600, seed=0)
model = kdegraph.KDESpectralClustering(8, random_state=0).fit(data.X)

figure, axes = plt.subplots(figsize=(6, 4.2))
points = axes.scatter(*data.X.T, c=model.probabilities_, s=10, cmap="viridis", vmin=0.4, vmax=1)
figure.colorbar(points, label="probability of the label")
axes.set_axis_off()
figure.tight_layout()

# %%
# ``noise=0.9`` gives the label -1 to the points below 0.9. With the known labels at hand, one sees
# that mistakes gather there.

wrong = {}
for name, group in (
    ("sure", model.probabilities_ >= 0.9),
    ("doubtful", model.probabilities_ < 0.9),
):
    pairs = {}
    for label, truth in zip(model.labels_[group], data.y[group], strict=True):
        pairs.setdefault(int(label), []).append(int(truth))
    kept = sum(max(map(found.count, set(found))) for found in pairs.values())
    wrong[name] = 1 - kept / max(group.sum(), 1)
    print(
        f"{group.sum()} {name} points, of which {wrong[name]:.0%} are not of their cluster's kind"
    )
