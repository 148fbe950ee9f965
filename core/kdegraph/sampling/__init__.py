"""Sampling neighbors: by recursive halving, rejection, near sources or mixtures."""
