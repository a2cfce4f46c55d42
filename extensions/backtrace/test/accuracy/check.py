"""Stacks of penumbra_backtrace against gdb's, frame by frame: function, file and line.

gdb is attached to the backend that fails, stops where the error or the crash is, and writes down
its stack; then the backend goes on and penumbra_backtrace does its work. Only frames for which gdb
has a line count. At least 95 % of all must be right, and 80 % of each stack.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
from cases import CRASHES, ERRORS, FEW, SETUP
from penumbra_lab.crash_file import FRAME
from penumbra_lab.server import (
    Installation,
    PrivateServer,
    give_to_server_user,
    terminate_like_interrupt,
)
from penumbra_lab.state import state_directory

HERE = Path(__file__).parent
TREE = HERE.parents[3]

WANTED_SHARE = 0.95
SETTINGS = {
    "shared_preload_libraries": "penumbra_backtrace",
    "penumbra_backtrace.on_error": "all",
    "fsync": "off",
    "autovacuum": "off",
}


def wait_until(condition, seconds: float, what: str):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(f"{what}: not within {seconds} s")


class Debugger:
    """gdb on one backend."""

    def __init__(self, pid: int, stops: str, output: Path):
        self._output = output
        output.write_text("")
        privileged = [] if os.geteuid() == 0 else ["sudo", "-n"]
        self._process = subprocess.Popen(
            [
                *privileged,
                "gdb",
                "-nx",
                "-q",
                "-batch",
                "-p",
                str(pid),
                "-ex",
                f'set $stops = "{stops}"',
                "-ex",
                f'set $output = "{output}"',
                "-x",
                str(HERE / "gdb_stacks.py"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(
            lambda: "attached" in output.read_text() or self._process.poll() is not None, 120, "gdb"
        )

    def stacks(self) -> list[list]:
        try:
            _, errors = self._process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        lines = self._output.read_text().splitlines()
        if not lines:
            raise RuntimeError(f"gdb could not attach: {errors.strip()[-500:]}")
        return [json.loads(line) for line in lines[1:]]


def parse_stack(text: str) -> list[tuple]:
    """(pc, function, file, line, inlined) for each line of a symbolised stack."""
    frames = []
    for line in re.findall(r"^\s*(#\d+ 0x.*)$", text, re.M):
        match = FRAME.fullmatch(line)
        assert match, line
        path, number = match["position"].rsplit(":", 1) if match["position"] else (None, "0")
        frames.append(
            (
                int(match["pc"], 16),
                match["function"],
                path,
                int(number),
                match["inlined"] is not None,
            )
        )
    return frames


def by_address(frames: list) -> list[tuple[int, list]]:
    """Frames of one address that are inlined into each other, together."""
    groups = []
    for frame in frames:
        if not groups or groups[-1][0] != frame[0] or not groups[-1][1][-1][4]:
            groups.append((frame[0], []))
        groups[-1][1].append(frame)
    return groups


def same_frame(ours: tuple, theirs: tuple) -> bool:
    if ours[1] != theirs[1] or ours[2] is None or ours[3] != theirs[3]:
        return False
    if Path(theirs[2]).exists():
        return os.path.realpath(ours[2]) == os.path.realpath(theirs[2])
    return Path(ours[2]).name == Path(theirs[2]).name


def compare(ours: list, theirs: list) -> tuple[int, int, list[str]]:
    """Right frames, frames that count, and what is wrong."""
    right = counted = 0
    wrong = []
    remaining = by_address(ours)
    for depth, (address, frames) in enumerate(by_address(theirs)):
        at = next((i for i, group in enumerate(remaining) if group[0] == address), None)
        found = [] if at is None else remaining[at][1]
        remaining = remaining[at + 1 :] if at is not None else remaining
        # At the first instruction of an inlined function gdb shows the caller, for who steps.
        if depth == 0 and len(found) > len(frames):
            found = found[-len(frames) :]
        for number, frame in enumerate(frames):
            if not frame[2] or frame[3] <= 0:
                continue
            counted += 1
            candidate = found[number] if len(found) == len(frames) else None
            if candidate is not None and same_frame(candidate, frame):
                right += 1
            else:
                wrong.append(f"gdb {frame[1:4]}, here {[f[1:4] for f in found]}")
    return right, counted, wrong


def backend(server: PrivateServer) -> psycopg.Connection:
    def attempt():
        try:
            return server.connect()
        except psycopg.OperationalError:
            return None

    return wait_until(attempt, 60, "a connection")


def run_error(server: PrivateServer, query: str, output: Path) -> tuple[list, list]:
    with backend(server) as watcher:
        watcher.execute("SELECT backtrace_errors_reset()")
        victim = backend(server)
        debugger = Debugger(victim.info.backend_pid, "errfinish", output)
        try:
            for statement in query.split("; "):
                victim.execute(statement)
            raise AssertionError(f"no error: {query}")
        except psycopg.Error:
            pass
        victim.close()
        stacks = debugger.stacks()
        text = wait_until(
            lambda: watcher.execute(
                "SELECT frames FROM backtrace_errors WHERE symbolised"
                " ORDER BY last_at DESC LIMIT 1"
            ).fetchone(),
            30,
            "the symbolised stack",
        )[0]
    ours = parse_stack(text)
    # gdb stops at the entry of errfinish(), so that its callers can be compared. It stops for
    # messages of lower levels as well, which have other callers.
    addresses = [frame[0] for frame in ours]
    theirs = next(stack[1:] for stack in stacks if stack[1][0] in addresses)
    return ours[addresses.index(theirs[0][0]) :], theirs


def run_crash(server: PrivateServer, query: str, output: Path) -> tuple[list, list]:
    victim = backend(server)
    pid = victim.info.backend_pid
    debugger = Debugger(pid, "", output)
    try:
        victim.execute(query)
        raise AssertionError(f"no crash: {query}")
    except psycopg.Error:
        pass
    victim.close()
    theirs = debugger.stacks()[0]
    reports = wait_until(
        lambda: list(server.data.glob(f"pg_crash/pg_crash_{pid}_*.report")), 30, "the report"
    )
    text = wait_until(lambda: reports[0].read_text(), 10, "its text")
    ours = parse_stack(text)
    # gdb shows all of a stack overflow.
    return ours, theirs[: len(ours)]


def build_crash_library(installation: Installation, directory: Path) -> Path:
    folder = directory / "crash_sites"
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(
        HERE.parent / "crash_sites", folder, ignore=shutil.ignore_patterns("*.o", "*.so")
    )
    subprocess.run(
        [
            "make",
            "-s",
            "-C",
            str(folder),
            f"PG_CONFIG={installation.bin_directory}/pg_config",
            f"PG_CPPFLAGS=-I{TREE}/common",
        ],
        check=True,
    )
    for path in (directory, folder, *folder.iterdir()):
        give_to_server_user(path)
    return folder / "crash_sites"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--bin", type=Path, help="bin directory of a PostgreSQL installation with Penumbra"
    )
    parser.add_argument("--few", action="store_true", help="some cases of each kind")
    parser.add_argument("--directory", type=Path, default=state_directory() / "backtrace-accuracy")
    arguments = parser.parse_args()
    installation = Installation(arguments.bin) if arguments.bin else Installation.find()
    server = PrivateServer(arguments.directory, SETTINGS, installation)
    server.remove()
    arguments.directory.mkdir(parents=True)
    total_right = total = failures = 0
    with tempfile.TemporaryDirectory() as scratch, server:
        library = build_crash_library(installation, arguments.directory)
        with server.connect() as connection:
            connection.execute(SETUP.replace("{library}", str(library)))
        for cases, run in ((ERRORS, run_error), (CRASHES, run_crash)):
            for name, query in cases.items():
                if arguments.few and name not in FEW:
                    continue
                right, counted, wrong = compare(*run(server, query, Path(scratch) / "gdb"))
                total_right += right
                total += counted
                failed = counted == 0 or right < counted * 0.8
                failures += failed
                print(
                    f"{'FAILED' if failed else 'ok'}: {name}: {right} of {counted} frames",
                    *wrong[:5],
                    sep="\n    ",
                    flush=True,
                )
    share = total_right / total
    verdict = "ok" if share >= WANTED_SHARE else "FAILED"
    print(f"{verdict}: {total_right} of {total} frames as gdb has them, {share:.1%}")
    server.remove()
    return 0 if failures == 0 and share >= WANTED_SHARE else 1


if __name__ == "__main__":
    with terminate_like_interrupt():
        sys.exit(main())
