"""Similarity graphs with the cluster structure of the full kernel graph, in nearly linear time."""

from .graph import SimilarityGraph, similarity_graph
from .kernels import Kernel
from .parallel import Cancelled, get_num_threads, set_num_threads

__version__ = "0.1.0"
__all__ = ["Cancelled", "Kernel", "SimilarityGraph", "get_num_threads", "set_num_threads", "similarity_graph"]
