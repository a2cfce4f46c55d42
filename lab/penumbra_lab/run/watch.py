"""What disturbs a measurement: seen before and after it, and flagged where it passed a limit."""

import os
import resource
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from penumbra_lab.run.document import RunDocument
from penumbra_lab.run.environment import CGROUP, CPU_DIRECTORY, read_text

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
FREQUENCY_INTERVAL_SECONDS = 1.0
# The postmaster counts a backend's CPU time when it has waited for it: the backends of a pgbench
# that has ended are counted when its children have not changed for this long.
SETTLE_SECONDS = 0.05
SETTLE_SECONDS_MAX = 1.0

# Beyond these a measurement is flagged. A hundredth of stolen time moves throughput by about as
# much, which is the size of the differences that people look for.
LIMITS = {
    "steal_share": 0.01,
    "other_share": 0.05,
    "frequency_loss": 0.03,
    "quota_throttled_seconds": 0.0,
    "throttle_events": 0,
    "swapped_pages": 0,
    "checkpoints": 0,
    "autovacuum_workers": 0,
}
# The flag of what passed its limit, and what to do about it.
FLAGS = {
    "steal_share": ("steal", "another virtual machine took CPU time: measure at another time or"
                    " on a machine of your own"),
    "other_share": ("busy", "other programs were running: stop them, or wait for them"),
    "frequency_loss": ("frequency", "the CPUs' frequency fell: set the governor 'performance' and"
                       " look at the cooling"),
    "quota_throttled_seconds": ("quota", "the control group's CPU quota was reached: raise it or"
                                " use fewer clients"),
    "throttle_events": ("throttling", "the CPUs became too hot: look at the cooling"),
    "swapped_pages": ("swap", "memory was swapped: use a smaller scale or smaller buffers"),
    "checkpoints": ("checkpoint", "checkpoints began: raise max_wal_size and checkpoint_timeout,"
                    " or measure much longer than a checkpoint takes"),
    "autovacuum_workers": ("autovacuum", "autovacuum worked: let it finish first"),
}  # fmt: skip


@dataclass
class Readings:
    """Counters at one moment; None: not to be seen here."""

    monotonic: float
    cpu_ticks: list[int]
    client_cpu_seconds: float
    server_cpu_seconds: float | None
    throttle_events: int | None
    quota_throttled_seconds: float | None
    swapped_pages: int | None
    checkpoints: int | None
    autovacuums: int | None
    autovacuum_workers: int | None


@dataclass
class Watcher:
    """Watches measurements on this machine and, where it may ask it, on the server."""

    connection: psycopg.Connection | None
    postmaster_pid: int | None  # None: the server runs elsewhere or hides it
    _before: Readings | None = None
    _mhz: list[float] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._before = self._read()
        if _mhz() is not None:
            self._stop.clear()
            self._mhz.clear()
            self._thread = threading.Thread(target=self._sample_mhz, daemon=True)
            self._thread.start()

    def finish(self) -> dict:
        """An entry of the document's noise.measurements, without its order."""
        if self._thread:
            self._stop.set()
            self._thread.join()
            self._thread = None
        return _difference(self._before, self._read(),
                           statistics.fmean(self._mhz) if self._mhz else None)  # fmt: skip

    def _sample_mhz(self) -> None:
        while not self._stop.wait(FREQUENCY_INTERVAL_SECONDS):
            if (mhz := _mhz()) is not None:
                self._mhz.append(mhz)

    def _read(self) -> Readings:
        checkpoints, autovacuums, workers = _server_counters(self.connection)
        if self.postmaster_pid:
            _settle(self.postmaster_pid)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return Readings(
            monotonic=time.monotonic(),
            cpu_ticks=[
                int(n) for n in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
            ],
            client_cpu_seconds=used.ru_utime + used.ru_stime,
            server_cpu_seconds=_reaped_cpu_seconds(self.postmaster_pid),
            throttle_events=_throttle_events(),
            quota_throttled_seconds=_quota_throttled_seconds(),
            swapped_pages=_swapped_pages(),
            checkpoints=checkpoints,
            autovacuums=autovacuums,
            autovacuum_workers=workers,
        )


def _difference(before: Readings, after: Readings, mhz: float | None) -> dict:
    def grown(name: str):
        first, last = getattr(before, name), getattr(after, name)
        return None if first is None or last is None else last - first

    seconds = after.monotonic - before.monotonic
    ticks = [b - a for a, b in zip(before.cpu_ticks, after.cpu_ticks, strict=True)]
    # user nice system idle iowait irq softirq steal; guests are in user and nice
    total, idle, steal = sum(ticks[:8]), ticks[3] + ticks[4], ticks[7]
    client, server = grown("client_cpu_seconds"), grown("server_cpu_seconds")
    other = None
    if server is not None and total:
        busy_seconds = (total - idle - steal) / TICKS_PER_SECOND
        other = max(0.0, (busy_seconds - client - server) * TICKS_PER_SECOND / total)
    workers = None
    if after.autovacuum_workers is not None:
        seen = max(before.autovacuum_workers, after.autovacuum_workers)
        workers = max(seen, 1 if grown("autovacuums") else 0)
    return {
        "seconds": seconds,
        "steal_share": steal / total if total else 0.0,
        "other_share": other,
        "client_cpu_seconds": client,
        "server_cpu_seconds": server,
        "mhz": mhz,
        "throttle_events": grown("throttle_events"),
        "quota_throttled_seconds": grown("quota_throttled_seconds"),
        "swapped_pages": grown("swapped_pages"),
        "checkpoints": grown("checkpoints"),
        "autovacuum_workers": workers,
    }


# -- counters --------------------------------------------------------------------------------------


def _mhz() -> float | None:
    """The mean of the CPUs' present frequencies; few virtual machines tell."""
    texts = [read_text(p) for p in CPU_DIRECTORY.glob("cpu[0-9]*/cpufreq/scaling_cur_freq")]
    values = [int(text) / 1000 for text in texts if text and text.isdigit()]
    return statistics.fmean(values) if values else None


def _throttle_events() -> int | None:
    texts = [read_text(p) for p in CPU_DIRECTORY.glob("cpu[0-9]*/thermal_throttle/*_count")]
    return sum(int(text) for text in texts if text) if texts else None


def _named_number(path: Path, name: str) -> int | None:
    for line in (read_text(path) or "").splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return None


def _quota_throttled_seconds() -> float | None:
    microseconds = _named_number(CGROUP / "cpu.stat", "throttled_usec")
    return None if microseconds is None else microseconds / 1e6


def _swapped_pages() -> int | None:
    vmstat = Path("/proc/vmstat")
    moved = [_named_number(vmstat, name) for name in ("pswpin", "pswpout")]
    return None if None in moved else sum(moved)


def _settle(pid: int) -> None:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    deadline = time.monotonic() + SETTLE_SECONDS_MAX
    before = read_text(path)
    while time.monotonic() < deadline:
        time.sleep(SETTLE_SECONDS)
        now = read_text(path)
        if now == before:
            return
        before = now


def _reaped_cpu_seconds(pid: int | None) -> float | None:
    """CPU time of a process's children that have ended: of a postmaster, its clients' backends."""
    if pid is None:
        return None
    text = read_text(Path(f"/proc/{pid}/stat"))
    if text is None:
        return None
    fields = text.rsplit(")", 1)[1].split()
    return (int(fields[13]) + int(fields[14])) / TICKS_PER_SECOND


def _server_counters(connection: psycopg.Connection | None) -> tuple:
    """Checkpoints, tables that autovacuum has done, autovacuum workers at this moment."""
    if connection is None:
        return None, None, None
    checkpoints = (
        "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)"
        if connection.info.server_version >= 170000
        else "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)"
    )
    return connection.execute(
        f"SELECT {checkpoints},"
        " (SELECT coalesce(sum(autovacuum_count + autoanalyze_count), 0)::bigint"
        "  FROM pg_stat_user_tables),"
        " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker')"
    ).fetchone()


# -- judgement -------------------------------------------------------------------------------------


def flags(seen: dict) -> list[str]:
    return [
        code
        for name, (code, _) in FLAGS.items()
        if seen.get(name) is not None and seen[name] > LIMITS[name]
    ]


def flag_frequency_losses(run: RunDocument) -> None:
    """A frequency is low only beside the others: to be called when all are known."""
    measurements = run.content["noise"]["measurements"]
    known = [m["mhz"] for m in measurements if m.get("mhz")]
    if not known:
        return
    limit = (1 - LIMITS["frequency_loss"]) * statistics.median(known)
    for m in measurements:
        if m.get("mhz") and m["mhz"] < limit:
            run.flag(m["order"], [FLAGS["frequency_loss"][0]])


def warn_of_noise(run: RunDocument) -> None:
    """One warning per kind of disturbance, with how often and how much."""
    measurements = run.content["noise"]["measurements"]
    describe: dict[str, Callable[[float], str]] = {
        "steal_share": lambda value: f"{value:.1%} of the CPUs' time",
        "other_share": lambda value: f"{value:.1%} of the CPUs' time",
        "quota_throttled_seconds": lambda value: f"{value:.2f} s",
    }
    for name, (code, advice) in FLAGS.items():
        values = [m[name] for m in measurements if m.get(name) is not None]
        noisy = [value for value in values if name in LIMITS and value > LIMITS[name]]
        if noisy:
            most = describe.get(name, lambda value: f"{value:g}")(max(noisy))
            run.warn(code, f"{code} in {len(noisy)} of {len(measurements)} measurements,"
                     f" up to {most}", advice)  # fmt: skip
    slow = {s["order"] for series in run.content["series"] for point in series["points"]
            for s in point["samples"] if "frequency" in s["noise"]}  # fmt: skip
    if slow:
        code, advice = FLAGS["frequency_loss"]
        run.warn(code, f"{len(slow)} of {len(measurements)} measurements ran at a lower frequency",
                 advice)  # fmt: skip
