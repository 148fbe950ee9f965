"""Show what sets a cluster, or the selection, apart from all other points."""

from functools import partial

import numpy as np

from ..algorithm.contrast import MAX_COLUMNS, contrast
from ..assets import style_sheet
from ..cluster_names import cleaned
from ..drawing.histograms import HistogramPlot
from ..drawing.palette import MARK, cluster_colors, in_hex
from ..patches.bokeh import counted_once
from ..pictures import picture_address
from ..point_columns import cell, shortened
from ..results import rows_of
from .base import Description, View, beside, caption_of, figure_pane
from .describe import counted
from .markup import Markup, each, html_table, image, styled_text
from .scores import table_pane
from .widgets import Select, button, filling_column, row

SELECTION = -1  # stands for the selection among the numbers of clusters
ACROSS = 3  # histograms in a row
IN_TABLE = 2  # columns of the table of rows
EXPLANATION = (
    "Bars in color: rows of the cluster. Outlines in gray: all other rows. Each add up to 100%.",
    "A pair is a row of the cluster and another one. A column is higher in 50% of pairs if it does "
    "not differ, and in 100% if all rows of the cluster are above all others.",
    "All columns but identifiers and dates are compared, as they are in the file. In clusters of a "
    "few rows, large effects also arise by chance.",
)


class WhyView(View):
    """Show the columns that set a cluster apart, its typical and doubtful rows, and a name.

    The widget `choice` chooses the cluster, or the selection, and `use` takes the suggested name.
    """

    key, label, area = "why", "Why", "top"
    alone = True

    def __init__(self, session):
        super().__init__(session)
        self._job = session.latest(self._compare, deliver=self._show)
        # What is compared, what the contrast that is shown was made of, and that contrast.
        self._made_of, self._compared, self._contrast = (None,), None, None
        self.choice = Select(
            label="Rows of",
            options={},
            description="The rows that are compared with all others.",
            size="small",
            width=230,
            margin=(10, 8, 4, 8),
        )
        self.choice.param.watch(lambda event: self._update(), "value")
        self._words = styled_text(
            "data-sentence",
            css_classes=["kg-why"],
            margin=(14, 8),
            styles={"flex": "1 1 260px", "width": "auto", "min-width": "0"},
        )
        self.use = button(
            "Use as name",
            "Give the cluster this name, in all plots and files; undo takes it back.",
            self._name,
            width=110,
            margin=(10, 8),
        )
        self._plots = [HistogramPlot(f"Why: column {i + 1}") for i in range(MAX_COLUMNS)]
        self._sentences = [
            styled_text(
                "data-sentence",
                margin=(0, 10),
                min_height=50,
                stylesheets=[style_sheet("grows-with-text")],
            )
            for _ in self._plots
        ]
        self._cards = [
            self.card(
                "",
                "the cluster in color, all others as an outline",
                self._sentences[i],
                figure_pane(plot.figure, f"why-{i}"),
                describe=partial(self.describe_column, i),
            )
            for i, plot in enumerate(self._plots)
        ]
        self._table = table_pane("kg-why-rows", "kg-scroll")
        self._body = self._lay_out()
        self.follow(self._update, "shown", "result", "selection", "named")

    def _lay_out(self):
        self._grid = [
            beside(*self._cards[i : i + ACROSS], min_height=170)
            for i in range(0, MAX_COLUMNS, ACROSS)
        ]
        explanation = styled_text(
            "sentences", each(Markup("<p>{}</p>"), EXPLANATION), margin=(0, 12)
        )
        self._side = filling_column(
            self.card("Rows", "typical and doubtful ones", self._table),
            self.card("How to read this", "", explanation, sizing_mode="stretch_width"),
            stylesheets=[style_sheet("grows-where-narrow"), style_sheet("shrinks")],
        )
        return filling_column(
            row(self.choice, self._words, self.use, stylesheets=[style_sheet("wraps")]),
            beside(filling_column(*self._grid), self._side, widths=[14, 5], least=[0, 240]),
            # The cards need room: they lie below each other where the view itself is narrow.
            stylesheets=[style_sheet("below-where-narrow"), style_sheet("measured")],
            styles={"overflow-y": "auto"},
        )

    def describe_column(self, i, full):
        """Describe the histogram of the difference number `i`; see `card`."""
        if self._contrast is None or i >= len(self._contrast.histograms):
            return Description("There is no such column.")
        difference = self._contrast.description.differences[i]
        left, right, inside, outside, names = self._contrast.histograms[i]
        names = names or [f"{a:.4g} to {b:.4g}" for a, b in zip(left, right, strict=True)]
        rows = list(zip(names, inside.tolist(), outside.tolist(), strict=True)) if full else ()
        return Description(
            f"{difference.words}: {difference.strength} effect, {difference.sentence}.",
            (difference.column, "Share inside", "Share outside"),
            rows,
        )

    def _update(self):
        state, outcome = self.state, self.state.outcome("kde")
        if state.shown is None:
            return
        tabular = state.shown.image is None
        self._offer(outcome if tabular else None)
        number = self.choice.value
        if number is None:
            self._made_of = (None,)
            waiting = "There is no result yet."
            self._hide(waiting if tabular else "This view is for tables; pixels have no columns.")
            return
        chosen = state.selection if number == SELECTION else number
        made_of = (state.shown, outcome, chosen)
        if any(a is not b for a, b in zip(made_of, self._made_of, strict=False)):
            self._made_of = made_of
            self.use.disabled = True
            self._job.request(made_of)
        else:
            self._suggest()

    def _offer(self, outcome):
        """Offer the clusters, and the selection if there is one."""
        options = {}
        if outcome is not None:
            for number in outcome.clusters:
                name = self.state.named.get(number)
                words = self.state.mark(number) + (f": {name}" if name else "")
                options[f"Cluster {words}"] = number
            if n_selected := len(self.state.selection):
                options[f"The selection: {counted(n_selected, 'row')}"] = SELECTION
        value = self.choice.value
        if options != self.choice.options:
            possible = [*options.values(), None]
            self.choice.param.update(
                options=options, value=value if value in possible[:-1] else possible[0]
            )
            if options:
                self.choice.param.trigger("value")  # else the field would show its former label
        self.choice.visible = bool(options)

    def _hide(self, words):
        self._contrast, self._words.content = None, words
        self.use.visible = self._side.visible = False
        for part in self._grid:
            part.visible = False

    @staticmethod
    def _compare(request, progress, publish):
        dataset, outcome, chosen = request
        if np.ndim(chosen):
            members = np.isin(np.arange(dataset.n_points), chosen)
        else:
            members = outcome.colors == chosen
        vote = outcome.vote
        found = contrast(dataset, members, None if vote is None else vote.probabilities)
        rows = [*found.description.typical, *found.description.doubtful]
        pictures = {int(point): picture_address(dataset, point) for point in rows}
        return found, pictures

    def _show(self, request, result):
        if request is not self._made_of:
            return
        dataset, _, chosen = request
        self._compared, (self._contrast, pictures) = request, result
        color = MARK
        if np.ndim(chosen) == 0:
            color = in_hex(cluster_colors(chosen + 1)[chosen])
        _, data = self.session.origin
        used = data.get("columns") or self.state.shown.feature_names  # for clustering
        differences, histograms = self._contrast.description.differences, self._contrast.histograms
        with counted_once(plot.figure for plot in self._plots):
            for i, histogram in enumerate(histograms):
                name = differences[i].column
                self._plots[i].show(histogram, shortened(name), color)
                caption_of(self._cards[i]).title = shortened(name)
                words = f"{differences[i].strength} effect: {differences[i].sentence}"
                words += "; not used for clustering" * (name not in used)
                self._sentences[i].content = f"{words[0].upper()}{words[1:]}."
        for i, one in enumerate(self._cards):
            one.visible = i < len(histograms)
        for i, part in enumerate(self._grid):
            part.visible = ACROSS * i < len(histograms)
        self._side.visible = len(histograms) > 0
        self._table.content = self._rows(dataset, pictures)
        self._suggest()
        self.describe()

    def _rows(self, dataset, pictures):
        """Return the tables of typical and doubtful rows."""
        found, columns = self._contrast.description, self._contrast.columns[:IN_TABLE]
        numbers, parts = rows_of(dataset), []
        for words, points in (("Typical row", found.typical), ("Doubtful row", found.doubtful)):
            rows = [
                (
                    image(pictures[int(point)]) + f"{numbers[point]:,}",
                    [shortened(cell(column.values[point])) for column in columns],
                    "",
                )
                for point in points
            ]
            if rows:
                parts.append(html_table((words, *(column.name for column in columns)), rows))
        return Markup().join(parts)

    def _suggest(self):
        """Show the suggested name, and whether it can be used."""
        if self._compared is not self._made_of:
            return
        found, number = self._contrast.description, self.choice.value
        n_others = self.state.shown.n_points - found.size
        if not n_others:
            words = (
                "These are all rows. Choose more clusters, or select fewer points, to compare them."
            )
        elif not found.name:
            words = f"{found.size:,} rows against {n_others:,} others: no column differs much."
        else:
            sizes = Markup("{:,} rows against {:,} others. Suggested name: <b>{}</b>")
            words = sizes.format(found.size, n_others, found.name)
        self._words.content = words
        self.use.visible = bool(found.name) and number != SELECTION
        self.use.disabled = self.state.named.get(number) == cleaned(found.name)

    def _name(self):
        if self._compared is self._made_of and self.choice.value != SELECTION:
            self.state.name_cluster(self.choice.value, cleaned(self._contrast.description.name))
            if self.state.refused:
                self._words.content = self.state.refused
