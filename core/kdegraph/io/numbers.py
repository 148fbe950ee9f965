"""Read numbers as people write them: with thousands separators, a currency or a percent sign."""

import re
from collections import Counter

_CURRENCY = (
    r"[A-Z]{0,2}\$|[€£¥₹₽₩₺₪฿₫₴₦]|kr\.?|zł|Kč|Fr\.|USD|EUR|GBP|JPY|CNY|INR|CHF|CAD|AUD|NZD|SEK|NOK"
    "|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|SGD|HKD|KRW|TRY|RUB"
)
# Spaces between groups of digits: an ordinary, a no-break and a narrow one.
_SPACE = "[ \u00a0\u202f]"


def _separators(decimal):
    """Return the patterns of the marks between thousands."""
    return r"\." if decimal == "," else ",", "['\u2019]", _SPACE


def _pattern(decimal):
    """Return the pattern of a number; its groups are the signs, the number and the units."""
    point = re.escape(decimal)
    grouped = "|".join(f"(?:{mark}[0-9]{{3}})+" for mark in _separators(decimal))
    whole = f"(?:[1-9][0-9]{{0,2}}(?:{grouped})|[0-9]+)"
    digits = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    return (
        f"^(?P<sign>[+-]?)(?:(?P<before>{_CURRENCY}){_SPACE}?)?(?P<inner>[+-]?)(?P<digits>{digits})"
        f"(?:{_SPACE}?(?P<after>{_CURRENCY}|%))?$"
    )


_PATTERNS = {decimal: _pattern(decimal) for decimal in ".,"}
_NUMBERS = {decimal: re.compile(pattern) for decimal, pattern in _PATTERNS.items()}


def is_number(text, decimal):
    """Return whether a text is a number, perhaps with a unit, where `decimal` is the point."""
    return bool(_NUMBERS[decimal].match(text)) or is_plain(text, decimal)


def is_plain(text, decimal):
    """Return whether a text is a number with neither unit nor marks between thousands."""
    text = text.replace(",", ".") if decimal == "," else text
    return bool(re.fullmatch("[-+.0-9eE]+", text) and _NUMBERS["."].match(text))


def numbers_of(texts, decimal="."):
    """Return the numbers that texts without spaces at their ends stand for, as an Arrow array.

    It has null for a text that is not a number, or has another unit than most: in a column of
    dollars, euros would count as dollars. `decimal` is the point where both are possible, as in
    "1,234"; the other one is taken only if it makes a number of each text.
    """
    found = _read(texts, decimal)
    if not found.null_count:
        return found
    other = _read(texts, "," if decimal == "." else ".")
    return found if other.null_count else other


def _read(texts, decimal):
    import pyarrow as pa
    import pyarrow.compute as pc

    parts, nothing = pc.extract_regex(texts, _PATTERNS[decimal]), pa.scalar("", texts.type)
    sign, digits, unit = (
        pc.binary_join_element_wise(*(pc.struct_field(parts, name) for name in names), nothing)
        for names in (("sign", "inner"), ("digits",), ("before", "after"))
    )
    digits = pc.replace_substring_regex(digits, "|".join(_separators(decimal)), "")
    numbers = pc.binary_join_element_wise(sign, pc.replace_substring(digits, decimal, "."), nothing)
    units = Counter({each["values"]: each["counts"] for each in pc.value_counts(unit).to_pylist()})
    usual = [each for each, _ in units.most_common() if each][:1]
    valid = pc.and_(
        pc.is_in(unit, pa.array(["", *usual], unit.type)), pc.less(pc.utf8_length(sign), 2)
    )
    return pc.if_else(valid, numbers, None).cast(pa.float64())
