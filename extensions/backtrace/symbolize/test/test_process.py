"""--process: stacks of running processes, which must not notice."""

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from stacks import EMULATOR, SYMBOLIZE, build, line_of, parse_frames, run, symbolize

pytestmark = pytest.mark.skipif(bool(EMULATOR), reason="an emulated process cannot be traced")


@contextmanager
def waiting(program: Path, signals: int = 1, **options):
    process = subprocess.Popen([program, "wait", str(signals)], stdout=subprocess.PIPE, **options)
    try:
        assert process.stdout.readline() == b"ready\n"
        while state(process.pid) != "S":
            time.sleep(0.001)
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def state(pid: int) -> str:
    status = Path(f"/proc/{pid}/status").read_text()
    return re.search(r"^State:\s+(\w)", status, re.M)[1]


def tracer(pid: int) -> int:
    return int(re.search(r"^TracerPid:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M)[1])


def expect_waiting(frames) -> None:
    names = [frame.function for frame in frames]
    found = frames[names.index("wait_for")], frames[names.index("main")]
    assert [(frame.function, frame.line) for frame in found] == [
        ("wait_for", line_of("nested.c", "wait_for")),
        ("main", line_of("nested.c", "main waits")),
    ]
    assert names[-1] == "_start"


@pytest.mark.parametrize(
    "flags", [("-fPIE", "-pie"), ("-fno-pie", "-no-pie"), ("-static",)], ids=" ".join
)
def test_waiting_process(tmp_path, flags):
    with waiting(build(tmp_path, "nested.c", *flags)) as process:
        done = symbolize("--process", process.pid, "--verbose")
        assert done.returncode == 0
        assert re.fullmatch(
            rf"process {process.pid} was stopped for \d+\.\d{{3}} ms\n", done.stderr
        )
        expect_waiting(parse_frames(done.stdout[:-1]))
        assert tracer(process.pid) == 0 and state(process.pid) == "S"


def test_program_that_is_gone_from_disk(tmp_path):
    program = build(tmp_path, "nested.c")
    with waiting(program) as process:
        program.unlink()
        frames = parse_frames(symbolize("--process", process.pid).stdout[:-1])
        own = [frame for frame in frames if frame.module == f"{program} (deleted)"]
        assert len(own) == 3 and {frame.function for frame in own} == {"??"}
        build(tmp_path, "nested.c", "-O1")
        frames = parse_frames(symbolize("--process", process.pid).stdout[:-1])
        assert sum("the file is another now" in (frame.problem or "") for frame in frames) == 3


def test_every_signal_arrives(nested):
    signals = 20000
    with waiting(nested, signals) as process:
        sent = looks = 0
        while sent < signals:
            for _ in range(500):
                os.kill(process.pid, signal.SIGRTMIN)
            sent += 500
            if sent < signals and sent % 1000 == 0:
                assert symbolize("--process", process.pid).returncode == 0
                looks += 1
        assert process.wait(30) == 0 and looks == 19


def test_stopped_process_stays_stopped(nested):
    with waiting(nested) as process:
        os.kill(process.pid, signal.SIGSTOP)
        while state(process.pid) != "T":
            time.sleep(0.01)
        expect_waiting(parse_frames(symbolize("--process", process.pid).stdout[:-1]))
        assert state(process.pid) == "T"
        os.kill(process.pid, signal.SIGCONT)
        os.kill(process.pid, signal.SIGRTMIN)
        assert process.wait(10) == 0


def test_process_under_a_debugger(nested):
    with waiting(nested) as process:
        debugger = subprocess.Popen(
            ["gdb", "-nx", "-q", "-p", str(process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(500):
                if tracer(process.pid) != 0:
                    break
                time.sleep(0.02)
            done = symbolize("--process", process.pid)
            assert done.returncode == 1 and done.stdout == ""
            assert "could not attach to the process: Operation not permitted\nhint: " in done.stderr
        finally:
            debugger.kill()
            debugger.wait()
            debugger.stdin.close()


def test_killed_symboliser_lets_the_process_go(nested):
    with waiting(nested) as process:
        for delay_ms in range(0, 40, 2):
            looking = subprocess.Popen(
                [SYMBOLIZE, "--process", str(process.pid)], stdout=subprocess.DEVNULL
            )
            time.sleep(delay_ms / 1000)
            looking.kill()
            looking.wait()
        for _ in range(500):
            if tracer(process.pid) == 0:
                break
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGRTMIN)
        assert process.wait(10) == 0


def test_wrong_process_ids(nested):
    for word, message in (
        ("0", "not a process id"),
        ("-5", "not a process id"),
        ("12x", "not a process id"),
        ("4194305", "there is no such process"),
    ):
        done = symbolize("--process", word)
        assert (done.returncode, done.stdout) == (1, "") and message in done.stderr


def test_zombie(nested):
    process = subprocess.Popen([nested], stdout=subprocess.DEVNULL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    done = symbolize("--process", process.pid)
    process.wait()
    assert (
        done.returncode == 1
        and done.stdout == ""
        and done.stderr.startswith("penumbra-symbolize: process ")
    )


@pytest.mark.skipif(os.getuid() != 0, reason="needs another user")
def test_process_of_another_user(nested):
    with waiting(nested) as process, open(SYMBOLIZE, "rb") as executable:
        # By its descriptor: the tree may be out of that user's reach.
        done = run(
            "setpriv",
            "--reuid=65534",
            "--clear-groups",
            "--",
            f"/proc/self/fd/{executable.fileno()}",
            "--process",
            process.pid,
            pass_fds=[executable.fileno()],
        )
        assert done.returncode == 1 and done.stdout == ""
        assert (
            "Permission denied\nhint: Run it as the server's operating system user" in done.stderr
        )
