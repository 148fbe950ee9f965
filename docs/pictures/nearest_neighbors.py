import kdegraph
import matplotlib.pyplot as plt

data = kdegraph.datasets.make("clumps", n=1000, seed=0)
graphs = {
    "10 nearest neighbors": kdegraph.knn_graph(data.X, 10),
    "sampled kernel graph": kdegraph.similarity_graph(data.X, sigma=data.sigma, seed=0),
}
figure, both = plt.subplots(1, 2, figsize=(7, 2.8))
for axes, (name, graph) in zip(both, graphs.items(), strict=True):
    labels = kdegraph.spectral_clustering(graph, 2, points=data.X, seed=0).labels
    axes.scatter(*data.X.T, c=labels, s=5, cmap="coolwarm")
    axes.set_title(name, fontsize=9)
    axes.set_axis_off()
