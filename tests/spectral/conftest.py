"""Fixtures of the tests of spectra."""

import pytest
from kdegraph.costs import LAPACK_COSTS


@pytest.fixture
def small_graphs_have_coarse_ones(monkeypatch):
    """Small graphs start from coarse ones, as large ones do."""
    monkeypatch.setattr("kdegraph.spectral.checked_graph.ORDER_MATTERS_ABOVE", 0)
    monkeypatch.setattr("kdegraph.spectral.solver.coarse.MIN_VERTICES", 100)
    costs = LAPACK_COSTS._replace(max_small=100)
    monkeypatch.setattr("kdegraph.spectral.solver.iteration.LAPACK_COSTS", costs)
