"""Kernel functions, the tree over the points, nearest neighbors."""
