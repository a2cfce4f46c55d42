"""The servers that a run compares: private clusters, one per variant, or one that is running."""

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import conninfo
from rich.progress import Progress

from penumbra_lab.errors import LabError
from penumbra_lab.run.document import Variant
from penumbra_lab.run.environment import memory_bytes, read_text
from penumbra_lab.run.pgbench import (
    BYTES_PER_SCALE,
    check_disk,
    child,
    find_pgbench,
)
from penumbra_lab.run.recording import one_line
from penumbra_lab.server import Installation, PrivateServer
from penumbra_lab.state import only_bench, state_directory

VERSION_MIN = 150000
CONNECT_TIMEOUT_SECONDS = 10
TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_tellers", "pgbench_history")
EXTENSION = "penumbra_bench"
# A client may see its backend vanish before the server has ended or written why.
DEATH_SECONDS = 1.0
DEATH_IN_LOG = r": +(.*(?:terminated by|PANIC|No space left|out of memory).*)"


@dataclass(frozen=True)
class VariantPlan:
    """What is compared: settings, perhaps another build, statements after each start."""

    name: str
    label: str
    settings: dict[str, str] = field(default_factory=dict)
    bin_directory: Path | None = None
    after_start: tuple[str, ...] = ()

    def described(self) -> Variant:
        build = {"bin": str(self.bin_directory)} if self.bin_directory else {}
        return Variant(self.name, self.label, {**self.settings, **build})


PRELOADED = {"shared_preload_libraries": "penumbra", "penumbra.memory": "512MB"}
PRESETS = {
    plan.name: plan
    for plan in (
        VariantPlan("stock", "stock"),
        # Servers of the same settings differ too: less than this one differs cannot be seen.
        VariantPlan("control", "stock again"),
        VariantPlan("preloaded", "preloaded", PRELOADED),
        VariantPlan("cached", "preloaded, cached", PRELOADED,
                    after_start=("CREATE EXTENSION IF NOT EXISTS penumbra",
                                 *(f"SELECT penumbra.load('{table}')" for table in TABLES))),
    )
}  # fmt: skip


def parse_variant(text: str) -> VariantPlan:
    """NAME of a preset, or NAME:setting=value,...; bin=DIRECTORY names another build."""
    name, _, rest = text.partition(":")
    if not re.fullmatch(r"[\w.-]+", name):
        raise LabError(f"{name!r} is no name for a variant")
    if not rest:
        if name not in PRESETS:
            raise LabError(f"{name!r} is no variant: write NAME:setting=value,..., or one of "
                           + ", ".join(PRESETS))  # fmt: skip
        return PRESETS[name]
    # A comma within a value (shared_preload_libraries) is followed by no "name=".
    settings = {}
    for part in re.split(r",(?=[\w.]+=)", rest):
        setting, equals, value = part.partition("=")
        if not equals:
            raise LabError(f"{part!r} is no setting: write {name}:setting=value,...")
        settings[setting] = value
    directory = settings.pop("bin", None)
    if directory and not (Path(directory) / "postgres").exists():
        raise LabError(f"there is no PostgreSQL server in {directory}")
    return VariantPlan(name, name, settings, Path(directory) if directory else None)


class Target:
    """A server and how to reach it. Its starts are counted; None: it was found running."""

    def __init__(self, plan: VariantPlan):
        self.plan = plan
        self.starts: int | None = None

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def pgbench(self) -> str:
        raise NotImplementedError

    @property
    def postmaster_pid(self) -> int | None:
        return None

    def start(self) -> None:
        """Starts a server of ours anew."""

    def connect(self) -> psycopg.Connection:
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """With it a client of libpq finds the server."""
        raise NotImplementedError

    def cause_of_death(self) -> str | None:
        """Why the server does not answer, where that is known."""
        return None

    def has_loops(self) -> bool:
        """Whether the extension is there, or can be made, and may be used."""
        with self.connect() as connection:
            try:
                connection.execute(f"CREATE EXTENSION IF NOT EXISTS {EXTENSION}")
                connection.execute(f"SELECT {EXTENSION}.exec_query_in_loop('SELECT 1', 1)")
            except psycopg.Error:
                return False
        return True


class PrivateTarget(Target):
    """A cluster of our own; gone when the run ends."""

    def __init__(self, plan: VariantPlan, settings: dict[str, str], cpus: str | None):
        super().__init__(plan)
        self.installation = (
            Installation(plan.bin_directory) if plan.bin_directory else Installation.find()
        )
        self.server = PrivateServer(
            state_directory() / f"bench-{plan.name}", {**settings, **plan.settings},
            self.installation, cpus=cpus,
        )  # fmt: skip
        self._pid: int | None = None

    @property
    def pgbench(self) -> str:
        return find_pgbench(self.installation.bin_directory)

    @property
    def postmaster_pid(self) -> int | None:
        return self._pid

    def start(self) -> None:
        self.server.restart()
        self._pid = self.server.postmaster_pid()
        self.starts = 0 if self.starts is None else self.starts + 1

    def connect(self) -> psycopg.Connection:
        try:
            return self.server.connect()
        except psycopg.OperationalError as error:
            raise LabError(one_line(error)) from None

    def environment(self) -> dict[str, str]:
        return self.server.environment()

    def cause_of_death(self) -> str | None:
        deadline = time.monotonic() + DEATH_SECONDS
        while time.monotonic() < deadline:
            if found := re.findall(DEATH_IN_LOG, self.server.log_tail(200)):
                return found[0]
            if not _is_alive(self._pid):
                return "it is gone, and its log says nothing of it"
            time.sleep(DEATH_SECONDS / 20)
        return None


def _is_alive(pid: int | None) -> bool:
    """A process that nobody has waited for yet is dead all the same."""
    stat = read_text(Path(f"/proc/{pid}/stat"))
    return stat is not None and stat.rsplit(")", 1)[1].split()[0] != "Z"


class ConnectionTarget(Target):
    """A server that somebody else runs; a variant is what its settings are in our sessions."""

    def __init__(self, plan: VariantPlan, connection_string: str):
        super().__init__(plan)
        if plan.bin_directory or plan.after_start:
            raise LabError(f"variant {plan.name!r} needs a private server: leave out --connection")
        try:
            self.parameters = conninfo.conninfo_to_dict(connection_string)
        except psycopg.ProgrammingError as error:
            raise LabError(f"connection string: {one_line(error)}") from None
        self.parameters.setdefault("connect_timeout", CONNECT_TIMEOUT_SECONDS)
        options = [self.parameters.get("options", "")]
        options += [f"-c {name}={_escaped(value)}" for name, value in plan.settings.items()]
        self.parameters["options"] = " ".join(option for option in options if option)

    @property
    def pgbench(self) -> str:
        try:
            return find_pgbench(Installation.find().bin_directory)
        except LabError:
            return find_pgbench(None)

    def connect(self) -> psycopg.Connection:
        try:
            connection = psycopg.connect(**self.parameters, autocommit=True)
        except psycopg.Error as error:
            raise LabError(one_line(error)) from None
        connection.prepare_threshold = None
        return connection

    def environment(self) -> dict[str, str]:
        """Every parameter as libpq's variable: a password in the arguments could be read by all."""
        names = {option.keyword.decode(): option.envvar.decode()
                 for option in psycopg.pq.Conninfo.get_defaults() if option.envvar}  # fmt: skip
        return {**os.environ, **{names[key]: str(value) for key, value in self.parameters.items()
                                 if key in names}}  # fmt: skip

    def is_local(self) -> bool:
        with self.connect() as connection:
            return connection.execute(
                "SELECT coalesce(inet_server_addr() = inet_client_addr(), true)"
            ).fetchone()[0]


def _escaped(value: str) -> str:
    return re.sub(r"([\\\s])", r"\\\1", value)


# -- databases -------------------------------------------------------------------------------------


def check_version(connection: psycopg.Connection) -> None:
    number = connection.info.server_version
    if number < VERSION_MIN:
        raise LabError(f"the server is PostgreSQL {number // 10000}:"
                       f" {VERSION_MIN // 10000} or later is needed")  # fmt: skip


def private_settings(scale: int, clients: int, variants: int) -> dict[str, str]:
    """As many buffers as the database needs, if they fit; nothing that comes and goes by itself."""
    wanted_mb = scale * BYTES_PER_SCALE * 5 // 4 >> 20
    most_mb = (memory_bytes() >> 20) // (4 * variants)
    return {
        "shared_buffers": f"{max(128, min(wanted_mb, most_mb))}MB",
        "max_wal_size": "4GB",
        "checkpoint_timeout": "30min",
        "autovacuum": "off",
        "max_connections": str(clients + 20),
    }


@contextlib.contextmanager
def private_targets(
    plans: list[VariantPlan], settings: dict[str, str], scale: int, options: list[str],
    cpus: str | None, progress: Progress,
) -> Iterator[list[PrivateTarget]]:  # fmt: skip
    """Servers with the same pgbench tables, one per variant, removed whatever happens."""
    check_disk(state_directory(), scale, len(plans))
    with only_bench(), contextlib.ExitStack() as stack:
        for directory in state_directory().glob("bench-*"):
            PrivateServer(directory, {}).remove()  # left by a run that was killed
        targets = [PrivateTarget(plan, settings, cpus) for plan in plans]
        for target in targets:
            stack.callback(target.server.remove)
        made: dict[int, PrivateTarget] = {}
        for target in targets:
            major = target.installation.major
            if major in made:
                _copy_cluster(made[major].server, target.server, progress)
                continue
            target.server.start()
            initialize(target, scale, options, progress)
            target.server.stop()
            made[major] = target
        yield targets


def _copy_cluster(source: PrivateServer, target: PrivateServer, progress: Progress) -> None:
    """The same bytes for every variant: heaps that were filled apart differ."""
    task = progress.add_task("copy of the database", total=None)
    target.directory.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["cp", "-a", "--reflink=auto", str(source.data), str(target.data)],
        capture_output=True, text=True,
    )  # fmt: skip
    progress.remove_task(task)
    if done.returncode != 0:
        raise LabError(f"copy of the cluster: {done.stderr.strip()}")
    target.take_over()


def initialize(target: Target, scale: int, options: list[str], progress: Progress) -> None:
    """pgbench -i with a bar: it says itself how far it is."""
    task = progress.add_task(f"pgbench database, scale {scale}", total=100)
    command = [target.pgbench, "-i", "-q", "-s", str(scale), *options]
    with child(command, target.environment()) as process:
        last = ""
        for line in process.stderr:
            last = line.strip() or last
            found = re.search(r"\((\d+)%\)", line)
            if found:
                progress.update(task, completed=int(found.group(1)))
        process.wait()
    progress.remove_task(task)
    if process.returncode != 0:
        raise LabError(f"pgbench -i failed: {last.removeprefix('pgbench: ')}")


def scale_of(connection: psycopg.Connection) -> int:
    if connection.execute("SELECT to_regclass('pgbench_accounts') IS NULL").fetchone()[0]:
        raise LabError("the database has no pgbench tables: add --initialize, which makes them")
    return connection.execute("SELECT count(*) FROM pgbench_branches").fetchone()[0]
