"""Input that is broken or hostile: an answer for each stack, never a signal, never a hang."""

import os
import random
import re
import signal
import subprocess
from pathlib import Path

import pytest
from stacks import (
    EMULATOR,
    SYMBOLIZE,
    build,
    expect_nested,
    parse_frames,
    raw_stack,
    symbolize,
    symbolize_stack,
)

SEED = int(os.environ.get("PENUMBRA_SEED", random.randrange(1 << 30)))


def random_source():
    print(f"PENUMBRA_SEED={SEED}")
    return random.Random(SEED)


def test_lines_that_are_not_of_the_format():
    cases = {
        "frame 1000 exact\n\n": 1,
        "frame 1000 exact": 1,  # the input ends
        "frame 1000\n\n": 0,
        "frame 1000 back\n\n": 0,
        "frame 0x1000 exact\n\n": 0,
        "frame 11112222333344445 exact\n\n": 0,
        "frame  exact\nframe\nmodule\n\n": 0,
        "module 1000-1000 0 - /x\nframe 1000 exact\n\n": 1,
        "module 1000-2000 0 abc /x\nframe 1000 exact\n\n": 1,
        "module 1000-2000 0 - \0\nframe 1000 exact\n\n": 1,
        "module 1000-2000 0 -\nframe 1000 exact\n\n": 1,
        "\xff\xfe\nframe 1000 return\n\n": 1,
        "frame 0 exact\nframe 0 return\nframe ffffffffffffffff exact\n\n": 3,
        "\n": 0,
    }
    for raw, frames in cases.items():
        done = symbolize(input=raw)
        assert done.returncode == 0 and done.stderr == "", raw
        assert (
            done.stdout.endswith("\n")
            and len(parse_frames(done.stdout[:-1]) if frames else []) == frames
        ), raw
        assert (done.stdout == "\n") == (frames == 0), raw
    assert symbolize(input="").stdout == ""


def test_too_much_of_everything():
    done = symbolize(input="frame 1000 return\n" * 10000 + "\n")
    assert len(parse_frames(done.stdout[:-1])) == 4096
    done = symbolize(input="module 1000-2000 0 - /" + "x" * 1000000 + "\nframe 1234 exact\n\n")
    [frame] = parse_frames(done.stdout[:-1])
    assert frame.module == "[unknown]"
    modules = "".join(f"module {i:x}000-{i + 1:x}000 0 - /lib/{i}\n" for i in range(1, 5000))
    done = symbolize(input=modules + "frame 1001 exact\nframe 1000001 exact\n\n")
    assert [frame.module for frame in parse_frames(done.stdout[:-1])] == ["/lib/1", "[unknown]"]


def test_files_that_are_none(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("\x7fELF and then nothing of the kind")
    for path in (
        tmp_path,
        tmp_path / "pipe",
        tmp_path / "empty",
        tmp_path / "text",
        "/dev/zero",
        "/dev/tty",
        "",
        "/dev/stdin",
    ):
        for build_id in ("-", "00" * 20):
            [frame] = symbolize_stack(f"module 1000-2000 0 {build_id} {path}\nframe 1234 exact\n\n")
            assert frame.function == "??"


def test_path_with_control_characters(tmp_path):
    [frame] = symbolize_stack(
        f"module 1000-2000 0 - {tmp_path}/a\rb\x1b[31m\u00e9\nframe 1234 exact\n\n"
    )
    assert frame.module == f"{tmp_path}/a\\x0db\\x1b[31m\\xc3\\xa9"


def test_mutated_stacks(nested):
    source = random_source()
    raw = raw_stack(nested)
    mutants = []
    for _ in range(400):
        text = list(raw.rstrip("\n"))
        for _ in range(source.randrange(1, 12)):
            at = source.randrange(len(text))
            text[at : at + source.randrange(4)] = [
                chr(source.randrange(1, 127)) for _ in range(source.randrange(4))
            ]
        mutants.append(re.sub(r"\n\n+", "\n", "".join(text)).strip("\n") + "\n\n")
    done = symbolize(input="".join(mutants) + raw)
    assert done.returncode == 0 and done.stderr == ""
    # A stack without frames is an empty line.
    assert len(re.findall(r"^$", done.stdout, re.M)) - 1 == len(mutants) + 1
    expect_nested(parse_frames(done.stdout.rstrip("\n").split("\n\n")[-1]))


def test_mutated_programs(tmp_path):
    """Bytes of the program and its debug information changed, or its end cut off."""
    source = random_source()
    program = build(tmp_path, "nested.c")
    raw = re.sub(r"^(module \S+ \S+) \S+", r"\1 -", raw_stack(program), flags=re.M)
    expected = len(re.findall("^frame", raw, re.M))
    bytes_ = program.read_bytes()
    stacks = []
    for number in range(150):
        mutant = bytearray(bytes_)
        if number % 5 == 0:
            del mutant[source.randrange(len(mutant)) :]
        else:
            # the headers, or the debug information behind the program
            first, last = (0, 1024) if number % 5 == 1 else (len(mutant) // 3, len(mutant))
            for _ in range(source.choice((1, 10, 200))):
                mutant[source.randrange(first, last)] = source.randrange(256)
        path = tmp_path / f"mutant{number}"
        path.write_bytes(mutant)
        stacks.append(raw.replace(str(program), str(path)))
    done = symbolize(input="".join(stacks) + raw)
    assert done.returncode == 0 and done.stderr == ""
    texts = done.stdout.rstrip("\n").split("\n\n")
    assert len(texts) == len(stacks) + 1
    for text in texts:
        frames = parse_frames(text)
        assert sum(not frame.inlined for frame in frames) >= expected, text
    expect_nested(parse_frames(texts[-1]))


@pytest.mark.skipif(bool(EMULATOR), reason="the child is not the emulator's")
def test_child_that_dies_is_replaced(nested):
    raw = raw_stack(nested)
    process = subprocess.Popen(
        [SYMBOLIZE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask() -> str:
        process.stdin.write(raw)
        process.stdin.flush()
        return "".join(iter(process.stdout.readline, "\n"))

    first = ask()
    expect_nested(parse_frames(first))
    for _ in range(3):
        [child] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        assert ask() == first
    process.stdin.close()
    assert process.wait(10) == 0
    process.stdout.close()


CRASH = """penumbra crash 1
time: 2026-01-31 12:34:56 UTC
signal: 11 SIGSEGV
code: 1
fault_address: 0
pid: 4242
process_type: client backend
database: postgres
user: joe
server_version: 15.18
query: SELECT penumbra_crash('null')\\n-- \\xc3\\xa9
[registers]
rip 55d0c0ffee00
rsp 7ffd00000000
[stack]
"""


def test_report_of_a_crash_file(tmp_path, nested):
    path = tmp_path / "pg_crash_4242_1769862896.txt"
    path.write_text(CRASH + raw_stack(nested))
    done = symbolize(path)
    assert (done.returncode, done.stderr) == (0, "")
    report = done.stdout
    assert report.startswith(
        "PostgreSQL client backend 4242 was ended by signal 11 (SIGSEGV: Segmentation fault)"
        " at address 0\n\n"
    )
    for key, value in re.findall(r"^(\w+): (.*)$", CRASH, re.M):
        assert re.search(rf"^{key}: +{re.escape(value)}$", report, re.M), key
    stack = re.search(r"^Stack, innermost first\n-+\n((?:#.*\n)+)\n", report, re.M)[1]
    expect_nested(parse_frames(stack))
    assert re.search(
        rf"^Modules.*\n-+\n(?:.*\n)*[0-9a-f]{{40}} 0x\S+-0x\S+ {nested}$", report, re.M
    )
    assert report.endswith("Registers\n---------\nrip 55d0c0ffee00\nrsp 7ffd00000000\n")


def test_crash_file_that_ends_anywhere(tmp_path, nested):
    whole = CRASH + raw_stack(nested)
    path = tmp_path / "crash.txt"
    for length in [*range(0, len(whole), 97), len(CRASH), len(whole) - 1]:
        path.write_text(whole[:length])
        done = symbolize(path)
        assert done.returncode == (0 if length >= 16 else 1), length
        assert (
            done.stdout.startswith("PostgreSQL ")
            if length >= 16
            else "not a crash file" in done.stderr
        )


def test_command_line(tmp_path):
    for arguments, status, words in (
        (["--help"], 0, "--process PID"),
        (["--nonsense"], 2, "Try penumbra-symbolize --help."),
        (["a", "b"], 2, "one thing at a time"),
        (["--process", "1", "file"], 2, "one thing at a time"),
        ([tmp_path / "none"], 1, "No such file or directory"),
        ([tmp_path], 1, "not a regular file"),
    ):
        done = symbolize(*arguments)
        assert done.returncode == status and words in done.stdout + done.stderr, arguments
