from . import datasets
from .bandwidth import estimate_sigma
from .baselines import full_graph, knn_graph
from .clustering.conductance import conductance
from .descriptions import describe_clusters
from .diagnosis import diagnose
from .dispatch import spectral_clustering, spectrum
from .eigengap import suggest_n_clusters
from .estimators import KDESpectralClustering
from .exchange import export_graph
from .graph import similarity_graph
from .kde import gauss_transform, kernel_sum
from .layout import graph_layout
from .local_bandwidth import local_bandwidths
from .over_numbers import cluster_numbers
from .over_scales import cluster_scales
from .runtime.deadline import Deadline
from .runtime.progress import Cancelled
from .runtime.threads import get_num_threads, set_num_threads
from .sampled_graph.result import SimilarityGraph
from .table_transformer import TableTransformer
from .tiles.graph import TiledGraph
from .transformer import SimilarityGraphTransformer
from .warmup import warm_up

__all__ = [
    "Cancelled",
    "Deadline",
    "KDESpectralClustering",
    "SimilarityGraph",
    "SimilarityGraphTransformer",
    "TableTransformer",
    "TiledGraph",
    "cluster_numbers",
    "cluster_scales",
    "conductance",
    "datasets",
    "describe_clusters",
    "diagnose",
    "estimate_sigma",
    "export_graph",
    "full_graph",
    "gauss_transform",
    "get_num_threads",
    "graph_layout",
    "kernel_sum",
    "knn_graph",
    "local_bandwidths",
    "set_num_threads",
    "similarity_graph",
    "spectral_clustering",
    "spectrum",
    "suggest_n_clusters",
    "warm_up",
]

__version__: str
