"""The experiments; each module enters its own into `EXPERIMENTS` when it is imported."""

import importlib

# In this order they are listed and reported; the paper's own come first.
MODULES = (
    "shapes", "sizes", "segmentation", "theorem", "densities", "pipelines", "stages",
    "many_dimensions", "local", "reference_sets", "sigma", "rounds", "automatic", "spectrum",
    "samplers", "costs", "randomness", "explorer",
)  # fmt: skip


def load():
    """Import all of them."""
    for module in MODULES:
        importlib.import_module(f"{__name__}.{module}")
