"""Compares two outputs of psql for one regression test: plans aside, and row order where SQL has none."""

import difflib
import re

RULE = re.compile(r"^-{2,}(\+-{2,})*$")
ROW_COUNT = re.compile(r"^\((\d+) rows?\)$")


def _blocks(lines: list[str]) -> list[list[str]]:
    """Result tables (header, rule, rows, count) as one block each; any other line alone."""
    blocks, number = [], 0
    while number < len(lines):
        # A header begins with a blank, which tells its rule from a comment of dashes.
        is_table = (
            lines[number].startswith(" ")
            and number + 1 < len(lines)
            and RULE.match(lines[number + 1])
        )
        if is_table:
            end = number + 2
            while end < len(lines) and lines[end] and not ROW_COUNT.match(lines[end]):
                end += 1
            if end < len(lines) and lines[end]:
                blocks.append(lines[number : end + 1])
                number = end + 1
                continue
        blocks.append([lines[number]])
        number += 1
    return blocks


def _is_plan(block: list[str]) -> bool:
    return "QUERY PLAN" in block[0] or block[0].strip() in (
        "explain_filter",
        "explain_parallel_append",
    )


def normalised(text: str, sort_rows: bool) -> list[str]:
    lines, statement = [], ""
    for block in _blocks(text.splitlines()):
        if len(block) == 1:
            lines.append(block[0])
            statement = block[0] if statement.endswith(";") else statement + " " + block[0]
            continue
        if _is_plan(block):
            lines.append("<plan>")
        elif sort_rows and "order by" not in statement.lower():
            lines += [*block[:2], *sorted(block[2:-1]), block[-1]]
        else:
            lines += block
        statement = ";"
    return lines


def output_difference(expected: str, found: str) -> str | None:
    """A short diff, or None."""
    if expected == found:
        return None
    left, right = normalised(expected, True), normalised(found, True)
    if left == right:
        return None
    return "\n".join(
        list(difflib.unified_diff(left, right, "stock", "penumbra", lineterm="", n=2))[:60]
    )
