"""Compute what is only shown: neighbors of a point, the rounds, judgements, times."""
