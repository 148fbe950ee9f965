"""Make HoloViews elements of graphs, and draw curves and scatter plots in the explorer's style.

HoloViews is not thread-safe: use these on the session's own thread only.
"""

from typing import NamedTuple

import holoviews as hv
import holoviews.plotting.bokeh
import kdegraph
import numpy as np
import panel as pn
from bokeh.models import Span
from kdegraph.datasets import Dataset
from kdegraph.spectral import Spectrum
from numpy.typing import ArrayLike

from ..patches.panel import growing
from ..projection import first_axes, positions
from .edges import strongest_edges
from .figures import recolor, restyle
from .palette import MARK

hv.renderer("bokeh").webgl = False  # without a GPU it is slow


class Elements(NamedTuple):
    """A similarity graph as HoloViews elements; see `elements`."""

    graph: hv.Graph
    points: hv.Points
    spectrum: hv.Scatter


def elements(
    graph: kdegraph.SimilarityGraph,
    labels: ArrayLike | None = None,
    spectrum: Spectrum | None = None,
    *,
    max_edges: int = 20_000,
) -> Elements:
    """Return a graph, its points and its eigenvalues as HoloViews elements.

    Combine them with ``*`` and ``+``, and style them with ``.opts``, as all elements of HoloViews.
    Load one of its plotting extensions first, such as ``hv.extension("bokeh")``.

    Parameters
    ----------
    graph : kdegraph.SimilarityGraph
        A graph with its points, such as the attribute `graph` of an explorer.
    labels : (n,) int array, optional
        The cluster of each point; without it, all points are in cluster 0.
    spectrum : kdegraph.Spectrum, optional
        The eigenvalues to show; by default the 10 smallest ones.
    max_edges : int
        The largest number of edges; if there are more, those with the largest weights are taken.

    Returns
    -------
    Elements
        `graph`, a `holoviews.Graph` with the `weight` of each edge; `points`, a `holoviews.Points`
        with the `cluster` and the kernel `degree` of each point; and `spectrum`, a
        `holoviews.Scatter` of the eigenvalues by their numbers from 1. Points in more than two
        dimensions lie along their first two principal components.

    Raises
    ------
    ValueError
        If the graph has no points.

    Examples
    --------
    >>> import kdegraph
    >>> from kdegraph_explorer import elements
    >>> X = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
    >>> graph = kdegraph.similarity_graph(X, sigma=1.0, n_rounds=5, seed=0)
    >>> shown = elements(graph, labels=[0, 0, 1, 1])
    >>> layout = shown.graph * shown.points + shown.spectrum
    >>> len(shown.graph), len(shown.points), len(shown.spectrum)
    (2, 4, 4)
    """
    if graph.points is None:
        raise ValueError("the graph has no points to place its vertices at; build it from points")
    dataset, n = Dataset(graph.points), len(graph.points)
    names = first_axes(dataset)
    if names[0] == names[1]:
        names = (names[0], "random offset")
    x, y = positions(dataset, *first_axes(dataset)).T
    rows, columns = strongest_edges(graph.adjacency, limit=max_edges)
    weights = graph.adjacency[rows, columns]
    if spectrum is None:
        spectrum = kdegraph.spectrum(graph, min(10, n), seed=0)
    clusters = np.zeros(n, dtype=int) if labels is None else np.asarray(labels)
    nodes = hv.Nodes((x, y, np.arange(n)), kdims=[*names, "point"])
    return Elements(
        hv.Graph(((rows, columns, weights), nodes), vdims="weight"),
        hv.Points((x, y, clusters, graph.kernel_degrees), list(names), vdims=["cluster", "degree"]),
        hv.Scatter(
            (np.arange(1, len(spectrum.eigenvalues) + 1), spectrum.eigenvalues),
            "number",
            "eigenvalue",
        ),
    )


class LiveElement:
    """Show a HoloViews plot that can change its data.

    It is made when it is first shown, as that takes a fifth of a second. `draw` takes the data and
    returns an element or an overlay, always of the same kinds, and the window (x0, x1, y0, y1). The
    figure gets the name `name`, for screen readers and tests; `css_class` is a hook for tests.
    """

    def __init__(self, name, draw, css_class, **options):
        self.name = name
        self._draw, self._css_class, self._options = draw, css_class, options
        self._marks, self._window, self._pipe = [], None, None
        self.pane = pn.Column(sizing_mode="stretch_both", margin=0, min_height=150)

    def _render(self, data):
        element, self._window = self._draw(data)
        return element.opts(
            responsive=True,
            toolbar=None,
            axiswise=True,
            show_legend=False,
            show_grid=True,
            title="",
            hooks=[self._finish],
            **self._options,
        )

    def _finish(self, plot, element):
        """Set the window and the style again.

        On every update, HoloViews would keep the window of the first data and set its own fonts.
        """
        fig = plot.state
        restyle(fig)
        x0, x1, y0, y1 = self._window
        fig.x_range.update(start=x0, end=x1)
        fig.y_range.update(start=y0, end=y1)
        if fig.name != self.name:
            recolor(fig)
            fig.name = self.name
            style = {"line_color": MARK, "line_width": 1.5, "line_alpha": 0.6}
            self._marks.append(Span(dimension="height", visible=False, **style))
            fig.add_layout(self._marks[-1])

    def show(self, data):
        """Draw other data."""
        if self._pipe is not None:
            self._pipe.send(data)
            return
        self._pipe = hv.streams.Pipe(data=data)
        plot = hv.DynamicMap(self._render, streams=[self._pipe])
        options = {
            "sizing_mode": "stretch_both",
            "margin": 0,
            "css_classes": ["kg-plot", self._css_class],
            "linked_axes": False,
        }
        with growing(self.pane):
            self.pane.append(pn.pane.HoloViews(plot, backend="bokeh", **options))

    def mark(self, x):
        """Draw a vertical line at `x`, or none for None, far quicker than other data."""
        for mark in self._marks:
            mark.update(location=x, visible=x is not None)
