"""The experiments; each module enters its own into `EXPERIMENTS` when it is imported."""

import importlib
import pkgutil


def load():
    """Import all modules of this folder."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
