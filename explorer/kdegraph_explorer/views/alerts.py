"""Show alerts and the steps of the tour above the plots."""

from functools import partial

import panel_material_ui as pmui

from ..assets import style_sheet
from ..sources.upload import Upload
from ..state import State
from .base import Part
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


class Alert(Part):
    """Show an alert above the plots while there is a message.

    `severity` is "error", "warning" or "info", and `css_class` is a hook for tests.
    ``message(state)`` returns the present message, or an empty string for none; `watched` are the
    parameters of the state that it depends on. The `buttons` stand beside it.
    """

    def __init__(self, session, severity, css_class, message, watched, *buttons):
        super().__init__(session)
        self._message = message
        # Text of the alert itself would be Markdown; a line of this text is a paragraph.
        self._text = Text(
            css_classes=["kg-message"], stylesheets=[style_sheet("message")], margin=0
        )
        alert = pmui.Alert(
            self._text,
            severity=severity,
            variant="outlined",
            sizing_mode="stretch_width",
            margin=4,
            stylesheets=[style_sheet("alert")],
        )
        self._body = row(alert, *buttons, css_classes=[css_class])
        self.state.param.watch(lambda *events: self._update(), watched)
        self._update()

    def _update(self):
        self._text.content = self._message(self.state)
        self._body.visible = bool(self._text.content)


def alerts(session):
    """Return the alerts: what is wrong, what was cancelled, and advice on the KDE graph."""
    again, style = session.retry, {"variant": "text", "margin": (6, 4)}
    sentence = "Compute once more what the choices ask for."
    retry = button("Try again", sentence, again, width=96, css_classes=["kg-retry"], **style)
    sentence = "Compute what the choices ask for."
    resume = button("Compute again", sentence, again, width=120, css_classes=["kg-again"], **style)
    table = session.sources[Upload.key]
    sentence = "Leave the columns as they are in the file."
    as_in_file = button(
        "As in the file",
        sentence,
        lambda: table.standardize_all(False),
        width=128,
        css_classes=["kg-as-in-file"],
        **style,
    )
    return (
        Alert(
            session,
            "error",
            "kg-error",
            lambda state: state.error or state.notice,
            ["error", "notice"],
            retry,
        ),
        Alert(session, "info", "kg-stopped", stopped, ["stopped", "stage"], resume),
        Alert(session, "info", "kg-left-out", partial(left_out, table=table), ["result", "shown"]),
        Alert(
            session,
            "info",
            "kg-standardized",
            partial(standardized, table=table),
            ["result", "shown"],
            as_in_file,
        ),
        Alert(
            session,
            "warning",
            "kg-advice",
            lambda state: "\n".join(advice(state)),
            ["result", "shown"],
        ),
    )


def standardized(state, table):
    """Say that the columns of the uploaded table have been standardized, and why."""
    reason = table.automatic.unequal
    if state.source != table.key or not (reason and table.all_standardized):
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
        self._text = styled_text("tour", css_classes=["kg-tour-text"], margin=(6, 10))
        style = {"variant": "text", "margin": (6, 2)}
        self._back = button("Previous", "Go to the step before.", self.back, width=84, **style)
        self._next = button("Next", "Go to the next step.", self.next, width=70, **style)
        leave = button(
            "Leave", "Leave the tour; everything stays as it is.", self.leave, width=70, **style
        )
        self._body = pmui.Paper(
            row(self._text, self._back, self._next, leave),
            elevation=0,
            variant="outlined",
            sizing_mode="stretch_width",
            margin=4,
            visible=False,
            css_classes=["kg-tour"],
        )
        self.state.param.watch(lambda event: self._update(), "tour")

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
