"""`penumbra bench pgbench` on real servers: what it writes, and every way in which it may fail."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from penumbra_lab.bench.pgbench import sweep_table
from penumbra_lab.cli import commands
from penumbra_lab.errors import LabError
from penumbra_lab.run import targets
from penumbra_lab.run.document import read_run
from penumbra_lab.run.levels import LEVELS, TRIAL_EXECUTIONS, random_keys, run_level
from penumbra_lab.server import Installation, PrivateServer, process_directories
from penumbra_lab.state import state_directory

SHORT = ["--seconds", "1", "--warmup", "0"]


def _bench(*arguments: str) -> None:
    """Raises what the command line shows as one line."""
    CliRunner().invoke(commands, ["bench", "pgbench", *arguments], standalone_mode=False,
                       catch_exceptions=False)  # fmt: skip


def _values(document: dict, metrics=("throughput", "time")) -> dict[tuple, list[dict]]:
    return {
        (series["workload"], series["variant"], point["x"]): point["samples"]
        for series in document["series"]
        for point in series["points"]
        if series["metric"] in metrics
    }


def _assert_nothing_left() -> None:
    assert not list(state_directory().glob("bench-*/data"))
    commands_running = []
    for process in process_directories():
        with contextlib.suppress(OSError):
            commands_running.append((process / "cmdline").read_text(errors="replace"))
    assert not [text for text in commands_running if str(state_directory() / "bench-") in text]


@pytest.mark.slow
def test_private_servers_take_turns_in_blocks(tmp_path):
    output = tmp_path / "run.json"
    another_build = state_directory() / "another-build"
    another_build.unlink(missing_ok=True)
    another_build.symlink_to(Installation.find().bin_directory)
    _bench(*SHORT, "--scale", "1", "--repetitions", "2", "--clients", "2,1", "-w", "select-only",
           "--no-levels", "--variant", "stock",
           "--variant", f"small:shared_buffers=1MB,bin={another_build}", "--set", "work_mem=8MB",
           "--partitions", "2", "--seed", "5", "--output", str(output))  # fmt: skip
    another_build.unlink()
    document = read_run(output)
    assert document["status"] == "complete"
    assert document["variants"][1]["settings"] == {"shared_buffers": "1MB",
                                                   "bin": str(another_build)}  # fmt: skip
    assert document["environment"]["server"]["settings"]["work_mem"] == "8MB"
    assert document["environment"]["client"]["pgbench"][:2].isdigit()
    design = document["design"]
    assert (design["order"], design["seed"], design["server_starts"]) == ("ABBA", 5, 2)
    values = _values(document)
    assert set(values) == {("select-only", v, x) for v in ("stock", "small") for x in (1, 2)}
    for samples in values.values():
        assert [sample["block"] for sample in samples] == [0, 1]
        assert samples[0]["server_start"] != samples[1]["server_start"]
        assert all(sample["value"] > 0 for sample in samples)
    # Of every measurement the CPU time of the backends too: less than there were CPUs.
    for key, samples in _values(document, ("server CPU",)).items():
        for cpu, throughput in zip(samples, values[key], strict=True):
            assert cpu["order"] == throughput["order"]
            assert 0 < cpu["value"] * throughput["value"] / 1e6 < os.cpu_count() * 1.5
    orders = sorted((s["order"], key) for key, samples in values.items() for s in samples)
    assert [key[1:] for _, key in orders] == [
        ("stock", 1), ("small", 1), ("small", 2), ("stock", 2),
        ("small", 2), ("stock", 2), ("stock", 1), ("small", 1),
    ]  # fmt: skip
    assert [m["order"] for m in document["noise"]["measurements"]] == list(range(8))
    assert {"few_repetitions"} <= {warning["code"] for warning in document["warnings"]}
    assert document["sections"]["tool"][0]["cpu_seconds"] > 0
    _assert_nothing_left()


@pytest.mark.slow
def test_levels_stand_side_by_side_and_own_scripts_run(pgbench_server, tmp_path):
    script = tmp_path / "sum_some.sql"
    script.write_text("\\set n random(1, :scale)\nSELECT sum(n) FROM generate_series(1, :n) n;\n")
    output = tmp_path / "run.json"
    _bench(*SHORT, "--connection", pgbench_server.conninfo(), "--repetitions", "1",
           "--clients", "1", "-f", str(script), "-w", "aggregates", "--levels",
           "--variant", "a:work_mem=1MB", "--output", str(output))  # fmt: skip
    document = read_run(output)
    values = _values(document)
    assert {key[0] for key in values} == {"sum_some", "aggregates", "lookup, wire",
                                          *(level.name for level in LEVELS)}  # fmt: skip
    assert all(sample["value"] > 0 for samples in values.values() for sample in samples)
    assert document["design"]["size"]["scale"] == 1
    assert document["design"]["server_starts"] == 0
    assert all("server_start" not in s for samples in values.values() for s in samples)
    assert document["environment"]["client_machine"] is None


def test_a_level_has_its_cpu_time_where_the_backend_is_near(pgbench_server):
    with pgbench_server.connect() as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS penumbra_bench")
        keys = random_keys(1, 1)
        begin = time.perf_counter_ns()
        _, cpu = run_level(connection, LEVELS[0], keys, 0.1, is_local=True)
        # A process has no more CPU time than passed, whatever else the machine does.
        assert 0 < cpu < (time.perf_counter_ns() - begin) / TRIAL_EXECUTIONS
        assert run_level(connection, LEVELS[0], keys, 0.1, is_local=False)[1] is None


# -- bad input -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pgbench_server():
    server = PrivateServer(state_directory() / "test-pgbench", {"fsync": "off"})
    server.remove()
    try:
        with server:
            server.run_client("pgbench", "-i", "-q", "-s", "1")
            with server.connect() as connection:
                connection.execute("CREATE ROLE somebody LOGIN PASSWORD 'right'")
                connection.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO somebody")
            hba = server.data / "pg_hba.conf"
            hba.write_text("local all somebody scram-sha-256\nlocal all all trust\n")
            server.run_client("psql", "-c", "SELECT pg_reload_conf()")
            yield server
    finally:
        server.remove()


def test_no_server(tmp_path):
    with pytest.raises(LabError, match="connection .*failed") as failure:
        _bench("--connection", f"host={tmp_path} dbname=postgres")
    assert "\n" not in str(failure.value)


def test_wrong_password(pgbench_server):
    conninfo = pgbench_server.conninfo().replace("user=postgres", "user=somebody")
    with pytest.raises(LabError, match="password authentication failed"):
        _bench("--connection", f"{conninfo} password=wrong")


def test_old_version(pgbench_server, monkeypatch):
    monkeypatch.setattr(targets, "VERSION_MIN", 990000)
    with pytest.raises(LabError, match=r"the server is PostgreSQL \d\d: 99 or later is needed"):
        _bench("--connection", pgbench_server.conninfo())


@pytest.mark.parametrize("extension", ["DROP EXTENSION IF EXISTS", "CREATE EXTENSION"])
def test_extension_missing_or_not_for_this_role(pgbench_server, extension):
    conninfo = pgbench_server.conninfo().replace("user=postgres", "user=somebody")
    with pgbench_server.connect() as connection:
        connection.execute("DROP EXTENSION IF EXISTS penumbra_bench")
        connection.execute(f"{extension} penumbra_bench")
    with pytest.raises(LabError, match="extension penumbra_bench .*--no-levels"):
        _bench("--connection", f"{conninfo} password=right", "--levels")


def test_a_role_that_may_only_read_measures_reading(pgbench_server, tmp_path):
    with pgbench_server.connect() as connection:
        connection.execute("CREATE ROLE reader LOGIN; GRANT pg_read_all_data TO reader")
    conninfo = pgbench_server.conninfo().replace("user=postgres", "user=reader")
    output = tmp_path / "run.json"
    _bench(*SHORT, "--connection", conninfo, "--repetitions", "1", "--clients", "1",
           "-w", "select-only", "--output", str(output))  # fmt: skip
    assert set(_values(read_run(output))) == {("select-only", "stock", 1)}


def test_no_tables_and_another_scale(pgbench_server, stock_server):
    with pytest.raises(LabError, match="no pgbench tables: add --initialize"):
        _bench("--connection", stock_server.conninfo())
    with pytest.raises(LabError, match="have scale 1: leave out --scale"):
        _bench("--connection", pgbench_server.conninfo(), "--scale", "2")


def test_a_connection_is_initialized(stock_server, tmp_path):
    output = tmp_path / "run.json"
    with stock_server.connect() as connection:
        connection.execute("CREATE DATABASE to_fill")
    _bench(*SHORT, "--connection", stock_server.conninfo("to_fill"), "--initialize",
           "--scale", "2", "--repetitions", "1", "--clients", "1", "-w", "simple-update",
           "--no-levels", "--output", str(output))  # fmt: skip
    assert read_run(output)["design"]["size"]["scale"] == 2


def test_disk_too_small():
    with pytest.raises(LabError, match=r"needs about [\d,.]+ GB.*has [\d,.]+ GB free"):
        _bench("--scale", "1000000")
    _assert_nothing_left()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--variant", "nothing"], "no variant"),
        (["--variant", "stock", "--variant", "stock"], "same name"),
        (["--variant", "a:bin=/nowhere"], "no PostgreSQL server in /nowhere"),
        (["--server-cpus", "5000"], "not there"),
        (["--variant", "a:wrong_setting=1", "--scale", "1"], "wrong_setting"),
    ],
)
def test_what_cannot_be_is_one_error(arguments, message):
    with pytest.raises(LabError, match=message):
        _bench(*arguments)
    _assert_nothing_left()


@pytest.mark.parametrize(
    "arguments",
    [["--clients", "0"], ["--clients", "x"], ["--scale", "0"], ["--seconds", "0"],
     ["--file", "/nowhere"], ["--initialize"], ["--set", "x"],
     ["--connection", "dbname=x", "--set", "a=b"]],
)  # fmt: skip
def test_wrong_options_are_usage_errors(arguments):
    result = CliRunner().invoke(commands, ["bench", "pgbench", *arguments])
    assert result.exit_code == 2 and "Error" in result.output


def test_a_failing_script_is_told(pgbench_server, tmp_path):
    script = tmp_path / "wrong.sql"
    script.write_text("SELECT * FROM missing;\n")
    with pytest.raises(LabError, match='pgbench failed: .*"missing" does not exist'):
        _bench(*SHORT, "--connection", pgbench_server.conninfo(), "-f", str(script),
               "--clients", "1", "--no-levels",
               "--output", str(tmp_path / "none.json"))  # fmt: skip
    assert not (tmp_path / "none.json").exists()


# -- faults ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def _running_bench(output: Path):
    """The command in a process of its own, measuring its second sample or a later one."""
    process = subprocess.Popen(
        [Path(sys.executable).with_name("penumbra"), "bench", "pgbench", *SHORT, "--scale", "1",
         "--clients", "1", "-w", "select-only", "--no-levels", "--repetitions", "30",
         "--output", str(output)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        seen: set[str] = set()
        deadline = time.monotonic() + 120
        while len(seen) < 2:
            assert process.poll() is None and time.monotonic() < deadline, process.communicate()
            for child in _children(process.pid):
                with contextlib.suppress(OSError):
                    if "--random-seed" in Path(f"/proc/{child}/cmdline").read_text():
                        seen.add(child)
            time.sleep(0.02)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_an_interrupted_run_keeps_what_is_finished(tmp_path, number):
    with _running_bench(tmp_path / "run.json") as process:
        process.send_signal(number)
        shown, _ = process.communicate(timeout=60)
        assert process.returncode == 130, shown
    document = read_run(tmp_path / "run.json")
    assert document["status"] == "interrupted"
    (samples,) = _values(document).values()
    assert 1 <= len(samples) < 30
    assert "interrupted" in shown and "Traceback" not in shown
    _assert_nothing_left()


@pytest.mark.slow
def test_a_server_that_dies_is_named_and_what_is_finished_kept(tmp_path):
    with _running_bench(tmp_path / "run.json") as process:
        with pytest.raises(LabError, match="another `penumbra bench` is running"):
            _bench("--scale", "1")
        pid_file = state_directory() / "bench-stock/data/postmaster.pid"
        postmaster = int(pid_file.read_text().split()[0])
        for pid in [*_children(postmaster), postmaster]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        shown, _ = process.communicate(timeout=60)
        assert process.returncode == 1, shown
    assert "penumbra: the server of 'stock' stopped in mid-run" in shown
    assert "Traceback" not in shown
    document = read_run(tmp_path / "run.json")
    assert document["status"] == "failed" and "stopped in mid-run" in document["failure"]
    assert 1 <= len(next(iter(_values(document).values()))) < 30
    _assert_nothing_left()


@pytest.mark.slow
def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    with _running_bench(tmp_path / "run.json") as process:
        process.kill()
    assert (state_directory() / "bench-stock/data").exists()
    with pytest.raises(LabError, match="wrong_setting"):
        _bench("--variant", "other:wrong_setting=1", "--scale", "1")
    _assert_nothing_left()


def test_the_machine_is_described_as_json():
    result = CliRunner().invoke(commands, ["environment", "--data-directory", "/var/tmp"])
    assert result.exit_code == 0
    machine = json.loads(result.output)
    assert machine["cpu"]["cpus"] >= 1 and machine["filesystem"]["free_bytes"] > 0


def test_cpu_time_has_the_unit_of_its_workload():
    def series(workload: str, unit: str) -> dict:
        points = [{"x": None, "samples": [{"value": 1.0}]}]
        return {"workload": workload, "metric": "server CPU", "unit": unit, "variant": "stock",
                "points": points}  # fmt: skip

    units = {"select-only": "µs/transaction", "lookup, C loop": "ns/execution"}
    table = sweep_table({"title": "", "variants": [{"name": "stock", "label": "stock"}],
                         "series": [series(*entry) for entry in units.items()]})  # fmt: skip
    assert list(table.columns[2].cells) == list(units.values())
