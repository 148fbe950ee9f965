"""Take the present result as it stands, for pictures and files, and draw a picture of it."""

import io
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ..coloring import Coloring
from ..drawing.edges import chosen_edges
from ..drawing.figures import Frame, extent_of
from ..drawing.painter import MAX_GLYPHS, colors_of, faded, point_opacities, point_radius
from ..drawing.palette import BETWEEN, CLUSTER_COLORS, METHOD, cluster_colors, in_hex
from ..drawing.raster import draw
from ..projection import positions
from ..results import ALL_METHODS, METHODS

WIDTH, PANEL_HEIGHT, SPECTRUM_HEIGHT, GAP = 1200, 420, 130, 16  # pixels of the picture
TITLE_SIZE, TEXT_SIZE = 19, 15  # pixels
INK, FAINT = "#1F2933", "#6B7480"
SMOOTHING = 2  # circles are drawn this much larger, and then scaled down


class Still(NamedTuple):
    """The present result of a session, which does not change any more.

    `name` is that of the data; `parameters` say how many points there are, how the graphs were
    made, and what the colors stand for if not for clusters; `axes` are two names. `positions` is an
    (n, 2) array; `names` are the words for all clusters by number, in order; `coloring` is None if
    points are colored by cluster. `size` and `opacity` are factors of the radius of the points, and
    of their opacity.
    """

    name: str
    parameters: str
    axes: tuple
    positions: np.ndarray
    selection: np.ndarray
    names: dict
    coloring: Coloring | None
    size: float
    opacity: float
    graphs: tuple

    def opacities(self, graph):
        """Return the opacity of each point in the plot of a graph, from 0 to 1."""
        return point_opacities(len(self.positions), self.selection, self.opacity, graph.pale)

    def radius(self, viewport):
        """Return the radius of the points in pixels."""
        return point_radius(len(self.positions), viewport, self.size)

    @property
    def title(self):
        """Return the data and the parameters in words."""
        return f"{self.name}: {self.parameters}"


class StillGraph(NamedTuple):
    """One graph of a `Still`.

    `clusters` (n,) are numbers as in colors and names; `colors` (n,) are rows of the `palette` (k +
    1, 3), whose last row is neutral. `edges` are (rows, columns) of those that are drawn, or None
    if no edges are shown. Points that are `pale`, (n,) bool, are in doubt; None if none are.
    """

    method: str
    title: str
    clusters: np.ndarray
    colors: np.ndarray
    palette: np.ndarray
    eigenvalues: np.ndarray
    n_clusters: int
    edges: tuple | None
    pale: np.ndarray | None


def legend_of(still):
    """Return the entries of a legend: pairs of a color, #rrggbb, and what it stands for."""
    coloring = still.coloring
    if coloring is None:
        colors = cluster_colors(max(still.names) + 1)
        entries = [(in_hex(colors[c]), words) for c, words in still.names.items()]
        shown, more = entries[: len(CLUSTER_COLORS)], entries[len(CLUSTER_COLORS) :]
        return shown + [(BETWEEN, f"{len(more)} more cluster{'s' * (len(more) != 1)}")] * bool(more)
    if coloring.limits is None:
        return [(color, name) for name, color in coloring.entries]
    low, high = coloring.limits
    ends = (in_hex(coloring.palette[row]) for row in (0, -2))
    return list(zip(ends, (f"{coloring.name}: {low} or less", f"{high} or more"), strict=True))


def still_of(state, methods=tuple(METHODS)):
    """Return the present result of a `State` as a `Still`, or None if there is none.

    The graphs are those of `methods`, keys of `ALL_METHODS`.
    """
    outcomes = state.outcomes(methods)
    if "kde" not in outcomes:
        return None
    dataset, n_rounds = state.shown, outcomes["kde"].graph.n_rounds
    n, d = dataset.X.shape
    colored = "" if state.coloring is None else f"; colors: {state.coloring.name}"
    width = f"perplexity {state.perplexity}" if state.is_local else f"sigma {state.sigma:.3g}"
    return Still(
        dataset.name,
        f"{n:,} points in {d} dimensions; {width}, L = {n_rounds}, seed {state.seed}; "
        f"{state.n_neighbors} nearest neighbors{colored}",
        (state.horizontal, state.vertical),
        positions(dataset, state.horizontal, state.vertical),
        state.selection,
        {c: state.cluster_words(c) for c in outcomes["kde"].marks},
        state.coloring,
        state.point_size,
        state.point_opacity,
        tuple(_graph(state, outcome) for outcome in outcomes.values()),
    )


def _graph(state, outcome):
    edges = None
    if state.show_edges:
        edges = chosen_edges(outcome.adjacency, state.selection, state.edges)
    score = outcome.scores.get("Adjusted Rand index")
    number = f"{outcome.n_shown} cluster{'s' * (outcome.n_shown != 1)}"
    words = [f"{outcome.adjacency.nnz // 2:,} edges", number]
    if score is not None:
        words.append(f"adjusted Rand index {score:.3f}")
    return StillGraph(
        outcome.method,
        f"{ALL_METHODS[outcome.method]}: {', '.join(words)}",
        outcome.colors,
        *colors_of(state.coloring, outcome.colors),
        np.asarray(outcome.spectrum.eigenvalues),
        outcome.n_clusters,
        edges,
        state.pale_points(outcome.colors),
    )


def png(still):
    """Draw points and edges of both graphs and their eigenvalues; return a PNG file as bytes."""
    head = GAP + TITLE_SIZE + GAP
    height = head + TEXT_SIZE + GAP + PANEL_HEIGHT + GAP + SPECTRUM_HEIGHT + GAP
    picture = Image.new("RGB", (WIDTH, height), "#FFFFFF")
    pen = ImageDraw.Draw(picture)
    pen.text((GAP, GAP), still.title, fill=INK, font=ImageFont.load_default(TITLE_SIZE))
    width = (WIDTH - (len(still.graphs) + 1) * GAP) // len(still.graphs)
    for number, graph in enumerate(still.graphs):
        left = GAP + number * (width + GAP)
        pen.text((left, head), graph.title, fill=FAINT, font=ImageFont.load_default(TEXT_SIZE))
        top = head + TEXT_SIZE + GAP // 2
        panel = panel_of(still, graph, window(still, width, PANEL_HEIGHT))
        picture.paste(panel, (left, top), panel)
        pen.rectangle((left, top, left + width, top + PANEL_HEIGHT), outline="#D5DAE0")
        _draw_eigenvalues(pen, graph, left, top + PANEL_HEIGHT + GAP, width)
    buffer = io.BytesIO()
    picture.quantize(256, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
    return buffer.getvalue()


def window(still, width, height):
    """Return (x0, x1, y0, y1, width, height) of a plot that shows all points of a `Still`."""
    frame = Frame()
    frame.size = (width, height)
    frame.fit(extent_of(still.positions))
    return frame.viewport


def edge_image(still, graph, viewport, points=False, sharpness=1):
    """Draw the edges of a graph, and on request its points; return (height, width, 4) bytes.

    The image has `sharpness` times as many pixels along a side as the viewport.
    """
    viewport = (*viewport[:4], *(sharpness * size for size in viewport[4:]))
    colors = graph.colors
    if points:
        colors = faded(colors, graph.palette, still.selection)
    rows = draw(
        viewport,
        still.positions,
        colors,
        graph.palette,
        edges=graph.edges,
        radius=still.radius(viewport) if points else None,
        opacity=still.opacity,
        pale=graph.pale,
    )
    return rows[::-1].copy().view(np.uint8).reshape(*rows.shape, 4)


def panel_of(still, graph, viewport):
    """Draw points and edges of one graph; up to `MAX_GLYPHS` points are drawn as circles."""
    few = len(still.positions) <= MAX_GLYPHS
    panel = Image.fromarray(edge_image(still, graph, viewport, points=not few))
    if not few:
        return panel
    x0, x1, y0, y1, width, height = viewport
    layer = Image.new("RGBA", (SMOOTHING * width, SMOOTHING * height))
    pen = ImageDraw.Draw(layer)
    radius = SMOOTHING * still.radius(viewport)
    x = (still.positions[:, 0] - x0) / (x1 - x0) * layer.width
    y = (y1 - still.positions[:, 1]) / (y1 - y0) * layer.height
    opacity = np.round(255 * still.opacities(graph))
    for point in np.argsort(opacity, kind="stable"):
        color = (*map(int, graph.palette[graph.colors[point]]), int(opacity[point]))
        pen.circle((x[point], y[point]), radius, fill=color)
    panel.alpha_composite(layer.resize((width, height), Image.Resampling.LANCZOS))
    return panel


def _draw_eigenvalues(pen, graph, left, top, width):
    """Draw dots on stems; those after the gap are gray."""
    small = ImageFont.load_default(TEXT_SIZE - 2)
    bottom = top + SPECTRUM_HEIGHT - TEXT_SIZE - 6
    highest = max(float(graph.eigenvalues[-1]), 1e-12)
    step = width / (len(graph.eigenvalues) + 1)
    for number, value in enumerate(graph.eigenvalues, start=1):
        x = left + number * step
        y = bottom - (bottom - top - 8) * float(value) / highest
        color = METHOD[graph.method] if number <= graph.n_clusters else BETWEEN
        pen.line((x, bottom, x, y), fill=color, width=2)
        pen.circle((x, y), 5, fill=color)
        pen.text((x, bottom + 6), str(number), fill=FAINT, font=small, anchor="ma")
    words = f"eigenvalues up to {highest:.3g}"
    pen.text((left, top), words, fill=FAINT, font=small)
