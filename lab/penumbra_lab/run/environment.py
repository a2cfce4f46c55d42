"""The machine and the server that a run was measured on, as data."""

import json
import os
import platform
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import psycopg

from penumbra_lab.server import PrivateServer

CPU_DIRECTORY = Path("/sys/devices/system/cpu")
NODE_DIRECTORY = Path("/sys/devices/system/node")
CGROUP = Path("/sys/fs/cgroup")
# What hides behind a setting's value may be secret, and says nothing about speed.
PRIVATE_SETTINGS = re.compile(
    r"conninfo|password|ssl_|krb_|_command$|_file$|_directory$|directories$"
)


def read_text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def _integer(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def _key_values(path: str) -> dict[str, str]:
    """The first value of each key in a file of lines "key: value" or "key=value"."""
    found: dict[str, str] = {}
    for line in (read_text(Path(path)) or "").splitlines():
        name, _, value = line.replace("=", ":", 1).partition(":")
        found.setdefault(name.strip(), value.strip().strip('"'))
    return found


def _lscpu(*options: str) -> list[dict]:
    done = subprocess.run(
        ["lscpu", "--json", *options],
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    return list(json.loads(done.stdout).values())[0] if done.returncode == 0 else []


def _flat(entries: list[dict]) -> dict[str, str]:
    """lscpu nests its fields by topic since 2.39."""
    fields: dict[str, str] = {}
    for entry in entries:
        fields.setdefault(entry["field"].rstrip(":"), entry["data"])
        fields.update(_flat(entry.get("children", [])))
    return fields


def _cpu() -> dict:
    fields = _flat(_lscpu())
    cpuinfo = _key_values("/proc/cpuinfo")
    mhz = cpuinfo.get("cpu MHz")
    mhz_max = _integer(read_text(CPU_DIRECTORY / "cpu0/cpufreq/cpuinfo_max_freq"))
    return {
        "model": fields.get("Model name", cpuinfo.get("model name", "unknown")),
        "vendor": fields.get("Vendor ID", "unknown"),
        "architecture": platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "sockets": _integer(fields.get("Socket(s)")),
        "cores_per_socket": _integer(fields.get("Core(s) per socket")),
        "threads_per_core": _integer(fields.get("Thread(s) per core")),
        "microcode": cpuinfo.get("microcode"),
        "mhz": float(mhz) if mhz else None,
        "mhz_max": mhz_max / 1000 if mhz_max else None,
        "governor": read_text(CPU_DIRECTORY / "cpu0/cpufreq/scaling_governor"),
        "quota_cpus": _quota_cpus(),
        "flags": fields.get("Flags", "").split(),
    }


def _quota_cpus() -> float | None:
    quota, _, period = (read_text(CGROUP / "cpu.max") or "max").partition(" ")
    return int(quota) / int(period) if quota.isdigit() else None


def _caches() -> list[dict]:
    entries = _lscpu("--caches=NAME,ONE-SIZE,ALL-SIZE", "--bytes")
    return [
        {"name": e["name"], "bytes": int(e["one-size"]), "total_bytes": int(e["all-size"])}
        for e in entries
        if str(e.get("one-size")).isdigit() and str(e.get("all-size")).isdigit()
    ]


def _numa() -> list[dict]:
    nodes = []
    for directory in sorted(NODE_DIRECTORY.glob("node[0-9]*"), key=lambda path: int(path.name[4:])):
        total = re.search(r"MemTotal:\s+(\d+) kB", read_text(directory / "meminfo") or "")
        nodes.append({"node": int(directory.name[4:]),
                      "cpus": read_text(directory / "cpulist") or "",
                      "memory_bytes": int(total.group(1)) * 1024 if total else 0})  # fmt: skip
    return nodes


def _huge_pages() -> dict:
    meminfo = _key_values("/proc/meminfo")
    transparent = read_text(Path("/sys/kernel/mm/transparent_hugepage/enabled")) or "unknown"
    chosen = re.search(r"\[(\w+)\]", transparent)
    return {
        "transparent": chosen.group(1) if chosen else transparent,
        "total": _integer(meminfo.get("HugePages_Total")) or 0,
        "page_bytes": (_integer(meminfo.get("Hugepagesize", "0 kB").split()[0]) or 0) * 1024,
    }


def _virtualization() -> str:
    if not shutil.which("systemd-detect-virt"):
        return _flat(_lscpu()).get("Hypervisor vendor", "unknown")
    found = (
        subprocess.run(["systemd-detect-virt", kind], capture_output=True, text=True).stdout.strip()
        for kind in ("--vm", "--container")
    )
    return ", ".join(name for name in found if name not in ("", "none")) or "none"


def describe_filesystem(path: Path) -> dict:
    """The filesystem that holds PATH, which need not exist yet."""
    while not path.exists() and path != path.parent:
        path = path.parent
    done = subprocess.run(
        ["findmnt", "--json", "--output", "FSTYPE,SOURCE,OPTIONS", "--target", str(path)],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode == 0:
        mount = json.loads(done.stdout)["filesystems"][0]
    else:  # in a chroot, whose root is mounted elsewhere
        kind = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True)
        mount = {"fstype": kind.stdout.strip(), "source": "unknown", "options": "unknown"}
    return {
        "type": mount["fstype"],
        "device": mount["source"],
        "options": mount["options"],
        "free_bytes": shutil.disk_usage(path).free,
    }


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def describe_machine(data_directory: Path | None = None) -> dict:
    limit = read_text(CGROUP / "memory.max")
    return {
        "cpu": _cpu(),
        "caches": _caches(),
        "numa": _numa(),
        "memory_bytes": memory_bytes(),
        "memory_limit_bytes": _integer(limit),
        "page_bytes": os.sysconf("SC_PAGE_SIZE"),
        "huge_pages": _huge_pages(),
        "kernel": platform.release(),
        "operating_system": _key_values("/etc/os-release").get("PRETTY_NAME", platform.system()),
        "virtualization": _virtualization(),
        "clock_source": read_text(
            Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        ),
        "filesystem": describe_filesystem(data_directory) if data_directory else None,
        "load_average": os.getloadavg()[0],
    }


def describe_server(connection: psycopg.Connection, kind: str) -> dict:
    """What the server says of itself. Build options are left out where a role may not ask."""

    def rows(query: str) -> dict[str, str]:
        return dict(connection.execute(query).fetchall())

    try:
        build = rows(
            "SELECT name, setting FROM pg_config WHERE name IN ('CC', 'CFLAGS', 'CFLAGS_SL',"
            " 'CPPFLAGS', 'LDFLAGS', 'CONFIGURE')"
        )
    except psycopg.errors.InsufficientPrivilege:
        build = {}
    settings = rows(
        "SELECT name, current_setting(name) FROM pg_settings"
        " WHERE setting IS DISTINCT FROM boot_val"
        " AND source NOT IN ('default', 'dynamic default', 'client', 'session')"
    )
    version, number = connection.execute(
        "SELECT version(), current_setting('server_version_num')::int"
    ).fetchone()
    return {
        "kind": kind,
        "version": version,
        "version_number": number,
        "build": build,
        "settings": {n: v for n, v in settings.items() if not PRIVATE_SETTINGS.search(n)},
        "extensions": rows("SELECT extname, extversion FROM pg_extension"),
    }


def describe_client(**others: str) -> dict:
    return {
        "python": platform.python_version(),
        "psycopg": metadata.version("psycopg"),
        "libpq": str(psycopg.pq.version()),
        **others,
    }


def describe_private(server: PrivateServer, **client: str) -> dict:
    """The environment of a run on one private server of this machine."""
    with server.connect() as connection:
        return {
            "machine": describe_machine(server.data),
            "client_machine": None,
            "server": describe_server(connection, "private"),
            "client": describe_client(**client),
        }
