"""`penumbra status`: a snapshot as one screen of text, or as JSON."""

import dataclasses
import json
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from penumbra_lab.watch import sheets
from penumbra_lab.watch.facts import Fact, find_facts
from penumbra_lab.watch.findings import Finding, find
from penumbra_lab.watch.sheets import Sheet
from penumbra_lab.watch.snapshot import Snapshot
from penumbra_lab.watch.wording import duration, line

BAR_CHARACTERS = 20


def status_view(snapshot: Snapshot, rows_max: int) -> RenderableType:
    parts: list[RenderableType] = [headline(snapshot)]
    if snapshot.installed.schema is not None:
        parts += ["", fact_view(find_facts(snapshot))]
        shown = [sheets.DATABASES] if snapshot.databases.count > 1 else []
        shown += [sheets.TABLES, sheets.LOADS, sheets.STALENESS, sheets.REFUSALS]
        parts += [sheet_view(sheets.make_sheet(form, snapshot), rows_max) for form in shown]
    return Group(*parts, "", finding_view(find(snapshot)))


def headline(snapshot: Snapshot) -> Text:
    server = snapshot.server
    text = Text(f"{line(server.database)} at {line(server.host)}:{server.port}", style="bold")
    return text.append(f" as {line(server.role)}\n{about(snapshot)}", style="not bold")


def about(snapshot: Snapshot) -> str:
    """The versions, and since when the server is up."""
    server, installed = snapshot.server, snapshot.installed
    version = installed.extension_version
    extension = f"penumbra {line(version)}" if version else "no extension penumbra in this database"
    library = f" {line(installed.library_version)}" if installed.library_version else ""
    extension += f", library{library} {'' if installed.is_preloaded else 'not '}preloaded"
    standby = " (standby)" if server.is_in_recovery else ""
    up = f", up {duration(server.read_at - server.started_at)}" if server.started_at else ""
    return f"PostgreSQL {line(server.version)}{standby}{up}; {extension}"


def fact_view(facts: list[Fact]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(justify="right")
    grid.add_column()
    grid.add_column()
    for fact in facts:
        grid.add_row(Text(fact.label), Text(fact.value), bar(fact.share), Text(fact.meaning))
    return grid


def bar(share: float | None) -> Text:
    if share is None:
        return Text("")
    filled = round(BAR_CHARACTERS * min(max(share, 0), 100) / 100)
    return Text("█" * filled + "░" * (BAR_CHARACTERS - filled))


def sheet_view(sheet: Sheet, rows_max: int, is_cut: bool = False) -> RenderableType:
    """is_cut: each row is a line, and what does not fit is left out."""
    title = Text(sheet.title, style="bold")
    note = sheet.note if len(sheet.rows) <= rows_max else "there are more: --rows"
    if not sheet.rows:
        return Text.assemble("\n", title, f": {line(note)}")
    kept = [number for number, head in enumerate(sheet.heads) if not head.is_extra]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for number in kept:
        is_text = sheet.heads[number].is_text
        table.add_column(
            Text(sheet.heads[number].title),
            justify="left" if is_text else "right",
            no_wrap=is_cut or not is_text,
            overflow="ellipsis" if is_cut else "fold",
        )
    for row in sheet.rows[:rows_max]:
        table.add_row(*(Text(row[number].text) for number in kept))
    parts = ["", title, Padding(table, (0, 0, 0, 2))]
    return Group(*parts, Text(f"  {line(note)}", style="dim")) if note else Group(*parts)


def finding_view(findings: list[Finding]) -> Text:
    if not findings:
        return Text("Nothing to do.", style="bold")
    text = Text("What to do", style="bold")
    for finding in findings:
        text.append(
            "\n! " if finding.is_problem else "\n· ",
            style="bold red" if finding.is_problem else "bold",
        )
        text.append(finding.text, style="not bold")
        if finding.remedy:
            text.append(f"\n  → {finding.remedy}", style="not bold cyan")
    return text


def status_json(snapshot: Snapshot) -> str:
    document = dataclasses.asdict(snapshot)
    document["findings"] = [dataclasses.asdict(finding) for finding in find(snapshot)]
    document["is_well"] = is_well(snapshot)
    return json.dumps(document, indent=1, default=_plain, ensure_ascii=False)


def is_well(snapshot: Snapshot) -> bool:
    return not any(finding.is_problem for finding in find(snapshot))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"{type(value)} has no form in JSON")
