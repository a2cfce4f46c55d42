"""The server side's unwinding and this symboliser together, without a server."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from stacks import CC, EMULATOR, PROGRAMS, TREE, check, line_of, symbolize_stack

SOURCES = ("stack", "modules", "registers", "writer", "guard")


@pytest.fixture(scope="module", params=["-fno-omit-frame-pointer", "-fomit-frame-pointer"])
def captured(request, tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("captured") / "captured"
    folder = TREE / "extensions/backtrace/src"
    majors = sorted(
        Path("/usr/include/postgresql").glob("*/server"), key=lambda path: int(path.parts[-2])
    )
    headers = majors[-1]
    if "PG_CONFIG" in os.environ:
        command = [os.environ["PG_CONFIG"], "--includedir-server"]
        headers = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    elif "PG_MAJOR" in os.environ:
        headers = Path(f"/usr/include/postgresql/{os.environ['PG_MAJOR']}/server")
    check(
        CC,
        "-O2",
        "-g",
        "-D_GNU_SOURCE",
        "-Wno-infinite-recursion",
        request.param,
        f"-I{headers}",
        f"-I{folder}",
        f"-I{TREE}/common",
        PROGRAMS / "captured.c",
        *(folder / f"{name}.c" for name in SOURCES),
        "-lgcc_s",
        "-o",
        program,
    )
    return program


def frames_of(program: Path, site: str):
    return symbolize_stack(check(*EMULATOR, program, site))


@pytest.mark.parametrize(
    "site, expected",
    [
        ("call", [("called", "called", False)]),
        ("fault", [("fault", "fault", False)]),
        ("inlined", [("store", "store", True), ("around_inlined", "around_inlined", False)]),
        ("garbage", [("garbage", "garbage", False)]),
    ],
)
def test_functions_and_lines(captured, site, expected):
    frames = frames_of(captured, site)
    names = [frame.function for frame in frames]
    found = frames[names.index(expected[0][0]) : names.index("main") + 1]
    wanted = [*expected, ("choose", f"choose {site}", False), ("main", "main", False)]
    assert [(frame.function, frame.line, frame.inlined) for frame in found] == [
        (function, line_of("captured.c", mark), inlined) for function, mark, inlined in wanted
    ]


def test_jump_to_where_no_code_is(captured):
    [first, second, *_] = frames_of(captured, "garbage")
    assert (first.function, first.module, second.function) == ("??", "[unknown]", "garbage")
    assert re.search(r"^frame 1234 exact$", check(*EMULATOR, captured, "garbage"), re.M)


def test_stack_overflow(captured):
    frames = frames_of(captured, "overflow")
    recursive = [frame.line for frame in frames[1:] if frame.function == "overflow"]
    assert len(recursive) > 100 and set(recursive) == {line_of("captured.c", "overflow")}
