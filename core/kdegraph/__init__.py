"""Similarity graphs with the cluster structure of the full kernel graph, in nearly linear time.

Public names are imported when they are first used, so that the command line answers before numba
and scikit-learn are loaded. The stub ``__init__.pyi`` beside this file says where each name is
defined, for `lazy_loader` as well as for editors and type checkers (Scientific Python's SPEC 1).
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
