"""Results describe themselves in a few words, without their arrays."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import kdegraph
import numpy as np
import pytest
from kdegraph.summary import in_html

X = np.random.default_rng(0).normal(size=(300, 2))


def texts(html):
    """All texts of a piece of HTML whose elements are closed in order."""
    opened, found = [], []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attrs):
            opened.append(tag)

        def handle_startendtag(self, tag, attrs):
            """Do nothing: such an element is closed at once."""

        def handle_endtag(self, tag):
            assert opened.pop() == tag

        def handle_data(self, data):
            found.append(data)

    Parser().feed(html)
    assert opened == []
    return found


@pytest.mark.parametrize("sigma", [0.5, "local"])
def test_a_graph_has_one_line_and_a_table(sigma):
    graph = kdegraph.similarity_graph(X, sigma=sigma, n_rounds=7, sampler="near", seed=3)
    line = repr(graph)
    assert line.startswith(f"<SimilarityGraph with points: 300, edges: {graph.n_edges:,}, ")
    assert line.endswith("kernel: gaussian, metric: euclidean, sampler: near, rounds: 7, seed: 3>")
    assert ("sigma 0.5" if sigma == 0.5 else "local bandwidths") in line
    assert len(line) < 200
    cells = texts(graph._repr_html_())
    assert cells[:5] == ["SimilarityGraph", "points", "300", "edges", f"{graph.n_edges:,}"]


def test_a_spectrum_has_a_dot_for_each_eigenvalue():
    found = kdegraph.spectrum(kdegraph.similarity_graph(X, sigma=0.5, seed=0), 6)
    html = found._repr_html_()
    heights = [float(cy) for cy in re.findall(r"<circle cx='[\d.]+' cy='([\d.]+)'", html)]
    np.testing.assert_allclose(
        heights, 112 - 104 * found.eigenvalues / found.eigenvalues[-1], atol=0.06
    )
    assert texts(html)[:3] == [
        "Spectrum",
        "eigenvalues",
        f"6, from 0 to {found.eigenvalues[-1]:.3g}",
    ]
    line = repr(found)
    assert line.startswith(f"<Spectrum with eigenvalues: 6, from 0 to {found.eigenvalues[-1]:.3g}")
    assert len(line) < 150
    one = replace(found, eigenvalues=np.zeros(1))
    assert "cy='112.0'" in one._repr_html_()


def test_what_is_shown_is_text():
    assert texts(in_html("<b>", [("a & b", "<script>")])) == ["<b>", "a & b", "<script>"]
