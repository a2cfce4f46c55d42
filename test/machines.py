"""What `make` says on machines that lack something, and which packages it asks for: on machines made up of a PATH."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from penumbra_lab.server import Installation

from named_checks import run_checks

TREE = Path(__file__).resolve().parents[1]
COPIED = ("Makefile", "packages.sh", "packages.txt", "lab/requirements.txt", "lab/pyproject.toml")
# Of this machine; others are made up.
TOOLS = ["awk", "bash", "cat", "cksum", "cut", "df", "dirname", "env", "expand", "grep", "id", "ls", "make", "mkdir", "readlink", "realpath", "rm", "runuser", "sed", "seq", "sh", "sort", "stat", "tail", "touch", "true", "uname"]
BUILD_TOOLS = ("g++", "cmake", "ninja", "pkg-config")
DEBIAN = {
    "dpkg-query": 'for package; do :; done; grep -qx "$package" "$0.installed" && echo installed',
    "apt-get": 'echo "$@" >>"$0.asked"',
}
NETWORK = "this needs the network once"


class Machine:
    """Programs of these names alone are in its PATH, and do what their scripts say."""

    def __init__(self, place: Path, programs: dict[str, str]):
        self.tree, self.path = place / "tree", place / "bin"
        self.path.mkdir()
        for name in COPIED:
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TREE / name, self.tree / name)
        for name in TOOLS:
            (self.path / name).symlink_to(shutil.which(name))
        for name, script in programs.items():
            self.add(name, script)
        (self.path / "dpkg-query.installed").touch()
        (self.path / "apt-get.asked").touch()
        (self.path / "apt-get.asked").chmod(0o666)

    def add(self, name: str, script: str) -> Path:
        program = self.path / name
        program.unlink(missing_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return program

    def make(self, *arguments: str, user: str | None = None) -> tuple[int, str]:
        """Status and what was said."""
        # a user that root is not must reach it
        for path in (self.path.parent, self.tree, self.path):
            path.chmod(0o777)
        as_user = ["runuser", "-u", user, "--"] if user and os.geteuid() == 0 else []
        done = subprocess.run(
            [*as_user, "make", *arguments], cwd=self.tree, env={"PATH": str(self.path), "LC_ALL": "C"},
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
        )  # fmt: skip
        return done.returncode, done.stdout

    def asked(self) -> list[str]:
        """Packages that apt-get was asked for."""
        lines = (self.path / "apt-get.asked").read_text().splitlines()
        return [word for line in lines if line.startswith("install") for word in line.split()[1:] if word[0] != "-"]


def on_machine(programs: dict[str, str], *arguments: str, user: str | None = None, **wanted) -> list[str]:
    """What is wrong with the answer of `make packages`: says (a piece of the last sentence), fails, asks, never."""
    with tempfile.TemporaryDirectory(prefix="penumbra-machine-", dir="/var/tmp") as place:
        machine = Machine(Path(place), programs)
        status, said = machine.make("packages", *(argument.format(bin=machine.path) for argument in arguments), user=user)
        asked = machine.asked()
    said = re.sub(r"make: .*\n?", "", said).strip()
    wrong = []
    if (status != 0) != wanted.get("fails", True):
        wrong.append(f"ended with {status}")
    if wanted.get("says", "") not in said.rpartition("\n")[2]:
        wrong.append("not said")
    if wanted.get("fails", True) and len(said.splitlines()) != 1:
        wrong.append("more than one sentence")
    wrong += [f"not asked for {name}" for name in wanted.get("asks", ()) if name not in asked]
    wrong += [f"asked for {name}" for name in wanted.get("never", ()) if name in asked]
    wrong += [f"apt-get reads {name} as a wish to remove" for name in asked if name.endswith("-")]
    return [f"{', '.join(wrong)}: {said}"] if wrong else []


def another_distribution() -> list[str]:
    return on_machine({}, "PG_MAJOR=17", says="SKIP_PACKAGES=1 PG_CONFIG=")


def no_postgresql() -> list[str]:
    return on_machine(DEBIAN, "PG_MAJOR=", says="No PostgreSQL found") + on_machine(
        DEBIAN, "PG_MAJOR=17", "SKIP_PACKAGES=1", "PG_CONFIG=/nowhere/pg_config", says="not a program"
    )


def another_postgresql() -> list[str]:
    # 16 is done, with a warning; an older one is not
    return on_machine(DEBIAN, "PG_MAJOR=14", says="PostgreSQL 14 is not supported") + on_machine(
        DEBIAN, "PG_MAJOR=16", fails=False, asks=["postgresql-16"]
    )


def postgresql_from_elsewhere() -> list[str]:
    config = 'case $1 in (--version) echo "PostgreSQL 17.2";; (--pgxs) echo "{}";; esac'
    programs = {**DEBIAN, "pg_config": config.format("/dev/null")}
    return on_machine(
        programs, "PG_CONFIG={bin}/pg_config", "SECTIONS=build demo", fails=False, asks=["cmake", "libhwy-dev"],
        never=["postgresql-17", "postgresql-server-dev-17", "postgresql-"],
    ) + on_machine(
        {**DEBIAN, "pg_config": config.format("/nowhere")}, "PG_CONFIG={bin}/pg_config", says="no headers of the server"
    ) + on_machine(
        {**programs, **dict.fromkeys(BUILD_TOOLS, "true")}, "PG_CONFIG={bin}/pg_config", "SKIP_PACKAGES=1", fails=False
    ) + on_machine(
        {**programs, "g++": "true"}, "PG_CONFIG={bin}/pg_config", "SKIP_PACKAGES=1", says="cmake is missing"
    ) + on_machine(
        {**programs, "id": '[ "$*" = -u ] && echo 0'}, "PG_CONFIG={bin}/pg_config", says="there is no user postgres"
    )  # fmt: skip


def no_root() -> list[str]:
    user = "nobody"
    return on_machine(DEBIAN, "PG_MAJOR=15", user=user, says="needs root or sudo") + on_machine(
        {**DEBIAN, "sudo": 'exec "$@"'}, "PG_MAJOR=15", user=user, fails=False
    )


def no_network() -> list[str]:
    packages = {**DEBIAN, "apt-get": "exit 100"}
    with tempfile.TemporaryDirectory(prefix="penumbra-machine-", dir="/var/tmp") as place:
        machine = Machine(Path(place), DEBIAN)
        pip = machine.add("pip", "exit 1")
        python = machine.add("python", f"[ $1 = -c ] || {{ mkdir -p .venv/bin; {shutil.which('cp')} {pip} .venv/bin/pip; }}")
        said = machine.make(".venv/ready", f"PYTHON={python}", "PG_MAJOR=15")[1]
        old = machine.make(".venv/ready", f"PYTHON={machine.add('python', 'exit 1')}", "PG_MAJOR=15")[1]
    return [
        *([] if NETWORK in said else [said]),
        *([] if "Python 3.11 or later" in old else [old]),
        *(failure for failure in on_machine(packages, "PG_MAJOR=15", says=NETWORK) if "not said" in failure),
    ]


def no_space() -> list[str]:
    full = {**DEBIAN, "df": "echo; echo / 9000 8999 1 100% /"}
    return on_machine(full, "PG_MAJOR=15", says="needs 6 GB")


def sections() -> list[str]:
    """Which sections the targets ask for, and what the demo does without."""
    with tempfile.TemporaryDirectory(prefix="penumbra-machine-", dir="/var/tmp") as place:
        machine = Machine(Path(place), DEBIAN)
        asked = {
            target: re.findall(r"^\./packages\.sh (.*)", machine.make("-n", target, "PG_MAJOR=15")[1], re.M)
            for target in ("demo", "tune", "check", "check-full", "check-all")
        }
    wanted = {"demo": "build demo", "tune": "build demo tune", "check": "build demo tune tests check",
              "check-full": "build demo tune tests check neighbours",
              "check-all": "build check-all demo tune tests check neighbours neighbours-large"}  # fmt: skip
    wrong = [f"{name}: {asked[name]}" for name in wanted if [sorted(a.split()) for a in asked[name]] != [sorted(wanted[name].split())]]
    return wrong + on_machine(
        DEBIAN, "PG_MAJOR=15", "SECTIONS=build demo", fails=False, asks=["postgresql-15", "cmake", "python3-venv"],
        never=["gdb", "clang", "valgrind", "chromium", "locales-all", "libgtest-dev", "debootstrap"],
    )  # fmt: skip


def neighbours() -> list[str]:
    """Packages that a release need not have, nor apt-get be able to get."""
    has = {"apt-cache": 'case $2 in (pgbouncer | postgresql-15-hypopg) echo "Package: $2";; (*) exit 100;; esac'}
    some, others = ["pgbouncer", "postgresql-15-hypopg"], ["postgresql-15-pgvector", "postgresql-15-postgis-3"]
    lost = {"apt-get": 'case "$*" in (*pgbouncer*) exit 100;; esac; ' + DEBIAN["apt-get"]}
    config = """case $1 in (--version) echo "PostgreSQL 15.2";; (--pgxs) echo /dev/null;; esac"""
    wanted = "SECTIONS=build neighbours"
    return (
        on_machine({**DEBIAN, **has}, "PG_MAJOR=15", wanted, fails=False, asks=["cmake", *some], never=others)
        + on_machine({**DEBIAN, **has, **lost}, "PG_MAJOR=15", wanted, fails=False, asks=["cmake"], says="are skipped")
        + on_machine({**DEBIAN, **has}, "PG_MAJOR=15", "SECTIONS=build", fails=False, asks=["cmake"], never=some)
        + on_machine({**DEBIAN, **has, "pg_config": config}, "PG_CONFIG={bin}/pg_config", wanted, fails=False,
                     asks=["cmake"], never=some)
    )  # fmt: skip


def extension_without() -> list[str]:
    """`make -C extensions/NAME install`, in a server of one's own."""

    def last_line(**environment: str) -> str:
        done = subprocess.run(["make", "-s", "-C", TREE / "extensions/compress", "requirements"], text=True,
                              env={**os.environ, **environment}, stderr=subprocess.STDOUT, stdout=subprocess.PIPE)  # fmt: skip
        lines = [line for line in done.stdout.splitlines() if not line.startswith("make: ")]
        return lines[0] if done.returncode and len(lines) == 1 else f"{done.returncode}: {done.stdout}"

    pg_config = Installation.find().program("pg_config")
    said = {
        "finds no headers of a server": last_line(PG_CONFIG="/nowhere/pg_config"),
        "is built with libzstd, which": last_line(PG_CONFIG=pg_config, PKG_CONFIG_LIBDIR="/nowhere"),
    }
    return [line for sentence, line in said.items() if sentence not in line]


if __name__ == "__main__":
    sys.exit(run_checks({
        "another distribution": another_distribution,
        "no PostgreSQL": no_postgresql,
        "another PostgreSQL": another_postgresql,
        "a PostgreSQL from elsewhere": postgresql_from_elsewhere,
        "neither root nor sudo": no_root,
        "no network, an old Python": no_network,
        "no space": no_space,
        "each target asks for its packages": sections,
        "packages that a release need not have": neighbours,
        "an extension without a server, or a library": extension_without,
    }))  # fmt: skip
