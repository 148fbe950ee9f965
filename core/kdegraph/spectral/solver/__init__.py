"""The block eigensolver."""
