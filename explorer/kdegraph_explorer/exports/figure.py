"""Write the present result as a figure for a paper, with Matplotlib.

Matplotlib takes a second to load, so that it is imported when a figure is drawn. All text is passed
with ``parse_math=False``, as a dollar sign would begin a formula otherwise.
"""

import io
import warnings

import numpy as np

from ..drawing.palette import BETWEEN, METHOD
from .still import edge_image, legend_of, still_of, window

FORMATS = ("png", "svg", "pdf")
SCALES = (2, 3, 4)
DOTS_PER_INCH = 150  # at scale 1
MAX_LINES = 20_000  # edges of a graph that are drawn as lines; more are drawn as an image
MAX_MARKS = 20_000  # points that are drawn as marks; more are drawn as an image
WIDTH, HEIGHT = 7.2, 4.9  # inches; the width is that of two columns of a page
SMALL, NORMAL, LARGE = 6.5, 7.5, 10  # sizes of text in points
INK, FAINT = "#1F2933", "#5A636E"
STYLE = {
    "font.size": NORMAL,
    "axes.linewidth": 0.5,
    "axes.edgecolor": FAINT,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "svg.fonttype": "none",  # text can be edited
    "pdf.fonttype": 42,
}


def write(session, kind="png", *, scale=2, title=None):
    """Write points, edges and eigenvalues of every graph that is shown, in one of `FORMATS`.

    The size of a PNG is a multiple of the size on the screen, one of `SCALES`. The title is by
    default the name of the data.
    """
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(map(str, SCALES))}, got {scale!r}")
    import matplotlib

    still = still_of(session.state)
    metadata = {
        "png": {"Software": None},
        "svg": {"Creator": None, "Date": None},
        "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    }
    # Matplotlib's own function to restore its defaults warns of one of its settings, and cannot
    # suppress this while other threads change the filters of warnings.
    defaults = {
        name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"
    }
    buffer = io.BytesIO()
    # Figures look alike whatever settings the user has.
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcParams.update(defaults | STYLE)
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        draw(still, still.name if title is None else title, scale).savefig(
            buffer, format=kind, dpi=DOTS_PER_INCH * scale, metadata=metadata[kind]
        )
    return buffer.getvalue()


def draw(still, title, scale):
    """Draw the figure of a `Still`: a `matplotlib.figure.Figure`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    words = "\n".join([still.parameters, *_what_is_an_image(still)])
    head, body, foot = figure.subfigures(3, 1, height_ratios=(0.12, 1, 0.12))
    head.text(
        0.01, 0.62, title, size=LARGE, weight="bold", color=INK, va="center", parse_math=False
    )
    head.text(0.01, 0.12, words, size=SMALL, color=FAINT, va="center", parse_math=False)
    axes = body.subplots(2, len(still.graphs), height_ratios=(3.2, 1), squeeze=False)
    for number, graph in enumerate(still.graphs):
        first = number == 0
        _draw_graph(axes[0, number], still, graph, scale, first)
        _draw_eigenvalues(axes[1, number], graph, first)
    marks, words = zip(*_legend(still), strict=True)
    legend = foot.legend(
        marks,
        [" "] * len(marks),
        loc="center",
        ncols=min(len(marks), 7),
        frameon=False,
        fontsize=SMALL,
        handletextpad=0.3,
        columnspacing=1.2,
    )
    # Labels that begin with an underscore would be omitted if they were passed above.
    for text, label in zip(legend.get_texts(), words, strict=True):
        text.set(text=label, parse_math=False)
    # The layout changes the numbers of the axes, and only the next one has room for them.
    figure.draw_without_rendering()
    return figure


def _what_is_an_image(still):
    """Yield a sentence if not everything is drawn as lines and marks."""
    if not all(map(_as_lines, still.graphs)):
        yield f"Where a graph has more than {MAX_LINES:,} edges, they are drawn as an image."
    elif len(still.positions) > MAX_MARKS:
        yield f"More than {MAX_MARKS:,} points are drawn as an image."


def _as_lines(graph):
    return graph.edges is None or len(graph.edges[0]) <= MAX_LINES


def _draw_graph(axes, still, graph, scale, first):
    """Draw points and edges of one graph, as large on the page as they look on the screen."""
    viewport = window(still, 520, 400)  # pixels of a plot on the screen
    x0, x1, y0, y1, width, height = viewport
    axes.set(xlim=(x0, x1), ylim=(y0, y1))
    axes.set_box_aspect(height / width)
    axes.set_title(graph.title, size=SMALL, color=INK, parse_math=False)
    axes.set_xlabel(still.axes[0], parse_math=False)
    if first:
        axes.set_ylabel(still.axes[1], parse_math=False)
    as_marks = len(still.positions) <= MAX_MARKS
    if _as_lines(graph) and as_marks:
        axes.add_collection(_lines(still, graph))
    else:
        pixels = edge_image(still, graph, viewport, not as_marks, scale)
        axes.imshow(pixels, extent=viewport[:4], aspect="auto", zorder=1)
    if as_marks:
        inches = WIDTH / len(still.graphs) / width  # of a pixel of the screen
        axes.scatter(
            *still.positions.T,
            s=(2 * 72 * inches * still.radius(viewport)) ** 2,
            c=np.column_stack([graph.palette[graph.colors] / 255, still.opacities(graph)]),
            linewidths=0,
            zorder=2,
        )


def _lines(still, graph):
    """Return the edges in the color of both their points, or gray between two colors."""
    from matplotlib.collections import LineCollection

    rows, columns = graph.edges or (np.empty(0, int), np.empty(0, int))
    palette = graph.palette / 255
    same = graph.colors[rows] == graph.colors[columns]
    colors = palette[np.where(same, graph.colors[rows], len(palette) - 1)]
    opacity = float(np.clip(3000 / max(1, len(rows)), 0.15, 0.7))
    segments = np.stack([still.positions[rows], still.positions[columns]], axis=1)
    return LineCollection(segments, colors=colors, linewidths=0.35, alpha=opacity, zorder=1)


def _draw_eigenvalues(axes, graph, first):
    """Draw marks on stems; those after the gap are gray."""
    numbers = np.arange(1, len(graph.eigenvalues) + 1)
    colors = np.where(numbers <= graph.n_clusters, METHOD[graph.method], BETWEEN)
    axes.vlines(numbers, 0, graph.eigenvalues, colors=colors, linewidth=1)
    axes.scatter(numbers, graph.eigenvalues, c=colors, s=12, zorder=2, clip_on=False)
    axes.set_xticks(numbers)
    axes.set_ylim(bottom=min(0.0, float(graph.eigenvalues.min())))
    axes.set_xlabel("number of the eigenvalue")
    if first:
        axes.set_ylabel("eigenvalue")
    axes.spines[["top", "right"]].set_visible(False)


def _legend(still):
    """Return pairs of a mark and the words that explain its color."""
    from matplotlib.lines import Line2D

    dot = {"marker": "o", "linestyle": "", "markersize": 4}
    pairs = [(Line2D([], [], color=color, **dot), words) for color, words in legend_of(still)]
    if any(graph.edges is not None for graph in still.graphs):
        between = "clusters" if still.coloring is None else "colors"
        pairs.append((Line2D([], [], color=BETWEEN, linewidth=1), f"edge between {between}"))
    return pairs
