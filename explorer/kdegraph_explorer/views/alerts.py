"""Show alerts and the steps of the tour above the plots."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import panel_material_ui as pmui

from ..assets import style_sheet
from ..checks import count
from ..results import DECIDED
from ..sources.upload import Upload
from ..state import State
from .base import Part
from .describe import counted
from .later import Later
from .markup import Markup, Text, styled_text
from .widgets import button, row

STEPS = (  # the view, what to do, and what to look at
    (
        "points",
        "Drag “{}”.",
        "If it is small, the graph falls into islands; if it is large, clusters flow together. "
        "The gap between the eigenvalues says where it fits.",
    ),
    (
        "rounds",
        "Play the rounds.",
        "Each round draws one more neighbor for every point. After about ten, the eigenvalues are "
        "nearly those of the full graph, the dashed lines.",
    ),
    (
        "compare",
        "Compare four graphs.",
        "The same points, the same window: choose more or fewer neighbors for the k-NN graph, and "
        "see which points change their cluster.",
    ),
)


def advice(state):
    """Return sentences on problems of the KDE graph that is shown; none for most graphs.

    Names of columns are as they are in the data.
    """
    outcome = state.outcome("kde")
    if outcome is None:
        return []
    return [
        f"{finding.observation[0].upper()}{finding.observation[1:]}. "
        f"{_remedy(finding.problem, state)}"
        for finding in outcome.findings
    ]


def _remedy(problem, state):
    """Return what to do in the explorer about a problem of `kdegraph.diagnosis.Finding`."""
    if problem == "columns":
        other = f", or choose others under {_label('columns', Upload)}" * (
            state.source == Upload.key
        )
        return f"Standardize the columns or take the same unit for all{other}."
    if problem == "matrix":
        return "Open the points themselves, or cluster it in Python (kdegraph.spectral_clustering)."
    size = "smaller" if problem == "wide" else "larger"
    is_local = state.outcome("kde").bandwidth.is_local
    if is_local:
        ways = [f"choose a {size} {_label('perplexity')}"]
    elif state.result.request.sigma in ("auto", "preset"):
        ways = [f"choose a {size} {_label('sigma')}"]
    else:
        ways = [f"tick {_label('sigma_auto')}"]
    if problem == "parts":
        ways.append(f"choose more {_label('n_clusters')}")
    elif not is_local:
        each = next(
            label for label, value in State.param.bandwidth.names.items() if value == "local"
        )
        ways.append(f"choose “{each}” under {_label('bandwidth')}")
    words = " or ".join(ways)
    return f"{words[0].upper()}{words[1:]}."


def _label(name, of=State):
    """Return the label of a control, in quotation marks."""
    return f"“{of.param[name].label}”"


class Repair(NamedTuple):
    """A button beside a message, which does what helps; a change of choices can be undone.

    ``applies()`` says whether it helps with the present message.
    """

    label: str
    sentence: str
    act: Callable
    css_class: str
    applies: Callable = lambda: True

    def button(self):
        """Return the button."""
        return button(
            self.label,
            self.sentence,
            self.act,
            variant="text",
            margin=(6, 4),
            width=20 + 8 * len(self.label),
            css_classes=[self.css_class],
        )


class Alert(Part):
    """Show an alert above the plots while there is a message, unless the user closes it.

    `severity` is "error", "warning" or "info", and `css_class` is a hook for tests.
    ``message(state)`` returns the present message, or an empty string for none; `watched` are the
    parameters of the state that it depends on. The `repairs` that apply stand beside it.
    """

    def __init__(self, session, severity, css_class, message, watched, *repairs):
        super().__init__(session)
        self._severity, self._message, self._repairs = severity, message, repairs
        self._closed = ""  # the last message if the user has closed it
        self._body = Later(session, self._lay_out, css_classes=[css_class])
        self.keep_up(self._update, *watched)

    def _lay_out(self):
        self._buttons = [(repair, repair.button()) for repair in self._repairs]
        # Text of the alert itself would be Markdown; a line of this text is a paragraph.
        self._text = Text(
            css_classes=["kg-message"], stylesheets=[style_sheet("message")], margin=0
        )
        alert = pmui.Alert(
            self._text,
            severity=self._severity,
            variant="outlined",
            closeable=True,
            sizing_mode="stretch_width",
            margin=4,
            stylesheets=[style_sheet("alert")],
            styles={"flex": "1 1 300px"},  # narrower than this, the buttons come below it
        )
        alert.param.watch(lambda event: event.new and self._close(alert), "closed")
        buttons = (shown for _, shown in self._buttons)
        return [row(alert, *buttons, stylesheets=[style_sheet("wraps-where-narrow")])]

    def _close(self, alert):
        self._closed = self._message(self.state)
        self._update()
        alert.closed = False  # for the next message

    def _update(self):
        message = self._message(self.state)
        if message != self._closed:
            self._closed = ""
        if message:
            self._body.fill()
            self._text.content = message
            for repair, shown in self._buttons:
                shown.visible = repair.applies()
        self._body.visible = message != self._closed


def alerts(session):
    """Return the alerts: what is wrong, what was cancelled, and advice on the KDE graph."""
    repairs, table = repairs_of(session), session.sources[Upload.key]
    shown = ["result", "shown"]
    return (
        Alert(
            session,
            "error",
            "kg-error",
            lambda state: state.error or state.notice,
            ["error", "notice"],
            repairs["complete"],
            repairs["retry"],
        ),
        Alert(session, "info", "kg-stopped", stopped, ["stopped", "stage"], repairs["resume"]),
        Alert(session, "info", "kg-left-out", partial(left_out, table=table), shown),
        Alert(
            session,
            "info",
            "kg-standardized",
            partial(standardized, table=table),
            shown,
            repairs["as in file"],
        ),
        Alert(session, "info", "kg-misfits", misfits, shown),
        Alert(
            session,
            "warning",
            "kg-advice",
            lambda state: "\n".join(advice(state)),
            shown,
            repairs["standardize"],
            repairs["scale"],
        ),
    )


def repairs_of(session):
    """Return all repairs by a name."""
    state, table = session.state, session.sources[Upload.key]

    def has(*problems):
        outcome = state.outcome("kde")
        return outcome is not None and any(one.problem in problems for one in outcome.findings)

    def has_table():
        return state.source == table.key

    def is_set():
        return state.bandwidth != DECIDED or state.sigma_chosen == "hand"

    return {
        "retry": Repair(
            "Try again",
            "Compute once more what the choices ask for.",
            session.retry,
            "kg-retry",
            # What is only said stays as it is, and so does a file that did not arrive.
            lambda: state.error != "" and not (has_table() and isinstance(table.file, Exception)),
        ),
        "resume": Repair(
            "Compute again", "Compute what the choices ask for.", session.retry, "kg-again"
        ),
        "complete": Repair(
            Upload.param.incomplete.label,
            Upload.param.incomplete.doc,
            lambda: table.param.update(incomplete=True),
            "kg-complete",
            lambda: has_table() and table.lacks_cells and not table.incomplete,
        ),
        "as in file": Repair(
            "As in the file",
            "Leave the columns as they are in the file.",
            lambda: table.standardize_all(False),
            "kg-as-in-file",
        ),
        "standardize": Repair(
            "Standardize",
            "Give all columns the mean 0 and the standard deviation 1.",
            lambda: table.standardize_all(True),
            "kg-standardize",
            lambda: has_table() and has("columns"),
        ),
        "scale": Repair(
            "Automatic scale",
            "Take the bandwidths that suit the points: “Auto”, or the preset of the data.",
            lambda: state.choose(bandwidth=DECIDED, sigma_auto=True),
            "kg-automatic-scale",
            lambda: has("wide", "narrow", "parts") and is_set(),
        ),
    }


def standardized(state, table):
    """Say that the columns of the uploaded table have been standardized, and why."""
    reason = table.automatic.unequal
    stays = state.source != table.key or table.metric == "haversine"  # of which degrees stay
    if stays or not (reason and table.all_standardized):
        return ""
    sentence = f"{reason[0].upper()}{reason[1:]}"
    return f"{sentence}. All columns are standardized, so that each counts as much as the others."


def left_out(state, table):
    """Say that rows of the uploaded table have been left out."""
    number = table.automatic.n_incomplete
    if state.source != table.key or not (number and table.incomplete):
        return ""
    rows = "row with missing cells is" if number == 1 else "rows with missing cells are"
    return f"{number:,} {rows} left out, see {_label('incomplete', Upload)}."


def misfits(state):
    """Say which edits by hand do not fit the present clusters."""
    edits = [] if state.outcome("kde") is None else state.result.misfits
    words = [f"the {kind} of {counted(sum(map(count, texts)), 'point')}" for kind, *texts in edits]
    sentence = "Edits by hand that do not fit the present clusters rest until they do: "
    return f"{sentence}{', '.join(words)}." if edits else ""


def stopped(state):
    """Say that the plots show an earlier result, if the work was cancelled."""
    if not state.stopped or state.stage is not None:
        return ""
    if state.result is None:
        return "Cancelled. There is no result yet."
    return "Cancelled. What is shown is the last result."


class Tour(Part):
    """Show three steps that explain what the explorer is for; they can be left at any time."""

    def __init__(self, session):
        super().__init__(session)
        self._body = Later(session, self._lay_out, css_classes=["kg-tour"])
        self.state.param.watch(lambda event: self._update(), "tour")

    def _lay_out(self):
        self._text = styled_text("tour", css_classes=["kg-tour-text"], margin=(6, 10))
        style = {"variant": "text", "margin": (6, 2)}
        self._back = button("Previous", "Go to the step before.", self.back, width=84, **style)
        self._next = button("Next", "Go to the next step.", self.next, width=70, **style)
        leave = button(
            "Leave", "Leave the tour; everything stays as it is.", self.leave, width=70, **style
        )
        steps = row(self._text, self._back, self._next, leave)
        return [
            pmui.Paper(
                steps, elevation=0, variant="outlined", sizing_mode="stretch_width", margin=4
            )
        ]

    @property
    def words(self):
        """Return the text of the present step."""
        return self._text.content

    def next(self):
        """Go to the next step, or leave after the last one."""
        self.state.tour = (self.state.tour + 1) % (len(STEPS) + 1)

    def back(self):
        """Go to the step before."""
        self.state.tour = max(1, self.state.tour - 1)

    def leave(self):
        """End the tour."""
        self.state.tour = 0

    def _update(self):
        number = self.state.tour
        self._body.visible = number > 0
        if number == 0:
            return
        view, title, sentence = STEPS[number - 1]
        title = title.format(
            self.state.param["perplexity" if self.state.is_local else "sigma"].label
        )
        words = Markup("<p><b>{} of {}. {}</b> {}</p>")
        self._text.content = words.format(number, len(STEPS), title, sentence)
        self._back.disabled = number == 1
        self._next.label = "Next" if number < len(STEPS) else "Done"
        self.state.view = view
