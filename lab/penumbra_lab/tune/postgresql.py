"""PostgreSQL from its source: what is compiled anew for each recipe, and how a backend is counted.

Flags are given to make as COPT, PostgreSQL's own way to add some: they reach every compilation and
the links, and `pg_config --cflags` does not show them. Extensions are so compiled as for the
distribution's server, whatever was done to this one.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.postgresql_source import fetched_package
from penumbra_lab.run.cpus import idlest_cpu
from penumbra_lab.run.pgbench import Workload
from penumbra_lab.server import Installation, PrivateServer, give_to_server_user, server_user
from penumbra_lab.tune import callgrind, counters
from penumbra_lab.tune.callgrind import Counts
from penumbra_lab.tune.catalog import is_clang
from penumbra_lab.tune.execute import Executor, Infeasible
from penumbra_lab.tune.project import (
    archiver_of,
    cxx_of,
    find_bolt,
    finish_profile,
    profile_flags,
)
from penumbra_lab.tune.space import Recipe

# What Debian's own packages are built with, but for -g, which changes no code.
DEBIAN_FLAGS = ("-O2", "-fstack-protector-strong", "-Wformat", "-Werror=format-security",
                "-fno-omit-frame-pointer")  # fmt: skip
PREPROCESSOR = "-D_FORTIFY_SOURCE=2"
LINKER = "-Wl,-z,relro -Wl,-z,now"
# BOLT moves code, so it needs the linker's relocations and whole functions, which only GCC splits.
LAYOUT_FLAG, GCC_LAYOUT_FLAG = "-Wl,--emit-relocs", "-fno-reorder-blocks-and-partition"
BOLT_OPTIONS = ("-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions",
                "-split-all-cold", "-split-eh", "-dyno-stats")  # fmt: skip
NEEDED = {"make": "make", "bison": "bison", "flex": "flex", "perl": "perl"}  # program: package
# Code that BOLT cannot move: expressions are interpreted by a table of addresses within it.
UNMOVED_FUNCTIONS = ("ExecInterpExpr",)
UNMOVED_FUNCTIONS_MAX = 20  # after which BOLT is given up
SERVER_PARTS = ("src/common", "src/port", "src/timezone", "src/backend")
INPUTS = "recipe"  # in a build and in the installation
PROGRAMS = ("initdb", "pg_ctl", "pgbench", "pg_config", "psql")
OPTIONAL = {  # configure option: its pkg-config name
    "--with-icu": "icu-uc", "--with-lz4": "liblz4", "--with-zstd": "libzstd",
    "--with-openssl": "openssl", "--with-libxml": "libxml-2.0",
}  # fmt: skip
# Statistics are flushed once a second of the clock, which would be counted.
SETTINGS = {
    "fsync": "off", "autovacuum": "off", "track_counts": "off", "shared_buffers": "128MB",
    "jit": "off",
    "max_wal_size": "4GB", "checkpoint_timeout": "1h", "bgwriter_lru_maxpages": "0",
    "max_parallel_workers_per_gather": "0", "max_connections": "10", "timezone": "UTC",
    "log_disconnections": "on", "log_line_prefix": "%p|%a|",
}  # fmt: skip
WARM_UP = "SET enable_seqscan = off; SELECT sum(abalance) FROM pgbench_accounts WHERE aid > 0"
SCALE = 1  # of the counted database: all of it is in shared buffers
SEED = 20_260_101
# Transactions after the first run, and in it; the difference leaves out a backend's start.
TRANSACTIONS, WARM_TRANSACTIONS = 1000, 200
PAUSE_MILLISECONDS = 1
FEW_TRANSACTIONS = {  # those that are long
    "aggregates": 1, "TPC-B": 100, "simple-update": 300, "joins": 2, "expressions": 2,
    "maintenance": 2,
}  # fmt: skip
COUNTED_TRANSACTIONS = 20  # by the processor's counters, for each one under callgrind
# Of a profile, which so repeats: of the workload, and of each other one.
TRAINING_TRANSACTIONS, OTHERS_TRAINING_TRANSACTIONS = 20_000, 1000
FEW_TRAINING_TRANSACTIONS = {"aggregates": 2}
# What no profile is ever made of: what a profile of other workloads does to them is so seen.
HELD_OUT = tuple(
    Workload(script.stem, script=script)
    for script in sorted(Path(__file__).with_name("held_out").glob("*.sql"))
)


class PostgreSQL:
    """A source tree and the workload for which the server is tuned."""

    def __init__(self, source: Path, workload: Workload, place: Path, base_compiler: str,
                 jobs: int, training: tuple[Workload, ...]):  # fmt: skip
        if not (source / "src/backend/Makefile").is_file():
            raise LabError(f"{source} is no source tree of PostgreSQL")
        configure = (source / "configure").read_text(errors="replace")
        found = re.search(r"^PACKAGE_VERSION='([^']+)'", configure, re.M)
        self.version = found[1] if found else "unknown"
        self.name = f"postgresql-{self.version}"
        self.source = source
        self.workload = workload
        self.training = training
        self.held_out = HELD_OUT
        self.place = place
        self.jobs = jobs
        self.base_compiler = base_compiler
        self.options = [option for option, package in OPTIONAL.items()
                        if option in configure and _has_package(package)]  # fmt: skip
        script = workload.script.read_text() if workload.script else ""
        self.identity = "\n".join(
            (self.name, str(source.resolve()), workload.name, script, *self.options)
        )
        self.build_bytes = 2 << 30
        self.has_layout = find_bolt() is not None

    def baseline(self, compiler: str) -> Recipe:
        return Recipe(compiler, DEBIAN_FLAGS)

    @property
    def workloads(self) -> tuple[Workload, ...]:
        """The one that it is tuned on first; then what validates."""
        return (self.workload, *self.training, *self.held_out)

    @property
    def base(self) -> Path:
        """The whole installation, with the baseline's flags: clients, libraries, shared files."""
        return self.place / "base"

    # -- building ----------------------------------------------------------------------------------

    def prepare(self, executor: Executor) -> None:
        """The base and the cluster that every measurement begins from; made once."""
        for program, package in NEEDED.items():
            if not shutil.which(program):
                raise LabError(f"{program} is missing: install the package {package}")
        if not self.base.exists():
            part, tree = self.place / "base-part", self.place / "base-tree"
            shutil.rmtree(part, ignore_errors=True)
            shutil.rmtree(tree, ignore_errors=True)
            tree.mkdir()
            recipe = self.baseline(self.base_compiler)
            self._configure(recipe, tree, executor)
            self._make(recipe, tree, (), executor)
            for directory in (tree, tree / "contrib"):
                for target in ("all", "install"):
                    self._run_make(tree, executor, "-C", str(directory), target,
                                   f"DESTDIR={part}", f"COPT={_copt(recipe, ())}")  # fmt: skip
            # What the gate runs: PostgreSQL's tests, and the modules of extensions' tests in Perl,
            # which only a configuration with tests in Perl of its own would install.
            for target in (("src/test/regress", "install-tests"),
                           ("src/test/perl", "install", "enable_tap_tests=yes")):  # fmt: skip
                self._run_make(tree, executor, "-C", *target, f"DESTDIR={part}",
                               f"COPT={_copt(recipe, ())}")  # fmt: skip
            (part / self.base.relative_to("/")).rename(self.base)
            shutil.rmtree(part)
            shutil.rmtree(tree)
        if not self.cluster.exists():
            self._make_cluster()

    def _configure(self, recipe: Recipe, tree: Path, executor: Executor) -> None:
        executor.run(self._configure_command(recipe), tree.parent / "build.log",
                     executor.build_seconds, tree)  # fmt: skip

    def _configure_command(self, recipe: Recipe) -> list[str]:
        # A cache for each compiler: flags come later, so its answers hold for all recipes.
        cache = self.place / f"configure-{recipe.compiler}.cache"
        return [
            str(self.source / "configure"), "-q", f"--prefix={self.base}", f"--cache-file={cache}",
            "--without-readline", "--disable-rpath", *self.options, f"CC={recipe.compiler}",
            f"CXX={cxx_of(recipe.compiler)}", f"AR={archiver_of(recipe.compiler)}",
            f"CPPFLAGS={PREPROCESSOR}", f"LDFLAGS={LINKER}", f"CFLAGS={' '.join(DEBIAN_FLAGS)}",
        ]  # fmt: skip

    def steps(self, recipe: Recipe) -> list[str]:
        """By hand, with PROFILE for where the profile was unpacked."""
        configured = [a for a in self._configure_command(recipe) if "--cache-file" not in a]
        extra = profile_flags(recipe.compiler, Path("PROFILE"), False) if recipe.profile else ()
        made = f"make COPT={shlex.quote(_copt(recipe, extra))}"
        skipped = ",".join(f"{name}.*" for name in UNMOVED_FUNCTIONS)
        laid_out = ["llvm-bolt postgres -o laid-out -data=bolt.fdata", *BOLT_OPTIONS,
                    f"-skip-funcs={skipped}"]  # fmt: skip
        return [shlex.join(configured), made, *([" ".join(laid_out)] if recipe.layout else [])]

    def _run_make(self, tree: Path, executor: Executor, *arguments: str) -> None:
        executor.run(["make", "-s", f"-j{self.jobs}", *arguments], tree.parent / "build.log",
                     executor.build_seconds, tree)  # fmt: skip

    def _make(self, recipe: Recipe, tree: Path, extra: tuple[str, ...],
              executor: Executor) -> None:  # fmt: skip
        copt = f"COPT={_copt(recipe, extra)}"
        self._run_make(tree, executor, "-C", "src/backend", "generated-headers", copt)
        for part in SERVER_PARTS:
            self._run_make(tree, executor, "-C", part, copt)

    def _compile(self, recipe: Recipe, tree: Path, executor: Executor) -> None:
        """Leaves the server in tree/src/backend/postgres."""
        self._configure(recipe, tree, executor)
        extra = profile_flags(recipe.compiler, tree / "profile", False) if recipe.profile else ()
        if not recipe.profile or not self._make_with_kept_profile(recipe, tree, extra, executor):
            if recipe.profile:
                self._profile(recipe, tree, executor)
            self._make(recipe, tree, extra, executor)
        if recipe.layout:
            self._lay_out(tree / "src/backend/postgres", executor)

    def _make_with_kept_profile(self, recipe: Recipe, tree: Path, extra: tuple[str, ...],
                                executor: Executor) -> bool:  # fmt: skip
        """With the profile of another recipe, if that is what training would find.

        A profile counts the edges of each function's control flow as it is when the compiler reads
        it, and the compiler refuses one of another control flow. Most flags act later.
        """
        kept = self._kept_profile(recipe)
        if not kept.exists():
            return False
        _copy_profile(kept, tree / "profile", "@", _mangled(tree))
        try:
            self._make(recipe, tree, extra, executor)
        except Infeasible as error:
            if "coverage-mismatch" not in str(error):
                raise
            self._clean(tree, executor)
            shutil.rmtree(tree / "profile")
            return False
        return True

    def _profile(self, recipe: Recipe, tree: Path, executor: Executor) -> None:
        profile = tree / "profile"
        profile.mkdir()
        give_to_server_user(profile)
        # Edges are counted before functions meet those of other files: it would only take longer.
        apart = tuple(flag for flag in recipe.flags if not flag.startswith("-flto"))
        training = profile_flags(recipe.compiler, profile, True)
        self._make(replace(recipe, flags=apart), tree, training, executor)
        self._train(tree / "src/backend/postgres", tree.parent / "training", executor)
        finish_profile(recipe.compiler, profile, tree.parent / "build.log", executor)
        self._clean(tree, executor)
        kept = self._kept_profile(recipe)
        if not kept.exists():
            _copy_profile(profile, kept, _mangled(tree), "@")

    def _kept_profile(self, recipe: Recipe) -> Path:
        level = [flag for flag in recipe.flags if flag.startswith("-O")][-1:]
        return self.place / "profiles" / "".join((recipe.compiler.replace("/", "#"), *level))

    def _clean(self, tree: Path, executor: Executor) -> None:
        for part in SERVER_PARTS:
            self._run_make(tree, executor, "-C", part, "clean")

    def build(self, recipe: Recipe, scratch: Path, result: Path, executor: Executor) -> None:
        if recipe == self.baseline(self.base_compiler):  # the base is that build
            self._assemble(self.base / "bin/postgres", result)
            return
        tree = scratch / "tree"
        tree.mkdir()
        self._compile(recipe, tree, executor)
        self._assemble(tree / "src/backend/postgres", result)
        _keep_inputs(recipe, tree, result / INPUTS)

    def _assemble(self, postgres: Path, result: Path) -> Path:
        """An installation around one server: programs find their files from where they are."""
        binaries = result / "bin"
        binaries.mkdir(parents=True)
        for name in PROGRAMS:
            shutil.copy2(self.base / "bin" / name, binaries / name)
        shutil.copy2(postgres, binaries / "postgres")
        for name in ("lib", "share", "include"):
            (result / name).symlink_to(self.base / name)
        return binaries

    def _train(self, postgres: Path, directory: Path, executor: Executor) -> None:
        """The instrumented server under the workload and a little of others, stopped in order:
        a process writes its profile when it exits."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        binaries = self._assemble(postgres, directory / "installation")
        with self._server(directory, binaries) as server:
            _client(server, executor, _pgbench(self.workload, "-t", str(TRAINING_TRANSACTIONS)))
            for workload in self.training:
                length = FEW_TRAINING_TRANSACTIONS.get(workload.name, OTHERS_TRAINING_TRANSACTIONS)
                _client(server, executor, _pgbench(workload, "-t", str(length)))
        shutil.rmtree(directory)

    def _lay_out(self, postgres: Path, executor: Executor) -> None:
        bolt = find_bolt()
        if bolt is None:
            raise LabError("llvm-bolt is missing: install the package bolt-16 or later")
        directory = postgres.parent / "bolt"
        directory.mkdir()
        give_to_server_user(directory)
        log = postgres.parent / "bolt.log"
        instrumented = directory / "postgres"
        unmoved = _run_bolt(
            [bolt, str(postgres), "-instrument", "-o", str(instrumented),
             f"-instrumentation-file={directory}/fdata", "-instrumentation-file-append-pid"],
            UNMOVED_FUNCTIONS, log, executor,
        )  # fmt: skip
        self._train(instrumented, directory / "training", executor)
        merged = directory / "merged"
        profiles = [str(path) for path in sorted(directory.glob("fdata*"))]
        if not profiles:
            raise Infeasible("BOLT's training wrote no profile")
        merge = str(Path(bolt).with_name("merge-fdata"))
        executor.run([merge, "-o", str(merged), *profiles], log, executor.build_seconds)
        _run_bolt([bolt, str(postgres), "-o", str(postgres.with_name("laid-out")),
                   f"-data={merged}", *BOLT_OPTIONS], unmoved, log, executor)  # fmt: skip
        postgres.with_name("laid-out").replace(postgres)

    # -- measuring ---------------------------------------------------------------------------------

    @property
    def cluster(self) -> Path:
        return self.place / "cluster"

    def _make_cluster(self) -> None:
        """pgbench's tables with every hint bit set, made by the base."""
        directory = self.place / "cluster-part"
        server = PrivateServer(directory, SETTINGS, Installation(self.base / "bin"))
        server.remove()
        with server:
            server.run_client("pgbench", "-i", "-q", "-s", str(SCALE))
            with server.connect() as connection:
                connection.execute("VACUUM (FREEZE, ANALYZE)")
                connection.execute("CHECKPOINT")
        server.data.rename(self.cluster)
        server.remove()

    @contextmanager
    def _server(self, directory: Path, binaries: Path,
                cpus: str | None = None) -> Iterator[PrivateServer]:  # fmt: skip
        """On a copy of the cluster: every measurement begins from the same bytes."""
        server = PrivateServer(directory / "server", SETTINGS, Installation(binaries), cpus=cpus)
        server.remove()
        server.directory.mkdir(parents=True)
        done = subprocess.run(
            ["cp", "-a", "--reflink=auto", str(self.cluster), str(server.data)],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            raise LabError(f"copy of the cluster: {done.stderr.strip()}")
        server.take_over()
        try:
            try:
                server.start()
            except LabError as error:
                raise Infeasible(str(error)) from None
            yield server
        finally:
            server.stop()
            server.remove()

    def measure(self, build: Path, executor: Executor) -> Counts:
        return self.measure_workload(build / "bin", self.workload, executor)

    def measure_workload(self, binaries: Path, workload: Workload, executor: Executor) -> Counts:
        """What callgrind counts per transaction in one backend of a server under valgrind."""
        directory, output = self._measuring_directory()
        real = str(binaries / "postgres")
        wrapped = _wrapped(binaries, directory / "bin", callgrind.command(output, real))
        more = FEW_TRANSACTIONS.get(workload.name, TRANSACTIONS)
        few = max(1, more * WARM_TRANSACTIONS // TRANSACTIONS)
        # A message that has come already is read without waiting, and counts would depend on who
        # was faster. So client and server have one CPU, the client (a batch process) takes it only
        # when the server gives it up, and sleeps between transactions.
        cpu = str(idlest_cpu())
        paced = _paced(workload, binaries, directory)
        with self._server(directory, wrapped, cpu) as server:
            _client(server, executor, ["psql", "-qc", WARM_UP])
            for transactions in (few, few, few + more):  # the first warms caches up, too
                _client(server, executor, _pgbench(paced, "-t", str(transactions)), cpu)
            server.stop()
            log = server.log.read_text(errors="replace")
        sessions = re.findall(r"^(\d+)\|pgbench\|.*disconnection:", log, re.M)
        # Of each run the second session: pgbench looks at the tables in one of its own first.
        if len(sessions) != 6 or not all((output / pid).exists() for pid in sessions):
            raise Infeasible(f"callgrind counted {len(sessions)} of 6 sessions")
        counts = [callgrind.read_counts(output / pid) for pid in sessions[1::2]]
        shutil.rmtree(directory)
        return callgrind.per_unit(counts[1], counts[2], more)

    def measure_counters(self, build: Path, executor: Executor) -> Counts:
        """What the processor counts per transaction, in all processes of the server together."""
        directory, output = self._measuring_directory()
        more = COUNTED_TRANSACTIONS * FEW_TRANSACTIONS.get(self.workload.name, TRANSACTIONS)
        found = []
        with self._server(directory, build / "bin") as server:
            _client(server, executor, ["psql", "-qc", WARM_UP])
            for transactions in (more, more, 2 * more):  # the first warms caches up
                client = _pgbench(self.workload, "-t", str(transactions))
                _client(server, executor, client, counted=output / "perf")
                found.append(counters.read_counts(output / "perf"))
        shutil.rmtree(directory)
        _, few, many = found
        return {name: (many[name] - few[name]) / more for name in few if name in many}

    def _measuring_directory(self) -> tuple[Path, Path]:
        """Empty, and one in it where the server's processes may write."""
        directory = self.place / "measuring"
        shutil.rmtree(directory, ignore_errors=True)
        output = directory / "counts"
        output.mkdir(parents=True)
        give_to_server_user(output)
        return directory, output

    # -- gate --------------------------------------------------------------------------------------

    @cached_property
    def distribution(self) -> Path | None:
        """The programs of the distribution's package of this version: as `make install` copied
        them, or from the archive. Extensions that are installed there do not reach the system's
        own."""
        with suppress(LabError):
            found = Installation.find()
            if not found.is_chosen and found.version() == self.version:
                return found.bin_directory
        return fetched_package(self.version)

    def finish(self, build: Path, prefix: Path) -> Path:
        """The installation: the server that was measured in a copy of the base."""
        part = prefix.with_name(prefix.name + "-part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(self.base, part, symlinks=True)
        shutil.copy2(build / "bin/postgres", part / "bin/postgres")
        if (build / INPUTS).exists():
            shutil.copytree(build / INPUTS, part / INPUTS)
        shutil.rmtree(prefix, ignore_errors=True)
        part.rename(prefix)
        return prefix

    @property
    def tests(self) -> Path:
        return self.base / "lib/regress"

    def check(self, prefix: Path, executor: Executor) -> None:
        """What PostgreSQL's `make check` does, with programs that are installed already."""
        directory = self.place / "checking"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        give_to_server_user(directory)
        log = self.place / "check.log"
        log.unlink(missing_ok=True)
        executor.run(
            [*server_user(), str(self.base / "lib/pgxs/src/test/regress/pg_regress"),
             f"--bindir={prefix / 'bin'}", f"--dlpath={self.tests.parent}",
             f"--inputdir={self.tests}", f"--schedule={self.tests / 'parallel_schedule'}",
             f"--outputdir={directory}", f"--temp-instance={directory / 'server'}",
             "--no-locale", "--encoding=UTF8", "--max-connections=4"],
            log, executor.build_seconds, directory,
        )  # fmt: skip
        shutil.rmtree(directory)


def _wrapped(binaries: Path, directory: Path, command: list[str]) -> Path:
    """Programs in `directory`, of which `postgres` runs as `command` says."""
    directory.mkdir()
    for name in ("pg_ctl", "pgbench", "psql"):
        shutil.copy2(binaries / name, directory / name)
    script, real = directory / "postgres", str(binaries / "postgres")
    # pg_ctl asks for the version first.
    script.write_text(f'#!/bin/sh\n[ "$1" = -V ] && exec {shlex.quote(real)} -V\n'
                      f'exec {shlex.join(command)} "$@"\n')  # fmt: skip
    script.chmod(0o755)
    return directory


def _pgbench(workload: Workload, *length: str) -> list[str]:
    return ["pgbench", "-n", "-M", "prepared", "-c", "1", *length, f"--random-seed={SEED}",
            *workload.options_at(SCALE)]  # fmt: skip


def _paced(workload: Workload, binaries: Path, directory: Path) -> Workload:
    """The same with a pause before each transaction."""
    if workload.builtin:
        shown = [str(binaries / "pgbench"), f"--show-script={workload.builtin}"]
        text = subprocess.run(shown, capture_output=True, text=True, check=True).stderr
    else:
        text = workload.script.read_text()
    script = directory / f"{workload.name}.sql"
    script.write_text(f"\\sleep {PAUSE_MILLISECONDS} ms\n{text}")
    return Workload(workload.name, script=script)


def _client(server: PrivateServer, executor: Executor, command: list[str],
            cpu: str | None = None, counted: Path | None = None) -> None:  # fmt: skip
    """A program of the installation against the server; a server that hangs is infeasible.

    `counted`: the processor counts the server meanwhile, into this file.
    """
    before = ["taskset", "-c", cpu, "chrt", "--batch", "0"] if cpu else []
    if counted:
        before += [*counters.command(counted, "-p", str(server.postmaster_pid())), "--"]
    program = server.installation.program(command[0])
    executor.run([*before, program, *command[1:]], server.directory / "client.log",
                 executor.measure_seconds, environment=server.environment())  # fmt: skip


def _run_bolt(command: list[str], unmoved: tuple[str, ...], log: Path,
              executor: Executor) -> tuple[str, ...]:  # fmt: skip
    """Again without each function of which BOLT says that it cannot move it; returns those."""
    while True:
        skipped = ",".join(f"{name}.*" for name in unmoved)
        try:
            executor.run([*command, f"-skip-funcs={skipped}"], log, executor.build_seconds)
            return unmoved
        except Infeasible as error:
            found = re.search(r"in function (\w+)[^\n]*skip-funcs", str(error))
            if not found or found[1] in unmoved or len(unmoved) == UNMOVED_FUNCTIONS_MAX:
                raise
            unmoved = (*unmoved, found[1])


def _copt(recipe: Recipe, extra: tuple[str, ...]) -> str:
    layout = [LAYOUT_FLAG] if recipe.layout else []
    if recipe.layout and not is_clang(recipe.compiler):
        layout.append(GCC_LAYOUT_FLAG)
    return " ".join((*recipe.flags, *layout, *extra))


def _keep_inputs(recipe: Recipe, tree: Path, directory: Path) -> None:
    """What training counted, without which the recipe cannot be repeated to the byte. In names of
    GCC's files @ stands for the path of the tree."""
    directory.mkdir()
    if recipe.profile:
        merged = tree / "profile/merged.profdata"
        if merged.exists():
            shutil.copy2(merged, directory)
        else:
            _copy_profile(tree / "profile", directory / "profile", _mangled(tree), "@")
    if recipe.layout:
        shutil.copy2(tree / "src/backend/bolt/merged", directory / "bolt.fdata")


def _mangled(tree: Path) -> str:
    """As GCC writes a tree's path in the names of its profiles."""
    return str(tree).replace("/", "#")


def _copy_profile(source: Path, target: Path, here: str, there: str) -> None:
    """Of one tree for another; it is there only when all of it is."""
    part = target.with_name("part-of-profile")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for path in source.iterdir():
        shutil.copy2(path, part / path.name.replace(here, there, 1))
    part.rename(target)


def _has_package(name: str) -> bool:
    return subprocess.run(["pkg-config", "--exists", name], capture_output=True).returncode == 0
