"""Whether two systems gave the same answer: exactly within PostgreSQL, by value across systems."""

import datetime
import math
import struct
from decimal import Decimal, InvalidOperation

from penumbra_lab.system import Row

# DuckDB averages decimals as doubles and keeps fewer digits.
RELATIVE_TOLERANCE = 1e-9


def difference(expected: list[Row], found: list[Row], is_ordered: bool) -> str | None:
    """The first difference of two exact results, or None."""
    if len(expected) != len(found):
        return f"{len(expected)} rows against {len(found)}"
    if not is_ordered:
        expected, found = sorted(expected, key=repr), sorted(found, key=repr)
    for number, (left, right) in enumerate(zip(expected, found, strict=True)):
        if left != right:
            return f"row {number}: {_text(left)} against {_text(right)}"
    return None


def value_difference(postgres: list[Row], other: list[Row], is_ordered: bool) -> str | None:
    """The same for rows of PostgreSQL's text and Python values of another system."""
    left_rows = [tuple(_of_text(value) for value in row) for row in postgres]
    right_rows = [tuple(_of_python(value) for value in row) for row in other]
    if len(left_rows) != len(right_rows):
        return f"{len(left_rows)} rows against {len(right_rows)}"
    if not is_ordered:
        left_rows, right_rows = sorted(left_rows, key=_sort_key), sorted(right_rows, key=_sort_key)
    for number, (left, right) in enumerate(zip(left_rows, right_rows, strict=True)):
        for column, (a, b) in enumerate(zip(left, right, strict=True)):
            if not _is_same(a, b):
                return f"row {number}, column {column}: {a} against {b}"
    return None


def _text(row: Row) -> str:
    return "(" + ", ".join("NULL" if v is None else v.decode(errors="replace") for v in row) + ")"


def _sort_key(row: Row) -> list[tuple[int, str]]:
    def text(value) -> str:
        return f"{value:.9g}" if isinstance(value, Decimal | float) else str(value)

    return [(value is not None, text(value)) for value in row]


def _of_text(value: bytes | None):
    if value is None:
        return None
    text = value.decode()
    try:
        return Decimal(text)
    except InvalidOperation:
        pass
    return text.removesuffix("+00").removesuffix(" 00:00:00").rstrip(" ")


def _of_python(value):
    if value is None or isinstance(value, Decimal | float):
        return value
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, datetime.datetime):
        text = value.replace(tzinfo=None).isoformat(sep=" ")
        value = text.rstrip("0") if "." in text else text
    # Text of digits must meet the other side's reading of it.
    return _of_text(str(value).encode())


def _is_same(left, right) -> bool:
    if isinstance(left, Decimal) and isinstance(right, float):
        # DuckDB gives a real as the double of the same value.
        return math.isclose(left, right, rel_tol=RELATIVE_TOLERANCE) or _real(left) == right
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        return left == right or math.isclose(left, right, rel_tol=RELATIVE_TOLERANCE)
    return left == right


def _real(value: Decimal) -> float:
    try:
        return struct.unpack("f", struct.pack("f", float(value)))[0]
    except OverflowError:
        return math.nan
