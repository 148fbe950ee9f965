"""Make widgets in the explorer's style, most of them from a parameter."""

from functools import partial

import panel as pn
import panel_material_ui as pmui
import param
from kdegraph.datasets import MAX_BYTES
from panel.custom import JSComponent

from ..assets import SIZES, icon, script, style_sheet
from ..limits import limits, words
from ..patches.panel import at_once
from ..uploads import IncomingFile
from .columns import ColumnTable
from .later import Later
from .markup import Markup, styled_text

# By default icons are black in the dark theme, too.
SEEN_ICONS = {"& .MuiIconButton-root": {"color": "text.secondary"}}


class FileButton(JSComponent):
    """Show a button that opens the browser's file dialog; a file can also be dropped on it.

    For a `whole_page` there is no button, but a file can be dropped anywhere on the page.

    Files of all types are accepted: Python knows which ones it can read, and says so. The size is
    checked when the browser announces it, and no more than that is accepted. ``receive(incoming)``
    starts to receive an `IncomingFile`, such as `Session.receive`; ``take(stored)`` gets the
    `StoredFile`, or ``refuse(error)`` a ValueError. The size is at most `limit` bytes, besides that
    of `limits`.
    """

    label = param.String(doc="The words on the button.")
    description = param.String(doc="A sentence that is shown when the mouse is over the button.")
    icon = param.String(default=icon("upload"))
    whole_page = param.Boolean(doc="Whether a file can be dropped anywhere, without a button.")

    _esm = script("file-button")

    def __init__(self, receive, take, refuse, limit=MAX_BYTES, **params):
        self._receive, self._take, self._refuse = receive, take, refuse
        self._limit, self._limited = limit, f"the limit is {limit:,} bytes"
        if limits().bytes < limit:
            self._limit, self._limited = limits().bytes, words("bytes")
        self._key, self._incoming = None, None
        super().__init__(stylesheets=[style_sheet("file-button")], **params)

    def _handle_msg(self, message):
        key, size = message.get("file"), message.get("size")
        if isinstance(message.get("name"), str) and isinstance(size, int):
            self._key = key
            self._offer(message["name"], size)
        elif self._incoming is None or key != self._key:
            return  # A newer file was chosen.
        elif "failed" in message:
            self._incoming.fail("the browser cannot read it")
        elif isinstance(message.get("data"), bytes):
            self._incoming.put(message.get("start"), message["data"])

    def _offer(self, name, size):
        if size <= 0:
            self._refuse(ValueError(f"{name} is empty: it has no bytes; choose one with data"))
        elif size > self._limit:
            found = f"it has {size:,} bytes, and {self._limited}"
            self._refuse(ValueError(f"{name} is too large: {found}; choose a smaller one"))
        else:
            self._incoming = IncomingFile(
                name, size, ask=self._ask, take=self._take, refuse=self._refuse
            )
            self._receive(self._incoming)

    def _ask(self, start, stop):
        self._send_msg({"file": self._key, "start": start, "stop": stop})


def control(parameterized, name, hint=None, receive=None, take=None):
    """Return a widget for a parameter, with the parameter's doc as its tooltip.

    The `hint` is "steps" for a slider over the values to choose from, "columns" for the table of
    columns, {heading: {option: value}} for a choice with headings, or "file" for a file from the
    user's disk; see `FileButton` for `receive` and `take`. A refusal becomes the parameter's value.
    """
    parameter = parameterized.param[name]
    value = getattr(parameterized, name)
    common = {"sizing_mode": "stretch_width", **named(parameter)}
    if hint == "steps":
        options = {f"{option:,}": option for option in parameter.objects}
        steps = pmui.DiscreteSlider(options=options, value=value, **slider_style(parameter))
        return link(steps, "value", parameterized, name)
    if isinstance(hint, dict):
        choice = Select(groups=hint, value=value, margin=(6, 8), **common)
        return link(choice, "value", parameterized, name)
    if hint == "columns":
        return ColumnTable(parameterized, margin=(4, 8), sizing_mode="stretch_width")
    if hint == "file":
        refuse = partial(setattr, parameterized, name)
        place = {"sizing_mode": "stretch_width", "margin": (6, 8)}
        size = "1 GiB" if limits().bytes == MAX_BYTES else f"{limits().bytes:,} bytes"
        about = {"label": f"{parameter.label}, up to {size}", "description": parameter.doc}
        return FileButton(receive, take, refuse, **about, **place)
    if isinstance(parameter, param.Boolean):
        return pmui.Switch.from_param(
            parameter, margin=(2, 8), stylesheets=[style_sheet("compact")], **common
        )
    if isinstance(parameter, param.Selector):
        return Select.from_param(parameter, margin=(6, 8), **common)
    if isinstance(parameter, param.Integer) and parameter.bounds[1] > 1000:
        return pmui.IntInput.from_param(
            parameter,
            margin=(6, 8, 0, 0),
            width=112,
            sx=SEEN_ICONS,
            **{**common, "sizing_mode": None},
        )
    if isinstance(parameter, param.Integer):
        return at_once(pmui.IntSlider.from_param(parameter, **slider_style(parameter)))
    options = {"step": parameter.step or 0.01, **slider_style(parameter)}
    return at_once(pmui.FloatSlider.from_param(parameter, **options))


def named(parameter):
    """Return the options of a small widget with the label and the doc of a parameter."""
    return {"label": parameter.label, "description": parameter.doc, "size": "small"}


def slider_style(parameter):
    """Return the options of a slider with the label and the doc of a parameter."""
    place = {"sizing_mode": "stretch_width", "margin": (2, 8)}
    return {"sx": DENSE, **place, **named(parameter)}


def box(parameter, **options):
    """Return a box to tick, with the label and the doc of a parameter, and not tied to it."""
    place = {"width": 90, "margin": (8, 0, 0, 0), "stylesheets": [style_sheet("compact")]}
    return pmui.Checkbox(**named(parameter), **place, **options)


def automatic(state, name):
    """Return a box to tick for the automatic value of the parameter beside it."""
    return link(box(state.param[name], value=getattr(state, name)), "value", state, name)


def link(widget, attribute, parameterized, name):
    """Tie an attribute of a widget to a parameter, both ways."""
    at_once(widget)
    widget.param.watch(lambda event: setattr(parameterized, name, event.new), attribute)
    parameterized.param.watch(lambda event: setattr(widget, attribute, event.new), name)
    return widget


class Select(pmui.Select):
    """Offer a choice of one option; of many, one is found by typing a part of it.

    The options are shown as they are written: panel-material-ui would make an icon of what is
    between ":material/" and the next colon.
    """

    @property
    def labels(self):
        """Return the text of each option."""
        unlike_icons = ":\N{WORD JOINER}material/"
        return [label.replace(":material/", unlike_icons) for label in super().labels]

    @property
    def unicode_values(self):
        """Return the text of each option, if the options are a list."""
        return self.labels

    @param.depends("options", watch=True, on_init=True)
    def _search_many(self):
        self.searchable = len(self.options) > AT_A_GLANCE

    @param.depends("value", watch=True)
    def _end_search(self):
        """Close the list, which stays open when an option is chosen by the keyboard."""
        if self.searchable:
            self.param.update(filter_str="", dropdown_open=False)


def open_choice(state, name, **options):
    """Return a choice that sets a parameter of the state, and whose options follow from the data.

    While there are none, nothing is set.
    """
    choice = Select(**named(state.param[name]), **options)
    choice.param.watch(lambda event: event.new and setattr(state, name, event.new), "value")
    return choice


def button(label, sentence, act, **options):
    """Return a button with words, which are also its name for a screen reader.

    The `sentence` is its description, and ``act()`` is called on a click.
    """
    low = {"minWidth": "0", "padding": "2px 8px !important", "minHeight": "31px"}
    return pmui.Button(
        label=label,
        description=sentence,
        size="small",
        sx={"textTransform": "none", **low},
        theme_config=NAMED_BY_ITS_WORDS,
        on_click=lambda event: act(),
        **{"variant": "outlined", **options},
    )


def dialog(title, width, *content):
    """Return a dialog that a click beside it closes."""
    return pmui.Dialog(
        *content,
        title=title,
        title_variant="h6",
        width_option=width,
        show_close_button=True,
        close_on_click=True,
        sx=SEEN_ICONS,
    )


def row(*parts, **options):
    """Put parts on one line, which is as wide as its place."""
    return pn.Row(*parts, **{"sizing_mode": "stretch_width", "margin": 0, **options})


def column(*parts, **options):
    """Put parts below each other, as wide as their place."""
    return pn.Column(*parts, **{"sizing_mode": "stretch_width", "margin": 0, **options})


def filling_column(*parts, **options):
    """Put parts below each other, so that they fill their place."""
    return column(*parts, sizing_mode="stretch_both", **options)


HEADING = Markup("""<h2>{title}</h2>
<button popovertarget="about" aria-label="About: {title}" title="What these controls do">i</button>
<div id="about" popover><h3>{title}</h3><dl>{entries}</dl></div>""")


def group(title, *parts):
    """Put controls below each other, under a title.

    The sign beside the title shows what each of them does; the sign of a control is seen only while
    the mouse or the keyboard is on it.
    """
    heading = styled_text("heading", margin=(4, 8, 0, 8))
    body = column(heading, *parts)

    def update(*events):
        entry = Markup("<dt>{}</dt><dd>{}</dd>")
        entries = (entry.format(widget.label, widget.description) for widget in shown(body))
        heading.content = HEADING.format(title=title, entries=Markup().join(entries))

    def prepare(part):
        part.param.watch(update, "visible")
        if is_described(part):
            part.stylesheets = [*part.stylesheets, style_sheet("quiet-sign")]
        if isinstance(part, Later):
            part.prepare = prepare
            part.param.watch(update, "objects")

    for part in body.select(lambda part: part is not heading):
        prepare(part)
    update()
    return body


def is_described(part):
    """Return whether a part is a control with a sentence on its effect."""
    return bool(getattr(part, "label", "") and getattr(part, "description", ""))


def shown(body):
    """Return the controls with a sentence in `body` that are visible."""
    hidden = [part for part in body.select() if not part.visible]
    unseen = {id(part) for outer in hidden for part in outer.select()}
    return [part for part in body.select(is_described) if id(part) not in unseen]


def paired(widgets):
    """Put number fields beside the slider before them, as they need little space."""
    lines = []
    for widget in widgets:
        if isinstance(widget, pmui.IntInput) and lines:
            lines[-1] = row(lines[-1], widget)
        else:
            lines.append(widget)
    return lines


def toggle(state, name):
    """Return a button for each value of a parameter, side by side."""
    return pmui.RadioButtonGroup.from_param(state.param[name], **toggle_style(state.param[name]))


def toggle_style(parameter):
    """Return the options of buttons side by side with the label and the doc of a parameter."""
    place = {"margin": (2, 8), "stylesheets": [style_sheet("compact")]}
    return {"sx": SMALL_TOGGLE, **place, **named(parameter)}


AT_A_GLANCE = 20  # options of a choice that can be found without a search
ONE_LINE = {"textTransform": "none", "whiteSpace": "nowrap"}
SMALL_LABEL = {
    "& .MuiTypography-root, & .MuiFormLabel-root, &.MuiTypography-root": {"fontSize": SIZES["text"]}
}
DENSE = {
    "& .MuiSlider-root": {"paddingTop": "7px", "paddingBottom": "7px"},
    # The transition takes ten frames, for which the views would have to wait.
    "& .MuiSlider-thumb, & .MuiSlider-track": {"transition": "none"},
    # The label above says the same, and beside an edge of the page the bubble would be cut off.
    "& .MuiSlider-valueLabel": {"display": "none"},
    **SMALL_LABEL,
}
SMALL_TOGGLE = {
    "& .MuiButtonBase-root": {
        "padding": "2px 10px",
        "textTransform": "none",
        "fontSize": SIZES["text"],
        "minHeight": "30px",
    },
    **SMALL_LABEL,
}
# By default a screen reader would read the tooltip instead of the words on a button, and the
# tooltip would be hardly wider than the button.
NAMED_BY_ITS_WORDS = {
    "components": {
        "MuiTooltip": {
            "defaultProps": {"describeChild": True},
            "styleOverrides": {"tooltip": {"width": "max-content", "maxWidth": "220px"}},
        }
    }
}
