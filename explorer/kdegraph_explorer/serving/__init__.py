"""Serve pages, and decide who may open them."""
