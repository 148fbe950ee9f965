"""Show the table in which the columns of a file get their roles."""

import param
from kdegraph.datasets import DATE_PARTS
from panel.custom import JSComponent

from ..assets import script_of_elements, style_sheet
from ..checks import quoted
from ..sources.column_scales import SCALES

WORDS = {
    "feature": "Feature",
    **{part: part.capitalize() for part in DATE_PARTS},
    "label": "Label",
    "color": "Color",
    "ignore": "Ignore",
}


class ColumnTable(JSComponent):
    """Show a row for each column of a file, with a choice of its role and its scale.

    The `source` has `facts`, `role` and `assign`, as `Upload` has. There is a search
    field if there are many columns.
    """

    rows = param.List(doc="What is shown of each column: name, about, bars, offered roles.")
    roles = param.List(doc="The role of each column, a key of `words`.")
    scales = param.List(doc="Of each column, whether it is on a log scale, standardized; weight.")
    all_standardized = param.Boolean()
    refusal = param.Dict(default={}, doc="Why a scale cannot be chosen: the column and the text.")
    words = param.Dict(default=WORDS, doc="Each role as the user reads it.")

    _esm = script_of_elements("columns")

    def __init__(self, source, **params):
        self._source = source
        super().__init__(stylesheets=[style_sheet("fields"), style_sheet("columns")], **params)
        source.param.watch(lambda event: self._build(), "facts")
        choices = ["columns", "label_column", "color_column", "dates", *SCALES]
        source.param.watch(lambda *events: self.param.update(**self._marks()), choices)
        self._build()

    def _build(self):
        source = self._source
        rows = [
            {
                "name": found.name,
                "about": found.about,
                "bars": found.bars,
                "offered": list(found.roles),
            }
            for found in source.facts
        ]
        self.param.update(rows=rows, **self._marks())

    def _marks(self):
        source = self._source
        log, standardized = {*source.log}, {*source.standardize}
        scales = [
            {
                "log": found.name in log,
                "standardize": found.name in standardized,
                "weight": source.weights.get(found.name, 1),
            }
            for found in source.facts
        ]
        roles = [source.role(found.name) for found in source.facts]
        every = source.all_standardized
        return {"roles": roles, "scales": scales, "all_standardized": every, "refusal": {}}

    def _handle_msg(self, message):
        if isinstance(message.get("standardize"), bool):
            self._source.standardize_all(message["standardize"])
        elif message.get("kind") in SCALES:
            self._set_scale(message.get("column"), message["kind"], message.get("value"))
        else:
            self._assign(message.get("columns"), message.get("role"))

    def _assign(self, indices, role):
        if not isinstance(indices, list) or role not in self.words:
            return
        offering = [i for i in indices if self._knows(i) and role in self.rows[i]["offered"]]
        if offering:
            self._source.assign([self.rows[i]["name"] for i in offering], role)

    def _set_scale(self, i, kind, value):
        """Put a column on a scale, or say why not; then the former one is shown again."""
        if not (self._knows(i) and isinstance(value, str if kind == "weights" else bool)):
            return
        try:
            weight = float(value) if kind == "weights" else value
            self._source.set_scale(self.rows[i]["name"], kind, weight)
        except ValueError as error:
            text = f"{str(error)[0].upper()}{str(error)[1:]}."
            if kind == "weights":
                text = f"A weight is a positive number such as 2 or 0.5, not {quoted(value)}."
            self.refusal = {}  # so that the same refusal is shown again
            self.refusal = {"column": i, "text": text}

    def _knows(self, i):
        return isinstance(i, int) and 0 <= i < len(self.rows)
