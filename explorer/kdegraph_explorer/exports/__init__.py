"""Save a session as files. To add a kind of file, write a function and a line in `EXPORTS`."""

import io
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import kdegraph
import numpy as np
import scipy.sparse
from kdegraph.datasets import Column, Table

from ..edits import number_of
from ..results import METHODS, rows_of
from . import figure, html_page, script, session_file


@dataclass(frozen=True)
class Export:
    """A kind of file, with a `label` in the menu.

    `ending` follows the name of the data in the name of the file. ``make(session)`` returns bytes.
    If `reproducible`, the file has results, which then are those of the present choices; see
    `Session.reproduce`.
    """

    key: str
    label: str
    ending: str
    make: Any
    reproducible: bool = True

    def filename(self, session):
        """Return a name for the file, made of the name of the data and the ending."""
        stem = Path(session.state.dataset.name).stem
        name = "".join(c if c.isalnum() else "-" for c in stem).strip("-")
        return f"{name or 'points'}{self.ending}"


def label_table(session):
    """Return a table of the points with their clusters, one row each.

    It has the number of a point or its row in the file, its cluster in each graph as `own_table`
    has it, the name of its cluster in the KDE graph if any has one, its true label if known, and
    whether it is selected.
    """
    import pyarrow as pa

    state = session.state
    dataset = state.shown
    columns = {"row": rows_of(dataset)}
    for method in METHODS:
        outcome = state.outcome(method)
        if outcome is not None:
            columns |= _cluster_columns(outcome, f"{method}_")
        if method == "kde" and outcome is not None and state.named:
            columns["kde_cluster_name"] = _by_cluster(outcome, state.named)
    if dataset.y is not None:
        columns["reference"] = (
            np.asarray(dataset.label_names)[dataset.y] if dataset.label_names else dataset.y
        )
    selected = np.zeros(dataset.n_points, dtype=bool)
    selected[state.selection] = True
    return pa.table({**columns, "selected": selected})


def _cluster_columns(outcome, prefix=""):
    """Return the number of the cluster of each point as the page shows it, and the part of a
    cluster that was split, such as "2a", if any was: columns by name.
    """
    marks = {number: outcome.marks[number] for number in outcome.clusters}
    numbers = {number: number_of(mark) for number, mark in marks.items()}
    columns = {f"{prefix}cluster": _by_cluster(outcome, numbers)}
    if not all(mark.isdigit() for mark in marks.values()):
        columns[f"{prefix}subcluster"] = _by_cluster(outcome, marks)
    return columns


def _by_cluster(outcome, values):
    """Return a value for the cluster of each point, from a dict by its number in `colors`; null
    where there is none.
    """
    import pyarrow as pa

    numbers = range(int(outcome.colors.max()) + 1)
    return pa.array([values.get(number) for number in numbers]).take(outcome.colors)


def own_table(session):
    """Return the user's table in its own order with the clusters of the KDE graph.

    They have the numbers and names that the page shows, the part of a cluster that was split, such
    as "2a", and the probability of each point, where these are known; the cells are empty in rows
    that are not explored. Points without a table have their coordinates.
    """
    import pyarrow as pa

    state = session.state
    dataset, outcome = state.shown, state.outcome("kde")
    table = getattr(dataset, "table", None)
    if table is None:
        table = Table([Column(name, "number", x) for name, x in _coordinates(dataset).items()])
    places = np.full(table.n_rows, -1)
    places[rows_of(dataset)] = np.arange(dataset.n_points)
    at = pa.array(places, mask=places < 0)
    columns = {name: values.take(at) for name, values in _cluster_columns(outcome).items()}
    if state.named:
        columns["cluster_name"] = _by_cluster(outcome, state.named).take(at)
    if outcome.vote is not None:
        columns["probability"] = pa.array(outcome.vote.probabilities).take(at)
    return table.to_arrow(columns)


def edge_table(session):
    """Return a table of all edges of the KDE graph, each once, with their weights."""
    import pyarrow as pa

    upper = scipy.sparse.triu(session.state.outcome("kde").adjacency, k=1).tocoo()
    source, target = upper.coords
    return pa.table({"source": source, "target": target, "weight": upper.data})


def point_table(session):
    """Return a table of the coordinates of the points, by name of the feature."""
    import pyarrow as pa

    return pa.table(_coordinates(session.state.shown))


def _coordinates(dataset):
    return dict(zip(map(str, dataset.feature_names), dataset.X.T, strict=True))


def graph_file(ending, session):
    """Write the KDE graph: for `kdegraph.SimilarityGraph.load` if the ending is .npz, otherwise for
    other programs, with what is known of its points.
    """
    outcome = session.state.outcome("kde")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{ending}"
        if ending == ".npz":
            outcome.graph.save(path)
        else:
            attributes = _coordinates(session.state.shown) | label_table(session).to_pydict()
            kdegraph.export_graph(path, outcome.adjacency, attributes=attributes)
        return path.read_bytes()


def table_export(key, label, ending, table, kind="parquet", **options):
    """Return the export of ``table(session)``, a table of Arrow, as "csv" or "parquet"."""

    def make(session):
        from pyarrow import csv, parquet

        write = {"csv": csv.write_csv, "parquet": parquet.write_table}[kind]
        buffer = io.BytesIO()
        write(table(session), buffer)
        return buffer.getvalue()

    words = {"csv": "CSV", "parquet": "Parquet"}[kind]
    return Export(key, f"{label}, {words}", f"{ending}.{kind}", make, **options)


def figure_export(kind, **options):
    """Return the export of a figure; `options` are those of `figure.write`."""
    write = partial(figure.write, kind=kind, **options)
    return Export(f"figure-{kind}", f"Figure, {kind.upper()}", f".{kind}", write)


EXPORTS = (
    Export("session", "Session file", "-session.json", session_file.write, reproducible=False),
    Export("script", "Python script", ".py", script.write),
    table_export("table-csv", "Table with clusters", "-clusters", own_table, "csv"),
    table_export("table-parquet", "Table with clusters", "-clusters", own_table),
    table_export("labels-csv", "Labels", "-labels", label_table, "csv"),
    table_export("labels-parquet", "Labels", "-labels", label_table),
    Export("graph", "Graph, NPZ", "-graph.npz", partial(graph_file, ".npz")),
    Export("graphml", "Graph, GraphML", ".graphml", partial(graph_file, ".graphml")),
    Export("gexf", "Graph, GEXF", ".gexf", partial(graph_file, ".gexf")),
    table_export("edges", "Edges", "-edges", edge_table),
    table_export("points", "Points", "-points", point_table, reproducible=False),
    Export("page", "Page, HTML", "-view.html", html_page.write),
)


def export_to(path, **options):
    """Return the `Export` that writes a file with this name, by its ending.

    `options` are those of `figure.write`. A ValueError says if the name ends otherwise, or if
    options are given for something else.
    """
    ending = path.suffix.lower()
    keys = {".html": "page", ".graphml": "graphml", ".gexf": "gexf", ".npz": "graph"}
    figures = [f".{kind}" for kind in figure.FORMATS]
    if ending in figures:
        return figure_export(ending[1:], **options)
    if ending not in keys:
        raise ValueError(
            f"file must end with one of {', '.join([*figures, *keys])}, got {path.name!r}"
        )
    if options:
        raise ValueError(f"{' and '.join(options)} are for figures, and {path.name!r} is none")
    return next(export for export in EXPORTS if export.key == keys[ending])
