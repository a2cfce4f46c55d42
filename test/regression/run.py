"""PostgreSQL's own regression suite on a server with Penumbra, every table eligible.

The suite runs twice against private servers of the installed PostgreSQL: without the library, and with
it preloaded and preferred wherever it can run a query. Each test's output must be the same: plans
aside, and the order of rows where the statement has no ORDER BY.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from output import output_difference
from penumbra_lab.errors import LabError
from penumbra_lab.server import (
    Installation,
    PrivateServer,
    give_to_server_user,
    server_user,
    terminate_like_interrupt,
)
from penumbra_lab.state import state_directory
from source import source_tree

SETTINGS = {"fsync": "off", "shared_buffers": "128MB", "max_prepared_transactions": "0",
            "max_connections": "60"}  # fmt: skip
# "prefer" takes the vector engine wherever it can run the query, whatever it costs.
PENUMBRA = {"shared_preload_libraries": "penumbra", "penumbra.memory": "256MB", "penumbra.mode": "prefer",
            "penumbra.auto": "off"}  # fmt: skip


def build_library(suite: Path, installation: Installation, directory: Path) -> None:
    """regress.so of the suite, beside the contrib modules that its tests load."""
    include = subprocess.run([installation.program("pg_config"), "--includedir-server"],
                             capture_output=True, text=True, check=True).stdout.strip()  # fmt: skip
    done = subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-w", "-D_GNU_SOURCE", "-I", include, "-I", include + "/..",
         "-o", str(directory / "regress.so"), str(suite / "regress.c")],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        raise LabError(f"regress.so does not build: {done.stderr.strip()[-800:]}")
    for module in ("refint.so", "autoinc.so"):
        (directory / module).symlink_to(installation.library_directory / module)


def run_suite(name: str, settings: dict[str, str], suite: Path, place: Path) -> Path:
    """Runs the parallel schedule; returns the directory with the outputs."""
    installation = Installation.find()
    output = place / name
    output.mkdir(parents=True)
    give_to_server_user(output)
    server = PrivateServer(place / f"server-{name}", SETTINGS | settings,
                           initdb_options=("--no-locale", "--encoding=UTF8"))  # fmt: skip
    pg_regress = installation.library_directory / "pgxs/src/test/regress/pg_regress"
    with server:
        print(f"  {name}", flush=True)
        done = subprocess.run(
            [*server_user(), str(pg_regress), f"--bindir={installation.bin_directory}",
             f"--dlpath={place / 'library'}", f"--inputdir={suite}", f"--outputdir={output}",
             *([f"--expecteddir={suite}"] if installation.major >= 16 else []), f"--schedule={suite}/parallel_schedule",
             f"--host={server.socket_directory}", "--port=5432", "--user=postgres",
             "--max-concurrent-tests=20"],
            capture_output=True, text=True, errors="replace", cwd=output,
        )  # fmt: skip
        (output / "pg_regress.log").write_text(done.stdout + done.stderr)
        if not (output / "results").exists():
            raise LabError(f"pg_regress did not run: {(done.stdout + done.stderr)[-1500:]}")
    log = server.log.read_text(errors="replace")
    shutil.copy(server.log, output / "server.log")
    if "was terminated by signal" in log:
        crash = next(line for line in log.splitlines() if "was terminated by signal" in line)
        print(f"FAILED: {name}: the server crashed: {crash}")
    return output / "results"


def names(suite: Path) -> list[str]:
    listed = re.findall(r"^test:(.*)$", (suite / "parallel_schedule").read_text(), re.M)
    return [name for group in listed for name in group.split()]


def main() -> int:
    place = state_directory() / "test-regression"
    shutil.rmtree(place, ignore_errors=True)
    (place / "library").mkdir(parents=True)
    installation = Installation.find()
    suite = source_tree(installation.major)
    build_library(suite, installation, place / "library")
    stock = run_suite("stock", {}, suite, place)
    penumbra = run_suite("penumbra", PENUMBRA, suite, place)
    failed = 0
    for name in names(suite):
        left, right = stock / f"{name}.out", penumbra / f"{name}.out"
        if not left.exists() or not right.exists():
            difference = "no output"
        else:
            difference = output_difference(
                left.read_text(errors="replace"), right.read_text(errors="replace")
            )
        if difference:
            failed += 1
            print(f"{difference}\nFAILED: {name}")
        else:
            print(f"ok: {name}")
    if not failed:
        shutil.rmtree(place, ignore_errors=True)
    return int(failed > 0)


if __name__ == "__main__":
    try:
        with terminate_like_interrupt():
            sys.exit(main())
    except LabError as error:
        print(f"FAILED: {error}")
        sys.exit(1)
