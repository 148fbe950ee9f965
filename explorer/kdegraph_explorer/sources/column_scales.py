"""The scales of the columns of a table: logarithm, standardization, weight."""

import param
from kdegraph.datasets import DATE_PARTS, date_coordinates
from kdegraph.validation import check_positive

from ..checks import quoted

SCALES = ("log", "standardize", "weights")


class ColumnScales(param.Parameterized):
    """Hold the scales of columns; see `kdegraph.datasets.rescale`.

    Choices for columns that are not features at present have no effect. A source inherits from this
    class and has `columns`, the names of the features, and `facts`, those of all columns.
    """

    log = param.List(item_type=str, doc="Names of the columns on a log scale.")
    standardize = param.List(item_type=str, doc="Names of standardized columns.")
    weights = param.Dict(default={}, doc="Factors by which columns are multiplied, by name.")

    @property
    def all_standardized(self):
        """Return whether all features are standardized."""
        return bool(self.columns) and set(self.columns) <= set(self.standardize)

    def standardize_all(self, on):
        """Standardize all features, or none."""
        others = [name for name in self.standardize if name not in self.columns]
        self.standardize = others + list(self.columns) * on

    def set_scale(self, name, kind, value):
        """Set one of `SCALES` (`kind`) of a column: a bool, or its weight.

        A value that is not possible raises a ValueError or TypeError and changes nothing.
        """
        if kind == "weights":
            weight = check_positive(value, f"the weight of {name!r}")
            rest = {key: self.weights[key] for key in self.weights if key != name}
            self.weights = rest if weight == 1 else {**rest, name: weight}
            return
        if kind == "log" and value:
            self.check_log([name])
        rest = [other for other in getattr(self, kind) if other != name]
        setattr(self, kind, [*rest, name] if value else rest)

    def check_log(self, names):
        """Raise a ValueError if one of these columns cannot be on a log scale."""
        for found in self.facts:
            if found.name in names and found.no_log:
                raise ValueError(f"column {found.name!r} stays as it is: {found.no_log}")


def scaling_of(data):
    """Return the scales in `data` of its columns, as `kdegraph.datasets.rescale` takes them."""
    log, standardize, weights = (data.get(name, ()) for name in SCALES)
    return {
        "log": [name for name in log if name in data["columns"]],
        "standardize": [name for name in standardize if name in data["columns"]],
        "weights": {name: weights[name] for name in weights if name in data["columns"]},
    }


def rescaling_of(data):
    """Return the same of the coordinates of these columns, of which a date may have two."""
    dates, scaling = data.get("dates", {}), scaling_of(data)
    names = {name: date_coordinates(name, part) for name, part in dates.items()}
    each = {kind: [(names.get(name, (name,)), name) for name in scaling[kind]] for kind in scaling}
    found = {kind: [one for many, _ in each[kind] for one in many] for kind in SCALES[:2]}
    weights = {one: scaling["weights"][name] for many, name in each["weights"] for one in many}
    return {**found, "weights": weights}


def checked_choices(data):
    """Check columns and scales from outside as far as possible without the file; return them."""
    dates = data["dates"]
    if not (isinstance(dates, dict) and all(part in DATE_PARTS for part in dates.values())):
        raise ValueError(f"dates must be a dict of {quoted(list(DATE_PARTS))}, got {quoted(dates)}")
    try:
        return {"dates": dates} | {
            kind: _checked(kind, data[kind]) for kind in ("columns", *SCALES)
        }
    except TypeError as error:
        raise ValueError(str(error)) from None


def _checked(kind, value):
    """Check the type of columns, or of a value for one of `SCALES`, and return it."""
    if kind == "weights":
        if not isinstance(value, dict):
            raise TypeError(f"weights must be a dict of numbers by name, got {quoted(value)}")
        return {name: check_positive(value[name], f"the weight of {name!r}") for name in value}
    if not (isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)):
        raise TypeError(f"{kind} must be a list of names of columns, got {quoted(value)}")
    return list(value)


def check_scale(source, kind, value):
    """Check a value for one of `SCALES` of a source that a program sets, and return it."""
    if kind == "standardize" and isinstance(value, bool):
        value = list(source.columns) * value
    value = _checked(kind, [value] if isinstance(value, str) and kind != "weights" else value)
    known = [found.name for found in source.facts if "feature" in found.roles]
    if unknown := [name for name in value if name not in known]:
        raise ValueError(f"there is no column of numbers {unknown[0]!r}; there are {quoted(known)}")
    if kind == "log":
        source.check_log(value)
    return value
