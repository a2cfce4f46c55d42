"""`penumbra backtrace show`: crash files for people, and for bug reports."""

from pathlib import Path

from rich.console import Group
from rich.table import Table
from rich.text import Text

from penumbra_lab.crash_file import PRIVATE_FACTS, CrashFile, Frame
from penumbra_lab.errors import LabError


def read_crash_files(paths: list[Path]) -> list[CrashFile]:
    """Those that can be read; an error only if none can."""
    crashes, errors = [], []
    for path in paths:
        try:
            crashes.append(CrashFile.read(path))
        except LabError as error:
            errors.append(error)
    if errors and not crashes:
        raise errors[0]
    return crashes


def list_table(crashes: list[CrashFile]) -> Table:
    table = Table(title="Crash files, the newest first", title_justify="left")
    for name in ("file", "time", "process", "signal", "server"):
        table.add_column(name, no_wrap=name != "process")
    for crash in crashes:
        table.add_row(
            *(Text(word) for word in (crash.path.name, crash.facts.get("time", "?"), crash.process,
                                      crash.signal, crash.facts.get("server_version", "?")))
        )  # fmt: skip
    return table


def crash_view(crash: CrashFile, frames: list[Frame]) -> Group:
    facts = Table.grid(padding=(0, 2))
    for name, value in crash.facts.items():
        facts.add_row(Text(name, style="bold"), Text(value))
    stack = Table(title="Stack, innermost first", title_justify="left", box=None, pad_edge=False)
    stack.add_column("#", justify="right")
    stack.add_column("function")
    stack.add_column("where")
    for number, frame in enumerate(frames):
        function = Text(frame.function or "??", style="bold" if frame.function else "dim")
        if frame.inlined:
            function.append(" (inlined)", style="dim")
        where = Text(frame.position or frame.module or frame.text)
        if frame.problem:
            where.append(f" ({frame.problem})", style="yellow")
        stack.add_row(str(number), function, where)
    lines = [Text(f"\n{crash.path}\n"), facts, Text(), stack]
    if not frames:
        lines.append(Text("none was captured" if crash.raw_frames == 0 else "could not be read"))
    return Group(
        *lines, Text("\nFor a maintainer"), *(Text(f"* {need}") for need in needs(crash, frames))
    )


def needs(crash: CrashFile, frames: list[Frame]) -> list[str]:
    """What a maintainer needs, and what of it is missing."""
    build_ids = dict(crash.modules)
    replaced = {_module(frame) for frame in frames if frame.problem and _module(frame)}
    advice = [
        f"{path} was replaced since the crash: symbolize the crash file where the file of build-id "
        f"{build_ids.get(path, '-')} is, with --debug-dir"
        for path in sorted(replaced)
    ]
    for path in sorted({_module(frame) for frame in frames} & set(build_ids) - replaced):
        count = sum(_module(frame) == path for frame in frames)
        advice.append(
            f"{count} of {len(frames)} frames are in {path}, which has no debug information here: "
            "install its debug symbols (Debian: the package's -dbgsym of the debian-debug archive) "
            "and run this again, or send the crash file to whoever has them"
        )
    if not frames and crash.raw_frames > 0:
        advice.append("the stack needs penumbra-symbolize: run `make install`, or use --symbolizer")
    advice += [
        f"the crash file itself, {crash.path}: it gives functions, files and lines wherever files "
        "of the same build-ids are; it holds query, user and registers",
        "without these: `penumbra backtrace show --markdown`, to paste into a report",
        "the server log around the time of the crash, and the core dump if one was written",
    ]
    return advice


def _module(frame: Frame) -> str | None:
    """Of a frame without a line. The C library's start-up code, in assembler, never has one."""
    return frame.module.rsplit("+", 1)[0] if frame.module and frame.function != "_start" else None


def crash_markdown(crash: CrashFile, frames: list[Frame], with_data: bool) -> str:
    facts = {
        name: value for name, value in crash.facts.items() if with_data or name not in PRIVATE_FACTS
    }
    version = facts.get("server_version", "")
    process = facts.get("process_type", "server process")
    lines = [f"### PostgreSQL {version}: {process} ended by signal {crash.signal}", ""]
    lines += [f"* {name}: `{value.replace('`', chr(39))}`" for name, value in facts.items()]
    lines += ["", "Stack, innermost first:", "", "```text"]
    lines += [frame.text for frame in frames] or ["none"]
    lines += ["```", "", "Build-ids:", "", "```text"]
    lines += [f"{build_id} {path}" for path, build_id in crash.modules]
    lines.append("```")
    if with_data and crash.registers:
        lines += ["", "Registers:", "", "```text"]
        lines += [f"{name} {value}" for name, value in crash.registers.items()]
        lines.append("```")
    return "\n".join(lines)
