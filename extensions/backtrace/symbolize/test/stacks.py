"""Programs that print their own stacks, built as each test wants them, and the symboliser.

The environment names what to take instead of this machine's: CC, CXX, OBJCOPY, EMULATOR (which runs
programs and the symboliser) and SYMBOLIZE.
"""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
TREE = HERE.parents[3]
SYMBOLIZE = os.environ.get(
    "SYMBOLIZE", str(TREE / "build/extensions/backtrace/symbolize/penumbra-symbolize")
)
EMULATOR = shlex.split(os.environ.get("EMULATOR", ""))
CC = os.environ.get("CC", "gcc")
CXX = os.environ.get("CXX", "g++")
OBJCOPY = os.environ.get("OBJCOPY", "objcopy")

LOGICAL = re.compile(
    r"#(?P<number>\d+) 0x(?P<pc>[0-9a-f]{16}) (?P<function>.+?)"
    r"(?: at (?P<file>[^ ].*):(?P<line>\d+)"
    r"| in (?P<module>.+)\+0x(?P<offset>[0-9a-f]+) \[(?P<id>[0-9a-f]+|-)\]"
    r"(?: \((?P<problem>.+)\))?)(?P<inlined> \(inlined\))?"
)


@dataclass(frozen=True)
class Frame:
    function: str
    file: str | None
    line: int | None
    inlined: bool
    module: str | None
    problem: str | None


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120, **options
    )


def check(*command, **options) -> str:
    done = run(*command, **options)
    assert done.returncode == 0, f"{command}: exit status {done.returncode}\n{done.stderr}"
    return done.stdout


def symbolize(*arguments, **options) -> subprocess.CompletedProcess:
    return run(*EMULATOR, SYMBOLIZE, *arguments, **options)


def parse_frames(text: str) -> list[Frame]:
    frames = []
    for number, line in enumerate(text.rstrip("\n").split("\n")):
        match = LOGICAL.fullmatch(line)
        assert match, f"not of the format: {line!r}"
        assert int(match["number"]) == number
        frames.append(
            Frame(
                match["function"],
                match["file"],
                match["line"] and int(match["line"]),
                match["inlined"] is not None,
                match["module"],
                match["problem"],
            )
        )
    return frames


def symbolize_stack(raw: str, *arguments) -> list[Frame]:
    done = symbolize(*arguments, input=raw)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.endswith("\n\n")
    return parse_frames(done.stdout[:-1])


def line_of(source: str, mark: str) -> int:
    for number, line in enumerate((PROGRAMS / source).read_text().splitlines(), 1):
        if re.search(rf"line: {mark}( \*/)?$", line):
            return number
    raise AssertionError(f"{source} has no mark {mark}")


def build(directory: Path, source: str, *flags, name: str = "program") -> Path:
    compiler = CXX if source.endswith(".cc") else CC
    program = directory / name
    check(CC, "-O2", "-g", "-c", PROGRAMS / "print_stack.c", "-o", directory / "print_stack.o")
    check(
        compiler, "-O2", "-g", *flags, PROGRAMS / source, directory / "print_stack.o", "-o", program
    )
    return program


def raw_stack(program: Path) -> str:
    return check(*EMULATOR, program)


NESTED_FRAMES = [
    ("finish", "finish", False),
    ("call_at_the_end", "call_at_the_end", False),
    ("inner", "inner", True),
    ("outer", "outer", True),
    ("local", "local", False),
    ("exported", "exported", False),
    ("main", "main", False),
]


def own_frames(frames: list[Frame]) -> list[Frame]:
    """Without print_stack() and what calls main()."""
    names = [frame.function for frame in frames]
    return frames[names.index("print_stack") + 1 : names.index("main") + 1]


def expect_nested(frames: list[Frame]) -> None:
    assert [
        (frame.function, Path(frame.file).name, frame.line, frame.inlined)
        for frame in own_frames(frames)
    ] == [
        (function, "nested.c", line_of("nested.c", mark), inlined)
        for function, mark, inlined in NESTED_FRAMES
    ]
