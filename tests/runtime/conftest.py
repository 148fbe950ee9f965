"""Fixtures of the tests of threads."""

import kdegraph
import pytest


@pytest.fixture(params=[1, 4])
def threads(request):
    """The number of threads that computations use, whatever the machine has."""
    kdegraph.set_num_threads(request.param)
    yield request.param
    kdegraph.set_num_threads(None)
