"""Exact samples of neighbors by rejection."""
