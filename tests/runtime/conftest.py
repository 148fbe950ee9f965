"""What the tests of threads share."""

import kdegraph
import pytest
from kdegraph.runtime import threads as runtime_threads


@pytest.fixture(params=[1, 2, 4])
def threads(request):
    """The number of threads that computations use, whatever the machine has."""
    before = runtime_threads._n_threads
    kdegraph.set_num_threads(request.param)
    yield request.param
    kdegraph.set_num_threads(before)
