"""Define the explorer as one object: for a cell of a notebook, a served page or a test."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import panel as pn
from kdegraph import SimilarityGraph
from kdegraph.runtime.replacing import writing
from kdegraph.spectral import Spectrum
from numpy.typing import ArrayLike, NDArray

from .address import first_view
from .assets import style_sheet
from .attributes import Attributes, choices_of, material_of
from .exports import export_to
from .notebook import FramedPage, place_for, show
from .patches.panel import growing
from .serving.page import ServedPage, query_of_page
from .session import Session
from .views.layout import Layout
from .views.markup import Text

NOTEBOOK_HEIGHT = 600  # pixels in a notebook; on a page, the explorer fills the window


class Explorer(Attributes):
    """Explore points by hand, with their graph, eigenvalues and clusters live.

    The KDE similarity graph stands beside a k-NN graph. As the last line of a notebook cell it
    shows itself (importing `kdegraph_explorer` has set Panel up for that, offline), ``.servable()``
    puts it on a page, and the properties read the present result back.

    Parameters
    ----------
    X : (n, d) array-like, data frame, str, path, Dataset or SimilarityGraph, optional
        Points; or a table of pandas, polars or Arrow, or the name of a file, whose columns are
        chosen as `kdegraph.datasets.load` does; or a graph, whose points and parameters are taken.
        Without it, the explorer begins with a generated data set.
    y : (n,) array-like or str, optional
        True labels, to compare the clusters with; of a data frame, also the name of their column.
    sigma : float, "local" or "moderate", optional
        Width of the Gaussian kernel. "local" and "moderate" give each point a width of its own.
        By default, and unless the points come with one that suits them, the explorer begins with
        the graph and the clusters that `kdegraph.KDESpectralClustering` finds.
    perplexity : int, optional
        Effective number of neighbors within the width of each point, from 2 to 200 (default 5);
        for ``sigma="local"`` and "moderate", which it means without a `sigma`.
    n_rounds : int, optional
        Neighbors that are drawn per point, the paper's L (default 20), with one `sigma` if none is
        given.
    n_clusters : int, optional
        Number of clusters; by default that of the estimator, or from the eigengap.
    **params
        As for all objects of Panel, such as `name`.

    Raises
    ------
    ValueError, TypeError
        At once, as `kdegraph.similarity_graph` does.

    Examples
    --------
    >>> from kdegraph_explorer import Explorer
    >>> points = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
    >>> explorer = Explorer(points, sigma=1.0, n_clusters=2)
    >>> explorer.labels.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True

    What is set in Python is seen in the explorer, and the other way round.

    >>> explorer.sigma = 0.3
    >>> explorer.selection = [True, False, True, False]
    >>> explorer.selection.tolist()
    [0, 2]
    """

    def __init__(
        self,
        X: Any = None,
        *,
        y: ArrayLike | str | None = None,
        sigma: float | Literal["local", "moderate"] | None = None,
        perplexity: int | None = None,
        n_rounds: int | None = None,
        n_clusters: int | None = None,
        **params: Any,
    ):
        dataset, file, made_with = material_of(X, y)
        choices = choices_of(sigma, perplexity, n_rounds, n_clusters, dataset)
        super().__init__(**params)
        self._place: Any = None
        self._framed: FramedPage | None = None
        served = pn.state.curdoc is not None and bool(pn.state.curdoc.session_context)
        self.session = Session(document=self._document, given=dataset)
        if file is not None:
            self.session.open(file)
        self.session.state.choose(**{**made_with, **choices})
        self.session.history.forget()
        # If the page began with another view, the browser would build that, too.
        view = first_view(self.session, query_of_page()) if served else ""
        self.layout = Layout(self.session, own_address=served, view=view)
        if served:
            self._page = ServedPage(self.session, self.layout.toolbar.browser)
        else:
            self.session.start()
        self._attach(self.session)

    @property
    def views(self) -> Mapping[str, Any]:
        """Return a mapping of names to views.

        In a notebook, a view as the last line of a cell is shown by itself, linked to the explorer.
        """
        return self.layout.views

    def __panel__(self):
        return place_for(self._appear, self.session.mailbox, NOTEBOOK_HEIGHT)

    def ipywidget(self) -> Any:
        """Return a Jupyter widget that shows the explorer, to put it into other widgets.

        Returns
        -------
        ipywidgets.Output
            To be shown, or put into boxes and tabs.

        Raises
        ------
        ImportError
            Without the packages of the extra ``kdegraph[notebook]``.
        """
        from .patches.jupyter_bokeh import widget_of

        return widget_of(self.__panel__(), self.session.mailbox.post)

    def _ipython_display_(self):
        show(self.session, self.__panel__())

    def _display_(self):
        """Return what marimo shows: a frame.

        Panel's own way loads Bokeh for each output. A load that begins before another has ended
        cuts off the output of that one.
        """
        if self._framed is None:
            self._framed = FramedPage(
                self.__panel__(), self.layout.toolbar.browser, NOTEBOOK_HEIGHT + 24
            )
        return self._framed

    def _appear(self, place):
        """Move the explorer to `place`."""
        if self._place is not None:
            with growing(self._place):
                self._place[1:] = [Text("The explorer has moved to where it was shown last.")]
        self._place = place
        sidebar, header, main = self.sections()
        body = pn.Row(
            pn.Column(sidebar, width=296, height=NOTEBOOK_HEIGHT, scroll="y-auto"),
            pn.Column(
                pn.Row(header, sizing_mode="stretch_width", height=44, margin=0),
                main,
                sizing_mode="stretch_both",
                margin=0,
                stylesheets=[style_sheet("measured")],
            ),
            sizing_mode="stretch_width",
            height=NOTEBOOK_HEIGHT,
        )
        place.append(body)

    @property
    def X(self) -> NDArray[np.float64]:
        """Return the points that are explored: (n, d) float64 array."""
        return self._settled().dataset.X

    @property
    def labels(self) -> NDArray[np.int32]:
        """Return the clusters of the KDE graph, as they are shown: (n,) int array."""
        return self._settled().outcome("kde").labels

    @property
    def graph(self) -> SimilarityGraph:
        """Return the KDE graph, a `kdegraph.SimilarityGraph`."""
        return self._settled().outcome("kde").graph

    @property
    def spectrum(self) -> Spectrum:
        """Return the `kdegraph.spectral.Spectrum` of the KDE graph."""
        return self._settled().outcome("kde").spectrum

    def open(self, file: str | PathLike[str]) -> None:
        """Explore the data in a file.

        Parameters
        ----------
        file : str or path
            CSV, TSV, Parquet, NPY, NPZ, PNG or JPEG.
        """
        with self.session.mailbox.held():
            self.session.open(Path(file))

    def save(self, file: str | PathLike[str], **figure: Any) -> None:
        """Save the present result.

        Parameters
        ----------
        file : str or path
            Its ending says what is saved:

            ".html"
                A page that needs neither Python nor a network: linked plots of both graphs, whose
                points can be selected and hovered over.
            ".png", ".svg", ".pdf"
                A figure for a paper, with a title, the parameters and a legend. Up to 20,000 edges
                of a graph are lines in SVG and PDF; more are an image, and the figure says so.
            ".graphml", ".gexf", ".npz"
                The KDE graph: for other programs, with clusters and coordinates, or for
                `kdegraph.SimilarityGraph.load`.
        **figure
            Of a figure: `title` (str, by default the name of the data) and, of a PNG, `scale`: 2
            (default), 3 or 4 times the size on the screen; 2 are 300 dots per inch.

        Raises
        ------
        ValueError
            If the name ends otherwise, or for another scale.
        OSError
            If the file cannot be written; an earlier file of this name stays as it was.
        """
        path = Path(file)
        export = export_to(path, **figure)
        self._settled()
        content = export.make(self.session)
        with writing(path) as temporary:
            temporary.write_bytes(content)

    def close(self) -> None:
        """Stop all work and accept no more."""
        self.session.close()
        if self._framed is not None:
            self._framed.close()

    def sections(self) -> tuple[Any, Any, Any]:
        """Return the parts of a page.

        Returns
        -------
        tuple
            The controls, the header with the status, and the views.
        """
        return self.layout.sidebar, self.layout.header, self.layout.main

    def _settled(self):
        self.session.wait()
        state = self.session.state
        if state.outcome("kde") is None:
            raise RuntimeError(
                f"there is no result: {state.error or 'the computation was cancelled'}"
            )
        return state

    def _document(self):
        if self._framed is not None:
            return self._framed.document
        made = list(self.views.made.values())  # workers ask, too, while views are being made
        return next(
            (fig.document for view in made for fig in view.figures() if fig.document is not None),
            None,
        )
