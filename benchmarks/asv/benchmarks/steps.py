"""Time the steps from points to clusters by the public contract alone, which old commits also have.

The processor time of all threads is measured, as it depends less on what else the machine does.
"""

import time

import kdegraph
import numpy as np

MOONS = {"sigma": 0.1, "n_rounds": 30}
NORMAL = {"sigma": 0.5, "n_rounds": 30}


class Steps:
    """Each step from points to clusters; `setup` also compiles what is measured."""

    timer = time.process_time
    timeout = 300
    rounds = 1
    number = 1
    repeat = (3, 10, 2.0)

    def setup(self):
        self.moons = kdegraph.datasets.make("moons", n=15_000, seed=0).X
        self.normal = np.random.default_rng(0).normal(size=(5_000, 5))
        self.graph = kdegraph.similarity_graph(self.moons, seed=0, **MOONS)

    def time_graph(self):
        kdegraph.similarity_graph(self.moons, seed=0, **MOONS)

    def time_graph_in_five_dimensions(self):
        kdegraph.similarity_graph(self.normal, seed=0, **NORMAL)

    def time_kernel_sums(self):
        kdegraph.gauss_transform(self.moons, sigma=0.1)

    def time_spectrum(self):
        kdegraph.spectrum(self.graph, 10, seed=0)

    def time_clusters(self):
        kdegraph.spectral_clustering(self.graph, 2, seed=0)

    def time_estimator(self):
        model = kdegraph.KDESpectralClustering(2, sigma=0.1, n_rounds=30, random_state=0)
        model.fit(self.moons)
