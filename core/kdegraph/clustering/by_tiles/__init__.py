"""Clusters of graphs that are kept in a folder, tile by tile."""
