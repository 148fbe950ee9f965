"""Taylor expansions of the Gaussian between groups of points."""
