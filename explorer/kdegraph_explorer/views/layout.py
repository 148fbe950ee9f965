"""Lay out the parts of an explorer: controls, header and views."""

from collections.abc import Mapping

import panel_material_ui as pmui

from ..assets import SIZES, style_sheet
from ..patches.panel import growing
from . import VIEWS
from .alerts import Tour, alerts
from .base import beside, low_row
from .color import ColorControl
from .controls import DataControls, DisplayControls, ParameterControls
from .keys import actions_of
from .later import put
from .selection_controls import SelectionControls
from .status import StageBars, Status
from .toolbar import Toolbar
from .widgets import ONE_LINE, column, filling_column, link, row


class Views(Mapping):
    """All views of a session by their `key`.

    Each is made when it is first asked for, as that takes a moment; `made` has those that exist,
    and `kinds` has the classes of all.
    """

    def __init__(self, session):
        self._session = session
        self.made = {}
        self.kinds = {view.key: view for view in VIEWS}

    def __getitem__(self, key):
        if key not in self.made:
            self.made[key] = self.kinds[key](self._session)
        return self.made[key]

    def __iter__(self):
        return iter(self.kinds)

    def __len__(self):
        return len(self.kinds)


class Layout:
    """Lay out all views and controls of a session, one of the large views at a time.

    `own_address` says whether the page belongs to the explorer alone, as opposed to a notebook.
    `view` is the key of the large view to begin with, if it applies. The parts of a page are
    `sidebar`, the controls, `header`, the bar with the status, and `main`, the views.
    """

    def __init__(self, session, own_address, view=""):
        self._session = session
        self.views = Views(session)
        self.status = Status(session)
        self.controls = [
            DataControls(session, lambda file: self.toolbar.take(file)),
            SelectionControls(session),
            ParameterControls(session),
            DisplayControls(session),
        ]
        actions = actions_of(session.state, self.views, self._focus)
        self.toolbar = Toolbar(session, actions, own_address=own_address)
        self.toolbar.browser.on_expected = self._expect
        # Each place gets its view when that is first shown or likely to be, as the browser takes
        # long to build a view.
        self._top = {
            view.key: filling_column(
                css_classes=["kg-view", "kg-alone"] if view.alone else ["kg-view"],
                stylesheets=[style_sheet("shrinks")],
            )
            for view in VIEWS
            if view.area == "top"
        }
        self.tabs = view_choice()
        self.color = ColorControl(session, [view.key for view in VIEWS if view.colored])
        self.sidebar = column(*self.controls, css_classes=["kg-sidebar"])
        self.header = row(
            self.status,
            self.toolbar,
            styles={"align-items": "center", "flex": "1 1 auto", "min-width": "0"},
        )
        self.main = self._lay_out()
        link(self.tabs, "value", session.state, "view")
        self.tabs.param.watch(lambda event: setattr(session, "dark", event.new), "dark_theme")
        session.state.param.watch(lambda *events: self._arrange(), ["shown", "source"])
        self._arrange()
        if view in session.state.param.view.objects:
            session.state.view = view
        session.state.param.watch(lambda event: self._show(), "view")
        self._show()

    def _focus(self, name):
        """Move the keyboard to the control of a parameter."""
        for control in self.controls:
            if name in control.widgets:
                control.widgets[name].focus()

    def _lay_out(self):
        self._bottom = low_row(height=226)  # empty until there is a view that it belongs to
        self._bottom.css_classes = ["kg-below"]
        return filling_column(
            *alerts(self._session),
            Tour(self._session),
            # The choice of the view, and beside it, or below, that of the colors.
            row(self.tabs, self.color, stylesheets=[style_sheet("wraps")]),
            *self._top.values(),
            self._bottom,
            StageBars(self._session),
            css_classes=["kg-main"],
            stylesheets=[style_sheet("main"), style_sheet("scrolls-where-narrow")],
        )

    def _arrange(self):
        """Offer the large views that apply to the data.

        If the present view does not apply, show the first one.
        """
        state = self._session.state
        views = [view for view in VIEWS if view.area == "top" and view.applies(state)]
        applicable = {view.label: view.key for view in views}
        # The one to begin with comes first.
        state.param.view.objects = [
            view.key for view in sorted(views, key=lambda view: not view.opens)
        ]
        if applicable != self.tabs.options or state.view not in applicable.values():
            self.tabs.param.update(options=applicable, value=state.param.view.objects[0])
        self.tabs.visible = len(applicable) > 1

    def _show(self):
        shown = self.views.kinds[self._session.state.view]
        place, first = self._top[shown.key], not any(map(len, self._top.values()))
        for key, other in self._top.items():
            other.visible = key == shown.key
        self._bottom.visible = not shown.alone
        ready = self._is_built(shown) or first  # the first view is a part of the page
        # The label comes before the view, as the browser reads both when the view changes.
        self.toolbar.browser.param.update(opening="" if ready else shown.label, view=shown.key)
        if ready:
            self._fill(place, shown)
        else:
            # This takes a moment; meanwhile the browser says what is being opened.
            self._session.mailbox.post(lambda: self._fill(place, shown))
        self._session.state.extra_methods = shown.extra_methods

    def _fill(self, place, kind):
        if kind.key != self._session.state.view:
            return  # another view has been chosen meanwhile
        if self._is_built(kind):  # perhaps since it was chosen: the mouse still rests on its button
            self.views[kind.key].appear()
        else:
            with growing(place):
                self._build(kind.key)
                if not (kind.alone or len(self._bottom)):
                    self._fill_bottom()
        self.toolbar.browser.opening = ""

    def _is_built(self, kind):
        """Return whether a large view is in its place, and so is the row below it if it has one."""
        return len(self._top[kind.key]) > 0 and (kind.alone or len(self._bottom) > 0)

    def _build(self, key):
        """Update a large view, and put it into its place unless it is there."""
        view, place = self.views[key], self._top[key]
        # First, so that the windows of its plots fit when the browser builds them.
        view.appear()
        if not len(place):
            put(place, [view], self._session)

    def _expect(self, label):
        """Build the view that the mouse rests on, hidden, as it may be opened next."""
        key = self.tabs.options.get(label)
        if key is not None and not len(self._top[key]):
            with growing(self._top[key]):
                self._build(key)

    def _fill_bottom(self):
        """Put the views of the lower row into it."""
        views = [self.views[kind.key] for kind in VIEWS if kind.area == "bottom"]
        for view in views:
            view.appear()
        row = beside(*views, widths=[view.width for view in views])
        put(self._bottom, row.objects, self._session)


def view_choice():
    """Return the widget to choose which of the large views is shown."""
    return pmui.RadioButtonGroup(
        options={view.label: view.key for view in VIEWS if view.area == "top"},
        size="small",
        color="primary",
        height=30,
        margin=(4, 4, 0, 4),
        sx={
            "& .MuiToggleButton-root": ONE_LINE
            | {"padding": "2px 10px", "lineHeight": 1.6, "fontSize": SIZES["text"]}
        },
        stylesheets=[style_sheet("scrolls-sideways-where-narrow")],
        css_classes=["kg-tabs"],
    )
