"""Fixtures of the tests of the explorer."""

import threading

import kdegraph_explorer.pipeline as pipeline
import pytest

STAGES = {"similarity_graph": "samples", "find_spectrum": "eigenvectors"}


@pytest.fixture
def hold(monkeypatch):
    """Let a function of the pipeline wait until the event that is returned is set; `when` may
    choose among its calls.
    """

    def hold(name="similarity_graph", when=lambda *args, **options: True):
        go_on, compute = threading.Event(), getattr(pipeline, name)

        def held(*args, progress, **options):
            while when(*args, **options) and not go_on.wait(0.001):
                progress(STAGES[name], 0.5)
            return compute(*args, progress=progress, **options)

        monkeypatch.setattr(pipeline, name, held)
        return go_on

    return hold
