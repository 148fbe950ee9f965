"""Change what libraries do where they offer no public way, one module per library."""
