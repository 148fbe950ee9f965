"""Eigenvalues and eigenvectors of the normalized Laplacian."""

from kdegraph.spectral.spectrum import Spectrum

__all__ = ["Spectrum"]
