"""Similarity graphs with the cluster structure of the full kernel graph, in nearly linear time."""

from . import datasets
from .baselines import estimate_sigma, full_graph, knn_graph
from .clustering import Clustering, conductance, spectral_clustering
from .estimators import KDESpectralClustering, SimilarityGraphTransformer
from .graph import SimilarityGraph, similarity_graph
from .kde import gauss_transform, kernel_sum
from .kernels import Kernel
from .parallel import Cancelled, get_num_threads, set_num_threads
from .spectra import Spectrum, spectrum, suggest_n_clusters

__version__ = "0.1.0"
__all__ = [
    "Cancelled",
    "Clustering",
    "KDESpectralClustering",
    "Kernel",
    "SimilarityGraph",
    "SimilarityGraphTransformer",
    "Spectrum",
    "conductance",
    "datasets",
    "estimate_sigma",
    "full_graph",
    "gauss_transform",
    "get_num_threads",
    "kernel_sum",
    "knn_graph",
    "set_num_threads",
    "similarity_graph",
    "spectral_clustering",
    "spectrum",
    "suggest_n_clusters",
]
