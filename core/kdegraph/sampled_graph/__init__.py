"""From points to a sampled graph: on a tree, or from lists of near neighbors."""
