"""Similarity graphs with the cluster structure of the full kernel graph, in nearly linear time.

Public names are imported when they are first used, so that the command line answers before numba
and scikit-learn are loaded. The stub ``__init__.pyi`` beside this file says where each name is
defined, for `lazy_loader` as well as for editors and type checkers (Scientific Python's SPEC 1).
"""

import lazy_loader

# Names of earlier versions, and what to use instead.
_GONE = {
    "Clustering": "from kdegraph.clustering import Clustering",
    "Finding": "from kdegraph.diagnosis import Finding",
    "GraphWarning": "from kdegraph.diagnosis import GraphWarning",
    "Kernel": "from kdegraph.kde import Kernel",
    "NumberOfClusters": "kdegraph.suggest_n_clusters(...), an int with a confidence",
    "Spectrum": "from kdegraph.spectral import Spectrum",
    "count_clusters": "from kdegraph.automatic import count_clusters",
    "estimate_n_clusters": "kdegraph.suggest_n_clusters(...), an int with a confidence",
    "moderate_bandwidths": 'kdegraph.local_bandwidths(X, rule="moderate")',
    "suggest_n_segments": "kdegraph.suggest_n_clusters(eigenvalues, photograph=True)",
    "vertices_in_clusters": "from kdegraph.clustering import vertices_in_clusters",
}

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version  # slow to import

        return version(__name__)
    if name in _GONE:
        raise AttributeError(f"kdegraph.{name} is gone: use {_GONE[name]}")
    return _load(name)
