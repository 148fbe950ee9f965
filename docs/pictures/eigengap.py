import kdegraph
import matplotlib.pyplot as plt

figure, both = plt.subplots(1, 2, figsize=(7, 2.6), sharey=True)
titles = {"blobs": "three blobs: a gap after 3", "uniform": "no clusters: no gap"}
for axes, (name, title) in zip(both, titles.items(), strict=True):
    data = kdegraph.datasets.make(name, n=500, seed=0)
    graph = kdegraph.similarity_graph(data.X, sigma="local", perplexity=30, seed=0)
    axes.plot(range(1, 11), kdegraph.spectrum(graph, 10).eigenvalues, "o-", color="tab:blue")
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("number of the eigenvalue")
both[0].set_ylabel("eigenvalue")
figure.tight_layout()
