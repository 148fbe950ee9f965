"""Clusters from the eigenvectors of a graph, and their conductance."""

from kdegraph.clustering.partition import Clustering, vertices_in_clusters

__all__ = ["Clustering", "vertices_in_clusters"]
