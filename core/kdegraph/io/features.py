"""Choose the features and the label of a table, and say what is wrong with them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kdegraph.io.limits import MAX_BYTES, check_table
from kdegraph.io.mixed import Category, Number, coordinates
from kdegraph.manual import explained

if TYPE_CHECKING:
    from kdegraph.io.columns import Column
    from kdegraph.io.table import Table


def choose(
    table: "Table",
    columns: Sequence[str | int] | str | int | None,
    label: str | int | None,
    categories: Sequence[str | int] | str | int | None,
) -> "tuple[list[Column], Column | None, list[Number | Category]]":
    """Return the features of a table, its label or None, and how the features become coordinates.

    The arguments are those of `Table.to_dataset`.
    """
    mixed = categories is not None
    named = [] if categories in (None, "auto") else columns_of(table, categories, "categories")
    chosen = [] if columns is None else columns_of(table, columns, "columns")
    suggested = table._suggest_label(mixed)
    target = _target(table, label, [*chosen, *named], suggested)
    if columns is None:
        labels = {suggested, None if target is None else target.name}
        chosen = table._suggest_features(*labels - {each.name for each in named}, mixed=mixed)
    features = [*chosen, *(column for column in named if column not in chosen)]
    _check_features(table, features, mixed)
    if not mixed:
        return features, target, [Number(column.name, 0.0, 1.0) for column in features]
    parts = coordinates(features, {column.name for column in named})
    n_coordinates = sum(len(part.names) for part in parts)
    check_table(table.n_rows, n_coordinates, table.name or "the encoded table", MAX_BYTES)
    return features, target, parts


def columns_of(
    table: "Table", keys: Sequence[str | int] | str | int, argument: str
) -> "list[Column]":
    """Return the columns for one or several names or positions."""
    keys = [keys] if isinstance(keys, (str, int)) else keys
    return [table.column(key, argument) for key in keys]


def _target(table, label, features, suggested):
    """Return the column of known labels, or None."""
    if label == "auto":
        label = None if suggested in [feature.name for feature in features] else suggested
    if label is None:
        return None
    target = table.column(label, "label")
    if not target.classifies:
        raise ValueError(f"label: column {target.name!r} holds neither text nor numbers")
    if target in features:
        raise ValueError(
            f"label: column {target.name!r} is also one of the features, which would make the "
            "clusters agree with it; leave it out of columns, or choose another label"
        )
    return target


def _check_features(table, features, mixed):
    """Refuse a table without features, and columns that cannot be features."""
    if not features:
        found = ", ".join(f"{c.name[:40]!r} ({c.kind})" for c in table.columns[:10])
        raise ValueError(
            f"{table.name or 'the table'} has no column of numbers to use as a feature; "
            f"found {found or 'no columns'}"
        )
    for feature in features:
        if not (feature.numeric or (mixed and feature.classifies)):
            what = {"text": "text", "date": "dates"}.get(feature.kind, "no readable values")
            remedy = {
                "text": "; table_points, or --categories in the shell, encodes text",
                "date": f"; dates={{{feature.name!r}: 'month'}} makes numbers of them",
            }.get(feature.kind, "")
            raise ValueError(
                f"columns: column {feature.name!r} holds {what}, features must be numbers{remedy}"
            )


def check_complete(table: "Table", features: Sequence[Any], finite: Any) -> None:
    """Refuse a table if some rows are not `finite`, and name the first cell in `features`."""
    if finite.all():
        return
    row = int(np.argmin(finite))
    cells = ((feature, feature.values[row]) for feature in features)
    feature, cell = next(
        (feature, cell)
        for feature, cell in cells
        if cell is None or (feature.numeric and not np.isfinite(cell))
    )
    fill = "fill such cells in (table_points with missing='impute'), "
    if row in feature.bad:
        what = f"is not a number: {feature.bad[row][:80]!r}"
    elif cell in (np.inf, -np.inf):
        what, fill = "is infinite", ""
    else:
        what = "is missing (empty or NaN)"
    line = "" if table.first_line is None else f" (line {table.first_line + row:,} of the file)"
    raise explained(
        ValueError,
        "error-missing",
        f"row {row:,}{line}, column {feature.name!r} {what}; correct it, choose other columns, "
        f"{fill}or leave out incomplete rows (in Python dropna=True or missing='drop', in the "
        "shell --dropna)",
    )


def list_unused(table: "Table", used: "Iterable[Column | None]", *, text: bool) -> str:
    """List columns that are recognized as something else than a feature, with the reason; with
    `text`, also those of text. The first five of many are named.
    """
    reasons = {
        "index": "counts the rows",
        "id": "an identifier",
        "constant": "always the same",
        "date": "a date",
        "missing": "mostly missing",
        "label": "named like a label",
        "text": "text",
        "other": "neither numbers nor text",
    }
    found = []
    for column in table.columns:
        likely = "label" if column.name in table._label_like else column.kind if text else ""
        reason = reasons.get(column.recognized or likely)
        if reason and column not in used:
            found.append(f"{column.name!r} ({reason})")
    return ", ".join(found[:5] + ([f"{len(found) - 5} more"] if len(found) > 5 else []))
