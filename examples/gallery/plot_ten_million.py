"""
How does the time grow with the number of points?
=================================================

The time of a graph, from a thousand points up. The environment variable KDEGRAPH_MOST_POINTS goes
further than this page does: with 10000000, it takes about 6 GiB of memory.
"""

import os
import time

import kdegraph
import matplotlib.pyplot as plt
import numpy as np

most = int(os.environ.get("KDEGRAPH_MOST_POINTS", 50_000))
sizes = [n for n in np.logspace(3, 7, 9).astype(int).tolist() if n <= most]

# %%
# Two moons with ten neighbors for each point. The line has the slope of ``n log n``.

seconds = []
for n in sizes:
    X = kdegraph.datasets.make("moons", n=n, seed=0).X
    times = []
    for _ in range(2):  # the first call may have to load machine code
        start = time.perf_counter()
        kdegraph.similarity_graph(X, sigma=0.1, n_rounds=10, seed=0)
        times.append(time.perf_counter() - start)
    seconds.append(min(times))

sizes = np.array(sizes)
figure, axes = plt.subplots(figsize=(5.5, 3.6))
axes.loglog(sizes, seconds, "o-", label="similarity_graph")
growth = sizes * np.log(sizes)
axes.loglog(sizes, seconds[-1] * growth / growth[-1], color="gray", lw=0.8, label="n log n")
axes.set_xlabel("points")
axes.set_ylabel("seconds")
axes.legend()
figure.tight_layout()
