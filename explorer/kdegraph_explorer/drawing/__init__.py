"""Draw figures and images that the views share."""
