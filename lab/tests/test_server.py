"""Private servers start, stop and leave nothing, whatever ends the program."""

import os
import signal
import subprocess
import sys
import time

import pytest

from penumbra_lab.errors import LabError
from penumbra_lab.server import PrivateServer
from penumbra_lab.state import state_directory


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _assert_ends(pid: int) -> None:
    """A postmaster takes its PID file away before it is gone."""
    deadline = time.monotonic() + 10
    while _is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_alive(pid)


def test_a_server_is_stopped_when_its_block_fails():
    server = PrivateServer(state_directory() / "test-failing", {"fsync": "off"})
    try:
        with pytest.raises(RuntimeError), server:
            pid = server.postmaster_pid()
            assert server.connect().execute("SELECT 1").fetchone() == (1,)
            raise RuntimeError
        _assert_ends(pid)
    finally:
        server.remove()
    assert not server.directory.exists()


def test_a_server_stays_on_its_cpus():
    cpu = str(max(os.sched_getaffinity(0)))
    server = PrivateServer(state_directory() / "test-pinned", {"fsync": "off"}, cpus=cpu)
    try:
        with server, server.connect() as connection:
            for pid in (server.postmaster_pid(), connection.info.backend_pid):
                assert os.sched_getaffinity(pid) == {int(cpu)}
    finally:
        server.remove()


def test_a_wrong_setting_is_shown_with_the_log():
    server = PrivateServer(state_directory() / "test-wrong", {"shared_buffers": "nonsense"})
    try:
        with pytest.raises(LabError, match="shared_buffers"):
            server.start()
    finally:
        server.remove()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_program_stops_its_server(number):
    program = """
import sys, time
from penumbra_lab.server import PrivateServer, terminate_like_interrupt
from penumbra_lab.state import state_directory
server = PrivateServer(state_directory() / "test-interrupted", {"fsync": "off"})
with terminate_like_interrupt():
    try:
        with server:
            print(server.postmaster_pid(), flush=True)
            # a signal between Python's look for one and the system call does not end a sleep
            while True:
                time.sleep(0.05)
    finally:
        server.remove()
"""
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    pid = int(child.stdout.readline())
    assert _is_alive(pid)
    child.send_signal(number)
    child.wait(timeout=150)  # the server has 60 s to stop in order, then 60 more
    _assert_ends(pid)
    assert not (state_directory() / "test-interrupted").exists()
