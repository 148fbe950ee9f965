"""Sampling a similarity graph: its parameters, the steps, and the result."""
