"""The experiments; each module enters its own into `EXPERIMENTS` when it is imported."""

import importlib

from benchmarks.experiment import EXPERIMENTS

# In this order they are listed and reported; the paper's own come first.
MODULES = (
    "shapes", "sizes", "segmentation", "photographs", "theorem", "densities", "pipelines", "stages",
    "many_dimensions", "texts", "local", "reference_sets", "unseen", "random_states", "rules",
    "large_sets", "sigma", "rounds", "automatic", "counting", "spectrum", "samplers", "costs",
    "randomness", "tiles", "tiled_clusters", "mosaic", "growth", "explorer", "server_load",
    "first_use", "attack",
)  # fmt: skip


def load():
    """Import all of them, and bring `EXPERIMENTS` into this order."""
    for name in MODULES:
        module = importlib.import_module(f"{__name__}.{name}").__name__
        for one in [one for one in EXPERIMENTS.values() if one.measure.__module__ == module]:
            EXPERIMENTS[one.name] = EXPERIMENTS.pop(one.name)
