import kdegraph
import matplotlib.pyplot as plt
import numpy as np

X = kdegraph.datasets.make("moons", n=400, seed=0).X
graph = kdegraph.similarity_graph(X, sigma=0.25, n_rounds=5000, seed=0)
point = 17
drawn = np.bincount(graph.neighbors[point], minlength=400) / 5000
law = np.exp(-((X - X[point]) ** 2).sum(axis=1) / 0.25**2)
law[point] = 0
law /= law.sum()
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.8))
left.scatter(*X.T, c=drawn, s=12, cmap="viridis")
left.scatter(*X[point], marker="x", color="red")
left.set_title("how often each point is drawn by the cross", fontsize=9)
left.set_axis_off()
right.plot(law, drawn, ".", ms=4)
right.plot([0, law.max()], [0, law.max()], color="gray", lw=0.8)
right.set_xlabel("probability by the law")
right.set_ylabel("share of 5,000 draws")
figure.tight_layout()
