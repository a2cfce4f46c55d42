"""PostgreSQL and this tree built with sanitizers or for valgrind, in .penumbra/sanitized; PostgreSQL once, the tree each time."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.postgresql_source import source_tree
from penumbra_lab.server import Installation, give_to_server_user
from penumbra_lab.state import state_directory

TREE = Path(__file__).resolve().parents[2]
NICE = ["nice", "-n", "10"]


@dataclass(frozen=True)
class Kind:
    """A way to build. The flags get into PGXS, so the extensions are compiled with them as well."""

    name: str
    flags: str
    engine: str  # the folder in which cmake builds kernels and engine for it; `make check` uses both, too
    cmake_options: tuple[str, ...] = ()


# Stack frames stay on the stack (detect_stack_use_after_return), or PostgreSQL could not measure its depth.
ADDRESS = Kind(
    "address",
    "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined",
    "build-asan",
    ("-DPENUMBRA_SANITIZE=address,undefined",),
)
VALGRIND = Kind("valgrind", "-O1 -g -fno-omit-frame-pointer -DUSE_VALGRIND", "build")


def place() -> Path:
    """Where all of it is; servers of user postgres write there."""
    directory = state_directory() / "sanitized"
    directory.mkdir(exist_ok=True)
    give_to_server_user(directory)
    return directory


def run(command: list[str], cwd: Path, environment: dict[str, str] | None = None) -> None:
    with (cwd / "build.log").open("a") as log:
        done = subprocess.run([*NICE, *command], cwd=cwd, env={**os.environ, **(environment or {})},
                              stdout=log, stderr=subprocess.STDOUT)  # fmt: skip
    if done.returncode != 0:
        tail = (cwd / "build.log").read_text(errors="replace").splitlines()[-25:]
        raise LabError(f"{' '.join(command)} failed; {log.name} ends with:\n" + "\n".join(tail))


def postgresql(kind: Kind) -> Path:
    """The bin directory of PostgreSQL of the installed major version, built with assertions and the kind's flags."""
    major = Installation.find().major
    prefix = place() / f"{kind.name}-postgresql-{major}"
    finished = prefix / "finished"
    if not finished.exists():
        shutil.rmtree(prefix, ignore_errors=True)
        building = prefix / "build"
        building.mkdir(parents=True)
        # What is built runs while building, and leaks on purpose.
        environment = {"ASAN_OPTIONS": "detect_leaks=0"}
        run([str(source_tree(major) / "configure"), f"--prefix={prefix}", "--enable-cassert", "--enable-debug",
             "--enable-tap-tests", "--without-readline", "--with-icu", "--with-lz4", "--with-zstd", "CC=gcc",
             f"CFLAGS={kind.flags}"], building, environment)  # fmt: skip
        for target in ("all", "install"):
            for directory in (building, building / "contrib", building / "src/test/isolation"):
                run(["make", "-s", f"-j{os.cpu_count()}", "-C", str(directory), target], building, environment)
        finished.touch()
    return prefix / "bin"


def tree(kind: Kind) -> Path:
    """A copy of this tree: PGXS compiles beside the sources, where objects of other flags are.

    By content: what changed gets the time of the copy, which is later than anything built there. What was copied
    before and is gone from the tree goes: makefiles compile every source that they find.
    """
    copy = place() / f"{kind.name}-tree"
    copy.mkdir(parents=True, exist_ok=True)
    copied = place() / f"{kind.name}-tree.files"
    files = subprocess.run(
        ["git", "-c", f"safe.directory={TREE}", "-C", str(TREE), "ls-files", "-z", "--cached", "--others",
         "--exclude-standard", "--deduplicate"], capture_output=True, check=True).stdout  # fmt: skip
    present = {os.fsdecode(name) for name in files.split(b"\0") if name and (TREE / os.fsdecode(name)).exists()}
    if copied.exists():
        for gone in set(copied.read_text().split("\0")) - present:
            (copy / gone).unlink(missing_ok=True)
    copied.write_text("\0".join(sorted(present)))
    subprocess.run(["rsync", "-rlpc", "--from0", f"--files-from={copied}", f"{TREE}/", f"{copy}/"], check=True)
    run(["cmake", "-G", "Ninja", "-B", str(TREE / kind.engine), "-S", str(TREE), *kind.cmake_options], copy)
    return copy


def make_command(kind: Kind, bin_directory: Path, extension: str, *targets: str) -> list[str]:
    """Targets of an extension's Makefile in the copy, with this PostgreSQL in place of the private installation."""
    return [*NICE, "make", "--no-print-directory", "-C", str(place() / f"{kind.name}-tree/extensions" / extension), *targets,
            f"PG_CONFIG={bin_directory / 'pg_config'}", f"ENGINE_BUILD={TREE / kind.engine}",
            f"TEST_DIR={place() / f'{kind.name}-test-{extension}'}"]  # fmt: skip
