import kdegraph
import matplotlib.pyplot as plt
import numpy as np

X = kdegraph.datasets.make("moons", n=100, seed=0).X
full = kdegraph.full_graph(X, sigma=0.2)
full = full.toarray() if hasattr(full, "toarray") else full
figure, both = plt.subplots(1, 2, figsize=(7, 2.8), sharey=True)
for axes, n in zip(both, (1, 300), strict=True):
    mean = np.zeros((100, 100))
    for seed in range(n):
        graph = kdegraph.similarity_graph(X, sigma=0.2, n_rounds=5, seed=seed)
        mean += graph.adjacency.toarray() / n
    axes.plot(full.ravel(), mean.ravel(), ".", ms=2, alpha=0.5)
    axes.plot([0, 1], [0, 1], color="gray", lw=0.8)
    axes.set_title(f"mean of {n} sampled graph{'s' if n > 1 else ''}", fontsize=9)
    axes.set_xlabel("weight in the full graph")
    axes.set_ylim(-0.05, 2)
both[0].set_ylabel("sampled weight")
figure.tight_layout()
