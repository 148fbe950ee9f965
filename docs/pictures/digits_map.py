import kdegraph
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

digits = load_digits()
graph = kdegraph.similarity_graph(
    digits.data[:800], metric="cosine", sigma="local", perplexity=10, seed=0
)
places = kdegraph.graph_layout(graph, seed=0)
figure, axes = plt.subplots(figsize=(5, 4))
colors = axes.scatter(*places.T, c=digits.target[:800], s=7, cmap="tab10")
figure.colorbar(colors, ticks=range(10), label="digit")
axes.set_axis_off()
