import kdegraph
import matplotlib.pyplot as plt
import numpy as np

flower = kdegraph.datasets.photo("flower", max_pixels=5000)
model = kdegraph.KDESpectralClustering(3, random_state=0).fit(flower.X)
segments = flower.label_image(model.labels_)
means = np.array([flower.image[segments == k].mean(axis=0) for k in range(3)]) / 255
figure, both = plt.subplots(1, 2, figsize=(7, 2.6))
for axes, picture in zip(both, (flower.image, means[segments]), strict=True):
    axes.imshow(picture)
    axes.set_axis_off()
figure.tight_layout()
