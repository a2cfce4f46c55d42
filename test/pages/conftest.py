"""A server for each page: a copy of one cluster, in a directory where the page's commands run."""

import os
import re
import shutil
import subprocess

import pytest
from page_code import TABLE
from penumbra_lab.server import PrivateServer, run_directory
from penumbra_lab.state import TREE, state_directory

SETTINGS = {"fsync": "off", "timezone": "UTC", "shared_buffers": "32MB", "penumbra.memory": "256MB", "min_wal_size": "2MB"}
MARK = "-- end of a step --"


@pytest.fixture(scope="session")
def place():
    """The state of the commands of this run alone, with the same installations."""
    installations = list(state_directory().glob("postgresql-*"))
    directory = run_directory("pages")
    directory.mkdir()
    for installation in installations:
        (directory / installation.name).symlink_to(installation)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def cluster(place):
    server = PrivateServer(place / "cluster", {}, initdb_options=("--encoding=UTF8", "--locale=C.UTF-8", "--wal-segsize=1"))
    server.create()
    return server.data


def make_server(directory, cluster, preload: str) -> PrivateServer:
    server = PrivateServer(directory, SETTINGS | {"shared_preload_libraries": preload})
    directory.mkdir(parents=True)
    server.take_over()
    subprocess.run(["cp", "-a", cluster, server.data], check=True)
    server.start()
    return server


class Session:
    """psql, as somebody types into it."""

    def __init__(self, server: PrivateServer, environment: dict[str, str]) -> None:
        # Else errors would come before what was printed earlier.
        self._psql = subprocess.Popen(
            ["stdbuf", "-oL", server.installation.program("psql"), "-X"], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, code: str) -> str:
        assert self._psql.stdin and self._psql.stdout
        self._psql.stdin.write(f"{code}\n\\echo '{MARK}'\n")
        self._psql.stdin.flush()
        lines = []
        for line in self._psql.stdout:
            if line == f"{MARK}\n":
                break
            lines.append(line)
        output = "".join(lines)
        assert self._psql.poll() is None and not re.search(r"^(ERROR|FATAL):|^invalid command", output, re.M), f"{code}\n{output}"
        return output

    def close(self) -> None:
        self._psql.communicate()


class PageServer:
    """The page's settings change it, so sessions begin anew with them."""

    def __init__(self, place, cluster, page: str) -> None:
        self.table = TABLE["page"].get(page, {})
        self.directory = place / page.replace("/", "-")
        self.server = make_server(self.directory / "server", cluster, self.table.get("preload", ""))
        self.work = self.directory / "work"
        self.work.mkdir()
        self._session: Session | None = None
        socket = self.server.socket_directory
        service = self.work / "services"
        service.write_text(f"[reports]\nhost={socket}\nuser={self.table.get('user', 'postgres')}\ndbname=postgres\n")
        self.environment = self.server.environment() | {
            "PATH": f"{TREE}/.venv/bin:{self.server.installation.bin_directory}:{os.environ['PATH']}",
            "PGSERVICEFILE": str(service), "PENUMBRA_STATE": str(place), "TREE": str(TREE),
            "PGDATA": str(self.server.data), "COLUMNS": "140",
        }  # fmt: skip

    def prepare(self) -> None:
        """What the page takes for granted."""
        self.psql(self.table.get("sql", ""))
        self.end_session()
        self.shell(self.table.get("sh", ""))

    def psql(self, code: str) -> str:
        self._session = self._session or Session(self.server, self.environment)
        return self._session.run(code)

    def shell(self, code: str) -> str:
        self.end_session()
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", code], cwd=self.work, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=170)  # fmt: skip
        assert done.returncode == 0, f"{code}\n{done.stdout}"
        return done.stdout

    def restart(self, settings: dict[str, str]) -> None:
        self.end_session()
        self.server.restart(settings)

    def end_session(self) -> None:
        if self._session:
            self._session.close()
        self._session = None

    def close(self) -> None:
        self.end_session()
        self.server.remove()


@pytest.fixture()
def page_server(request, place, cluster):
    server = PageServer(place, cluster, request.getfixturevalue("page"))
    yield server
    server.close()


@pytest.fixture(scope="module")
def names_server(place, cluster):
    """With all extensions."""
    extensions = [*(path.stem for path in TREE.glob("extensions/*/*.control")), "pg_stat_statements"]
    preloaded = [name for name in extensions if name not in ("penumbra_bench", "penumbra_sort")]
    server = make_server(place / "all", cluster, ",".join(preloaded))
    with server.connect() as connection:
        for name in extensions:
            connection.execute(f"CREATE EXTENSION {name}")
    yield server
    server.remove()
