"""Pictures of the results, as SVG and PNG."""

import math

import matplotlib
from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.6, 3.6  # of one plot, inches
LINE_OF_TEXT = 0.22  # of a legend, inches
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999",
          "#882255")  # fmt: skip


def draw_lines(rows, picture):
    """The lines of a `Picture`, or None if no row has what it shows."""
    rows = [
        row
        for row in rows
        if all(row[name] == value for name, value in picture.where.items())
        and all(isinstance(row.get(name), int | float) for name in (picture.x, picture.y))
        and row[picture.x] > 0
    ]
    plots = list(dict.fromkeys(row.get(picture.plots, "") for row in rows))
    if not plots:
        return None
    lines = list(dict.fromkeys(row[picture.by] for row in rows))
    height = HEIGHT + LINE_OF_TEXT * math.ceil(len(lines) / len(plots))
    figure = Figure(figsize=(WIDTH * len(plots), height), layout="constrained")
    for title, axes in zip(plots, figure.subplots(1, len(plots), squeeze=False)[0], strict=True):
        for number, line in enumerate(lines):
            found = [r for r in rows if r.get(picture.plots, "") == title and r[picture.by] == line]
            found.sort(key=lambda row: row[picture.x])
            xy = [[row[name] for row in found] for name in (picture.x, picture.y)]
            label = line if isinstance(line, str) else f"{picture.by} = {line:g}"
            color, style = COLORS[number % len(COLORS)], "-" if number < len(COLORS) else "--"
            axes.loglog(*xy, style, marker="o", markersize=4, color=color, label=label)
        axes.set(title=title, xlabel=picture.x, ylabel=picture.y)
        axes.grid(color="#ddd")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(plots), frameon=False)
    return figure


def write_picture(figure, docs, name):
    """Write a figure as SVG and PNG; the path of the SVG below `docs`."""
    folder = docs / "results"
    folder.mkdir(parents=True, exist_ok=True)
    # The same picture is the same file in every report.
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, dpi=72)
    figure.savefig(folder / f"{name}.png", dpi=120)
    return f"results/{name}.svg"
