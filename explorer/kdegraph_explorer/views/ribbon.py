"""Show which clusters there are at which scale, or in which number, and how stable they are."""

import numpy as np
import panel_material_ui as pmui
from bokeh.events import Pan, Tap

from ..algorithm.ribbon import Subject, find_bands, numbers_of_bands
from ..drawing.figures import Frame
from ..drawing.palette import cluster_colors
from ..drawing.ribbon_plot import RibbonPlot, clearest
from ..results import METHODS
from . import describe
from .base import Description, View, beside, caption_of, figure_pane
from .markup import styled_text
from .picture import PictureView, SegmentedPicture
from .plots import PLOTTED, LinkedPlots
from .widgets import button, row

SCALE_WORDS = (  # title and sentence, for points and for photographs
    ("Clusters at each scale", "high: large, faint: luck; a click takes σ and k"),
    ("Segments in each number", "high: large, faint: luck; a click or drag takes k"),
)


class RibbonView(View):
    """Show the clusters at all scales as bands that split and merge, beside the points; of a
    photograph the segments in all numbers, beside the picture.

    `found` is the `ClusterScales` of what is shown, or of a part of it until it is there, or None.
    A click or a drag along the bands takes a scale and its number of clusters.
    """

    key, label, area = "ribbon", "Scales", "top"
    colored = alone = True

    def __init__(self, session):
        super().__init__(session)
        self.found = self._bands = None
        self._subject = Subject(None)
        self._drawn = None  # the bands and the clusters whose colors they have
        self._progress = "none"
        self._job = session.latest(
            find_bands, deliver=self._take, fail=self._fail, report=self._report
        )
        self._plots = LinkedPlots(session, {"kde": "Scales: points and edges"}, colored=True)
        self.frame = self._plots.frame
        self.picture = SegmentedPicture(self.state, Frame(), "Scales: segmentation")
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
        self.follow(self._update, *PLOTTED, "segments", "n_clusters")

    def _lay_out(self):
        gaps = figure_pane(self.plot.gaps, "scales-gaps")
        gaps.param.update(sizing_mode="stretch_width", height=140, min_height=110)
        self._ribbon = self.card(
            "Clusters at each scale",
            "",
            row(self.words, self._bar, self.halt, self.again, height=34),
            figure_pane(self.plot.figure, "scales-bands"),
            gaps,
            figure=self.plot.figure.name,
            describe=self.describe_bands,
        )
        self._panes = [
            figure_pane(self._plots["kde"].figure, "scales-points"),
            figure_pane(self.picture.figure, "scales-picture"),
        ]
        self._points = self.card(METHODS["kde"], "", *self._panes, describe=self._describe)
        return beside(self._ribbon, self._points, widths=[6, 5], min_height=240)

    def _describe(self, full):
        words = describe.segments if PictureView.applies(self.state) else describe.clusters
        return words(self.state, "kde", full)

    def start(self):
        """Find the bands of the points that are shown."""
        self._bar.value = 0
        self._job.request(self._subject, replace=True)
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
        i = int(np.argmin(np.abs(np.log(self.found.scales / x))))
        wanted = {"n_clusters": int(self.found.n_clusters[i])}
        if self.found.along == "sigma":
            wanted |= {"bandwidth": "one", "sigma": float(self.found.sigma[i])}
        if any(getattr(self.state, name) != value for name, value in wanted.items()):
            self.state.choose(**wanted)

    def describe_bands(self, full):
        """Describe the bands; see `card`."""
        if self.found is None:
            return Description(self.words.content)
        name = "σ" if self.found.along == "sigma" else "k"
        rows = [
            (
                f"{name} = {row[self.found.along]:.3g}, band {row['cluster'] + 1}",
                row["size"],
                row["stability"],
            )
            for row in (self.found.to_arrow().to_pylist() if full else ())
        ]
        return Description(self.words.content, ("Band", "Points", "Stability"), rows)

    def _update(self):
        shown = self.state.shown
        if shown is None:
            return
        pictured = PictureView.applies(self.state)
        for pane, visible in zip(self._panes, (not pictured, pictured), strict=True):
            pane.visible = visible
        self.frame = self.picture.frame if pictured else self._plots.frame
        if pictured:
            self.picture.show(shown)
        else:
            self._plots.update()
        subject = self._subject_now()
        if any(a is not b for a, b in zip(subject[:2], self._subject[:2], strict=True)):
            self._job.cancel()
            self.found = self._bands = self._drawn = None
            self._subject = subject
            self.plot.clear()
            if pictured and subject.graph is None:
                self._turn("none")
            else:
                self.start()
        self._draw()

    def _subject_now(self):
        """Return the `Subject` of what is shown; a photograph has no graph until it is there."""
        shown, outcome = self.state.shown, self.state.outcome("kde")
        if shown.image is None or outcome is None:
            return Subject(shown)
        if self.state.result.coarse and self._subject.dataset is shown:
            return self._subject
        return Subject(shown, outcome.graph, outcome.spectrum, self.state.result.request.seed)

    def _draw(self):
        outcome = self.state.outcome("kde")
        if PictureView.applies(self.state):
            self._draw_segments(outcome)
        else:
            self._draw_scales(outcome)

    def _draw_scales(self, outcome):
        """Draw the bands of points in the colors of their clusters, and mark the scale."""
        if self.found is None:
            return
        drawn = self._bands, None if outcome is None else outcome.colors
        if self._is_new(drawn):
            numbers = numbers_of_bands(self.found, drawn[1])
            colors = cluster_colors(max(numbers) + 1)[numbers]
            self.plot.show(self._bands, np.tile(colors, (len(self.found.sigma), 1, 1)))
        local = outcome is None or outcome.bandwidth.is_local
        self.plot.mark(None if local else outcome.graph.sigma)
        self._say_which_graph(outcome)

    def _draw_segments(self, outcome):
        """Draw the bands of segments in their mean colors; mark their number, and show them."""
        if self.found is not None and self._is_new((self._bands, None)):
            self.plot.show(self._bands, self._bands.means)
        if outcome is None:
            return
        number, labels = outcome.n_clusters, outcome.colors
        if not self.state.clusters_auto and self.state.n_clusters != number:
            number = self.state.n_clusters  # its result is under way
            if self.found is not None and number in self.found.n_clusters:
                labels = self.found.labels[self.found.n_clusters.tolist().index(number)]
        self.plot.mark(number)
        style = "boundaries" if self.state.segments == "boundaries" else "means"
        self.picture.lay(labels, style)
        words = describe.counted(number, "segment")
        caption_of(self._points).sentence = f"{words} in mean colors"

    def _is_new(self, drawn):
        """Return whether the bands are not drawn yet, or with other clusters."""
        last, self._drawn = self._drawn, drawn
        return last is None or any(a is not b for a, b in zip(drawn, last, strict=True))

    def _say_which_graph(self, outcome):
        if outcome is None:
            words = ""
        elif outcome.bandwidth.is_local:
            words = f"{outcome.bandwidth.words}: none of these scales"
        else:
            words = "at the red line"
        caption_of(self._points).sentence = words

    def _take(self, subject, bands):
        if subject is self._subject:
            self.found, self._bands = bands.found, bands
            self._draw()
            self._turn("done" if bands.complete else "under way")
            self.describe()

    def _report(self, stage, fraction):
        if stage is not None:
            self._bar.value = round(100 * fraction)

    def _fail(self, dataset, error):
        self._turn("stopped")
        self.state.error = f"scales: {error}"

    def _say(self):
        """Say what is drawn, and why where that is nothing."""
        pictured = PictureView.applies(self.state)
        caption_of(self._ribbon).title = SCALE_WORDS[pictured][0]
        caption_of(self._ribbon).sentence = SCALE_WORDS[pictured][1]
        if self._progress == "none":
            words = "The bands come after the graph of the photograph."
        elif self.found is None:
            words = f"The bands are {self._progress}."
        elif self.found.along == "n_clusters":
            words = segments_summary(self.found)
        elif len(self.found.sigma) == 1:
            words = "All points are at the same place: one cluster at any scale."
        else:
            words = summary(self.found)
            if len(self.found.rows) < (n := self._subject.dataset.n_points):
                words = f"{len(self.found.rows):,} of {n:,} points: {words}"
        self.words.content = words


def segments_summary(found):
    """Return the numbers of segments with the clearest eigengaps, in words."""
    least, most = found.n_clusters[[-1, 0]]
    if least == most:
        return f"Segments: {most}."
    *others, last = map(str, clearest(found))
    named = f"{', '.join(others)} and {last}" if others else last
    return f"{least} to {most} segments; the largest eigengaps are after {named}."


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
