from . import datasets
from .bandwidth import estimate_sigma
from .baselines import full_graph, knn_graph
from .clustering.conductance import conductance
from .clustering.partition import Clustering, spectral_clustering, vertices_in_clusters
from .eigengap import (
    NumberOfClusters,
    estimate_n_clusters,
    suggest_n_clusters,
    suggest_n_segments,
)
from .estimators import KDESpectralClustering, SimilarityGraphTransformer
from .geometry.kernels import Kernel
from .graph import SimilarityGraph, similarity_graph
from .kde import gauss_transform, kernel_sum
from .runtime.responsive import Cancelled
from .runtime.threads import get_num_threads, set_num_threads
from .spectral.spectrum import Spectrum, spectrum
from .warmup import warm_up

__all__ = [
    "Cancelled",
    "Clustering",
    "KDESpectralClustering",
    "Kernel",
    "NumberOfClusters",
    "SimilarityGraph",
    "SimilarityGraphTransformer",
    "Spectrum",
    "conductance",
    "datasets",
    "estimate_n_clusters",
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
    "suggest_n_segments",
    "vertices_in_clusters",
    "warm_up",
]

__version__: str
