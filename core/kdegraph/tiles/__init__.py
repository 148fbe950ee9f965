"""Graphs that are sampled tile by tile, on Dask, and kept in a folder."""
