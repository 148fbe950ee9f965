import kdegraph
import matplotlib.pyplot as plt

data = kdegraph.datasets.make("scales", n=600, seed=0)
figure, both = plt.subplots(1, 2, figsize=(7, 3))
for axes, sigma in zip(both, ("auto", "local"), strict=True):
    model = kdegraph.KDESpectralClustering(4, sigma=sigma, random_state=0).fit(data.X)
    axes.scatter(*data.X.T, c=model.labels_, s=6, cmap="tab10", vmax=9)
    axes.set_title(f'sigma="{sigma}"', fontsize=10)
    axes.set_axis_off()
figure.tight_layout()
