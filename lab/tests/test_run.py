"""The parts of a run that need no server: order, CPUs, variants, what disturbs a measurement."""

import dataclasses
import os
from pathlib import Path

import pytest

from penumbra_lab.bench.pgbench import default_clients
from penumbra_lab.errors import LabError
from penumbra_lab.run import watch
from penumbra_lab.run.cpus import format_cpus, parse_cpus, split_cpus
from penumbra_lab.run.document import Metric, RunDocument, Variant
from penumbra_lab.run.levels import LEVELS, random_keys
from penumbra_lab.run.pgbench import WORKLOADS, check_disk, jobs_for, throughput
from penumbra_lab.run.sweep import Design, steps, turns
from penumbra_lab.run.targets import PRESETS, ConnectionTarget, parse_variant

DESIGN = Design(
    repetitions=4, starts=2, seconds=1, warmup_seconds=0, seed=1, protocol="prepared",
    clients=(1, 2), workloads=(WORKLOADS["select-only"],), levels=LEVELS, scale=1, client_cpus=None,
)  # fmt: skip


def test_targets_take_turns_forth_and_back():
    targets = ["a", "b", "c"]
    blocks = [list(turns(DESIGN, block, targets)) for block in range(2)]
    assert [step for step, _ in blocks[0]] == steps(DESIGN)
    assert [step for step, _ in blocks[1]] == steps(DESIGN)[::-1]
    orders = ["".join(turn) for block in blocks for _, turn in block]
    # Neighbours are each other's mirror, so that a drift falls on all alike.
    assert all(a == b[::-1] for a, b in zip(orders[:-1], orders[1:], strict=True) if a != b)
    assert orders.count("abc") == orders.count("cba") == len(orders) // 2
    # Each step is measured first on the other end in the next block.
    first = {step: turn for step, turn in blocks[0]}
    assert len(steps(DESIGN)) % 2 == 1 or any(turn != first[step] for step, turn in blocks[1])


def test_repetitions_are_spread_over_server_starts():
    designs = [dataclasses.replace(DESIGN, repetitions=5, starts=starts) for starts in (1, 2, 5)]
    begun = [[b for b in range(5) if design.begins_start(b)] for design in designs]
    assert begun == [[0], [0, 3], [0, 1, 2, 3, 4]]


def test_every_workload_at_every_client_count_and_every_level():
    found = [step.description for step in steps(DESIGN)]
    assert found[:2] == ["select-only, 1 client", "select-only, 2 clients"]
    assert found[2:] == ["lookup, wire", *(level.name for level in LEVELS)]
    assert steps(dataclasses.replace(DESIGN, levels=())) == steps(DESIGN)[:2]


def test_client_counts_go_past_the_knee():
    assert default_clients(1) == (1, 2, 4)
    assert default_clients(2) == (1, 2, 4, 8)
    assert default_clients(6) == (1, 2, 4, 6, 8, 16, 24)


@pytest.mark.parametrize(
    ("clients", "cpus", "jobs"), [(1, 8, 1), (6, 4, 3), (7, 4, 1), (8, 4, 4), (2, 64, 2)]
)
def test_pgbench_threads_have_as_many_clients_each(clients, cpus, jobs):
    assert jobs_for(clients, cpus) == jobs


def test_cpu_lists():
    here = sorted(os.sched_getaffinity(0))
    assert parse_cpus(format_cpus(here)) == here
    assert parse_cpus(f"{here[0]}-{here[0]}") == here[:1]
    for bad in ("", "a", "1-", "3-1", "100000"):
        with pytest.raises(LabError):
            parse_cpus(bad)
    server, client = split_cpus()
    if len(here) < 4:
        assert server is None and client is None
    elif server:
        assert not set(parse_cpus(server)) & set(parse_cpus(client))


def test_variants(tmp_path):
    assert parse_variant("cached") is PRESETS["cached"]
    plan = parse_variant("big:shared_buffers=4GB,shared_preload_libraries=a,b,work_mem=8MB")
    assert plan.name == "big"
    assert plan.settings == {"shared_buffers": "4GB", "shared_preload_libraries": "a,b",
                             "work_mem": "8MB"}  # fmt: skip
    for bad in ("unknown", "x y:a=1", ":a=1", "x:nothing", f"x:bin={tmp_path}"):
        with pytest.raises(LabError):
            parse_variant(bad)
    (tmp_path / "postgres").touch()
    assert parse_variant(f"x:bin={tmp_path}").described().settings == {"bin": str(tmp_path)}


def test_variants_of_a_connection_are_settings_of_its_sessions():
    target = ConnectionTarget(parse_variant("x:search_path=a b,work_mem=1MB"),
                              "host=h password=p dbname=d")  # fmt: skip
    environment = target.environment()
    assert environment["PGOPTIONS"] == r"-c search_path=a\ b -c work_mem=1MB"
    assert environment["PGHOST"] == "h" and environment["PGPASSWORD"] == "p"
    with pytest.raises(LabError, match="private"):
        ConnectionTarget(PRESETS["cached"], "host=h")
    with pytest.raises(LabError, match="connection string"):
        ConnectionTarget(PRESETS["stock"], "nonsense")


def test_throughput_is_read_and_its_absence_told():
    output = "latency average = 0.05 ms\ntps = 20034.512 (without initial connection time)\n"
    assert throughput(output) == 20034.512
    for nothing in ("", "tps = 0.000000 (without initial connection time)"):
        with pytest.raises(LabError, match="--seconds"):
            throughput(nothing)


def test_disk_is_checked_before_with_the_number():
    with pytest.raises(LabError, match=r"scale 1000000 needs about 16,\d\d\d\.\d GB"):
        check_disk(Path("/var/tmp/not/there/yet"), 1_000_000, 1)
    check_disk(Path("/var/tmp"), 1, 1)


def test_keys_are_accounts_and_repeat_with_the_seed():
    keys = random_keys(3, 7)
    assert keys == random_keys(3, 7) != random_keys(3, 8)
    assert min(keys) >= 1 and 250_000 < max(keys) <= 300_000


# -- watcher ---------------------------------------------------------------------------------------

QUIET = watch.Readings(
    monotonic=0.0, cpu_ticks=[0] * 10, client_cpu_seconds=0.0, server_cpu_seconds=0.0,
    throttle_events=0, quota_throttled_seconds=0.0, swapped_pages=0, checkpoints=0, autovacuums=0,
    autovacuum_workers=0,
)  # fmt: skip


def _after(**changes) -> dict:
    # Ten seconds of two CPUs: 800 ticks busy, 1200 idle; client 3 s, server 5 s of CPU.
    after = {"monotonic": 10.0, "cpu_ticks": [600, 0, 200, 1150, 50, 0, 0, 0, 0, 0],
             "client_cpu_seconds": 3.0, "server_cpu_seconds": 5.0, **changes}  # fmt: skip
    return watch._difference(QUIET, dataclasses.replace(QUIET, **after), None)


def test_a_quiet_measurement_has_no_flags():
    seen = _after()
    assert seen["steal_share"] == 0 and seen["other_share"] == pytest.approx(0, abs=1e-9)
    assert watch.flags(seen) == []


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({"cpu_ticks": [600, 0, 200, 1100, 50, 0, 0, 50, 0, 0]}, "steal"),
        ({"client_cpu_seconds": 1.0}, "busy"),
        ({"throttle_events": 1}, "throttling"),
        ({"quota_throttled_seconds": 0.1}, "quota"),
        ({"swapped_pages": 3}, "swap"),
        ({"checkpoints": 1}, "checkpoint"),
        ({"autovacuums": 1}, "autovacuum"),
        ({"autovacuum_workers": 1}, "autovacuum"),
    ],
)
def test_each_disturbance_is_flagged(changes, flag):
    assert watch.flags(_after(**changes)) == [flag]


def test_what_cannot_be_seen_is_not_flagged():
    unseen = dict.fromkeys(("server_cpu_seconds", "throttle_events", "quota_throttled_seconds",
                            "swapped_pages", "checkpoints", "autovacuums",
                            "autovacuum_workers"))  # fmt: skip
    hidden = dataclasses.replace(QUIET, **unseen)
    seen = watch._difference(hidden, dataclasses.replace(hidden, monotonic=1.0), None)
    assert watch.flags(seen) == [] and seen["other_share"] is None


def test_a_lower_frequency_is_flagged_beside_the_others():
    run = RunDocument("pgbench", "t", {}, {}, [Variant("stock", "stock", {})])
    for order, mhz in enumerate((3000.0, 3000.0, 2990.0, 2500.0)):
        run.add_sample("w", "stock", Metric("throughput", "1/s", "higher"), 1.0, block=order,
                       order=run.next_order(), started_at="2026-01-01T00:00:00Z")  # fmt: skip
        run.content["noise"]["measurements"].append({"order": order, "mhz": mhz})
    watch.flag_frequency_losses(run)
    samples = run.content["series"][0]["points"][0]["samples"]
    assert [sample["noise"] for sample in samples] == [[], [], [], ["frequency"]]
    watch.warn_of_noise(run)
    (warning,) = run.content["warnings"]
    assert warning["code"] == "frequency" and "1 of 4" in warning["message"] and warning["advice"]


def test_a_real_watcher_sees_a_busy_child(stock_server):
    with stock_server.connect() as connection:
        watcher = watch.Watcher(connection, stock_server.postmaster_pid())
        watcher.start()
        stock_server.run_client("psql", "-c", "SELECT sum(i) FROM generate_series(1, 500000) i")
        seen = watcher.finish()
    assert seen["seconds"] > 0 and 0 <= seen["steal_share"] <= 1
    assert seen["server_cpu_seconds"] > 0 and seen["client_cpu_seconds"] > 0
    assert seen["checkpoints"] is not None and seen["autovacuum_workers"] == 0
