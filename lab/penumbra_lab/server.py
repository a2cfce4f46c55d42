"""A private PostgreSQL server: own data directory, Unix socket only, stopped whatever happens.

PostgreSQL refuses to run as root, so root starts it as user postgres; anybody else as themselves.
"""

import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from penumbra_lab.errors import LabError
from penumbra_lab.state import state_directory

# sun_path holds 108 bytes with the final zero.
SOCKET_PATH_BYTES_MAX = 107


@dataclass(frozen=True)
class Installation:
    """A PostgreSQL installation; normally the private copy that `make install` fills."""

    bin_directory: Path
    is_chosen: bool = False  # by PG_BIN: it may be the system's

    @staticmethod
    def find() -> "Installation":
        chosen = os.environ.get("PG_BIN")
        if chosen:
            return Installation(Path(chosen), is_chosen=True)
        major = os.environ.get("PG_MAJOR", "*")
        found = sorted(state_directory().glob(f"postgresql-{major}/programs"))
        if not found:
            raise LabError("no PostgreSQL under .penumbra: run `make install` first, or set PG_BIN")
        return Installation(found[-1].resolve())

    def program(self, name: str) -> str:
        path = self.bin_directory / name
        if not path.exists():
            raise LabError(f"{path} is missing: run `make install`")
        return str(path)

    def version(self) -> str:
        return program_version(self.program("postgres"))

    @property
    def major(self) -> int:
        return int(re.match(r"\d+", self.version()).group())

    @property
    def library_directory(self) -> Path:
        return Path(self.config("pkglibdir"))

    def config(self, name: str) -> str:
        """What pg_config says: bindir, pkglibdir, ..."""
        command = [self.program("pg_config"), f"--{name}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def program_version(program: str) -> str:
    """Of a program of PostgreSQL: 15.20 of "postgres (PostgreSQL) 15.20 (Debian ...)"."""
    output = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"\(PostgreSQL\) (\S+)", output)
    return found.group(1) if found else "unknown"


def server_user() -> list[str]:
    """The command prefix under which server programs run."""
    if os.geteuid() != 0:
        return []
    return ["runuser", "-u", "postgres", "--"]


def give_to_server_user(path: Path) -> None:
    if os.geteuid() == 0:
        account = pwd.getpwnam("postgres")
        os.chown(path, account.pw_uid, account.pw_gid)


def process_directories() -> list[Path]:
    """`/proc/N` of each process. A glob of their files would fail when one ends meanwhile."""
    return [Path("/proc", name) for name in os.listdir("/proc") if name.isdigit()]


def run_directory(name: str) -> Path:
    """A directory of this process alone, not yet made; what ended ones left goes, with servers."""
    own = state_directory() / f"{name}-{os.getpid()}"
    for left in state_directory().glob(f"{name}-*"):
        process = left.name.removeprefix(f"{name}-")
        if process.isdigit() and (left == own or not Path("/proc", process).exists()):
            for data in (*left.glob("data"), *left.glob("*/data")):
                PrivateServer(data.parent, {}).stop("immediate")
            shutil.rmtree(left)
    return own


class PrivateServer:
    """Life cycle: create (or find) the cluster, start, connect, stop. Use as a context manager."""

    def __init__(
        self,
        directory: Path,
        settings: Mapping[str, str],
        installation: Installation | None = None,
        initdb_options: tuple[str, ...] = ("--encoding=UTF8", "--locale=C.UTF-8"),
        cpus: str | None = None,
    ):
        self.installation = installation or Installation.find()
        self.directory = directory
        self.data = directory / "data"
        self.log = directory / "server.log"
        self.settings = dict(settings)
        self.initdb_options = initdb_options
        self.cpus = cpus  # where the server runs; None: anywhere
        self._is_running = False
        socket = directory / "socket"
        if len(str(socket / ".s.PGSQL.5432").encode()) > SOCKET_PATH_BYTES_MAX:
            socket = Path(tempfile.mkdtemp(prefix="penumbra-", dir="/tmp"))
        self.socket_directory = socket

    # -- cluster ---------------------------------------------------------------------------------

    def exists(self) -> bool:
        return (self.data / "PG_VERSION").exists()

    def create(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        give_to_server_user(self.directory)
        self._run_as_server(
            self.installation.program("initdb"), "-D", str(self.data), "-U", "postgres",
            "--auth=trust", "--no-sync", *self.initdb_options,
        )  # fmt: skip

    def take_over(self) -> None:
        """Of a data directory that was copied here: its parent may be root's."""
        give_to_server_user(self.directory)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _write_settings(self) -> None:
        self.socket_directory.mkdir(parents=True, exist_ok=True)
        give_to_server_user(self.socket_directory)
        lines = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket_directory),
            "max_connections": "50",
            "logging_collector": "off",
            **self.settings,
        }
        quoted = (f"{name} = '{str(value).replace(chr(39), 2 * chr(39))}'\n"
                  for name, value in lines.items())  # fmt: skip
        (self.data / "postgresql.conf").write_text("".join(quoted))

    # -- running ---------------------------------------------------------------------------------

    def start(self) -> None:
        if not self.exists():
            self.create()
        if self._control("status").returncode == 0:
            self._control("stop", "-m", "fast")  # left over from a killed run
        self._write_settings()
        self.log.touch()
        give_to_server_user(self.log)
        with self.log.open("w"):
            pass
        started = self._control("-l", str(self.log), "-w", "-t", "120", "start")
        if started.returncode != 0:
            raise LabError(f"PostgreSQL did not start; {self.log} ends with:\n{self.log_tail()}")
        self._is_running = True

    def stop(self, mode: str = "fast") -> None:
        if not self.exists():
            return
        if self._is_running or self._control("status").returncode == 0:
            stopped = self._control("stop", "-w", "-t", "60", "-m", mode)
            if stopped.returncode != 0 and mode != "immediate":
                self._control("stop", "-w", "-t", "60", "-m", "immediate")
        self._is_running = False

    def restart(self, settings: Mapping[str, str] | None = None) -> None:
        self.stop()
        self.settings.update(settings or {})
        self.start()

    def postmaster_pid(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def kill(self, pid: int, signal_number: int = signal.SIGKILL) -> None:
        os.kill(pid, signal_number)

    def processes(self) -> list[int]:
        """All processes of the server: the data directory is where they work."""
        found = []
        for process in process_directories():
            with contextlib.suppress(OSError):
                if (process / "cwd").readlink() == self.data:
                    found.append(int(process.name))
        return sorted(found)

    def crash(self) -> None:
        """SIGKILL for all processes at once; returns when no number of theirs is taken any more."""
        deadline = time.monotonic() + 60
        killed = set()
        while processes := self.processes() or [n for n in killed if os.path.exists(f"/proc/{n}")]:
            if time.monotonic() > deadline:
                raise LabError(f"processes {processes} outlive SIGKILL")
            killed.update(processes)
            for pid in processes:
                with contextlib.suppress(ProcessLookupError):
                    self.kill(pid)
            time.sleep(0.01)
        self._is_running = False

    def log_tail(self, lines: int = 15) -> str:
        if not self.log.exists():
            return "(no log)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def __enter__(self) -> "PrivateServer":
        try:
            self.start()
        except BaseException:
            self.stop("immediate")
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- talking to it -----------------------------------------------------------------------------

    def conninfo(self, database: str = "postgres") -> str:
        return f"host={self.socket_directory} port=5432 user=postgres dbname={database}"

    def connect(self, database: str = "postgres", **settings: str) -> psycopg.Connection:
        options = " ".join(
            f"-c {name.replace('__', '.')}={value}" for name, value in settings.items()
        )
        connection = psycopg.connect(self.conninfo(database), autocommit=True, options=options)
        connection.prepare_threshold = None
        return connection

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PGHOST": str(self.socket_directory), "PGUSER": "postgres",
                "PGPORT": "5432", "PGDATABASE": "postgres"}  # fmt: skip

    def run_client(self, name: str, *arguments: str) -> str:
        """Runs psql, pgbench, ... of the installation against this server; returns its output."""
        done = subprocess.run(
            [self.installation.program(name), *arguments],
            env=self.environment(), capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            raise LabError(f"{name} failed: {done.stderr.strip()[-800:]}")
        return done.stdout

    # -- followed by another -----------------------------------------------------------------------

    def copy_as_standby(self, primary: "PrivateServer") -> None:
        """Makes this server, not yet started, a standby of a running one."""
        self.directory.mkdir(parents=True)
        give_to_server_user(self.directory)
        self._run_as_server(
            self.installation.program("pg_basebackup"), "-D", str(self.data), "-R",
            "-X", "stream", "--checkpoint=fast", "--no-sync", "-d", primary.conninfo(),
        )  # fmt: skip

    # -- below -------------------------------------------------------------------------------------

    def _control(self, *arguments: str) -> subprocess.CompletedProcess:
        # A session of its own: Ctrl-C reaches this program, which then stops the server in order.
        # Output goes to no pipe: the server would inherit it and keep the reader waiting.
        pinned = ["taskset", "-c", self.cpus] if self.cpus else []
        control = [*pinned, self.installation.program("pg_ctl"), "-s", "-D", str(self.data)]
        return subprocess.run(
            [*server_user(), *control, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, cwd="/",
        )  # fmt: skip

    def _run_as_server(self, *command: str) -> None:
        done = subprocess.run([*server_user(), *command], capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            raise LabError(
                f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()}"
            )


@contextlib.contextmanager
def terminate_like_interrupt() -> Iterator[None]:
    """Signals that end the program unwind the stack, so that servers are stopped.

    SIGINT among them: a program started in the background of a shell inherits that it is ignored.
    """

    def raise_interrupt(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    previous = {number: signal.signal(number, raise_interrupt)
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}  # fmt: skip
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
