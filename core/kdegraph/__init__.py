"""Similarity graphs with the cluster structure of the full kernel graph, in nearly linear time."""

from . import datasets
from .baselines import estimate_sigma, full_graph, knn_graph
from .graph import SimilarityGraph, similarity_graph
from .kde import gauss_transform, kernel_sum
from .kernels import Kernel
from .parallel import Cancelled, get_num_threads, set_num_threads
from .spectra import Spectrum, spectrum

__version__ = "0.1.0"
__all__ = [
    "Cancelled",
    "Kernel",
    "SimilarityGraph",
    "Spectrum",
    "datasets",
    "estimate_sigma",
    "full_graph",
    "gauss_transform",
    "get_num_threads",
    "kernel_sum",
    "knn_graph",
    "set_num_threads",
    "similarity_graph",
    "spectrum",
]
