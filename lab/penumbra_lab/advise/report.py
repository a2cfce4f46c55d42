"""What the advice says, for the terminal, Markdown and the page alike."""

import dataclasses
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from penumbra_lab.advise.advice import Advice, CachedColumn, StatementAdvice, column_gains
from penumbra_lab.reporting.charts import CURVE_HEIGHT_PX, CURVE_WIDTH_PX, Chart
from penumbra_lab.reporting.content import Content, Details, Fact, Section
from penumbra_lab.reporting.tables import Table
from penumbra_lab.reporting.theme import SIDES
from penumbra_lab.watch.findings import Finding, find
from penumbra_lab.watch.sheets import STATEMENTS, Sheet, make_sheet
from penumbra_lab.watch.snapshot import Snapshot
from penumbra_lab.watch.wording import (
    block,
    count,
    counted,
    is_harmless,
    line,
    milliseconds,
    name,
    percent,
    shortened,
    size,
)

ROWS_MAX = 200
TEXT_CHARACTERS_MAX = 90
VERDICTS = {
    "vectors": "in vectors",
    "part": "in part",
    "no": "not",
    "stays": "as before: no gain",
    "writes": "writes",
    "other": "no query",
    "unknown": "not planned",
}
HOW = (
    "No statement was executed. The server planned each of them; the speed-up is estimated from"
    " the rows of the plan, by costs that were measured on another machine. Its order is more"
    " reliable than its size. Sizes of columns come from the table's statistics."
)


def advice_content(advice: Advice, findings: Sequence[Finding], snapshot: Snapshot,
                   counted_advice: Sequence, rows: int = ROWS_MAX) -> Content:  # fmt: skip
    database = line(snapshot.server.database)
    sections = [
        _statement_section(advice, rows),
        *_obstacle_section(advice, rows),
        *_cache_sections(advice, rows),
        _setting_section(findings),
        *_unplanned_section(advice),
        *_ran_section(snapshot, counted_advice),
        _text_section(advice, rows),
    ]
    return Content(
        f"What Penumbra would bring to {database}",
        f"PostgreSQL {line(snapshot.server.version)},"
        f" {counted(len(advice.statements), 'statement')} of {line(advice.source)}. {HOW}",
        tuple(_facts(advice)), tuple(sections),
    )  # fmt: skip


def _facts(advice: Advice) -> Iterator[Fact]:
    promised = [one for one in advice.statements if one.is_promised]
    reads = [one for one in advice.statements if one.verdict not in ("writes", "other")]
    yield Fact(f"{len(promised)} of {len(reads)}", "queries would gain")
    if advice.time_ms:
        share = 100 * advice.saved_ms / advice.time_ms
        kind = "measured" if advice.is_measured else "estimated"
        yield Fact(percent(share), f"of the {kind} time of all statements would be saved")
    if promised:
        best = max(promised, key=lambda one: one.saved_ms)
        yield Fact(
            _factor(best.speedup), f"faster: {line(best.statement.name)}", "which saves most"
        )
    if advice.memory_mb:
        yield Fact(f"{advice.memory_mb} MB", "of penumbra.memory")


def _factor(speedup: float) -> str:
    return f"{speedup:.1f} ×" if speedup < 10 else f"{speedup:.0f} ×"


def _text(one: StatementAdvice) -> str:
    return shortened(line(one.statement.shown), TEXT_CHARACTERS_MAX)


def _statement_section(advice: Advice, rows: int) -> Section:
    shown = sorted(advice.statements, key=lambda one: (-one.saved_ms, -one.time_ms))
    time = "time" if advice.is_measured else "time, estimated"
    table = Table(
        "Statements, those first that would save most",
        ("statement", "text", "calls", time, "would run", "faster", "saves", "in the way"),
        tuple((
            line(one.statement.name), _text(one), count(one.statement.calls),
            milliseconds(one.time_ms), VERDICTS[one.verdict],
            _factor(one.speedup) if one.is_promised else "",
            milliseconds(one.saved_ms) if one.is_promised else "",
            "; ".join(dict.fromkeys(obstacle.reason for obstacle in one.obstacles)) or one.problem,
        ) for one in shown[:rows]),
        frozenset({1, 4, 7}), frozenset({1}),
    )  # fmt: skip
    notes = [advice.note] if advice.note else []
    if len(shown) > rows:
        notes.append(f"{counted(len(shown) - rows, 'more statement')} are not shown.")
    return Section("Statements", tables=(table,), notes=tuple(notes))


def _obstacle_section(advice: Advice, rows: int) -> Iterator[Section]:
    """Each reason once, with the statements that it keeps, wholly or partly, with PostgreSQL."""
    by_reason: dict[str, list[tuple[StatementAdvice, str]]] = defaultdict(list)
    for one in advice.statements:
        for obstacle in dict.fromkeys(one.obstacles):
            by_reason[obstacle.reason].append((one, obstacle.piece))
    if not by_reason:
        return
    made = []
    for reason, kept in by_reason.items():
        statements = dict.fromkeys(one for one, _ in kept)
        piece = next((piece for _, piece in kept if piece), "")
        made.append((sum(one.time_ms for one in statements), reason, len(statements), piece))
    made.sort(key=lambda row: -row[0])
    table = Table(
        "Reasons, by the time of their statements",
        ("reason", "for instance", "statements", "their time"),
        tuple((line(reason), line(piece), count(number), milliseconds(time))
              for time, reason, number, piece in made[:rows]),
        frozenset({1}),
    )  # fmt: skip
    yield Section("What stands in the way", tables=(table,))


def _cache_sections(advice: Advice, rows: int) -> Iterator[Section]:
    if not advice.curve:
        return
    gains = column_gains(advice)
    columns = Table(
        "Columns, in the order in which they pay",
        ("column", "type", "cached", "saves, with others", "per MB"),
        tuple((
            f"{name(column.schema, column.table)}.{line(column.column)}", line(column.type),
            size(column.cached_bytes), milliseconds(gain),
            milliseconds(gain / max(column.cached_bytes / (1 << 20), 0.01)),
        ) for column, gain in list(gains.items())[:rows]),
        frozenset({1}),
    )  # fmt: skip
    loads = "\n".join(_loads(gains))
    yield Section(
        "What to cache", tables=(columns,),
        lead=("The worker loads what queries ask for. These statements load it at once:",),
        details=(Details("Statements that load these columns", (loads,)),),
    )  # fmt: skip
    whole = advice.curve[-1].saved_ms
    points = Table(
        "Gain with so much memory",
        ("memory", "gain", "of all", "columns that come with it"),
        tuple((
            size(point.cached_bytes), percent(100 * point.saved_ms / whole),
            "█" * round(20 * point.saved_ms / whole),
            ", ".join(f"{line(column.table)}.{line(column.column)}" for column in point.added),
        ) for point in advice.curve[:rows]),
        frozenset({2, 3}),
    )  # fmt: skip
    yield Section("Gain against memory", charts=(_curve_chart(advice),), tables=(points,))


def _loads(columns: Sequence[CachedColumn]) -> Iterator[str]:
    by_table: dict[tuple[str, str], list[str]] = defaultdict(list)
    for column in columns:
        by_table[column.schema, column.table].append(column.column)
    for table, names in by_table.items():
        relation = _literal(".".join(map(_quoted, table)))
        yield f"SELECT penumbra.load({relation}, ARRAY[{', '.join(map(_literal, names))}]);"


def _literal(text: str) -> str:
    """With escapes for what a terminal would obey."""
    if is_harmless(text):
        return "'" + text.replace("'", "''") + "'"
    escaped = (letter if letter.isascii() and letter.isprintable() else f"\\+{ord(letter):06x}"
               for letter in text.replace("\\", "\\\\").replace("'", "''"))  # fmt: skip
    return f"U&'{''.join(escaped)}'"


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _curve_chart(advice: Advice) -> Chart:
    whole = advice.curve[-1].saved_ms
    points = [{"x": 0.0, "y": 0.0}] + [
        {"x": point.cached_bytes / (1 << 20), "y": 100 * point.saved_ms / whole}
        for point in advice.curve
    ]
    specification = {
        "width": CURVE_WIDTH_PX, "height": CURVE_HEIGHT_PX, "data": {"values": points},
        "mark": {"type": "line", "interpolate": "step-after", "point": True, "color": SIDES[1]},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": "memory for columns, MB"},
            "y": {"field": "y", "type": "quantitative", "title": "gain, % of what is possible"},
        },
    }  # fmt: skip
    return Chart("Gain against memory", specification)


def _setting_section(findings: Sequence[Finding]) -> Section:
    if not findings:
        return Section("Settings", lead=("Nothing to change.",))
    table = Table(
        "What to do",
        ("why", "what"),
        tuple((finding.text, finding.remedy) for finding in findings),
        frozenset({1}),
    )
    return Section("Settings", tables=(table,))


def _unplanned_section(advice: Advice) -> Iterator[Section]:
    problems = Counter(one.problem for one in advice.statements if one.problem)
    if problems:
        table = Table(
            "Statements that the server did not plan",
            ("reason", "statements"),
            tuple((line(problem), count(number)) for problem, number in problems.most_common()),
        )
        note = ("A text may have been cut, be of a role with another search_path, or have lost a"
                " constant that SQL wants at its place.")  # fmt: skip
        yield Section("Not planned", tables=(table,), notes=(note,))


def _ran_section(snapshot: Snapshot, counted_advice: Sequence) -> Iterator[Section]:
    """With the extension: what really ran, and what penumbra.advice() says of it."""
    if snapshot.installed.extension_version is None:
        return
    sheet: Sheet = make_sheet(STATEMENTS, snapshot)
    texts = frozenset(number for number, head in enumerate(sheet.heads) if head.is_text)
    table = Table(
        sheet.meaning,
        tuple(head.title for head in sheet.heads),
        tuple(tuple(cell.text for cell in row) for row in sheet.rows),
        texts,
        frozenset(number for number, head in enumerate(sheet.heads) if head.is_extra),
    )
    found = tuple(
        f"{finding.text}: {finding.remedy}" if finding.remedy else finding.text
        for finding in find(snapshot)
    )
    tables = (*((_counted_table(counted_advice),) if counted_advice else ()),
              *((table,) if sheet.rows else ()))  # fmt: skip
    notes = (sheet.note,) if sheet.note else ()
    remedies = (f"{line(row.kind)}: {line(row.remedy)}" for row in counted_advice if row.remedy)
    yield Section("What really ran", tables=tables, notes=(*notes, *remedies, *found))


def _counted_table(counted_advice: Sequence) -> Table:
    return Table(
        "What would help, by what was counted",
        ("kind", "of", "time", "what to do", "because"),
        tuple((
            line(row.kind), line(row.object or ""),
            "" if row.total_exec_time is None else milliseconds(row.total_exec_time),
            line(row.advice), line(row.reason or ""),
        ) for row in counted_advice),
        frozenset({1, 3, 4}),
    )  # fmt: skip


def _text_section(advice: Advice, rows: int) -> Section:
    details = []
    for one in advice.statements[:rows]:
        pieces = (f"{line(o.reason)}: {o.piece}" if o.piece else line(o.reason)
                  for o in dict.fromkeys(one.obstacles))  # fmt: skip
        texts = filter(None, (block(one.statement.text), "\n".join(pieces)))
        summary = f"{line(one.statement.name)}: {VERDICTS[one.verdict]}"
        details.append(Details(summary, tuple(texts)))
    return Section("Texts", details=tuple(details))


def advice_json(advice: Advice, findings: Sequence[Finding], snapshot: Snapshot,
                counted_advice: Sequence) -> str:  # fmt: skip
    document = {
        "database": snapshot.server.database,
        "server_version": snapshot.server.version,
        **dataclasses.asdict(advice),
        "settings": [dataclasses.asdict(finding) for finding in findings],
        "ran": [dataclasses.asdict(row) for row in snapshot.statements.rows],
        "counted_advice": [row._asdict() for row in counted_advice],
    }
    for made, one in zip(document["statements"], advice.statements, strict=True):
        made["saved_ms"] = one.saved_ms
        made["is_promised"] = one.is_promised
    document["tables"] = [f"{table.schema}.{table.name}" for table in advice.tables]
    return json.dumps(document, indent=1, default=str, ensure_ascii=False)
