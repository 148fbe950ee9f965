"""Show the uploaded files that are kept on the server, to open and to delete them."""

import param
from panel.custom import JSComponent

from ..assets import script_of_elements, style_sheet


class KeptList(JSComponent):
    """Show a line for each file that the `KeptFiles` of a source keep.

    The `source` is an `Upload`; ``open_file(key)`` opens a kept file.
    """

    rows = param.List(doc="What is shown of each file: key, name, about.")
    rule = param.String(doc="A sentence that says how long files are kept.")
    warning = param.String(doc="A sentence if the present file is not kept.")
    unfolded = param.Boolean(doc="Whether the lines are shown at first.")

    _esm = script_of_elements("kept")

    def __init__(self, source, open_file):
        self._source, self._open_file = source, open_file
        super().__init__(
            stylesheets=[style_sheet("fields"), style_sheet("kept")],
            margin=(4, 8),
            sizing_mode="stretch_width",
            visible=False,
        )

    def update(self, chosen):
        """Show the files as they are now, if the source is `chosen`."""
        if chosen and self._source.storage is not None:
            self._list()
        self.unfolded = self._source.file is None
        self.visible = chosen and bool(self.rows or self.warning)

    def _list(self):
        kept, reason = self._source.storage, self._source.unkept
        days = "1 day" if kept.days == 1 else f"{kept.days:,} days"
        rows = [
            {
                "key": file.key,
                "name": file.name,
                "about": f"{file.size:,} bytes, until {file.until:%B} {file.until.day}",
            }
            for file in kept.files()
        ]
        self.param.update(
            rows=rows,
            rule=f"Each stays for {days} after it was last opened.",
            warning=f"The file is not kept, and lost with this page: {reason}." if reason else "",
        )

    def _handle_msg(self, message):
        if self._source.storage is None:
            return
        if "open" in message:
            self._open_file(message["open"])
        elif "delete" in message:
            self._source.delete(message["delete"])
        self._list()
