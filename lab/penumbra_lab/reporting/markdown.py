"""The report as Markdown, for an issue or a wiki, with its charts as pictures beside it."""

import re
from collections.abc import Iterable

from penumbra_lab.reporting.charts import Chart
from penumbra_lab.reporting.content import Content, Section, fact_text
from penumbra_lab.reporting.tables import Table

# What CommonMark or GitHub would take as markup, and what would end a cell.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def render_markdown(content: Content, pictures: dict[Chart, str]) -> str:
    """`pictures` has the file name of each chart."""
    parts = [f"# {_text(content.title)}", _text(content.subtitle)]
    if content.facts:
        facts = (f"* **{_text(fact.value)}** {_text(fact_text(fact))}" for fact in content.facts)
        parts.append("\n".join(facts))
    for section in content.sections:
        parts += _section(section, pictures)
    return "\n\n".join(parts) + "\n"


def _section(section: Section, pictures: dict[Chart, str]) -> list[str]:
    parts = [f"## {_text(section.heading)}"]
    parts += [f"![{_text(chart.title)}]({pictures[chart]})" for chart in section.charts]
    parts += [_text(text) for text in section.lead]
    parts += [_table(table) for table in section.tables]
    parts += [_text(text) for text in section.notes]
    for details in section.details:
        texts = "\n\n".join(_code(text) for text in details.texts)
        summary = f"<details><summary>{_text(details.summary)}</summary>"
        parts.append(f"{summary}\n\n{texts}\n\n</details>")
    return parts


def _table(table: Table) -> str:
    rules = ["---" if n == 0 or n in table.texts else "---:" for n in range(len(table.columns))]
    lines = [_line(map(_text, table.columns)), _line(rules)]
    lines += [_line(map(_text, row)) for row in table.rows]
    return f"**{_text(table.caption)}**\n\n" + "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """Fenced by more backticks than the text has in a row."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
