"""Compares two outputs of psql for one regression test: plans aside, and row order where SQL has none."""

import difflib
import re
from collections import Counter
from dataclasses import dataclass, field

RULE = re.compile(r"^-{3,}(\+-*)*$")
ROW_COUNT = re.compile(r"^\((\d+) rows?\)$")
NOTICE = re.compile(r"^(psql:\S+ )?NOTICE:  (snooped value:|f_leak =>)")

# Statements whose result depends on the plan or on how a value is stored, not only on the data.
PLAN_DEPENDENT = {
    "an aggregate that gives another result in parallel": r"\bbalk\(",
    "which rows arrive before an error": r"select 1/\(15-unique2\)",
    "counters of sequential and index scans": r"seq_tup_read|idx_tup_fetch",
    "how a copied value is compressed": r"pg_column_compression",
    "a crosstab over ties": r"\\crosstabview",
    "a cursor over ties": r"\bin c5\b",
    "which spelling stands for a group of equal ones": r"count\(t2\.c\) FROM pagg_tab3 t1 JOIN .* GROUP BY 1",
}
# The order of one side is not the order of what the join gives, nor that of a subquery that of DISTINCT above it.
ORDER_BELOW = re.compile(r"(?:\bjoin|\bselect\s+distinct\s[^()]*\bfrom)\s+\([^()]*\border by\b[^()]*\)", re.I)
PLAN_DEPENDENT_STATEMENT = re.compile("|".join(PLAN_DEPENDENT.values()), re.I)


@dataclass
class Output:
    """The text in pieces: lines, and result tables with the statement they belong to."""

    pieces: list[str | tuple[str, list[str]]] = field(default_factory=list)
    notices: Counter = field(default_factory=Counter)


def parse(text: str) -> Output:
    output, lines, number, statement = Output(), text.splitlines(), 0, ""
    while number < len(lines):
        table = _table_at(lines, number)
        is_open = bool(PLAN_DEPENDENT_STATEMENT.search(statement))
        if table:
            if not is_open:
                output.pieces.append("<plan>" if _is_plan(statement, table) else (statement, table))
            number += len(table)
            statement = ""
            continue
        line = lines[number]
        number += 1
        if is_open and (line.startswith(" ") or RULE.match(line)):
            continue  # rows of a result without a count
        if line.lstrip().startswith("Penumbra: not used"):
            continue  # in plans without headers
        if NOTICE.match(line):
            # Which rows reach a function depends on the order of conditions.
            output.notices[line] += 1
            continue
        statement = line if statement.rstrip().endswith(";") else f"{statement} {line}"
        output.pieces.append(line)
    return output


def _table_at(lines: list[str], number: int) -> list[str] | None:
    """Header, rule, rows, count. A header begins with a blank, unlike a comment of dashes."""
    if not lines[number].startswith(" ") or number + 1 >= len(lines):
        return None
    if not RULE.match(lines[number + 1]):
        return None
    for end in range(number + 2, len(lines)):
        if ROW_COUNT.match(lines[end]):
            return lines[number : end + 1]
        if not lines[end].startswith(" "):
            return None
    return None


def _is_plan(statement: str, table: list[str]) -> bool:
    return "QUERY PLAN" in table[0] or "explain" in table[0] or "explain" in statement.lower()


def _is_same_table(statement: str, left: list[str], right: list[str]) -> bool:
    if left == right:
        return True
    if left[:2] != right[:2] or sorted(left[2:]) != sorted(right[2:]):
        return False
    if "order by" not in ORDER_BELOW.sub("", statement).lower():
        return True
    # Rows that tie in the ORDER BY may change places: then some column, the key, reads the same.
    columns = zip(*(line.split("|") for line in left[2:-1]), strict=False)
    others = zip(*(line.split("|") for line in right[2:-1]), strict=False)
    return any(a == b for a, b in zip(columns, others, strict=False))


def output_difference(expected: str, found: str) -> str | None:
    """A short diff, or None."""
    if expected == found:
        return None
    left, right = parse(expected), parse(found)
    if len(left.pieces) == len(right.pieces):
        for number, (a, b) in enumerate(zip(left.pieces, right.pieces, strict=True)):
            if isinstance(a, tuple) and isinstance(b, tuple) and _is_same_table(a[0], a[1], b[1]):
                right.pieces[number] = a
    extra = right.notices - left.notices
    if extra:
        return f"functions saw rows that PostgreSQL keeps from them: {dict(extra)}"
    if left.pieces == right.pieces:
        return None
    return "\n".join(list(_diff(left, right))[:60])


def _diff(left: Output, right: Output):
    sides = ([line for piece in side.pieces for line in (piece[1] if isinstance(piece, tuple) else [piece])]
             for side in (left, right))  # fmt: skip
    return difflib.unified_diff(*sides, "stock", "penumbra", lineterm="", n=2)
