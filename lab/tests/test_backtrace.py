"""`penumbra backtrace`: crash files shown, symbolised, and made fit for a bug report."""

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from penumbra_lab.cli import commands
from penumbra_lab.crash_file import CrashFile, Frame, Symbolizer, find_crash_files
from penumbra_lab.errors import LabError
from penumbra_lab.state import TREE

SYMBOLIZE = TREE / "build/extensions/backtrace/symbolize/penumbra-symbolize"
PROGRAMS = TREE / "extensions/backtrace/symbolize/test/programs"

HEADER = """penumbra crash 1
time: 2026-01-31 12:34:56 UTC
signal: 11 SIGSEGV
code: 1
fault_address: 0
pid: 4242
process_type: client backend
database: payroll
user: joe
server_version: 15.18
query: SELECT secret\\nFROM `salaries`
[registers]
rip 55d0c0ffee00
rsp 7ffd00000000
[stack]
"""


@pytest.fixture(scope="session")
def program(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("backtrace") / "nested"
    sources = [PROGRAMS / "nested.c", PROGRAMS / "print_stack.c"]
    subprocess.run(["gcc", "-O2", "-g", *sources, "-o", path], check=True)
    return path


@pytest.fixture
def crash(program, tmp_path) -> Path:
    raw = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    path = tmp_path / "pg_crash" / "pg_crash_4242_1769862896.txt"
    path.parent.mkdir()
    path.write_text(HEADER + raw)
    return path


def run(*arguments, **options):
    return CliRunner().invoke(commands, ["backtrace", *map(str, arguments)], **options)


def test_frames_of_every_form():
    frames = [
        Frame.parse(line)
        for line in (
            "#0 0x0000000000001000 f(a, b) at /src/a b.c:12",
            "#1 0x0000000000001000 g at /src/a.c:0 (inlined)",
            "#2 0x0000000000001000 h in /bin/x y+0x10 [aa] (the file is another now: build-id bb)",
            "#3 0x0000000000001000 ?? in [unknown]+0x1000 [-]",
            "#4 garbage",
        )
    ]
    assert [
        (f.function, f.position, f.module, f.build_id, f.problem, f.inlined) for f in frames
    ] == [
        ("f(a, b)", "/src/a b.c:12", None, None, None, False),
        ("g", "/src/a.c:0", None, None, None, True),
        ("h", None, "/bin/x y+0x10", "aa", "the file is another now: build-id bb", False),
        (None, None, "[unknown]+0x1000", "-", None, False),
        (None, None, None, None, None, False),
    ]


def test_symbolize(crash):
    result = run("symbolize", crash, "--symbolizer", SYMBOLIZE)
    assert result.exit_code == 0
    assert re.search(
        r"^#\d+ 0x[0-9a-f]{16} inner at \S+/nested\.c:\d+ \(inlined\)$", result.output, re.M
    )


def test_symbolize_with_files_from_elsewhere(crash, program, tmp_path):
    moved = tmp_path / "elsewhere" / str(program)[1:]
    moved.parent.mkdir(parents=True)
    program.rename(moved)
    try:
        result = run("symbolize", crash, "--symbolizer", SYMBOLIZE)
        assert "nested.c" not in result.output and "?? in " in result.output
        result = run(
            "symbolize", crash, "--symbolizer", SYMBOLIZE, "--debug-dir", tmp_path / "elsewhere"
        )
        assert "call_at_the_end at " in result.output
    finally:
        moved.rename(program)


@pytest.mark.parametrize("data_directory", [False, True])
def test_show(crash, data_directory):
    older = crash.with_name("pg_crash_9_1700000000.txt")
    older.write_text("penumbra crash 1\ntime: 2023-11-14 22:13:20 UTC\nsignal: 6 SIGABRT\npid: 9\n")
    crash.with_name("pg_crash_7_1.txt").write_text("not one\n")
    crash.with_name("unrelated.txt").write_text("")
    directory = crash.parent
    if data_directory:
        directory = crash.parents[1]
        (directory / "PG_VERSION").write_text("15\n")
    result = run("show", directory, "--symbolizer", SYMBOLIZE)
    assert result.exit_code == 0
    listed = result.output.index(crash.name), result.output.index(older.name)
    assert listed[0] < listed[1] and "unrelated" not in result.output
    words = " ".join(result.output.split())
    assert "nested, which has no debug information" not in words
    for expected in (
        "client backend 4242",
        "database payroll",
        "query SELECT secret\\nFROM `salaries`",
        "inner (inlined)",
        "call_at_the_end",
        "For a maintainer",
        "the core dump",
    ):
        assert expected in words


@pytest.mark.parametrize("with_data", [False, True])
def test_markdown_leaves_data_out_unless_asked(crash, with_data):
    options = ["--with-data"] if with_data else []
    result = run("show", crash.parent, "--markdown", "--symbolizer", SYMBOLIZE, *options)
    assert result.exit_code == 0
    assert result.output.startswith(
        "### PostgreSQL 15.18: client backend ended by signal 11 SIGSEGV\n"
    )
    assert re.search(r"^#\d+ 0x[0-9a-f]{16} exported at \S+/nested\.c:\d+$", result.output, re.M)
    for secret in ("payroll", "joe", "secret", "salaries", "rip", "55d0c0ffee00"):
        assert (secret in result.output) == with_data, secret


def test_lost_symbols_are_told(crash, program):
    stripped = program.read_bytes()
    subprocess.run(["objcopy", "--strip-all", program], check=True)
    try:
        bare = run("show", crash.parent, "--symbolizer", SYMBOLIZE)
        subprocess.run(
            ["gcc", "-O1", "-g", PROGRAMS / "nested.c", PROGRAMS / "print_stack.c", "-o", program],
            check=True,
        )
        replaced = run("show", crash.parent, "--symbolizer", SYMBOLIZE)
    finally:
        program.write_bytes(stripped)
    assert "which has no debug information here" in " ".join(bare.output.split())
    assert "was replaced since the crash" in " ".join(replaced.output.split())


def test_report_beside_the_file_knows_more(crash, program, monkeypatch):
    report = Symbolizer(SYMBOLIZE, (), False).report(crash)
    crash.with_suffix(".report").write_text(report)
    content = program.read_bytes()
    program.unlink()
    try:
        frames = CrashFile.read(crash).frames(Symbolizer(SYMBOLIZE, (), False))
        assert "call_at_the_end" in [frame.function for frame in frames]
        assert "exported" in [frame.function for frame in CrashFile.read(crash).frames(None)]
    finally:
        program.write_bytes(content)
        program.chmod(0o755)


def test_errors(tmp_path, crash):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(LabError, match="no crash files in"):
        commands(["backtrace", "show", str(empty)], standalone_mode=False)
    with pytest.raises(LabError, match="not a crash file"):
        commands(
            ["backtrace", "symbolize", str(PROGRAMS / "nested.c"), "--symbolizer", str(SYMBOLIZE)],
            standalone_mode=False,
        )
    with pytest.raises(LabError, match="is not a crash file: it does not begin with"):
        CrashFile.read(PROGRAMS / "nested.c")
    (empty / "PG_VERSION").write_text("15\n")
    with pytest.raises(LabError, match="No such file or directory"):
        find_crash_files(empty)
    for arguments in (
        ["show", tmp_path / "none"],
        ["show"],
        ["show", crash.parent, "--with-data"],
        ["symbolize"],
        ["symbolize", tmp_path],
    ):
        result = run(*arguments, env={"PGDATA": ""})
        assert result.exit_code == 2 and "Error" in result.output, arguments


def test_truncated_crash_files(crash):
    whole = crash.read_text()
    for length in range(len("penumbra crash 1"), len(whole), 211):
        crash.write_text(whole[:length])
        result = run("show", crash.parent, "--symbolizer", SYMBOLIZE)
        assert result.exit_code == 0, (length, result.output)
