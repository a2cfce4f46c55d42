"""How many bytes a cached column takes, from PostgreSQL's statistics."""

import math
from datetime import date, datetime

from penumbra_lab.advise.catalog import Catalog, Table, TableColumn

# Rows of a chunk: of 1,024 heap pages.
PAGES_PER_CHUNK = 1024
PLAIN_BYTES = {"boolean": 1, "smallint": 2, "integer": 4, "bigint": 8, "real": 4,
               "double precision": 8, "numeric": 8, "date": 4, "timestamp": 8, "timestamptz": 8,
               "interval": 16, "uuid": 16}  # fmt: skip
TEXT_BYTES_UNKNOWN = 32
TEXT_LENGTH_BYTES = 4
# A dictionary is worth it below this share of the rows.
DICTIONARY_SHARE = 0.5


def cached_bytes(table: Table, column: TableColumn, catalog: Catalog) -> float:
    rows = max(table.rows, 1.0)
    engine = catalog.type(column.type).engine or "text"
    distinct = _distinct(table, column)
    chunks = max(table.pages / PAGES_PER_CHUNK, 1.0)
    chunk_rows = rows / chunks
    is_text = engine in ("text", "character")
    width = (column.width or TEXT_BYTES_UNKNOWN) if is_text else PLAIN_BYTES[engine]
    plain = rows * (width + (TEXT_LENGTH_BYTES if is_text else 0))
    if distinct is None:
        return plain
    choices = [plain]
    of_chunk = _distinct_in(distinct, chunk_rows)
    if of_chunk < chunk_rows * DICTIONARY_SHARE:
        bits = math.ceil(math.log2(max(of_chunk, 2)))
        choices.append(rows * bits / 8 + chunks * of_chunk * (width + TEXT_LENGTH_BYTES))
    span = _span(column, engine)
    if span is not None:
        # Sorted values of a chunk are a chunk's share of the whole span.
        sortedness = abs(column.correlation or 0.0)
        share = 1 - sortedness * (1 - 1 / chunks)
        bits = math.ceil(math.log2(max(span * share, 1) + 1))
        choices.append(rows * bits / 8)
    return min(choices)


def _distinct(table: Table, column: TableColumn) -> float | None:
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
