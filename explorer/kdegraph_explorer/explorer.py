"""The explorer as one object: for a cell of a notebook, a served page or a test."""

from pathlib import Path

import panel as pn
from panel.viewable import Viewer

from .arguments import choices_of, dataset_of
from .layout import Layout
from .notebook import growing, widget_of
from .served import ServedPage
from .session import Session
from .views.markup import Beacon, Text

SIDEBAR_WIDTH = 320  # pixels
NOTEBOOK_HEIGHT = 672  # pixels in a notebook; on a page, the explorer fills the window


class Explorer(Viewer):
    """Explore points by hand: their KDE similarity graph beside a k-NN graph, with eigenvalues,
    clusters and scores, live.

    As the last line of a notebook cell it shows itself (importing `kdegraph_explorer` has set Panel
    up for that, offline), ``.servable()`` puts it on a page, and the properties read the present
    result back.

    Parameters
    ----------
    X : (n, d) array-like, optional
        Points. Without them, the explorer begins with a generated data set.
    y : (n,) array-like, optional
        True labels, to compare the clusters with.
    sigma : float or "local", optional
        Width of the Gaussian kernel; by default from the distances to the nearest neighbors.
        "local" gives each point a width of its own.
    perplexity : int, optional
        Effective number of neighbors within the width of each point, from 2 to 200 (default 5);
        for ``sigma="local"``.
    n_rounds : int, optional
        Neighbors that are drawn per point, the paper's L (default 20).
    n_clusters : int, optional
        Number of clusters; by default from the eigengap.

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
    """

    def __init__(
        self,
        X=None,
        *,
        y=None,
        sigma=None,
        perplexity=None,
        n_rounds=None,
        n_clusters=None,
        **params,
    ):
        if X is None and y is not None:
            raise ValueError("y was given without X; pass the points that it labels")
        dataset = None if X is None else dataset_of(X, y)
        choices = choices_of(sigma, perplexity, n_rounds, n_clusters, dataset)
        super().__init__(**params)
        self._place = None
        served = pn.state.curdoc is not None and bool(pn.state.curdoc.session_context)
        self.session = Session(document=self._document, push=self._push, given=dataset)
        self.session.state.choose(**choices)
        self.session.history.forget()
        self.layout = Layout(self.session, own_address=served)
        if served:
            self._page = ServedPage(self.session, self.layout.toolbar.browser)
        else:
            self.session.start()

    @property
    def views(self):
        """The views by their name."""
        return self.layout.views

    def __panel__(self):
        beacon = Beacon("Starting …", height=NOTEBOOK_HEIGHT, sizing_mode="stretch_width")
        place = pn.Column(
            beacon, sizing_mode="stretch_width", margin=0, css_classes=["kg-explorer"]
        )
        beacon.param.watch(
            lambda event: self.session.mailbox.post(lambda: self._appear(place, beacon)), "beats"
        )
        return place

    def _repr_mimebundle_(self, include=None, exclude=None):
        """What a notebook shows: a Jupyter widget, whose messages arrive at once and which needs no
        network.
        """
        try:
            widget = widget_of(self.__panel__(), self.session.mailbox.post)
        except ImportError:
            return super()._repr_mimebundle_(include, exclude)
        return widget._repr_mimebundle_(include=include, exclude=exclude)

    def _appear(self, place, beacon):
        """Move the explorer to `place`, whose browser listens now. In a notebook, what is sent
        earlier would be lost.
        """
        if beacon.heard:
            return
        beacon.param.update(heard=True, visible=False)
        if self._place is not None:
            self._place[1:] = [Text("The explorer has moved to where it was shown last.")]
        self._place = place
        sidebar, header, main = self.sections()
        body = pn.Row(
            pn.Column(sidebar, width=SIDEBAR_WIDTH, height=NOTEBOOK_HEIGHT, scroll="y-auto"),
            pn.Column(header, main, sizing_mode="stretch_both", margin=0),
            sizing_mode="stretch_width",
            height=NOTEBOOK_HEIGHT,
        )
        with growing(place):
            place.append(body)

    def _push(self):
        if self._place is not None:
            pn.io.push_notebook(self._place)

    @property
    def X(self):
        """(n, d) float64 array: the points that are explored."""
        return self._settled().dataset.X

    @property
    def labels(self):
        """(n,) int array: the clusters of the KDE graph."""
        return self._settled().outcome("kde").labels

    @property
    def graph(self):
        """The `kdegraph.SimilarityGraph`."""
        return self._settled().outcome("kde").graph

    @property
    def spectrum(self):
        """The `kdegraph.Spectrum` of the KDE graph."""
        return self._settled().outcome("kde").spectrum

    @property
    def selection(self):
        """Int array: the indices of the points that were selected with the mouse."""
        return self.session.state.selection

    def open(self, file):
        """Explore the data in a file.

        Parameters
        ----------
        file : str or path
            CSV, TSV, Parquet, NPY, NPZ, PNG or JPEG.
        """
        self.session.open(Path(file))

    def close(self):
        """Stop all work and accept no more."""
        self.session.close()

    def sections(self):
        """The parts of a page: the controls, the header with the status, and the views."""
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
        return next(
            (
                fig.document
                for view in self.views.values()
                for fig in view.figures()
                if fig.document is not None
            ),
            None,
        )
