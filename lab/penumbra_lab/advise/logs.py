"""The statements of a server's log: csvlog, jsonlog or stderr's, gathered where they differ in
constants only.

Of log_min_duration_statement a message has time and text. With log_duration and log_statement the
text comes first, and the time in the session's next message.
"""

import csv
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from penumbra_lab.advise.server import NotPlanned, Server
from penumbra_lab.advise.statements import (
    PIECE,
    STATEMENT_CHARACTERS_MAX,
    Statement,
    Workload,
)
from penumbra_lab.errors import LabError
from penumbra_lab.watch.wording import counted

FIELD_CHARACTERS_MAX = 4 * STATEMENT_CHARACTERS_MAX
HEAD_LINES = 1_000
# Texts that are told apart while the log is read, and of these the ones that are planned.
TEXTS_MAX = 20_000
PLANNED_MAX = 1_000
# Columns of csvlog, in all versions.
CSV_USER, CSV_DATABASE, CSV_PROCESS, CSV_MESSAGE, CSV_DETAIL = 1, 2, 3, 13, 14
JSON_NAMES = ("pid", "message", "detail", "user", "dbname")
TIMED = re.compile(
    r"duration: (?P<ms>\d+\.\d+) ms(?:  (?P<step>\w+)(?P<name>[^:]*): (?P<text>.*))?", re.DOTALL
)
LOGGED = re.compile(r"(?:statement|execute (?!fetch from )[^:]+): (?P<text>.*)", re.DOTALL)
STDERR = re.compile(r"(?P<prefix>(?:(?!\b[A-Z]+:  ).)*)\b(?P<level>LOG|DETAIL):  (?P<message>.*)")
STATEMENT = ("duration: ", "statement: ", "execute ")  # how their messages begin
PROCESS = re.compile(r"\[(\d+)")
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?|\d{10}\.\d{3}")
# In DETAIL; a value that log_parameter_max_length cut ends with dots.
VALUE = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*')(\.\.\.)?")
# What is replaced to compare texts, or kept as it is.
TOKEN = re.compile(
    rf"(?P<piece>{PIECE.pattern})|\$\d+|(?<![\w$])(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?!\w)|\s+",
    re.DOTALL | re.I,
)
NAMED = re.compile(rf"(?P<piece>{PIECE.pattern})|\$(?P<number>\d+)", re.DOTALL)
LIST = re.compile(r"\?(?:\s*,\s*\?)+")
FOREIGN = (
    "of roles that are no superusers, or not said to be: to plan them may call functions of theirs,"
    " here as superuser. Ask as a role that is none, with pg_read_all_data"
)


class Entry(NamedTuple):
    session: str
    message: str
    detail: str = ""
    user: str | None = None  # unknown in stderr's
    database: str | None = None


@dataclass
class Gathered:
    """Calls of one text; the slowest stands for all."""

    text: str
    detail: str
    slowest_ms: float = -1.0
    calls: int = 0
    timed_calls: int = 0
    total_ms: float = 0.0

    def add(self, other: "Gathered") -> None:
        self.calls += other.calls
        self.timed_calls += other.timed_calls
        self.total_ms += other.total_ms
        if other.slowest_ms > self.slowest_ms:
            self.text, self.detail = other.text, other.detail
            self.slowest_ms = other.slowest_ms

    @property
    def mean_ms(self) -> float | None:
        return self.total_ms / self.timed_calls if self.timed_calls else None


@dataclass
class Log:
    """What was read of it, and what was not."""

    gathered: dict[str, Gathered] = field(default_factory=dict)
    bad_lines: int = 0
    lone_durations: int = 0
    left_out: int = 0
    elsewhere: int = 0
    foreign: int = 0
    _begun: dict[str, Entry] = field(default_factory=dict)

    def take(self, entry: Entry) -> None:
        if timed := TIMED.fullmatch(entry.message):
            self._take_timed(entry, timed)
        elif logged := LOGGED.fullmatch(entry.message):
            self._end(entry.session)
            self._begun[entry.session] = entry._replace(message=logged["text"])

    def _take_timed(self, entry: Entry, timed: re.Match) -> None:
        milliseconds = float(timed["ms"])
        if timed["text"] is None:
            if begun := self._begun.pop(entry.session, None):
                self._count(begun.message, begun.detail, milliseconds)
            else:
                self.lone_durations += 1
        elif timed["step"] in ("statement", "execute"):
            # What a portal gives after its first rows is of the same call.
            is_call = not timed["name"].startswith(" fetch from ")
            self._count(timed["text"], entry.detail, milliseconds, is_call)

    def _end(self, session: str) -> None:
        """A statement whose time is not in the log."""
        if begun := self._begun.pop(session, None):
            self._count(begun.message, begun.detail, None)

    def finish(self) -> None:
        for session in list(self._begun):
            self._end(session)

    def _count(self, text: str, detail: str, ms: float | None, is_call: bool = True) -> None:
        text = text[:STATEMENT_CHARACTERS_MAX].strip()
        key = without_constants(text)
        if key not in self.gathered and len(self.gathered) >= TEXTS_MAX:
            self.left_out += 1
            return
        one = Gathered(text, detail, -1.0 if ms is None else ms, int(is_call),
                       int(is_call and ms is not None), ms or 0.0)  # fmt: skip
        self.gathered.setdefault(key, Gathered(text, detail)).add(one)


# -- the three formats -----------------------------------------------------------------------------


def log_format(path: Path) -> Callable | None:
    """By the first lines; None if it is no log."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = list(itertools.islice(file, HEAD_LINES))
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    if head and head[0].startswith("{"):
        return _of_json
    if path.suffix == ".csv":
        return None if "query" in next(csv.reader(head), []) else _of_csv
    return _of_stderr if any(STDERR.match(line) for line in head) else None


def _of_json(lines: Iterable[str], log: Log) -> Iterator[Entry]:
    for line in lines:
        try:
            row = json.loads(line)
            yield Entry(*(str(row.get(name, "")) for name in JSON_NAMES))
        except (ValueError, AttributeError, RecursionError):
            log.bad_lines += 1


def _of_csv(lines: Iterable[str], log: Log) -> Iterator[Entry]:
    csv.field_size_limit(FIELD_CHARACTERS_MAX)
    rows = csv.reader(lines)
    while True:
        try:
            row = next(rows)
            yield Entry(row[CSV_PROCESS], row[CSV_MESSAGE], row[CSV_DETAIL], row[CSV_USER],
                        row[CSV_DATABASE])  # fmt: skip
        except StopIteration:
            return
        except (csv.Error, IndexError):
            log.bad_lines += 1


def _of_stderr(lines: Iterable[str], log: Log) -> Iterator[Entry]:
    """A message goes on in lines that begin with a tab; DETAIL comes with its message."""
    entry: Entry | None = None
    is_detail = False
    for line in lines:
        line = line.rstrip("\r\n")
        if line.startswith("\t"):
            if entry:
                name = "detail" if is_detail else "message"
                entry = entry._replace(**{name: f"{getattr(entry, name)}\n{line[1:]}"})
            continue
        found = STDERR.fullmatch(line)
        if found and found["level"] == "DETAIL" and entry:
            entry, is_detail = entry._replace(detail=found["message"]), True
        else:
            if entry:
                yield entry
            entry, is_detail = None, False
            if found and found["level"] == "LOG":
                entry = Entry(_session(found["prefix"]), found["message"])
    if entry:
        yield entry


def _session(prefix: str) -> str:
    """The number in brackets is the process; else what the prefix has but the time."""
    process = PROCESS.search(prefix)
    return process[1] if process else TIME.sub("", prefix)


# -- texts -----------------------------------------------------------------------------------------


def without_constants(text: str) -> str:
    """For comparing texts only."""

    def replaced(token: re.Match) -> str:
        piece = token["piece"]
        if token[0].isspace() or piece and piece[:2] in ("--", "/*"):
            return " "
        return piece if piece and piece[0] in '";' else "?"

    return LIST.sub("?", " ".join(TOKEN.sub(replaced, text).split())).rstrip("; ")


def with_values(text: str, detail: str) -> str:
    """The parameters' values in their places, where the log has them whole."""
    values = {number: value for number, value, is_cut in VALUE.findall(detail) if not is_cut}
    return NAMED.sub(lambda match: values.get(match["number"] or "", match[0]), text)


# -- the workload ----------------------------------------------------------------------------------


def read_log(path: Path, read: Callable, server: Server, count_max: int) -> Workload:
    [row] = server.ask(
        "SELECT current_database() AS database, (SELECT array_agg(rolname::text) FROM pg_roles"
        " WHERE rolsuper) AS superusers"
    )
    log = Log()
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        for entry in read(file, log):
            if not entry.message.startswith(STATEMENT):
                continue
            if entry.database not in (None, row.database):
                log.elsewhere += 1
            elif entry.user not in row.superusers and server.is_superuser:
                log.foreign += 1
            else:
                log.take(entry)
    log.finish()
    if log.foreign and not log.gathered:
        raise LabError(f"{path}: its statements are {FOREIGN}")
    statements = _statements(log, server)
    if not statements:
        raise LabError(f"{path}: no statement in it{_note(log, ': ')}")
    log.left_out += sum(int(one.calls) for one in statements[count_max:])
    is_measured = any(one.mean_ms is not None for one in statements)
    return Workload(path.name, tuple(statements[:count_max]), is_measured, _note(log))


def _statements(log: Log, server: Server) -> list[Statement]:
    """By time. What the server takes for one statement is one, whatever its text is."""
    by_time = sorted(log.gathered.values(), key=lambda one: (-one.total_ms, -one.calls))
    kept = [one for one in by_time if _reads_or_writes(one.text)]
    log.left_out += sum(one.calls for one in kept[PLANNED_MAX:])
    found: dict[object, Gathered] = {}
    for one in kept[:PLANNED_MAX]:
        number, one.text = _planned(one, server)
        found.setdefault(number or one.text, Gathered(one.text, "")).add(one)
    by_time = sorted(found.values(), key=lambda one: (-one.total_ms, -one.calls))
    return [Statement(f"query {number}", one.text, one.calls or 1, one.mean_ms)
            for number, one in enumerate(by_time, 1)]  # fmt: skip


def _reads_or_writes(text: str) -> bool:
    statement = Statement("", text)
    return statement.reads or statement.writes


def _planned(one: Gathered, server: Server) -> tuple[int | None, str]:
    """The query identifier, and the text that can be planned: with values, or with parameters if
    these have another type than a constant in their place has."""
    for text in dict.fromkeys((with_values(one.text, one.detail), one.text)):
        try:
            return server.explain(text.rstrip("; \n")).query_id, text
        except NotPlanned:
            continue
    return None, one.text


def _note(log: Log, before: str = "") -> str:
    said = [
        f"{counted(log.bad_lines, 'line')} could not be read" if log.bad_lines else "",
        f"{counted(log.lone_durations, 'duration')} of no statement" if log.lone_durations else "",
        f"{counted(log.elsewhere, 'message')} of other databases" if log.elsewhere else "",
        f"{counted(log.foreign, 'message')} {FOREIGN}" if log.foreign else "",
        f"{counted(log.left_out, 'call')} of rarer statements left out" if log.left_out else "",
    ]  # fmt: skip
    text = "; ".join(filter(None, said))
    return before + text if text else ""
