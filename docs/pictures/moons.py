import kdegraph
import matplotlib.pyplot as plt

moons = kdegraph.datasets.make("moons", n=500, seed=0)
model = kdegraph.KDESpectralClustering(random_state=0).fit(moons.X)
figure, axes = plt.subplots(figsize=(5, 2.6))
axes.scatter(*moons.X.T, c=model.labels_, s=8, cmap="coolwarm")
axes.set_aspect("equal")
axes.set_axis_off()
