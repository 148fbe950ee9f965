"""The dialog to save a figure for a paper: its title, its format, its size."""

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from .. import figure_file
from ..assets import style_sheet
from ..exports import figure_export
from .markup import Text
from .widgets import Select, button, dialog

ABOUT = (
    "Points, edges and eigenvalues of both graphs, with the parameters and a legend. In SVG and "
    f"PDF, edges are lines up to {figure_file.MAX_LINES:,} for each graph; more are an image, and "
    "the figure says so."
)
SIZES = {
    f"{scale} times ({figure_file.PIXELS * scale} dots per inch)": scale
    for scale in figure_file.SCALES
}


class FigureDialog(Viewer):
    """Asks what the figure is to be, and has it saved.

    Parameters
    ----------
    save : callable
        Called with an `Export`.
    """

    def __init__(self, save, **params):
        super().__init__(**params)
        self._save = save
        wide = {"sizing_mode": "stretch_width", "size": "small"}
        self.title = pmui.TextInput(label="Title", max_length=200, **wide)
        self.format = Select(
            label="Format",
            options={kind.upper(): kind for kind in figure_file.FORMATS},
            value="png",
            **wide,
        )
        self.size = Select(label="Size of a PNG", options=SIZES, value=2, **wide)
        self.format.param.watch(
            lambda event: setattr(self.size, "disabled", event.new != "png"), "value"
        )
        words = Text(ABOUT, stylesheets=[style_sheet("sentences")], sizing_mode="stretch_width")
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

    def save(self):
        """Save what the dialog says."""
        self._dialog.open = False
        kind, options = self.format.value, {"title": self.title.value}
        if kind == "png":
            options["scale"] = self.size.value
        self._save(figure_export(kind, **options))
