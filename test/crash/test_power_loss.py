"""The power goes while the disk cache is used: whatever part of the unsynced writes is lost, answers are the table's.

A round (disk_rounds.py) runs with a journal of all writes (journal_writes.c). Of it several states of the disk are made
(power_loss.py), each as the power may have left it at some moment of the round; the server is started on each and
everything compared. The last one is where the next round begins.
"""

import collections
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from disk_rounds import SETTINGS, Round, check, make_tables
from power_loss import Disk, copy_tree, files_below, read_journal

STATES = 4  # of a round
OURS = "penumbra"
FILES = f"{OURS}/pgsql_tmp_columns"
SHARES = (0, 0.1, 0.6, 1)


def build_library(directory: Path) -> Path:
    library = directory / "journal_writes.so"
    source = Path(__file__).with_name("journal_writes.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wall", "-O1", "-o", library, source], check=True)
    return library


# ---------------------------------------------------------------- the journal itself

PROGRAM = """
import os

def write(name, data, offset=0, *syncs):
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, data, offset)
    for sync in syncs:
        os.fsync(fd if sync == "file" else os.open(sync, os.O_RDONLY))
    os.close(fd)

write("ours/named", b"1" * 8192, 0, "file", "ours")
write("ours/named", b"2" * 4096, 4096)
write("ours/unnamed", b"3" * 10, 0, "file")
write("theirs", b"4" * 10, 0, "file")
write("there", b"5" * 10, 6, "file")
write("there", b"6", 2)
os.truncate("there", 12)
write("new", b"7" * 10, 0, "file", ".")
os.rename("new", "target")
os.unlink("gone")
os.write(os.open("appended", os.O_WRONLY | os.O_APPEND), b"8")
os.write(os.open("synced", os.O_WRONLY | os.O_DSYNC), b"9")
"""


@pytest.fixture()
def program(tmp_path):
    """What the program does: a maker of disks as it found them, and its journal."""
    data = tmp_path / "data"
    (data / "ours").mkdir(parents=True)
    for name in ("there", "gone", "target", "appended", "synced"):
        (data / name).write_bytes(name.encode())
    copy_tree(data, tmp_path / "base")
    inodes = files_below(data)
    journal = tmp_path / "journal"
    journal.touch()
    environment = os.environ | {
        "LD_PRELOAD": str(build_library(tmp_path)), "JOURNAL": str(journal), "JOURNALED": str(data),
    }  # fmt: skip
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=data, env=environment, check=True)
    return lambda: Disk(tmp_path / "base", inodes, strict=("ours",)), read_journal(journal)


def contents(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in files_below(directory)}


def after_loss(program, directory: Path, share: float, seed: int = 1) -> dict[str, bytes]:
    make_disk, changes = program
    disk = make_disk()
    disk.replay(changes)
    disk.lose(lambda name: share, random.Random(seed))
    disk.write_to(directory)
    return contents(directory)


def test_nothing_is_lost(program, tmp_path):
    expected = contents(tmp_path / "data")
    assert (
        expected["target"] == b"7" * 10 and "gone" not in expected and len(expected["there"]) == 12
    )
    assert after_loss(program, tmp_path / "data", 0) == expected


def test_what_is_not_synced_is_lost(program, tmp_path):
    assert after_loss(program, tmp_path / "data", 1) == {
        "ours/named": b"1" * 8192,
        "theirs": b"4" * 10,
        "there": b"there\0" + b"5" * 10,
        "new": b"7" * 10,
        "target": b"target",
        "gone": b"gone",
        "appended": b"appended",
        "synced": b"9ynced",
    }


def test_every_block_and_name_is_lost_by_itself(program, tmp_path):
    seen = collections.defaultdict(set)
    for seed in range(100):
        files = after_loss(program, tmp_path / "data", 0.5, seed)
        for name in ("ours/named", "ours/unnamed", "there", "new", "target", "gone"):
            seen[name].add(files.get(name))
    assert seen["ours/named"] == {b"1" * 8192, b"1" * 4096 + b"2" * 4096}
    assert seen["ours/unnamed"] == {None, b"3" * 10}
    assert len(seen["there"]) == 4
    assert seen["new"] == {None, b"7" * 10} and seen["target"] == {b"target", b"7" * 10}
    assert seen["gone"] == {None, b"gone"}


def test_a_record_that_is_cut_is_passed_over(program, tmp_path):
    _, changes = program
    whole = (tmp_path / "journal").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-9] + whole)
    assert read_journal(tmp_path / "cut") == changes[:-1] + changes


# ---------------------------------------------------------------- the server


class Rounds:
    """A server whose writes stand in a journal, round by round."""

    def __init__(self, server, monkeypatch):
        self.server = server
        self.environment = monkeypatch
        self.base = server.directory / "base"
        self.journal = server.directory / "journal"
        server.directory.mkdir()
        monkeypatch.setenv("LD_PRELOAD", str(build_library(server.directory)))
        monkeypatch.setenv("JOURNALED", str(server.data))
        server.start()
        make_tables(server)
        server.crash()

    def run(self, seed: str, pick: random.Random) -> None:
        """A round, at whose end all processes are killed."""
        subprocess.run(["rm", "-rf", self.base], check=True)
        copy_tree(self.server.data, self.base)
        self.inodes = files_below(self.server.data)
        self.journal.write_bytes(b"")
        self.journal.chmod(0o666)
        self.environment.setenv("JOURNAL", str(self.journal))
        self.server.start()
        running = Round(self.server, seed)
        time.sleep(pick.uniform(0.3, 4))
        self.server.crash()
        running.end()
        self.environment.delenv("JOURNAL")
        self.changes = read_journal(self.journal)

    def lose_power(
        self, pick: random.Random, at: int, share_lost, ignores_sync=lambda name: False
    ) -> Disk:
        """Puts the files back to what may be left of the round's first changes."""
        disk = Disk(self.base, self.inodes, strict=(OURS,))
        disk.replay(self.changes[:at], ignores_sync)
        disk.lose(share_lost, pick)
        disk.write_to(self.server.data)
        return disk


def some_share_lost(pick: random.Random):
    """WAL, our files and all others lose each a share of their own."""
    shares = {name: pick.choice(SHARES) for name in ("pg_wal", OURS)}
    others = pick.choice(SHARES)
    return lambda name: shares.get(name.split("/")[0], others)


@pytest.mark.timeout(4 * 3600)
@pytest.mark.slow
def test_power_is_lost_while_the_disk_cache_is_used(make_server, monkeypatch, request):
    seed = request.config.getoption("kill_seed")
    pick = random.Random(seed)
    rounds = Rounds(make_server("power", **SETTINGS), monkeypatch)
    counts = collections.Counter()
    for number in range(request.config.getoption("power_losses")):
        if number % STATES == 0:
            rounds.run(f"{seed} {number}", pick)
            at, share_lost = len(rounds.changes), lambda name: 1
        else:
            at, share_lost = pick.randrange(len(rounds.changes)), some_share_lost(pick)
        disk = rounds.lose_power(pick, at, share_lost)
        counts["bytes lost"] += disk.lost_bytes
        counts["names lost"] += disk.lost_names
        rounds.server.start()
        check(rounds.server, counts)
        rounds.server.crash()
        print(
            f"{number}: {at} of {len(rounds.changes)} changes, {disk.lost_bytes} bytes lost",
            flush=True,
        )
    print(dict(counts))
    assert counts["bytes lost"] > 0, counts
    # Between a file's making and its directory's sync is little time, which few states may miss.
    assert counts["names lost"] > 0 or number < 40, counts
    assert counts["recoveries with chunks"] > 0 and counts["segments read"] > 0, counts


@pytest.mark.parametrize(
    "left_out",
    [
        pytest.param(lambda name: name.endswith(".columns"), id="extents"),
        pytest.param(lambda name: name.endswith("manifest"), id="manifest"),
        pytest.param(lambda name: name in (OURS, FILES), id="directories"),
    ],
)
@pytest.mark.slow
def test_a_sync_that_is_left_out_is_seen(make_server, monkeypatch, left_out):
    rounds = Rounds(make_server("power", **SETTINGS), monkeypatch)
    pick = random.Random(1)
    for number in range(30):
        if number % STATES == 0:
            rounds.run(f"left out {number}", pick)
        rounds.lose_power(
            pick, len(rounds.changes), lambda name: 0.5 * name.startswith(OURS), left_out
        )
        rounds.server.start()
        try:
            check(rounds.server, collections.Counter())
        except AssertionError:
            return
        rounds.server.crash()
    pytest.fail("what was not synced was not missed")
