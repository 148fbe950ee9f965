"""Plot graphs over the same points, side by side and linked."""

from functools import partial

from bokeh.events import MouseLeave, MouseMove, PanStart, SelectionGeometry, Tap
from bokeh.models import BoxSelectTool, LassoSelectTool, PanTool, PlainText

from ..assets import style_sheet
from ..coloring import PREFIX
from ..drawing.figures import GLYPH_TEXT, Frame, extent_of, plain_figure
from ..drawing.marks import no_marks, set_marks
from ..drawing.painter import FADED, MAX_GLYPHS, Painter, Scene
from ..patches.bokeh import counted_once
from ..pictures import picture_of, pixels_of
from ..point_columns import row_in_words
from ..projection import axis_names, combined, indices_within, positions
from .point_note import BOX, IMAGE, PointNote

EMPTY = "kg-empty"  # the CSS class of a plot before it is first painted
UNCOLORED = "kg-uncolored"  # and before it has shown clusters

# The parameters of the state that decide how `LinkedPlots` look.
PLOTTED = (
    *("shown", "result", "selection", "horizontal", "vertical", "show_edges", "edges"),
    *("coloring", "written", "point_size", "point_opacity", "fade"),
)


def graph_and_clusters(state, method):
    """Return the adjacency matrix of a method, or None to draw no edges, and its clusters."""
    outcome = state.outcome(method)
    if outcome is None:
        return None, None
    return outcome.adjacency if state.show_edges else None, outcome.colors


def clusters_without_edges(state, key):
    """Return None, to draw no edges, and the clusters of the KDE graph."""
    return None, graph_and_clusters(state, "kde")[1]


class LinkedPlots:
    """Show plots that share their window and the selection, painted in a thread.

    `names` are the names of the figures by the keys of the plots. ``graphs(key)`` returns the
    adjacency matrix of a plot (or None: no edges) and the colors of the points (or None: neutral);
    by default, those of the method with this key.
    ``place()`` returns what the positions depend on (a tuple, compared by identity), the names of
    the axes, and what computes the (n, 2) positions, or None while there is nothing to show; by
    default the points lie along the axes that the state names. With `colored`, the points have the
    colors that the user has chosen instead of those of `graphs`.
    """

    def __init__(self, session, names, graphs=None, place=None, colored=False):
        self._state, self._colored = session.state, colored
        self._graphs = graphs or partial(graph_and_clusters, session.state)
        self._place = place or self._along_axes
        self._job = session.latest(self._paint, deliver=self._show)
        self.frame = Frame(self._request)
        self.positions = None
        self._placed = None
        self._plots = {key: GraphPlot(name, self.frame) for key, name in names.items()}
        self._keys = None  # those held down when the mouse began to drag
        self._state.param.watch(lambda event: self._drag(), "drag")
        self._drag()
        self._nearest = session.latest(self._find, deliver=self._tell)
        for plot in self._plots.values():
            plot.figure.on_event(SelectionGeometry, self._select)
            plot.figure.on_event(PanStart, self._begin)
            plot.figure.on_event(Tap, self._tap)
            plot.figure.on_event(MouseMove, self._hover)
            plot.figure.on_event(MouseLeave, lambda event: self._hover(None))

    def __getitem__(self, key):
        return self._plots[key]

    @property
    def figures(self):
        """Return the figures, by key."""
        return {key: plot.figure for key, plot in self._plots.items()}

    def update(self):
        """Paint what has changed since the last time."""
        placed = self._place()
        if placed is None:
            return
        key, names, compute = placed
        if not self._is_placed(key):
            self._placed, self.positions = key, compute()
            self._name_axes(names)
            self.frame.fit(extent_of(self.positions))
        else:
            self._request()
        for plot in self._plots.values():
            plot.select(self._state.selection if len(self.positions) <= MAX_GLYPHS else ())

    def _name_axes(self, names):
        with counted_once(self.figures.values()):  # as each name is a model
            for plot in self._plots.values():
                plot.name_axes(*names)

    def _along_axes(self):
        state = self._state
        if state.shown is None:
            return None
        key = (state.shown, state.horizontal, state.vertical)
        return key, axis_names(*key), lambda: positions(*key)

    def _is_placed(self, key):
        """Return whether the positions are those of `key`, and not of earlier data."""
        return self._placed is not None and all(
            a is b for a, b in zip(key, self._placed, strict=True)
        )

    def _request(self):
        placed = self._place()
        if placed is None or not self._is_placed(placed[0]):
            return  # hidden while the data changed; it is updated when it appears
        viewport, state = self.frame.viewport, self._state
        scenes = {}
        for key in self._plots:
            edges, clusters = self._graphs(key)
            pale, look = state.pale_points(clusters), ()
            if self._colored:  # the marks of parts are of the clusters that were split
                words = state.named if key in ("knn", "full", "other") else state.written
                look = (state.coloring, words, state.point_size, state.point_opacity)
            shared = (state.selection, state.edges, *look)
            scenes[key] = Scene(self.positions, viewport, edges, clusters, *shared, pale=pale)
        self._job.request(scenes)

    def _paint(self, scenes, progress, publish):
        """Paint the scenes, in the worker.

        This is short and never stopped, as the painters remember what they have painted as being on
        the screen.
        """
        glyphs = {key: self._plots[key].painter.glyphs(scene) for key, scene in scenes.items()}
        if any(
            layer is not None
            for layers in glyphs.values()
            for layer in (layers.positions, layers.colors, layers.names)
        ):
            publish(glyphs)  # points need not wait for their edges
        return {key: self._plots[key].painter.image(scene) for key, scene in scenes.items()}

    def _show(self, scenes, layers):
        if any(scene.positions is not self.positions for scene in scenes.values()):
            return  # of earlier points; the next ones replace them
        for key, changes in layers.items():
            self._plots[key].show(scenes[key], changes)

    def _drag(self):
        """Set the tool that dragging uses to the one in the state."""
        kinds = {"move": PanTool, "box": BoxSelectTool, "lasso": LassoSelectTool}
        kind = kinds[self._state.drag]
        with counted_once(self.figures.values()):  # as a tool is a model
            for figure in self.figures.values():
                figure.toolbar.active_drag = next(t for t in figure.tools if isinstance(t, kind))

    def _begin(self, event):
        self._keys = event.modifiers

    def _select(self, event):
        """Find the points within a box or a lasso, whether the browser or the image draws them."""
        if event.final and event.geometry["type"] != "point":
            self._choose(event.geometry, self._keys)

    def _tap(self, event):
        """Find the point that was clicked.

        The event of the selection does not say which keys are held down.
        """
        self._choose({"type": "point", "x": event.x, "y": event.y}, event.modifiers)

    def _choose(self, geometry, keys):
        if self.positions is not None:
            found = indices_within(geometry, self.positions, reach=self._reach)
            self._state.selection = combined(self._state.selection, found, keys or {})

    @property
    def _reach(self):
        """Return the largest distance between the mouse and a point that it selects."""
        return 6 * self.frame.pixel[0]

    def _hover(self, event):
        """Look for the point under the mouse, whether the browser or the image draws it.

        None means that the mouse has left.
        """
        if self.positions is not None:
            self._nearest.request(
                None
                if event is None or event.x is None
                else (self.positions, event.x, event.y, self._reach, self._state.shown)
            )

    @staticmethod
    def _find(request, progress, publish):
        """Return the point under the mouse with its picture, or None."""
        if request is None:
            return None
        places, x, y, reach, dataset = request
        found = indices_within({"type": "point", "x": x, "y": y}, places, reach)
        if not len(found):
            return None
        known = len(places) == dataset.n_points
        return int(found[0]), picture_of(dataset, found[0]) if known else None

    def _tell(self, request, found):
        notes = [plot.note for plot in self._plots.values()]
        if found is None or request[0] is not self.positions:
            for note in notes:
                note.hide()
            return
        point, picture = found
        for note in notes:
            note.show(self.positions[point], self._words(point), picture)

    def _words(self, point):
        """Return the text for the point under the mouse: its place in the graph, and its row."""
        outcome = self._state.outcome("kde")
        lines = [f"point {point:,}"]
        if outcome is not None and point < len(outcome.colors):
            lines[0] += f", {self._state.cluster_words(outcome.colors[point])}"
            lines.append(f"kernel degree {outcome.graph.kernel_degrees[point]:.3g}")
        if len(self.positions) == self._state.shown.n_points:
            first, pixels = self._state.color.removeprefix(PREFIX), pixels_of(self._state.shown)
            seen = () if pixels is None else pixels.columns
            lines += row_in_words(self._state.shown, point, first, seen)
        return "\n".join(lines)


class GraphPlot:
    """Show one figure: an image of the edges, and of many points, under glyphs of few points."""

    def __init__(self, name, frame):
        self.painter = Painter()
        self.figure = plain_figure(
            tools="pan,wheel_zoom,box_select,lasso_select,tap,zoom_in,zoom_out,reset",
            description=name,
            x_range=frame.x_range,
            y_range=frame.y_range,
            css_classes=[EMPTY, UNCOLORED],
            stylesheets=[style_sheet("empty-plot")],
        )
        self._image = no_marks(*IMAGE)
        self._points = no_marks("x", "y", "color")
        self.figure.image_rgba(source=self._image, name="image")
        self._renderer = self.figure.scatter(
            fill_color="color",
            line_color=None,
            nonselection_fill_alpha=FADED,
            source=self._points,
            name="points",
        )
        self._names = no_marks("x", "y", "name")
        self.figure.text(
            text="name", source=self._names, name="names", anchor="center", **BOX, **GLYPH_TEXT
        )
        self.note = PointNote(self.figure, frame)
        frame.add(self.figure)

    def name_axes(self, horizontal, vertical):
        """Write the names of the axes, unless they are as short as "x" and "y"."""
        for axis, name in ((self.figure.xaxis, horizontal), (self.figure.yaxis, vertical)):
            text = name if len(name) > 2 else ""
            if axis[0].axis_label is None or axis[0].axis_label.text != text:
                axis.axis_label = PlainText(text=text)  # a str may be TeX
        # Pixels for the numbers of the vertical axis and for its name. They are fixed, as numbers
        # of other widths would change the width of the plot, and thus the numbers.
        self.figure.min_border_left = 42 + (26 if len(vertical) > 2 else 0)

    def select(self, indices):
        """Fade the points that the browser draws, except `indices`; none if these are empty."""
        indices = [int(i) for i in indices]
        if self._points.selected.indices != indices:
            self._points.selected.indices = indices

    def show(self, scene, layers):
        """Send what has changed to the browser."""
        glyph = self._renderer.glyph
        if (size := 2 * scene.radius) != glyph.size:
            glyph.size = size
        if scene.opacity != glyph.fill_alpha:
            glyph.fill_alpha = scene.opacity
            self._renderer.nonselection_glyph.fill_alpha = FADED * scene.opacity
        if layers.positions is not None:  # the edges that are drawn belong to other points
            set_marks(self._image)
        if layers.image is not None:
            x0, x1, y0, y1, *_ = scene.viewport
            set_marks(self._image, [(layers.image, x0, y0, x1 - x0, y1 - y0)])
            past = {EMPTY} if scene.colors is None else {EMPTY, UNCOLORED}
            self.figure.css_classes = [c for c in self.figure.css_classes if c not in past]
        if layers.positions is not None:
            x, y = layers.positions.T.copy()
            self._points.data = {"x": x, "y": y, "color": layers.colors}
        elif layers.colors is not None:
            self._points.data["color"] = layers.colors
        if layers.names is not None:
            set_marks(self._names, layers.names)
