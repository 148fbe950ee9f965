"""The table in which the columns of a file get their roles."""

import param
from panel.custom import JSComponent

from ..assets import script, style_sheet

WORDS = {"feature": "Feature", "label": "Label", "color": "Color", "ignore": "Ignore"}


class ColumnTable(JSComponent):
    """A row for each column, with a choice of its role, and a search field where they are many.

    Parameters
    ----------
    choose : callable
        Called as ``choose(indices, role)``.
    """

    rows = param.List(doc="What is shown of each column: name, about, bars, offered roles.")
    roles = param.List(doc="The role of each column, a key of `words`.")
    words = param.Dict(default=WORDS, doc="Each role as the user reads it.")

    _esm = script("columns")

    def __init__(self, choose, **params):
        self._choose = choose
        super().__init__(stylesheets=[style_sheet("fields"), style_sheet("columns")], **params)

    def _handle_msg(self, message):
        indices, role = message.get("columns"), message.get("role")
        if not isinstance(indices, list) or role not in self.words:
            return
        known = [i for i in indices if isinstance(i, int) and 0 <= i < len(self.rows)]
        offering = [i for i in known if role in self.rows[i]["offered"]]
        if offering:
            self._choose(offering, role)


def column_table(source):
    """A `ColumnTable` for a source with `facts`, `role`, `offers` and `assign`, as `Upload` has."""

    def assign(indices, role):
        source.assign([source.facts[i].name for i in indices], role)

    def update(*events):
        table.roles = [source.role(found.name) for found in source.facts]

    def build(*events):
        offered = [[role for role in WORDS if source.offers(found, role)] for found in source.facts]
        table.param.update(
            roles=[source.role(found.name) for found in source.facts],
            rows=[
                {"name": found.name, "about": found.about, "bars": found.bars, "offered": roles}
                for found, roles in zip(source.facts, offered, strict=True)
            ],
        )

    table = ColumnTable(assign, margin=(4, 8), sizing_mode="stretch_width")
    source.param.watch(build, "facts")
    source.param.watch(update, ["columns", "label_column", "color_column"])
    build()
    return table
