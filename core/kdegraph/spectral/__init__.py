"""Eigenvalues and eigenvectors of the normalized Laplacian."""
