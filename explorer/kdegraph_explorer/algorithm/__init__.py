"""What the sampled graph does at one point and from round to round, computed for showing it."""
