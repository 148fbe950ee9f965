"""The Gauss transform on a regular grid of boxes."""
