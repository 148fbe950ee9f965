"""Eigenvectors of graphs that are kept in folders, tile by tile."""
