"""Graphs as HoloViews elements."""

from types import SimpleNamespace

import holoviews as hv
import kdegraph
import numpy as np
import pytest
from bokeh.models import LinearAxis
from kdegraph import datasets
from kdegraph_explorer import elements
from kdegraph_explorer.drawing.elements import LiveElement
from kdegraph_explorer.projection import principal_components


@pytest.fixture(scope="module")
def graph():
    X = datasets.make("moons", n=150, seed=0).X
    return kdegraph.similarity_graph(X, sigma=0.2, n_rounds=6, seed=0)


def test_elements_hold_the_graph_its_points_and_its_eigenvalues(graph):
    spectrum = kdegraph.spectrum(graph, 5, seed=0)
    found = elements(graph, labels=np.arange(150) % 3, spectrum=spectrum)
    edges = found.graph.dframe()
    assert len(edges) == graph.n_edges
    np.testing.assert_array_equal(graph.adjacency[edges["start"], edges["end"]], edges["weight"])
    points = found.points.dframe()
    np.testing.assert_array_equal(points[["x1", "x2"]], graph.points)
    np.testing.assert_array_equal(points["cluster"], np.arange(150) % 3)
    np.testing.assert_array_equal(points["degree"], graph.kernel_degrees)
    np.testing.assert_array_equal(found.spectrum.dframe()["eigenvalue"], spectrum.eigenvalues)


def test_elements_are_combined_and_drawn(graph):
    found = elements(graph, max_edges=40)
    layout = found.graph * found.points.opts(color="cluster") + found.spectrum
    assert hv.render(layout, backend="bokeh") is not None
    weights = np.sort(found.graph.dframe()["weight"])
    strongest = np.sort(graph.adjacency.data)[::2][-40:]  # each edge is stored twice
    np.testing.assert_array_equal(weights, strongest)
    assert len(found.spectrum) == 10


def test_points_lie_along_principal_components_or_beside_a_line():
    X = np.random.default_rng(0).normal(size=(40, 4))
    for points, expected in ((X, principal_components(X)), (X[:, :1], X[:, :1])):
        graph = kdegraph.similarity_graph(points, sigma=1.0, n_rounds=3, seed=0)
        placed = elements(graph).points.dframe().iloc[:, : expected.shape[1]]
        np.testing.assert_allclose(placed, expected)


def test_a_graph_without_points_is_refused():
    with pytest.raises(ValueError, match="has no points"):
        elements(SimpleNamespace(points=None))


def test_other_data_keep_the_colors_that_the_page_has_set():
    live = LiveElement("a curve", lambda data: (hv.Curve(data), (0, 1, 0, 1)), "kg-curve")
    live.show([(0, 0), (1, 1)])
    axis = next(iter(live.pane.get_root().select({"type": LinearAxis})))
    axis.update(axis_label_text_color="white", axis_label_text_font_size="2em")
    live.show([(0, 1), (1, 0)])
    assert (axis.axis_label_text_color, axis.axis_label_text_font_size) == ("white", "1em")
