"""Show which clusters there are at which scale, and how stable they are."""

from functools import partial

import numpy as np
import panel_material_ui as pmui
from bokeh.events import Pan, Tap

from ..algorithm.ribbon import find_bands, numbers_of_bands
from ..drawing.ribbon_plot import RibbonPlot
from ..results import METHODS
from . import describe
from .base import Description, View, beside, caption_of, figure_pane
from .markup import styled_text
from .plots import PLOTTED, LinkedPlots, graph_and_clusters
from .widgets import button, row


class RibbonView(View):
    """Show the clusters at all scales as bands that split and merge, beside the points.

    `found` is the `ClusterScales` of the points that are shown, or of a part of them until it is
    there, or None. A click or a drag along the bands takes a scale and its number of clusters.
    """

    key, label, area = "ribbon", "Scales", "top"
    colored = alone = True

    def __init__(self, session):
        super().__init__(session)
        self.found = self._dataset = None
        self._drawn = None  # the bands and the clusters whose colors they have
        self._progress = "none"
        self._job = session.latest(
            find_bands, deliver=self._take, fail=self._fail, report=self._report
        )
        self._plots = LinkedPlots(
            session,
            {"ribbon": "Scales: points and edges"},
            lambda key: graph_and_clusters(self.state, "kde"),
            colored=True,
        )
        self.frame = self._plots.frame
        self.plot = RibbonPlot()
        for figure in (self.plot.figure, self.plot.gaps):
            for gesture in (Tap, Pan):
                figure.on_event(gesture, lambda event: self.choose(event.x))
        self.words = styled_text("one-line", height=20, margin=(4, 12), css_classes=["kg-scales"])
        self._bar = pmui.LinearProgress(
            value=0, variant="determinate", width=110, margin=(12, 12), visible=False
        )
        self.halt = button(
            "Stop",
            "Stop looking at more points and scales.",
            self.stop,
            width=70,
            margin=(0, 8),
            visible=False,
        )
        self.again = button(
            "Go on", "Find the bands.", self.start, width=70, margin=(0, 8), visible=False
        )
        self._body = self._lay_out()
        self.follow(self._update, *PLOTTED)

    def _lay_out(self):
        gaps = figure_pane(self.plot.gaps, "scales-gaps")
        gaps.param.update(sizing_mode="stretch_width", height=140, min_height=110)
        ribbon = self.card(
            "Clusters at each scale",
            "high: large, faint: luck; a click takes σ and k",
            row(self.words, self._bar, self.halt, self.again, height=34),
            figure_pane(self.plot.figure, "scales-bands"),
            gaps,
            figure=self.plot.figure.name,
            describe=self.describe_bands,
        )
        self._points = self.card(
            METHODS["kde"],
            "",
            figure_pane(self._plots["ribbon"].figure, "scales-points"),
            describe=partial(describe.clusters, self.state, "kde"),
        )
        return beside(ribbon, self._points, widths=[6, 5], min_height=240)

    def start(self):
        """Find the bands of the points that are shown."""
        self._bar.value = 0
        self._job.request(self._dataset, replace=True)
        self._turn("under way")

    def stop(self):
        """Stop finding bands; those of a part of the points stay."""
        self._job.cancel()
        self._turn("stopped")

    def _turn(self, progress):
        """Show the controls that suit the work: it is "under way", "stopped", "done" or "none"."""
        self._progress = progress
        self._bar.visible = self.halt.visible = progress == "under way"
        self.again.visible = progress == "stopped"
        self._say()

    def choose(self, x):
        """Take the scale nearest to a place on the axis, and the number of clusters there."""
        if self.found is None or x is None or x <= 0:
            return
        i = int(np.argmin(np.abs(np.log(self.found.sigma / x))))
        sigma, n_clusters = float(self.found.sigma[i]), int(self.found.n_clusters[i])
        wanted = {"bandwidth": "one", "sigma": sigma, "n_clusters": n_clusters}
        if any(getattr(self.state, name) != value for name, value in wanted.items()):
            self.state.choose(**wanted)

    def describe_bands(self, full):
        """Describe the bands; see `card`."""
        if self.found is None:
            return Description(self.words.content)
        rows = [
            (f"σ = {row['sigma']:.3g}, band {row['cluster'] + 1}", row["size"], row["stability"])
            for row in (self.found.to_arrow().to_pylist() if full else ())
        ]
        return Description(summary(self.found), ("Band", "Points", "Stability"), rows)

    def _update(self):
        self._plots.update()
        shown = self.state.shown
        if shown is None:
            return
        if shown is not self._dataset:
            self._job.cancel()
            self.found = self._drawn = None
            self._dataset = shown
            self.plot.clear()
            if shown.image is None:
                self.start()
            else:
                self._turn("none")
        self._draw()

    def _draw(self):
        if self.found is None or self._dataset is not self.state.shown:
            return
        outcome = self.state.outcome("kde")
        drawn = self.found, None if outcome is None else outcome.colors
        if self._drawn is None or any(a is not b for a, b in zip(drawn, self._drawn, strict=True)):
            self._drawn = drawn
            self.plot.show(self.found, numbers_of_bands(*drawn))
        if outcome is None or outcome.bandwidth.is_local:
            self.plot.mark(None)
        else:
            self.plot.mark(outcome.graph.sigma)
        self._say_which_graph(outcome)

    def _say_which_graph(self, outcome):
        if outcome is None:
            words = ""
        elif outcome.bandwidth.is_local:
            words = f"{outcome.bandwidth.words}: none of these scales"
        else:
            words = "at the red line"
        caption_of(self._points).sentence = words

    def _take(self, dataset, found):
        if dataset is self._dataset:
            self.found, complete = found
            self._draw()
            self._turn("done" if complete else "under way")
            self.describe()

    def _report(self, stage, fraction):
        if stage is not None:
            self._bar.value = round(100 * fraction)

    def _fail(self, dataset, error):
        self._turn("stopped")
        self.state.error = f"scales: {error}"

    def _say(self):
        """Say what is drawn, and why where that is nothing."""
        if self._progress == "none":
            words = "Scales are for points: the segments of a photograph are chosen by k."
        elif self.found is None:
            words = f"The bands are {self._progress}."
        elif len(self.found.sigma) == 1:
            words = "All points are at the same place: one cluster at any scale."
        else:
            words = summary(self.found)
            if len(self.found.rows) < (n := self._dataset.n_points):
                words = f"{len(self.found.rows):,} of {n:,} points: {words}"
        self.words.content = words


def summary(found):
    """Return the numbers of clusters from small scales to large ones, in words."""
    changes = np.flatnonzero(np.diff(found.n_clusters)) + 1
    runs = np.split(np.arange(len(found.sigma)), changes)
    if len(runs) == 1:
        return f"Clusters: {found.n_clusters[0]} at every scale."
    words = [
        f"{found.n_clusters[run[0]]} from σ = {found.sigma[run[0]]:.2g}"
        for run in runs
        if len(run) > 1 or run is runs[-1]
    ]
    return "Clusters: " + ", ".join(words) + "."
