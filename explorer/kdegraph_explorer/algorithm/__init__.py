"""What is computed only to be shown: one point's neighbors, the rounds, times against sizes."""
