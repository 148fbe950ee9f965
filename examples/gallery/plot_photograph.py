"""
What are the parts of this photograph?
======================================

Pixels are points with a color and a place. Few segments show the large parts, more of them also
details; there is no right number.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np

photo = kdegraph.datasets.photo("china", max_pixels=4000)

# %%
# Each segment in its mean color.


def flattened(k):
    """Return the photograph with each of k segments in its mean color."""
    labels = kdegraph.KDESpectralClustering(k, random_state=0).fit_predict(photo.X)
    segments = photo.label_image(labels)
    means = np.array([photo.image[segments == label].mean(axis=0) for label in range(k)])
    return means[segments] / 255


figure, axes = plt.subplots(2, 2, figsize=(8, 5.4))
axes[0, 0].imshow(photo.image)
axes[0, 0].set_title("photograph", fontsize=10)
for panel, k in zip(axes.flat[1:], (3, 8, 20), strict=True):
    panel.imshow(flattened(k))
    panel.set_title(f"{k} segments", fontsize=10)
for panel in axes.flat:
    panel.set_axis_off()
figure.tight_layout()
