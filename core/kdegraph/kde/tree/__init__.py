"""Kernel sums by a tree over the sources."""
