"""Data sets, and reading them from tables, arrays and pictures in files."""
