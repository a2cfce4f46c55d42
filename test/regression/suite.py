"""Running PostgreSQL's own tests: what the ways of running them share."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from output import output_difference
from penumbra_lab.errors import LabError
from penumbra_lab.postgresql_source import source_tree
from penumbra_lab.server import (
    Installation,
    PrivateServer,
    give_to_server_user,
    run_directory,
    server_user,
    terminate_like_interrupt,
)

INITDB_OPTIONS = ("--no-locale", "--encoding=UTF8")


class Suite:
    """The suite of the installed major version, its regress.so, and a place for outputs."""

    def __init__(self, name: str) -> None:
        self.installation = Installation.find()
        self.tree = source_tree(self.installation.major)
        self.source = self.tree / "src/test/regress"
        self.place = run_directory(name)
        self._library = self.place / "library"
        self._library.mkdir(parents=True)
        self._build_library()

    def _build_library(self) -> None:
        """regress.so, beside the contrib modules that the tests load."""
        include = subprocess.run([self.installation.program("pg_config"), "--includedir-server"],
                                 capture_output=True, text=True, check=True).stdout.strip()  # fmt: skip
        done = subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O1", "-w", "-D_GNU_SOURCE", "-I", include, "-I", include + "/..",
             "-o", str(self._library / "regress.so"), str(self.source / "regress.c")],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            raise LabError(f"regress.so does not build: {done.stderr.strip()[-800:]}")
        for module in ("refint.so", "autoinc.so"):
            (self._library / module).symlink_to(self.installation.library_directory / module)

    def run(self, name: str, server: PrivateServer, options: Sequence[str], source: Path | None = None,
            program: str = "regress/pg_regress") -> Path:
        """The tests of a folder, which is the regression suite's, with these options on the running server: their outputs."""
        source = source or self.source
        output = self.place / name
        output.mkdir(parents=True)
        give_to_server_user(output)
        done = subprocess.run(
            [*server_user(), str(self.installation.library_directory / "pgxs/src/test" / program),
             f"--bindir={self.installation.bin_directory}", f"--dlpath={self._library}",
             f"--inputdir={source}", f"--outputdir={output}",
             *([f"--expecteddir={source}"] if self.installation.major >= 16 else []),
             f"--host={server.socket_directory}", "--port=5432", "--user=postgres", *options],
            capture_output=True, text=True, errors="replace", cwd=output,
        )  # fmt: skip
        (output / "pg_regress.log").write_text(done.stdout + done.stderr)
        if not (output / "results").exists():
            raise LabError(f"pg_regress did not run: {(done.stdout + done.stderr)[-1500:]}")
        crashes = [line for line in server.log.read_text(errors="replace").splitlines()
                   if "was terminated by signal" in line]  # fmt: skip
        if crashes:
            raise LabError(f"{name}: the server crashed: {crashes[0]}")
        return output / "results"


def test_names(suite: Suite, schedule: str = "src/test/regress/parallel_schedule") -> list[str]:
    listed = re.findall(r"^test:(.*)$", (suite.tree / schedule).read_text(), re.M)
    return [name for group in listed for name in group.split()]


def test_failed(label: str, name: str, left: Path, right: Path) -> bool:
    """Whether one test's outputs in two directories differ; prints which."""
    texts = [directory / f"{name}.out" for directory in (left, right)]
    if all(path.exists() for path in texts):
        difference = output_difference(*(path.read_text(errors="replace") for path in texts))
    else:
        difference = "no output"
    print(f"{difference}\nFAILED: {label}" if difference else f"ok: {label}")
    return bool(difference)


def run_as_test(compare: Callable[[Suite], int], name: str) -> None:
    """Runs compare, which counts failed tests, and exits; what failed is left to look at."""
    try:
        with terminate_like_interrupt():
            suite = Suite(name)
            failed = compare(suite)
            if not failed:
                shutil.rmtree(suite.place, ignore_errors=True)
            sys.exit(int(failed > 0))
    except LabError as error:
        print(f"FAILED: {error}")
        sys.exit(1)
