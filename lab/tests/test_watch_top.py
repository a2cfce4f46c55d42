"""`penumbra top`: rates, a server that goes away, the terminal, the pipe."""

import os
import pty
import select
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from rich.console import Console

from penumbra_lab.watch.reader import Reader
from penumbra_lab.watch.sampler import Sampler, rates
from penumbra_lab.watch.top import STATEMENT_FIELDS, busy, top_view

TOP = [sys.executable, "-c", "from penumbra_lab.cli import main; main()", "top"]
SECONDS_MAX = 60


@pytest.fixture(scope="module")
def dsn(watched_server):
    with watched_server.connect() as connection:
        connection.execute("CREATE DATABASE busy")
    with watched_server.connect("busy") as connection:
        connection.execute("CREATE EXTENSION penumbra")
        connection.execute(
            "CREATE TABLE t AS SELECT i, i % 5 AS k FROM generate_series(1, 50000) i"
        )
        connection.execute("VACUUM ANALYZE t")
        connection.execute("SELECT penumbra.load('t')")
    return watched_server.conninfo("busy")


def test_rates_are_of_what_grew(dsn, watched_server):
    with Reader(dsn, "test") as reader, watched_server.connect("busy") as connection:
        connection.execute("SELECT k, sum(i) FROM t GROUP BY k")
        before = reader.read()
        for _ in range(4):
            connection.execute("SELECT k, sum(i) FROM t GROUP BY k")
        snapshot = reader.read()
    seconds = (snapshot.server.read_at - before.server.read_at).total_seconds()
    found = rates(snapshot, before)
    pages = snapshot.tables.rows[0].cached_pages
    assert found["pages_from_cache"] * seconds == pytest.approx(4 * pages)
    assert found["calls_in_vectors"] * seconds == pytest.approx(4)
    assert found["pages_from_heap"] == found["evictions"] == 0
    busiest = busy(
        snapshot.statements, before.statements, lambda row: row.queryid, STATEMENT_FIELDS, seconds
    ).rows[0]
    assert busiest.per_second["calls"] * seconds == pytest.approx(4)
    # After a reset nothing is said instead of something wrong.
    assert "pages_from_cache" not in rates(before, replace(snapshot, server=replace(
        snapshot.server, read_at=before.server.read_at)))  # fmt: skip


def _wait_for(condition) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_sampler_says_that_the_server_is_away_and_goes_on(dsn, watched_server):
    with Reader(dsn, "test") as reader, Sampler(reader, 0.2) as sampler:
        _wait_for(lambda: len(sampler.history) > 1)
        watched_server.stop()
        _wait_for(lambda: sampler.state.error)
        away = sampler.state
        watched_server.start()
        _wait_for(lambda: not sampler.state.error)
        _wait_for(lambda: sampler.state.read_at > away.read_at)
    assert away.snapshot is not None
    console = Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(top_view(away, 5))
    assert "no answer, what is shown is of" in console.export_text()


def test_into_a_pipe_it_writes_its_samples(dsn):
    done = subprocess.run([*TOP, "--dsn", dsn, "--count", "2", "--seconds", "0.5"],
                          capture_output=True, text=True, timeout=SECONDS_MAX)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("busy at ") == 2 and "pages/s from cache" in done.stdout
    assert "\x1b" not in done.stdout


def test_in_a_terminal_q_leaves(dsn):
    main, terminal = pty.openpty()
    command, environment = [*TOP, "--dsn", dsn, "--seconds", "0.5"], {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment
    )
    os.close(terminal)
    shown = b""
    deadline = time.monotonic() + SECONDS_MAX
    try:
        while process.poll() is None and time.monotonic() < deadline:
            if not select.select([main], [], [], 0.1)[0]:
                continue
            try:
                shown += os.read(main, 65536)
            except OSError:  # the other side is closed
                break
            if b"q to leave" in shown and b"From cache" in shown:
                os.write(main, b"q")
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        os.close(main)
    assert b"\x1b[?1049h" in shown and b"\x1b[?1049l" in shown  # there and back
