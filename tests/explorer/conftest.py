"""Fixtures of the tests of the explorer."""

import threading

import kdegraph_explorer.limits as limiting
import kdegraph_explorer.pipeline as pipeline
import kdegraph_explorer.stages as stages
import pytest
from kdegraph_explorer.limits import limits

# Functions of the pipeline, where they are called, and what they report.
STAGES = {
    "similarity_graph": (pipeline, "samples"),
    "find_spectrum": (stages, "eigenvectors"),
    "spectral_clustering": (pipeline, "k-means"),
}


@pytest.fixture
def limit(monkeypatch):
    """Sets limits by their variables, as if the process had begun with them."""

    def choose(**values):
        for field, value in values.items():
            monkeypatch.setenv(limiting.variable(field), str(value))
        limits.cache_clear()

    yield choose
    monkeypatch.undo()
    limits.cache_clear()


@pytest.fixture
def hold(monkeypatch):
    """Let a function of the pipeline wait until the event that is returned is set; `when` may
    choose among its calls.
    """

    def hold(name="similarity_graph", when=lambda *args, **options: True):
        (module, stage), go_on = STAGES[name], threading.Event()
        compute = getattr(module, name)

        def held(*args, progress, **options):
            while when(*args, **options) and not go_on.wait(0.001):
                progress(stage, 0.5)
            return compute(*args, progress=progress, **options)

        monkeypatch.setattr(module, name, held)
        return go_on

    return hold
