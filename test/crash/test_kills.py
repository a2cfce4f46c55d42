"""kill -9 at every moment of the disk cache: what is taken over answers as the table does.

Each round (disk_rounds.py) goes on until a random moment or the n-th change of the cache's files (die_at_write.c), and
kills the server, the process that writes the files, or another one; or terminates one, which the server survives.
"""

import collections
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from disk_rounds import SETTINGS, Round, check, make_tables, wait_for_server, wait_until

SAVER = "penumbra disk cache"
VICTIMS = (
    ("server", signal.SIGKILL),
    ("server", signal.SIGKILL),
    (SAVER, signal.SIGKILL),
    (SAVER, signal.SIGTERM),
    ("penumbra worker", signal.SIGKILL),
    ("server", signal.SIGKILL),
    ("client backend", signal.SIGKILL),
    ("penumbra launcher", signal.SIGTERM),
)


@pytest.fixture()
def killed_server(make_server, monkeypatch):
    server = make_server("kills", **SETTINGS)
    server.directory.mkdir()
    library = server.directory / "die_at_write.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-Wall", "-o", library, Path(__file__).with_name("die_at_write.c"), "-ldl"],
        check=True,
    )  # fmt: skip
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("DIE_AT_WRITE", str(server.directory / "die"))
    server.start()
    make_tables(server)
    return server


def end_process(server, kind: str, signal_number: int, pick: random.Random) -> None:
    """Ends a process of the kind, which there is or soon will be, and returns when it is gone."""
    pids = []

    def find() -> bool:
        pids[:] = (
            row[0]
            for row in connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = %s AND pid <> pg_backend_pid()",
                (kind,),
            )
        )
        return bool(pids)

    with server.connect() as connection:
        while True:
            wait_until(find)
            pid = pick.choice(pids)
            try:
                server.kill(pid, signal_number)
                break
            except ProcessLookupError:
                pass  # it had done its work
    wait_until(lambda: not Path(f"/proc/{pid}").exists())


def kill(server, victim: str, signal_number: int, at_write: bool, pick: random.Random) -> None:
    """After a while, or at a change of the files if there are as many by then."""
    if at_write:
        order = server.directory / "die"
        order.write_text(
            f"{int(1.2 ** pick.uniform(0, 25))} {victim if victim == 'server' else 'process'}\n"
        )
        order.chmod(0o666)
        deadline = time.monotonic() + 3
        while (
            order.read_text()
            and not order.read_text().startswith("0 ")
            and time.monotonic() < deadline
        ):
            time.sleep(0.01)
        died = order.read_text().startswith("0 ")
        order.unlink()
        if died and victim != "server":
            return
    else:
        time.sleep(pick.uniform(0.05, 2.5))
    if victim == "server":
        server.crash()
        return
    end_process(server, victim, signal_number, pick)


@pytest.mark.timeout(4 * 3600)
@pytest.mark.slow
def test_killed_while_the_disk_cache_is_used(killed_server, request):
    server = killed_server
    seed = request.config.getoption("kill_seed")
    pick = random.Random(seed)
    counts = collections.Counter()
    files = set()
    for number in range(request.config.getoption("kills")):
        began = time.monotonic()
        running = Round(server, f"{seed} {number}")
        victim, signal_number = VICTIMS[number % len(VICTIMS)]
        at_write = (
            victim in ("server", SAVER)
            and signal_number == signal.SIGKILL
            and pick.random() < 0.7
        )
        kill(server, victim, signal_number, at_write, pick)
        if victim == "server":
            running.end()
            # dies again while it finds what was saved, now and then
            if pick.random() < 0.3:
                server.start()
                time.sleep(pick.uniform(0, 0.2))
                server.crash()
            server.start()
            check(server, counts)
        else:
            # the server restarts itself, or the process alone, under load
            wait_for_server(server).close()
            running.end()
            check(server, counts)
        counts[f"{victim} {signal_number.name}"] += 1
        print(
            f"{number}: {victim} {signal_number.name}{' at a write' * at_write}, {time.monotonic() - began:.1f} s",
            flush=True,
        )
        files |= {
            entry.name for entry in (server.data / "penumbra/pgsql_tmp_columns").glob("*.columns")
        }
    counts["files"] = len(files)
    print(dict(counts))
    # none of this was in vain
    assert counts["recoveries with chunks"] > 0 and counts["segments read"] > 0, counts
    assert counts["tables from disk"] > 0 and counts["files"] > 16, counts
