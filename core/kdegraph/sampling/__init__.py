"""Sampled neighbors: recursive halving, rejection, full rows."""
