"""Clusters from the eigenvectors of a graph, and their conductance."""
