"""How many bytes a cached column takes, from PostgreSQL's statistics."""

import math
from dataclasses import dataclass
from datetime import date, datetime

from penumbra_lab.advise.catalog import Catalog, Table, TableColumn

# Rows of a chunk: of 1,024 heap pages.
PAGES_PER_CHUNK = 1024
PLAIN_BYTES = {"boolean": 1, "smallint": 2, "integer": 4, "bigint": 8, "real": 4,
               "double precision": 8, "numeric": 8, "date": 4, "timestamp": 8, "timestamptz": 8,
               "interval": 16, "uuid": 16, "enum": 8, "oid": 8, "time": 8, "money": 8,
               "macaddr": 8, "macaddr8": 8, '"char"': 2, "pg_lsn": 8, "xid8": 8,
               "regclass": 8, "regtype": 8, "regrole": 8}  # fmt: skip
TEXT_BYTES_UNKNOWN = 32
# Codes and distances from the least value take whole bytes.
CODE_BYTES = (1, 2, 4, 8)
# A dictionary is worth it below this share of the rows.
DICTIONARY_SHARE = 0.5


@dataclass(frozen=True)
class Stored:
    cached_bytes: float
    is_coded: bool  # a text of few values, each of which is stored once


def stored_form(table: Table, column: TableColumn, catalog: Catalog) -> Stored:
    rows = max(table.rows, 1.0)
    engine = catalog.type(column.type).engine or "text"
    chunks = max(table.pages / PAGES_PER_CHUNK, 1.0)
    chunk_rows = rows / chunks
    # Of other types, values inside are cached.
    is_whole = catalog.type(column.type).engine is not None
    width = PLAIN_BYTES.get(engine) or (column.width if is_whole else None) or TEXT_BYTES_UNKNOWN
    choices = [Stored(rows * width, False)]
    distinct = distinct_values(table, column)
    if distinct is not None:
        of_chunk = _distinct_in(distinct, chunk_rows)
        if distinct <= 1:
            choices.append(Stored(0.0, True))
        elif of_chunk < chunk_rows * DICTIONARY_SHARE and engine not in PLAIN_BYTES:
            size = rows * _code_bytes(of_chunk) + chunks * of_chunk * width
            choices.append(Stored(size, True))
    span = _span(column, engine)
    if span is not None:
        # Sorted values of a chunk are a chunk's share of the whole span.
        share = 1 - abs(column.correlation or 0.0) * (1 - 1 / chunks)
        choices.append(Stored(rows * _code_bytes(span * share), False))
    return min(choices, key=lambda choice: choice.cached_bytes)


def _code_bytes(values: float) -> int:
    return next((size for size in CODE_BYTES if values < 256.0**size), CODE_BYTES[-1])


def distinct_values(table: Table, column: TableColumn) -> float | None:
    if column.distinct is None:
        return None
    share = -column.distinct
    return column.distinct if column.distinct >= 0 else max(share * table.rows, 1.0)


def _distinct_in(distinct: float, rows: float) -> float:
    """Of so many rows, if values are spread evenly."""
    return distinct * (1 - math.exp(-rows / max(distinct, 1.0)))


def _span(column: TableColumn, engine: str) -> float | None:
    """Between the least and the greatest value, in the units that are stored."""
    if column.low is None or column.high is None:
        return None
    try:
        match engine:
            case "smallint" | "integer" | "bigint":
                return float(int(column.high) - int(column.low))
            case "numeric":
                places = max(len(text.partition(".")[2]) for text in (column.low, column.high))
                return (float(column.high) - float(column.low)) * 10**places
            case "date":
                span = date.fromisoformat(column.high) - date.fromisoformat(column.low)
                return float(span.days)
            case "timestamp" | "timestamptz":
                first, last = map(datetime.fromisoformat, (column.low, column.high))
                return (last - first).total_seconds() * 1e6
    except (ValueError, OverflowError, TypeError):
        return None
    return None
