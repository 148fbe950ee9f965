from . import datasets
from .automatic import count_clusters
from .bandwidth import estimate_sigma
from .baselines import full_graph, knn_graph
from .clustering.conductance import conductance
from .clustering.partition import Clustering, vertices_in_clusters
from .diagnosis import Finding, GraphWarning, diagnose
from .dispatch import spectral_clustering, spectrum
from .eigengap import (
    NumberOfClusters,
    estimate_n_clusters,
    suggest_n_clusters,
    suggest_n_segments,
)
from .estimators import KDESpectralClustering
from .exchange import export_graph
from .geometry.kernels import Kernel
from .graph import similarity_graph
from .kde import gauss_transform, kernel_sum
from .local_bandwidth import local_bandwidths
from .moderate_bandwidth import moderate_bandwidths
from .runtime.progress import Cancelled
from .runtime.threads import get_num_threads, set_num_threads
from .sampled_graph.result import SimilarityGraph
from .spectral.spectrum import Spectrum
from .tiles.graph import TiledGraph
from .transformer import SimilarityGraphTransformer
from .warmup import warm_up

__all__ = [
    "Cancelled",
    "Clustering",
    "Finding",
    "GraphWarning",
    "KDESpectralClustering",
    "Kernel",
    "NumberOfClusters",
    "SimilarityGraph",
    "SimilarityGraphTransformer",
    "Spectrum",
    "TiledGraph",
    "conductance",
    "count_clusters",
    "datasets",
    "diagnose",
    "estimate_n_clusters",
    "estimate_sigma",
    "export_graph",
    "full_graph",
    "gauss_transform",
    "get_num_threads",
    "kernel_sum",
    "knn_graph",
    "local_bandwidths",
    "moderate_bandwidths",
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
