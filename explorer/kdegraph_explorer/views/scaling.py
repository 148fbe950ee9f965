"""Measure how long each graph takes, against the number of points, on demand."""

from dataclasses import replace
from functools import partial

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui

from ..algorithm.timing import (
    FULL_TIMED_UP_TO,
    RECORDED,
    STAGES,
    TIMED_SIZES,
    WHERE,
    Series,
    measure,
)
from ..assets import style_sheet
from ..drawing.elements import LiveElement
from ..drawing.palette import MARKERS, METHOD
from ..results import ALL_METHODS
from . import describe
from .base import View, beside
from .markup import Markup, html_table, styled_text
from .scores import colored, number, table_pane
from .widgets import ONE_LINE, button, filling_column


class ScalingView(View):
    """Measure how long each graph takes, against the number of points like the present ones.

    `timings` is what is shown: a list of recorded `Timing` until some were `measured` on this
    computer. The widgets `methods`, `largest`, `run` and `halt` choose which graphs are measured,
    and up to how many points, and start and stop it.
    """

    key, label, area = "scaling", "Scaling", "top"
    alone = True

    def __init__(self, session):
        super().__init__(session)
        self._job = session.latest(
            measure, deliver=self._show, fail=self._fail, report=self._report
        )
        self.timings = list(RECORDED)
        self.measured = False
        self.methods, self.largest = method_choice(), size_choice()
        self.run = button(
            "Measure",
            "Measure anew, small sizes first.",
            self.start,
            variant="contained",
            color="primary",
            width=100,
            margin=(8, 4),
        )
        self.halt = button(
            "Stop",
            "Stop measuring; what was measured stays.",
            self.stop,
            width=80,
            margin=(8, 4),
            disabled=True,
        )
        self._bar = pmui.LinearProgress(
            value=0, variant="determinate", width=110, margin=(22, 12), visible=False
        )
        self._words = styled_text(
            "one-line",
            height=20,
            margin=(16, 4),
            styles={"flex": "1 1 60px", "width": "auto", "min-width": "0"},
        )
        axes = {"xlabel": "points", "ylabel": "seconds", "logx": True, "logy": True}
        self._plot = LiveElement("Scaling: seconds", draw_timings, "kg-scaling", **axes)
        self._table = table_pane("kg-timings", "kg-scroll")
        self._body = self._lay_out()
        self._tabulate()
        self.follow(lambda: self._plot.show(self.timings))

    def _lay_out(self):
        controls = pn.Row(
            self.methods,
            self.largest,
            self.run,
            self.halt,
            self._bar,
            self._words,
            sizing_mode="stretch_width",
            min_height=56,
            margin=(4, 0),
            stylesheets=[style_sheet("wraps"), style_sheet("shrinks")],
        )
        plot = self.card(
            "Seconds",
            "graph, eigenvalues and clusters together; both axes logarithmic",
            self._plot.pane,
            figure=self._plot.name,
            describe=self.describe_timings,
        )
        limit = f"{FULL_TIMED_UP_TO:,} points"
        table = self.card(
            "Table", f"seconds by stage; the full graph stops at {limit}", self._table
        )
        return filling_column(
            controls,
            beside(plot, table, widths=[5, 4], least=[0, 372], min_height=240),
            stylesheets=[style_sheet("below-where-narrow"), style_sheet("shrinks")],
        )

    def start(self):
        """Measure anew."""
        series = self.series()
        if series is None:
            return
        self._let_start(False)
        self._bar.value = 0
        self._words.content = "starting …"
        self._job.request(series, replace=True)

    def stop(self):
        """Stop measuring; what was measured stays."""
        self._job.cancel()
        self._words.content = "stopping …"

    def series(self):
        """Return what to measure, or None without data or methods."""
        state = self.state
        methods = tuple(method for method in ALL_METHODS if method in self.methods.value)
        if state.dataset is None or not methods:
            return None
        source, X = self.session.sources[state.source], state.dataset.embedded
        like = source.sized(2) is not None
        points = (lambda n: source.sized(n)().embedded) if like else partial(part_of, X)
        sizes = tuple(n for n in TIMED_SIZES if n <= self.largest.value and (like or n <= len(X)))
        sizes = sizes or (len(X),)
        return Series(
            methods,
            sizes,
            points,
            state.bandwidths(),
            state.rounds,
            state.n_neighbors,
            state.n_clusters,
            state.seed,
        )

    def describe_timings(self, full):
        """Describe the curves; see `card`."""
        described = describe.timings(self.timings, full)
        if self.measured:
            return described
        return replace(described, summary=f"Recorded {WHERE}. {described.summary}")

    def _report(self, stage, fraction):
        self._let_start(stage is None)
        self._bar.value = round(100 * fraction)
        self._words.content = stage or ""

    def _let_start(self, idle):
        """Offer to start while nothing is measured, and to stop while something is."""
        self.run.disabled = self._bar.visible = not idle
        self.halt.disabled = idle

    def _fail(self, series, error):
        self.state.error = f"scaling: {error}"

    def _show(self, series, timings):
        self.timings, self.measured = timings, True
        self._plot.show(timings)
        self._tabulate()
        self.describe()

    def _tabulate(self):
        rows = [
            (
                colored(timing.method, ALL_METHODS[timing.method]),
                map(number, (timing.n, timing.n_edges, *timing.seconds.values())),
                "",
            )
            for timing in self.timings
        ]
        hint = Markup(
            "<p>Recorded {}. Press “Measure” for this computer: the present bandwidth, L and k are "
            "used, on more and more points like those on the screen.</p>"
        ).format(WHERE)
        self._table.content = hint * (not self.measured) + html_table(
            ("", "points", "edges", *STAGES), rows
        )


def method_choice():
    """Return the widget to choose which graphs are measured."""
    return pmui.CheckButtonGroup(
        options={name: method for method, name in ALL_METHODS.items()},
        value=list(ALL_METHODS),
        size="small",
        width=390,
        margin=(8, 8),
        styles={"max-width": "calc(100cqi - 16px)", "overflow-x": "auto"},  # on a telephone
        sx={"& .MuiToggleButton-root": ONE_LINE | {"padding": "3px 12px"}},
        stylesheets=[style_sheet("shrinks")],
    )


def size_choice():
    """Return the widget to choose the largest number of points."""
    return pmui.Select(
        label="Up to",
        options={f"{n:,} points": n for n in TIMED_SIZES[1:]},
        value=20_000,
        description="The largest number of points; smaller ones come first.",
        size="small",
        width=170,
        margin=(8, 8, 0, 8),
    )


def part_of(X, n):
    """Return `n` of the points, at random."""
    if n >= len(X):
        return X
    return X[np.sort(np.random.default_rng(0).choice(len(X), n, replace=False))]


def draw_timings(timings):
    """Draw seconds against points, a curve for each method."""
    curves = []
    for method, color in METHOD.items():
        places = [(t.n, max(t.total, 1e-4)) for t in timings if t.method == method]
        data = (np.array(places).reshape(-1, 2), "points", "seconds")
        marks = {"marker": MARKERS[method][0], "size": 8, "tools": ["hover"]}
        curves += [
            hv.Curve(*data).opts(color=color, line_width=2),
            hv.Scatter(*data).opts(color=color, **marks),
        ]
    n = [t.n for t in timings] or [500, 20_000]
    seconds = [max(t.total, 1e-4) for t in timings] or [0.01, 10]
    ticks = [(size, f"{size:,}") for size in (500, 2_000, *(10**power for power in range(4, 7)))]
    window = (0.7 * min(n), 1.4 * max(n), 0.5 * min(seconds), 2 * max(seconds))
    return hv.Overlay(curves).opts(xticks=ticks), window
