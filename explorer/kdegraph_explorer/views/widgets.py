"""Widgets in the explorer's style, most of them made from a parameter."""

import panel as pn
import panel_material_ui as pmui
import param

from ..assets import style_sheet
from ..typography import SIZES
from .columns import ColumnTable
from .file_button import FileButton
from .markup import AsWritten


def control(parameterized, name, hint=None, receive=None):
    """A widget for a parameter, with the parameter's doc as its tooltip.

    Parameters
    ----------
    parameterized : param.Parameterized
    name : str
    hint : str or dict, optional
        "steps": a slider over the values to choose from; "file": a file from the user's disk;
        "columns": the table of columns; {heading: {option: value}}: a choice with headings.
    receive : callable
        For a file: see `FileButton`.
    """
    parameter = parameterized.param[name]
    value = getattr(parameterized, name)
    common = {
        "label": parameter.label,
        "description": parameter.doc,
        "sizing_mode": "stretch_width",
        "size": "small",
    }
    slider = {"margin": (2, 8), "sx": DENSE, **common}
    if hint == "steps":
        options = {f"{option:,}": option for option in parameter.objects}
        return link(
            pmui.DiscreteSlider(options=options, value=value, **slider),
            "value",
            parameterized,
            name,
        )
    if isinstance(hint, dict):
        choice = Select(groups=hint, value=value, margin=(6, 8), **common)
        return link(choice, "value", parameterized, name)
    if hint == "columns":
        return ColumnTable(parameterized, margin=(4, 8), sizing_mode="stretch_width")
    if hint == "file":
        return file_input(parameterized, name, receive)
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
            sx=CLEAR_ICONS,
            **{**common, "sizing_mode": None},
        )
    if isinstance(parameter, param.Integer):
        return at_once(pmui.IntSlider.from_param(parameter, **slider))
    return at_once(pmui.FloatSlider.from_param(parameter, step=parameter.step or 0.01, **slider))


def box(parameter, **options):
    """A box to tick, with the label and the doc of a parameter, and not tied to it."""
    return pmui.Checkbox(
        label=parameter.label,
        description=parameter.doc,
        size="small",
        width=90,
        margin=(8, 0, 0, 0),
        stylesheets=[style_sheet("compact")],
        **options,
    )


def automatic(state, name):
    """A box to tick for the automatic value of the parameter beside it."""
    return link(box(state.param[name], value=getattr(state, name)), "value", state, name)


def link(widget, attribute, parameterized, name):
    """Tie an attribute of a widget to a parameter, both ways."""
    at_once(widget)
    widget.param.watch(lambda event: setattr(parameterized, name, event.new), attribute)
    parameterized.param.watch(lambda event: setattr(widget, attribute, event.new), name)
    return widget


def at_once(widget):
    """Have what the user does with a widget arrive at once, without Panel's wait of 50 ms for
    further changes; `Latest` drops requests that come too fast.
    """
    widget._debounce = 0
    return widget


class Select(AsWritten, pmui.Select):
    """A choice of one option."""


def file_input(parameterized, name, receive):
    """Return a `FileButton` that sets a parameter to the `StoredFile`, or to the ValueError that
    says why there is none.
    """
    parameter = parameterized.param[name]

    def take(value):
        setattr(parameterized, name, value)

    return FileButton(
        receive,
        take,
        take,
        label=parameter.label,
        description=parameter.doc,
        sizing_mode="stretch_width",
        margin=(6, 8),
    )


def button(label, sentence, act, **options):
    """A button with words on it, which are also its name for a screen reader, and a sentence as its
    description.

    Parameters
    ----------
    label, sentence : str
    act : callable
        Called as ``act()`` on a click.
    **options
        For the button.
    """
    style = {
        "size": "small",
        "variant": "outlined",
        "sx": SMALL_BUTTON,
        "theme_config": NAMED_BY_ITS_WORDS,
    }
    return pmui.Button(
        label=label, description=sentence, on_click=lambda event: act(), **{**style, **options}
    )


def dialog(title, width, *content):
    """A dialog that a click beside it closes."""
    return pmui.Dialog(
        *content,
        title=title,
        title_variant="h6",
        width_option=width,
        show_close_button=True,
        close_on_click=True,
    )


def row(*widgets):
    """Widgets on one line."""
    return pn.Row(*widgets, sizing_mode="stretch_width", margin=0)


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

# By default the icons are black in the dark theme, too.
CLEAR_ICONS = {"& .MuiIconButton-root": {"color": "text.secondary"}}
SMALL_BUTTON = {
    "textTransform": "none",
    "minWidth": "0",
    "padding": "2px 8px !important",
    "minHeight": "31px",
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
