"""A comparison on the terminal."""

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from penumbra_lab.analysis.comparison import Comparison
from penumbra_lab.analysis.environment import environment_differences, headline
from penumbra_lab.reporting.content import Content, fact_text
from penumbra_lab.reporting.tables import (
    Table,
    comparison_tables,
    difference_table,
    level_tables,
    reading_notes,
    warning_table,
)
from penumbra_lab.show import console

# Columns, from which on numbers stay in one line.
WIDE = 110


def print_comparison(comparison: Comparison) -> None:
    tables = comparison_tables(comparison)
    if len(comparison.runs) > 1:
        differences = environment_differences(comparison.runs)
        console.print(headline(differences, len(comparison.runs)), highlight=False)
        if differences:
            console.print(_rich(difference_table(differences, comparison)))
    if not tables:
        console.print("One variant: nothing to compare with.")
        tables = level_tables(comparison.sides[0], comparison.confidence)
    for table in [*tables, warning_table(comparison)]:
        if table:
            console.print(_rich(table))
    for text in [*comparison.unmatched, *(reading_notes(comparison) if comparison.series else [])]:
        console.print(text, markup=False, highlight=False)


def print_content(content: Content) -> None:
    """Without charts; what a page folds away only beside a table."""
    console.print(content.title, style="bold", markup=False, highlight=False)
    for text in (content.subtitle, *(f"{fact.value} {fact_text(fact)}" for fact in content.facts)):
        console.print(text, markup=False, highlight=False)
    for section in content.sections:
        texts = [*section.lead, *section.notes] if section.tables or not section.details else []
        if not section.tables and not texts:
            continue
        console.print(f"\n{section.heading}", style="bold", markup=False, highlight=False)
        for table in section.tables:
            console.print(_rich(table))
        for text in texts:
            console.print(text, markup=False, highlight=False)
        for text in (text for details in section.details for text in details.texts):
            if section.tables:  # statements to copy: no line of them may be broken
                console.print(text, markup=False, highlight=False, soft_wrap=True)


def _rich(table: Table) -> RichTable:
    shown = RichTable(title=table.caption, title_justify="left", box=box.SIMPLE_HEAD)
    kept = [number for number in range(len(table.columns)) if number not in table.extras]
    for number in kept:
        is_text = number == 0 or number in table.texts
        shown.add_column(
            table.columns[number],
            justify="left" if is_text else "right",
            overflow="fold",
            no_wrap=number not in table.texts and console.width >= WIDE,
        )
    for row in table.rows:
        shown.add_row(*(Text(row[number]) for number in kept))
    return shown
