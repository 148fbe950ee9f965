"""Show buttons in the bar: undo, redo, files to save and to open, help."""

from functools import cached_property

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from ..assets import icon, style_sheet
from ..exports import EXPORTS, figure, figure_export, session_file
from ..jobs import explain
from ..results import METHODS
from ..sources.upload import Upload
from ..sources.user_files import name_of
from .base import Part
from .browser import Browser, Connection
from .describe import counted
from .keys import SHORTCUTS, help_text
from .later import put
from .markup import Text, styled_text
from .widgets import NAMED_BY_ITS_WORDS, FileButton, Select, button, dialog

SIZES = {
    f"{scale} times ({figure.DOTS_PER_INCH * scale} dots per inch)": scale
    for scale in figure.SCALES
}
OPEN = "Open a session file …"
SAVE_FIGURE = "Save a figure …"


class FigureDialog(Viewer):
    """Ask for the format of a figure, and have it saved: ``save(export)`` is called."""

    def __init__(self, save):
        super().__init__()
        self._save = save
        wide = {"sizing_mode": "stretch_width", "size": "small"}
        self.title = pmui.TextInput(label="Title", max_length=200, **wide)
        kinds = {kind.upper(): kind for kind in figure.FORMATS}
        self.format = Select(label="Format", options=kinds, value="png", **wide)
        self.size = Select(label="Size of a PNG", options=SIZES, value=2, **wide)
        self.format.param.watch(
            lambda event: setattr(self.size, "disabled", event.new != "png"), "value"
        )
        words = styled_text(
            "sentences",
            "Points, edges and eigenvalues of both graphs, with the parameters and a legend. In "
            f"SVG and PDF, edges are lines up to {figure.MAX_LINES:,} for each graph; more are an "
            "image, and the figure says so.",
        )
        done = button(
            "Save",
            "Save the figure.",
            self.save,
            variant="contained",
            color="primary",
            width=90,
            css_classes=["kg-save-figure"],
        )
        self._dialog = dialog(
            "Save a figure", "xs", words, self.title, pn.Row(self.format, self.size, margin=0), done
        )

    def __panel__(self):
        return self._dialog

    def open(self, title):
        """Show the dialog, with a title to begin with."""
        self.title.value = title
        self._dialog.open = True

    def close(self):
        """Hide the dialog."""
        self._dialog.open = False

    def save(self):
        """Save what the dialog says; it stays open, as one figure is often saved in two formats."""
        kind, options = self.format.value, {"title": self.title.value}
        if kind == "png":
            options["scale"] = self.size.value
        self._save(figure_export(kind, **options))


class Toolbar(Part):
    """Show undo, redo, the menu of files and help; and serve the keys that do the same and more.

    `actions` has what to call by the names in `SHORTCUTS`; the attribute has all actions.
    `own_address` says whether the page belongs to the explorer alone, as opposed to a notebook.
    """

    def __init__(self, session, actions, own_address):
        super().__init__(session)
        self.actions = {
            "undo": session.history.undo,
            "redo": session.history.redo,
            "help": self._toggle_help,
            "save": lambda: self._export(EXPORTS[0]),
            **actions,
        }
        keys = {key: shortcut.action for shortcut in SHORTCUTS for key in shortcut.keys}
        self.browser = Browser(
            lambda action: self.actions[action](), keys=keys, own_address=own_address
        )
        undo, redo = session.history.undo, session.history.redo
        self._undo = icon_button(icon("undo"), "Undo", "Undo the last change (Ctrl+Z)", undo)
        self._redo = icon_button(icon("redo"), "Redo", "Redo what was undone (Ctrl+Shift+Z)", redo)
        self.menu = file_menu(self.choose)
        self._open = session.latest(
            lambda file, progress, publish: session_file.read(session, file.read()),
            deliver=lambda file, snapshot: session.history.go_on(snapshot),
            fail=lambda file, error: self._refuse(error),
        )
        self._body = self._lay_out()
        session.history.param.watch(lambda *events: self._enable(), ["can_undo", "can_redo"])
        for name in ("busy", "outdated"):
            self.state.param.watch(lambda event: setattr(self.browser, event.name, event.new), name)
        self.state.param.watch(
            lambda *events: self._say(), ["result", "error", "selection", "stage"]
        )
        self._enable()

    @cached_property
    def help(self):
        """Return the dialog with the help."""
        return dialog("Help", "md", styled_text("help", help_text()))

    @cached_property
    def figure_dialog(self):
        """Return the dialog to save a figure."""
        return FigureDialog(self._export)

    @cached_property
    def _opener(self):
        """Return the dialog to open a session file."""
        file = FileButton(
            self.session.receive,
            self.open,
            self._refuse,
            limit=session_file.MAX_SESSION_BYTES,
            label="Choose or drop a session file",
            sizing_mode="stretch_width",
        )
        words = Text(
            "A session file holds all choices, and the data where they are your own. "
            "Export → Session file writes one.",
            sizing_mode="stretch_width",
        )
        return dialog("Open a session", "xs", words, file)

    def _toggle_help(self):
        self.help.open = not self.help.open
        self._put(self.help)

    def _put(self, opened):
        """Put an open dialog into the page, unless it is there: the browser may not notice that a
        dialog is opened while it builds it.
        """
        made = pn.panel(opened)
        if made not in self._unseen.objects:
            put(self._unseen, [made], self.session)

    def _connection(self):
        """Return the `Connection`, which knows whether the address restores what is shown."""
        connection, table = Connection(), self.session.sources[Upload.key]

        def note(*events):
            lost = self.state.source == table.key and table.unkept
            connection.unkept = name_of(table.file) or "" if lost else ""

        self.state.param.watch(note, "source")
        table.param.watch(note, ["file", "unkept"])
        return connection

    def _drop_place(self):
        """Return what takes a file that is dropped anywhere on the page."""
        return FileButton(
            self.session.receive,
            self.take,
            self.session.open,  # it shows the error as that of a file
            label="Drop the file to open it",
            whole_page=True,
        )

    def _lay_out(self):
        sentence = "Help: keys, and how to read the plots (?)"
        help_button = icon_button(icon("help"), "Help", sentence, self.actions["help"])
        self._unseen = pn.Row(
            self.browser,
            *([self._connection(), self._drop_place()] if self.browser.own_address else []),
            margin=0,
            width=0,
            styles={"position": "absolute"},
        )
        return pn.Row(
            self._undo,
            self._redo,
            self.menu,
            help_button,
            self._unseen,
            margin=0,
            width=218,
            height=40,
            align="center",
            styles={"flex": "none", "align-items": "center"},
            stylesheets=[style_sheet("toolbar")],
            css_classes=["kg-toolbar"],
        )

    def _enable(self):
        self._undo.disabled = not self.session.history.can_undo
        self._redo.disabled = not self.session.history.can_redo

    def _say(self):
        """Have a screen reader announce the result, once nothing is under way."""
        state = self.state
        if state.stage is not None:
            return
        words = [state.error] if state.error else []
        for method, name in METHODS.items():
            if not state.error and (outcome := state.outcome(method)) is not None:
                words.append(f"{name}: {counted(outcome.n_shown, 'cluster')}")
        if len(state.selection):
            words.append(f"{len(state.selection):,} points selected")
        self.browser.said = "; ".join(words)

    def choose(self, item):
        """Do what an item of the menu says."""
        label = item["label"]
        if label == OPEN:
            self._opener.open = True
            self._put(self._opener)
        elif label == SAVE_FIGURE:
            if self.state.shown is not None:
                self.figure_dialog.open(self.state.shown.name)
                self._put(self.figure_dialog)
        else:
            self._export(next(export for export in EXPORTS if export.label == label))

    def _export(self, export):
        def save():
            try:
                self.browser.save(export.filename(self.session), export.make(self.session))
            except (ValueError, OSError, MemoryError) as error:
                self.figure_dialog.close()  # it would lie over the message
                self.state.error = f"{export.label} could not be saved: {explain(error)}"

        if self.session.origin is None:
            return
        if export.reproducible:
            self.session.reproduce(save)
        else:
            save()

    def take(self, file):
        """Open a file that has arrived, as a session if it is one, otherwise as data."""
        if session_file.is_session(file):
            self.open(file)
        else:
            self.session.open(file)

    def open(self, file):
        """Bring back the session in a session file, a `StoredFile`."""
        self._opener.open = False
        self._open.request(file, replace=True)

    def _refuse(self, error):
        self._opener.open = False
        self.state.error = explain(error)


def file_menu(choose):
    """Return the button with the menu of the files to save and to open; `choose` gets the item."""
    items = [{"label": export.label, "tooltip": None} for export in EXPORTS]
    return pmui.MenuButton(
        label="Export",
        items=[*items, {"label": SAVE_FIGURE}, {"label": "---"}, {"label": OPEN}],
        description="Save a figure, labels, the graph, a script or the whole session; "
        "pictures of single plots are saved from the menu of each plot.",
        size="small",
        variant="text",
        color="default",
        margin=(4, 4),
        css_classes=["kg-export"],
        theme_config=NAMED_BY_ITS_WORDS,
        on_click=choose,
    )


def icon_button(picture, label, sentence, act):
    """Return a button with an icon; the label is that for a screen reader."""
    return pmui.IconButton(
        icon=picture,
        label=label,
        description=sentence,
        size="small",
        margin=(3, 0),
        width=34,
        on_click=lambda event: act(),
        css_classes=[f"kg-{label.lower()}"],
    )
