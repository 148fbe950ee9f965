"""The explorer as one object: for a cell of a notebook, a served page or a test."""

from pathlib import Path
from weakref import WeakMethod

import numpy as np
import panel as pn
import panel_material_ui as pmui
from kdegraph.datasets import Dataset
from kdegraph.validation import check_count, check_points, check_positive
from panel.viewable import Viewer
from panel_material_ui.base import MaterialComponent

from . import memory
from .actions import Actions
from .address_bar import AddressBar
from .assets import style_sheet
from .notebook import growing, widget_of
from .session import Session
from .state import State
from .views import VIEWS
from .views.base import low_row
from .views.color import ColorControl
from .views.controls import DataControls, DisplayControls, ParameterControls
from .views.markup import Beacon, Text
from .views.stage_bars import StageBars
from .views.status import Advice, Problem, Status, Stopped
from .views.toolbar import Toolbar
from .views.tour import Tour
from .views.widgets import link, row

SIDEBAR_WIDTH = 320  # pixels
BOTTOM_HEIGHT = 226  # pixels of the row at the bottom
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
        dataset = None if X is None else _dataset(X, y)
        choices = _choices(sigma, perplexity, n_rounds, n_clusters, dataset)
        super().__init__(**params)
        self._place = None
        served = pn.state.curdoc is not None and bool(pn.state.curdoc.session_context)
        self.session = Session(document=self._document, push=self._push, given=dataset)
        self.session.state.choose(**choices)
        self.session.history.forget()
        self.views = [view(self.session) for view in VIEWS]
        self.status = Status(self.session)
        self.controls = [
            DataControls(self.session),
            ParameterControls(self.session),
            DisplayControls(self.session),
        ]
        actions = Actions(self.session.state, self.views, self._focus).by_name()
        self.toolbar = Toolbar(self.session, actions, own_address=served)
        # Each place gets its view when that is first shown, as the browser takes long to build
        # a view.
        self._top = {
            view.key: pn.Column(sizing_mode="stretch_both", margin=0, css_classes=["kg-view"])
            for view in self.views
            if view.area == "top"
        }
        self.tabs = view_choice(self.views)
        self.color = ColorControl(self.session, [view.key for view in self.views if view.colored])
        self._sidebar = pn.Column(
            *self.controls, sizing_mode="stretch_width", margin=0, css_classes=["kg-sidebar"]
        )
        self._header = pn.Row(
            self.status,
            self.toolbar,
            sizing_mode="stretch_width",
            margin=0,
            styles={"align-items": "center", "flex": "1 1 auto", "min-width": "0"},
        )
        self._main = self._lay_out()
        link(self.tabs, "value", self.session.state, "view")
        self.session.state.param.watch(lambda event: self._show(), "view")
        self.session.state.param.watch(lambda *events: self._arrange(), ["shown", "source"])
        self._arrange()
        if served:
            self._follow_page()
        else:
            self.session.start()

    def _follow_page(self):
        """On a server: begin when the browser has built the page, and end with the page."""
        pn.state.on_session_destroyed(lambda context: self._end())
        # Panel keeps what waits for a page, also for one that never appears.
        begin = WeakMethod(self._begin)
        # What is sent before the browser has built the page would be lost.
        pn.state.onload(lambda: begin()())

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

    def _begin(self):
        """On a server: start, now that the browser has built the page."""
        self.toolbar.browser.built = True
        bar = AddressBar(self.session, self.toolbar.browser)
        bar.begin((pn.state.location.search or "") if pn.state.location else "")

    def _end(self):
        """On a server: the page has been closed."""
        self.close()
        memory.give_back_soon()

    def _focus(self, name):
        """Move the keyboard to the control of a parameter."""
        for control in self.controls:
            if name in control.widgets:
                control.widgets[name].focus()

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
        return self._sidebar, self._header, self._main

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
                for view in self.views
                for fig in view.figures()
                if fig.document is not None
            ),
            None,
        )

    def _lay_out(self):
        bottom = [view for view in self.views if view.area == "bottom"]
        self._bottom = low_row(
            *bottom, widths=[view.width for view in bottom], height=BOTTOM_HEIGHT
        )
        self._bottom.css_classes = ["kg-below"]
        return pn.Column(
            Problem(self.session),
            Stopped(self.session),
            Advice(self.session),
            Tour(self.session),
            row(self.tabs, self.color),
            *self._top.values(),
            self._bottom,
            StageBars(self.session),
            sizing_mode="stretch_both",
            margin=0,
            css_classes=["kg-main"],
            stylesheets=[style_sheet("main"), style_sheet("scrolls-where-narrow")],
        )

    def _arrange(self):
        """Offer the large views that apply to the data, and show the first one if the present view
        does not.
        """
        views = [view for view in self.views if view.area == "top" and view.applies()]
        applicable = {view.label: view.key for view in views}
        state = self.session.state
        # The one to begin with comes first.
        state.param.view.objects = [
            view.key for view in sorted(views, key=lambda view: not view.opens)
        ]
        if applicable != self.tabs.options or state.view not in applicable.values():
            self.tabs.param.update(options=applicable, value=state.param.view.objects[0])
        self.tabs.visible = len(applicable) > 1

    def _show(self):
        shown = self._shown_view()
        place, first = self._top[shown.key], not any(map(len, self._top.values()))
        for key, other in self._top.items():
            other.visible = key == shown.key
        self._bottom.visible = not shown.alone
        if len(place) or first:  # what comes first is a part of the page
            self._fill(place, shown)
        else:
            with growing(self._main):
                place.append(
                    Text(
                        "Opening the view …",
                        stylesheets=[style_sheet("opening")],
                        sizing_mode="stretch_both",
                    )
                )
            # This takes a second; meanwhile the browser shows the sentence.
            self.session.mailbox.post(lambda: self._fill(place, shown))
        self.session.state.extra_methods = shown.extra_methods

    def _fill(self, place, view):
        if view is self._shown_view():
            # First, so that the windows of its plots fit when the browser builds them.
            view.appear()
        if list(place) != [view]:
            for part in view.__panel__().select(MaterialComponent):
                part.dark_theme = pn.config.theme == "dark"  # else it would be light at first
            with growing(self._main):
                place.objects = [view]

    def _shown_view(self):
        """The large view that is on the screen."""
        return next(view for view in self.views if view.key == self.session.state.view)


def view_choice(views):
    """The widget to choose which of the large views is shown."""
    return pmui.RadioButtonGroup(
        options={view.label: view.key for view in views if view.area == "top"},
        size="small",
        color="primary",
        height=30,
        margin=(4, 4, 0, 4),
        sx={
            "& .MuiToggleButton-root": {
                "textTransform": "none",
                "whiteSpace": "nowrap",
                "padding": "2px 14px",
                "lineHeight": 1.6,
                "fontSize": "13px",
            }
        },
        stylesheets=[style_sheet("scrolls-sideways-where-narrow")],
        css_classes=["kg-tabs"],
    )


def _choices(sigma, perplexity, n_rounds, n_clusters, dataset):
    """The parameters of the state that were given, checked."""
    choices = {}
    if isinstance(sigma, str) and sigma == "local":
        choices["bandwidth"] = "local"
    elif sigma is not None:
        choices["sigma"] = check_positive(sigma, "sigma")
    if perplexity is not None:
        low, high = State.param.perplexity.bounds
        choices["perplexity"] = check_count(perplexity, "perplexity", minimum=low, maximum=high)
    if n_rounds is not None:
        choices["n_rounds"] = check_count(n_rounds, "n_rounds")
    if n_clusters is not None:
        maximum = None if dataset is None else dataset.n_points
        choices["n_clusters"] = check_count(
            n_clusters, "n_clusters", maximum=maximum, reason="(the number of points)"
        )
    return choices


def _dataset(X, y):
    points = check_points(X)
    if y is None:
        return Dataset(points, name="given points")
    labels = np.asarray(y)
    if labels.shape != (len(points),):
        raise ValueError(
            f"y must have shape ({len(points)},), one label per point, got {labels.shape}"
        )
    names, numbers = np.unique(labels, return_inverse=True)
    return Dataset(
        points, numbers.astype(np.int64), name="given points", label_names=tuple(map(str, names))
    )
