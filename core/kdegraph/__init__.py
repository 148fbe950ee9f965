"""Similarity graphs with the cluster structure of the full kernel graph, in nearly linear time."""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "bandwidth": ("estimate_sigma",),
    "baselines": ("full_graph", "knn_graph"),
    "clustering.conductance": ("conductance",),
    "clustering.partition": ("Clustering", "spectral_clustering", "vertices_in_clusters"),
    "eigengap": ("suggest_n_clusters",),
    "estimators": ("KDESpectralClustering", "SimilarityGraphTransformer"),
    "graph": ("SimilarityGraph", "similarity_graph"),
    "kde": ("gauss_transform", "kernel_sum"),
    "geometry.kernels": ("Kernel",),
    "runtime.parallel": ("Cancelled", "get_num_threads", "set_num_threads"),
    "spectral.spectrum": ("Spectrum", "spectrum"),
    "warmup": ("warm_up",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted([*_MODULE_OF, "datasets"])


def __getattr__(name):
    """Import public names when they are first asked for: the command line answers before numba and
    scikit-learn are loaded.
    """
    if name == "datasets":
        return import_module(".datasets", __name__)
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})
