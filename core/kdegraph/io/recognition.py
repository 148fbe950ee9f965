"""Columns that are not features by default: numbers and names of the rows, constants, dates."""

import re

import numpy as np

# What a column can be recognized as, and how messages put it.
REASONS = {
    "index": "counts the rows",
    "id": "an identifier",
    "constant": "always the same",
    "date": "a date",
}
# Years in columns that are called so, and in dates such as 20240131.
_YEARS = (1500, 2200)
_MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY = (
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    rf"|\d{{1,2}}[- .]+{_MONTH}[-., ]+\d{{2,4}}|{_MONTH}[ .]+\d{{1,2}},? +\d{{4}}"
)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?i:am|pm))?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
_DATE = re.compile(rf"(?:{_DAY})(?:[T ]+{_CLOCK})?")


def recognize(name, values):
    """Return what a column of numbers is if it is not a measurement.

    The result is a key of `REASONS`, or "" for a column that is a feature by default.

    A column is an "index" if it has no name of its own and counts the rows. It is an "id" if it
    holds whole numbers and is called id, user_id, userId or the like; if it is called index or row
    and all its numbers differ; or, under any name and in any order, if 20 or more whole numbers
    differ and are at least half of those in their range. It is a "date" if it is called year and
    holds years, if its numbers are dates such as 20240131, or if it is called date, time or the
    like and counts seconds since 1970. It is "constant" if all of two or more rows have one value.
    """
    present = values[~np.isnan(values)]
    if len(values) < 2 or len(present) == 0:
        return ""
    if len(present) == len(values) and present.min() == present.max():
        return "constant"
    if _counts_seconds(name, present):
        return "date"
    if not (np.isfinite(present).all() and (present == np.round(present)).all()):
        return ""
    unnamed = name.startswith(("column ", "Unnamed", "__index_level_"))
    if unnamed and np.array_equal(values - values[0], np.arange(len(values))):
        return "index"
    if _are_days_or_years(name.strip(), present):
        return "date"
    return "id" if _is_identifier(name.strip(), present) else ""


def is_date_text(words):
    """Return whether all of these texts are dates; False where there are none."""
    dates = (_DATE.fullmatch(word.strip()) for word in words)
    return bool(next(dates, None)) and all(dates)


def _is_identifier(name, values):
    if re.fullmatch(r"(?i:id|ids|uid|uuid|guid|.*[\W_]ids?)|.*[a-z](?:Id|ID)s?", name):
        return True
    index = re.fullmatch(r"(?i:idx|index|row|rowid|row[\W_]*(?:number|num|no|nr)|#)", name)
    # In fewer rows, other whole numbers may well all differ and be at least half of their range.
    if len(values) < 20 and not index:
        return False
    all_differ = len(np.unique(values)) == len(values)
    return bool(all_differ and (index or np.ptp(values) < 2 * len(values)))


def _are_days_or_years(name, values):
    """Return whether whole numbers are dates such as 20240131, or years by their name."""
    low, high = _YEARS
    if re.fullmatch(r"(?i:year|yr|.*[\W_](?:year|yr))", name):
        return bool((values >= low).all() and (values <= high).all())
    years, rest = np.divmod(values, 10_000)
    months, days = np.divmod(rest, 100)
    written = (years >= low) & (years <= high) & (months >= 1) & (months <= 12)
    return bool((written & (days >= 1) & (days <= 31)).all())


def _counts_seconds(name, values):
    """Return whether a column that is called a time or a date counts (milli-, micro- or nano-)
    seconds since 1970.
    """
    low, high = 315_532_800, 4_102_444_800  # the years 1980 to 2100
    return bool(re.fullmatch(r"(?i:.*(?:time|date|epoch|stamp).*)", name)) and any(
        values.min() >= low * unit and values.max() <= high * unit for unit in (1, 1e3, 1e6, 1e9)
    )
