"""
Where did this journey stop?
============================

Positions of a phone during a day, as latitude and longitude in degrees. With ``metric="haversine"``
distances are kilometers on the Earth, so that the bandwidth is one, too: 60 m here. Points of a
stop are similar to many others; those on the way only to a few.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
stops = np.array([[47.3769, 8.5417], [47.3904, 8.5155], [47.3660, 8.5500]])  # degrees
parts = []
for start, end in zip(stops, [*stops[1:], stops[0]], strict=True):
    parts.append(start + rng.normal(0, 0.00015, size=(120, 2)))  # an hour at a stop
    way = np.linspace(0, 1, 25)[1:-1, None]
    parts.append(start + way * (end - start) + rng.normal(0, 0.0002, size=(23, 2)))
track = np.concatenate(parts)

# %%
# The kernel degree of a point is, roughly, how many others are within the bandwidth.

graph = kdegraph.similarity_graph(track, metric="haversine", sigma=0.06, seed=0)
resting = graph.kernel_degrees > 20
found = kdegraph.KDESpectralClustering(
    metric="haversine", sigma=0.06, max_clusters=8, random_state=0
).fit(track[resting])
print(f"{found.n_clusters_} stops")

figure, axes = plt.subplots(figsize=(5.5, 4))
axes.plot(*track.T[::-1], color="lightgray", lw=1, zorder=0)
axes.scatter(*track[resting].T[::-1], c=found.labels_, s=14, cmap="tab10", vmax=9)
axes.set_xlabel("longitude in degrees")
axes.set_ylabel("latitude in degrees")
figure.tight_layout()
