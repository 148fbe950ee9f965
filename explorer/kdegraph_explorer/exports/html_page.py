"""Write the present result as an HTML page that needs neither Python nor a network."""

import numpy as np
from bokeh.embed import components
from bokeh.layouts import column, row
from bokeh.models import BoxSelectTool, ColumnDataSource, Div, HoverTool, PlainText
from bokeh.resources import Resources
from markupsafe import Markup, escape

from ..drawing.eigenvalue_plot import EigenvaluePlot
from ..drawing.figures import plain_figure
from ..drawing.painter import FADED, glyph_colors
from ..pictures import png_address
from ..results import METHODS
from .still import edge_image, legend_of, still_of, window

WIDTH, HEIGHT = 500, 400  # pixels of the plots; two and their axes fit beside each other in 1,280
SHARPNESS = 2  # pixels of the images of edges per pixel of the plots
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
{scripts}
</head>
<body>{place}{script}</body>
</html>
"""


def write(session):
    """Write the present result as an HTML page.

    It has linked plots of both graphs with points to select and hover over, images of the edges,
    and the eigenvalues.
    """
    still = still_of(session.state)
    viewport = window(still, WIDTH, HEIGHT)
    # At most 50,000 points can be selected and hovered over; of more, an evenly spread part.
    live = np.arange(0, len(still.positions), -(-len(still.positions) // 50_000))
    points = points_of(still, live)
    plots = [_plot(still, graph, viewport, points) for graph in still.graphs]
    for plot in plots[1:]:
        plot.x_range, plot.y_range = plots[0].x_range, plots[0].y_range
    columns = [
        column(_text(Markup("<b>{}</b>").format(graph.title)), plot, _spectrum(graph))
        for graph, plot in zip(still.graphs, plots, strict=True)
    ]
    words = "Drag in a plot to select points in both plots; other tools are beside it."
    if len(live) < len(still.positions):
        words += f" {len(live):,} of the points can be selected; all of them are drawn."
    heading = Markup("<h2>{}</h2>{}").format(still.title, words)
    entry = Markup('<span style="color:{}">●</span> {}')
    legend = Markup(" &ensp; ").join(map(entry.format, *zip(*legend_of(still), strict=True)))
    page = column(_text(heading, 2 * WIDTH), _text(legend, 2 * WIDTH), row(*columns, spacing=16))
    # Bokeh's own function for this would add the scripts of Panel, which look for further files.
    script, place = components(page)
    resources = Resources(mode="inline", components=["bokeh", "bokeh-widgets"])
    scripts = "".join(f"<script>{one}</script>" for one in resources.js_raw)
    title = escape(still.title)
    return PAGE.format(title=title, scripts=scripts, place=place, script=script).encode()


def _text(markup, width=WIDTH):
    """Return a paragraph of the page."""
    return Div(text=str(markup), disable_math=True, width=width)


def points_of(still, live):
    """Return the source of points that can be selected, with the clusters of every graph."""
    data = {"x": still.positions[live, 0], "y": still.positions[live, 1], "point": live}
    for graph in still.graphs:
        data[f"{graph.method}_color"] = glyph_colors(
            graph.palette, graph.colors[live], None if graph.pale is None else graph.pale[live]
        )
        names = np.array([still.names.get(c, "") for c in range(max(still.names) + 1)])
        data[f"{graph.method}_cluster"] = names[graph.clusters[live]]
    source = ColumnDataSource(data)
    source.selected.indices = np.flatnonzero(np.isin(live, still.selection)).tolist()
    return source


def _plot(still, graph, viewport, points):
    """Draw points and edges of one graph."""
    x0, x1, y0, y1, *_ = viewport
    figure = plain_figure(
        tools="pan,wheel_zoom,box_select,lasso_select,tap,reset",
        description=f"{METHODS[graph.method]}: points and edges",
        x_range=(x0, x1),
        y_range=(y0, y1),
    )
    _fix_size(figure, HEIGHT)
    figure.toolbar_location = "right"
    figure.toolbar.update(logo=None, active_drag=figure.select_one(BoxSelectTool))
    for axis, name in zip((figure.xaxis, figure.yaxis), still.axes, strict=True):
        axis.axis_label = PlainText(text=name)  # a str may be TeX
    # If not all points are live, the image has all of them.
    many = len(points.data["point"]) < len(still.positions)
    url = png_address(edge_image(still, graph, viewport, many, SHARPNESS))
    figure.image_url([url], x=x0, y=y1, w=x1 - x0, h=y1 - y0, name="edges")
    dots = figure.scatter(
        size=2 * still.radius(viewport),
        fill_color=f"{graph.method}_color",
        fill_alpha=still.opacity,
        line_color=None,
        nonselection_fill_alpha=FADED * still.opacity,
        source=points,
        name="points",
    )
    tips = [
        ("point", "@point"),
        *((METHODS[other.method], f"@{other.method}_cluster") for other in still.graphs),
    ]
    figure.add_tools(HoverTool(renderers=[dots], tooltips=tips, point_policy="snap_to_data"))
    return figure


def _spectrum(graph):
    """Return the plot of the eigenvalues of one graph."""
    plot = EigenvaluePlot(f"{METHODS[graph.method]}: eigenvalues", [graph.method])
    plot.show({graph.method: graph.eigenvalues}, graph.n_clusters)
    _fix_size(plot.figure, 150)
    return plot.figure


def _fix_size(figure, height):
    """Set the size in pixels of the area within the axes of a figure."""
    figure.update(
        sizing_mode=None,
        width=None,
        height=None,
        frame_width=WIDTH,
        frame_height=height,
        min_border_left=60,  # so that the areas lie below each other
    )
