import kdegraph
import matplotlib.pyplot as plt

X = kdegraph.datasets.make("moons", n=800, seed=0).X
full = kdegraph.spectrum(kdegraph.full_graph(X, sigma=0.15), 8).eigenvalues
figure, axes = plt.subplots(figsize=(6, 2.8))
for rounds, color in ((3, "tab:orange"), (10, "tab:green"), (100, "tab:blue")):
    graph = kdegraph.similarity_graph(X, sigma=0.15, n_rounds=rounds, seed=0)
    values = kdegraph.spectrum(graph, 8).eigenvalues
    axes.plot(range(1, 9), values, "o-", ms=4, lw=0.8, color=color, label=f"{rounds} rounds")
axes.plot(range(1, 9), full, "k_", ms=16, label="full graph")
axes.set_xlabel("number of the eigenvalue")
axes.set_ylabel("eigenvalue")
axes.legend(fontsize=8)
figure.tight_layout()
