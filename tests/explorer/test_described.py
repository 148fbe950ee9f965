"""Every plot in words, as a table and as a picture."""

from dataclasses import replace
from types import SimpleNamespace

import kdegraph_explorer.stages as stages
import numpy as np
import pytest
import scipy.sparse as sp
from explorer_actions import choose
from explorer_objects import opened, source, view
from kdegraph import datasets
from kdegraph_explorer.algorithm.neighborhood import neighborhood
from kdegraph_explorer.views import describe
from kdegraph_explorer.views.base import Caption


@pytest.fixture
def explorer(explore):
    return explore(datasets.make("blobs", n=90, seed=0).X, sigma=0.8, n_clusters=3, n_rounds=6)


def captions(shown):
    """The captions of a view by their titles."""
    return {caption.title: caption for caption in shown.__panel__().select(Caption)}


def test_neighbors_and_halving_in_words(explorer):
    shown, graph = opened(explorer, "point"), explorer.graph
    told = shown.describe_neighbors(True)
    rows = {row[0]: dict(zip(told.columns, row, strict=True)) for row in told.rows}
    found, distances = (
        neighborhood(graph, 0, 10),
        np.linalg.norm(explorer.X - explorer.X[0], axis=1),
    )
    for j, count, weight in zip(found.sampled, found.times, found.weight, strict=True):
        row = rows[str(j)]
        assert row["Drawn"] == count
        assert float(row["Distance"]) == pytest.approx(distances[j], rel=5e-3)
        assert row["Weight"] == pytest.approx(weight)
        assert float(row["Chance"]) == pytest.approx(found.chance(j), rel=5e-2)
    by_rank = sorted((row["Nearest"], j) for j, row in rows.items() if row["Nearest"])
    assert [int(j) for _, j in by_rank] == found.nearest.tolist()
    told = shown.describe_halving(True)
    assert told.summary.startswith(
        f"Draw {shown.draw.value} of point 0: {len(told.rows)} halvings of 90 points lead to point "
    )
    assert told.rows[0][1] == 90
    for row in told.rows:
        left, right, share, uniform = map(float, row[2:6])
        assert share == pytest.approx(left / (left + right), abs=2e-2)
        assert row[6] == ("left" if uniform < share else "right") or abs(uniform - share) < 2e-3


def test_embedding_degrees_conductances_and_spectra_in_words(explorer):
    shown = opened(explorer, "spectral")
    outcome = explorer.session.state.outcome("kde")
    placed = source(shown.figures()[0], "points").data
    places = np.column_stack([placed["x"], placed["y"]])
    told = shown.describe_embedding(True)
    first = places[outcome.colors == 0]
    assert told.rows[0][:2] == ("Cluster 1", len(first))
    assert told.rows[0][2:] == pytest.approx(
        (first[:, 0].mean(), first[:, 0].std(), first[:, 1].mean(), first[:, 1].std())
    )
    row = describe.degrees(explorer.session.state, True).rows[0]
    assert float(row[2]) == pytest.approx(
        explorer.graph.kernel_degrees[outcome.colors == 0].mean(), rel=1e-3
    )
    rows = describe.conductances(explorer.session.state, {"kde": "KDE graph"}, True).rows
    judged = explorer.session.state.judgement("kde").conductances
    assert [float(row[1]) for row in rows] == pytest.approx(judged, rel=5e-3)
    opened(explorer, "compare")
    told = describe.spectra(explorer.session.state, True)
    assert told.columns == ("Number", "KDE graph", "Other bandwidth", "k-NN graph", "Full graph")
    for column, method in enumerate(("kde", "other", "knn", "full"), start=1):
        values = explorer.session.state.outcome(method).spectrum.eigenvalues
        assert [float(row[column]) for row in told.rows] == pytest.approx(values, abs=1e-6)


def test_eigenvalues_that_have_not_converged_are_told_for_estimates(explorer, monkeypatch):
    solve = stages.find_spectrum
    monkeypatch.setattr(
        stages,
        "find_spectrum",
        lambda *args, **options: replace(solve(*args, **options), converged=False),
    )
    shown = view(explorer, "spectrum")
    assert not any("estimates" in plot.note for plot in shown.plots.values())
    choose(explorer, n_neighbors=7)
    assert [method for method, plot in shown.plots.items() if "estimates" in plot.note] == ["knn"]
    assert "have not converged" in captions(shown)["Eigenvalues, k-NN graph"].summary


def test_effort_for_eigenvalues_is_bounded_where_the_graph_is_large():
    assert stages.max_products(sp.eye_array(1000, format="csr")) is None
    huge = SimpleNamespace(nnz=20_000_000)
    assert stages.max_products(huge) == stages.MIN_PRODUCTS
