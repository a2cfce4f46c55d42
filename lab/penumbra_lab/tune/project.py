"""What is tuned: how it is built with a recipe, and what it costs to run."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Protocol

from penumbra_lab.errors import LabError
from penumbra_lab.tune import callgrind, counters
from penumbra_lab.tune.callgrind import Counts
from penumbra_lab.tune.catalog import compiler_version, is_clang
from penumbra_lab.tune.execute import Executor, Infeasible
from penumbra_lab.tune.space import Recipe

# A profile of another control flow stays an error.
PROFILE_WARNINGS = ("-Wno-missing-profile",)
BUILT_AT = "built_at"  # of a finished build: the path of its tree until it was moved


class Project(Protocol):
    name: str
    identity: str  # all but the recipe that decides what is measured
    build_bytes: int  # that one build takes at most, with what is removed after it
    has_layout: bool  # whether BOLT may lay it out anew

    def baseline(self, compiler: str) -> Recipe: ...

    def build(self, recipe: Recipe, scratch: Path, result: Path, executor: Executor) -> None:
        """Into `result`, which may be moved; `scratch` is removed after it."""
        ...

    def measure(self, build: Path, executor: Executor) -> Counts: ...

    def measure_counters(self, build: Path, executor: Executor) -> Counts:
        """By the processor's own counters, where `counters.are_there()`."""
        ...

    def steps(self, recipe: Recipe) -> list[str]:
        """How it is built by hand."""
        ...

    def check(self, build: Path, executor: Executor) -> None:
        """The project's own tests; Infeasible where they fail."""
        ...


def profile_flags(compiler: str, profile: Path, training: bool) -> tuple[str, ...]:
    """Of the build that writes a profile, or of the one that reads it.

    Code that the training did not reach is compiled for speed all the same, not for size
    (-fprofile-partial-training): other workloads must not pay for this one. Processes that a
    program forks add what they counted to one file (%m); Clang names that of each after the first.
    """
    if is_clang(compiler):
        return (f"-fprofile-instr-generate={profile}/%m.profraw",) if training else (
            f"-fprofile-instr-use={profile}/merged.profdata", "-Wno-profile-instr-unprofiled",
            "-Wno-profile-instr-out-of-date", "-Wno-backend-plugin")  # fmt: skip
    if training:
        return (f"-fprofile-generate={profile}", "-fprofile-update=prefer-atomic")
    return (f"-fprofile-use={profile}", "-fprofile-partial-training", *PROFILE_WARNINGS)


def finish_profile(compiler: str, profile: Path, log: Path, executor: Executor) -> None:
    """Merges what the processes of a training wrote, where the compiler does not do it itself."""
    pattern = "*.profraw" if is_clang(compiler) else "**/*.gcda"
    written = [str(path) for path in sorted(profile.glob(pattern))]
    if not written:
        raise Infeasible("the training wrote no profile")
    if is_clang(compiler):
        merged = str(profile / "merged.profdata")
        merge = [profile_merger(compiler), "merge", "-o", merged, *written]
        executor.run(merge, log, executor.build_seconds)


def profile_merger(clang: str) -> str:
    if found := _beside(clang, "llvm-profdata"):
        return found
    version = _llvm_version(clang)
    raise LabError(f"llvm-profdata is missing: install the package llvm-{version}")


def check_profiling(clang: str) -> None:
    """What the first training would miss, hours later: the merger, the runtime that counts."""
    profile_merger(clang)
    done = subprocess.run(
        [clang, "-fprofile-instr-generate", "-x", "c", "-", "-o", "/dev/null"],
        input="int main(void) { return 0; }\n", capture_output=True, text=True,
    )  # fmt: skip
    if "libclang_rt.profile" in done.stderr:
        version = _llvm_version(clang)
        raise LabError(f"{clang} has no runtime for profiles: install the package"
                       f" libclang-rt-{version}-dev")  # fmt: skip


def archiver_of(compiler: str) -> str:
    """Which can list the symbols of what this compiler leaves for the linker to optimise."""
    if is_clang(compiler):
        return _beside(compiler, "llvm-ar") or "ar"
    found = shutil.which(compiler.replace("gcc", "gcc-ar")) if "gcc" in compiler else None
    return found or "ar"


def _beside(clang: str, tool: str) -> str | None:
    """The tool of the same version of LLVM as the compiler."""
    return shutil.which(f"{tool}-{_llvm_version(clang)}") or shutil.which(tool)


def _llvm_version(clang: str) -> str:
    found = re.search(r"version (\d+)", compiler_version(clang))
    return found[1] if found else ""


def find_bolt() -> str | None:
    """The file itself: BOLT looks for its runtime beside where it was started from."""
    names = ["llvm-bolt", *(f"llvm-bolt-{version}" for version in range(25, 15, -1))]
    found = next((path for name in names if (path := shutil.which(name))), None)
    return str(Path(found).resolve()) if found else None


class Command:
    """Any project that one command builds and another one runs: make, meson, cmake, a script.

    The build command gets CC, CXX, AR, CFLAGS, CXXFLAGS and LDFLAGS in its environment and works
    in a copy of the source; the measure command is run there as well, under callgrind for counts
    and as it is for time, and as the training of profiles.
    """

    has_layout = False

    def __init__(self, name: str, source: Path, build: str, measure: str, check: str | None,
                 base_flags: tuple[str, ...]):  # fmt: skip
        if not source.is_dir():
            raise LabError(f"{source} is no directory with a source")
        self.name = name
        self.source = source
        self.build_command = build
        self.measure_command = shlex.split(measure)
        self.check_command = check
        self.base_flags = base_flags
        if not self.measure_command:
            raise LabError("the measure command is empty")
        self.identity = "\n".join((name, digest_of(source), build, measure, *base_flags))
        self.build_bytes = 4 * sum(f.stat().st_size for f in _files(source)) + (64 << 20)

    def baseline(self, compiler: str) -> Recipe:
        return Recipe(compiler, self.base_flags)

    def build(self, recipe: Recipe, scratch: Path, result: Path, executor: Executor) -> None:
        if recipe.profile:
            profile = scratch / "profile"
            profile.mkdir()
            self._make(recipe, scratch / "tree", profile_flags(recipe.compiler, profile, True),
                       executor)  # fmt: skip
            executor.run(self.measure_command, scratch / "train.log", executor.measure_seconds,
                         scratch / "tree")  # fmt: skip
            finish_profile(recipe.compiler, profile, scratch / "train.log", executor)
            # A profile names its objects by their paths: the tree stays where it was.
            shutil.rmtree(scratch / "tree")
            extra = profile_flags(recipe.compiler, profile, False)
        else:
            extra = ()
        self._make(recipe, scratch / "tree", extra, executor)
        (scratch / "tree").rename(result / "tree")
        (result / BUILT_AT).write_text(str(scratch / "tree"))

    def steps(self, recipe: Recipe) -> list[str]:
        trained = profile_flags(recipe.compiler, Path("PROFILE"), True)
        used = profile_flags(recipe.compiler, Path("PROFILE"), False)
        training = [(self._environment(recipe, trained), self.build_command),
                    ({}, shlex.join(self.measure_command))]  # fmt: skip
        steps = [*(training if recipe.profile else ()),
                 (self._environment(recipe, used if recipe.profile else ()), self.build_command)]
        return [" ".join((*(f"{n}={shlex.quote(v)}" for n, v in set_.items()), what))
                for set_, what in steps]  # fmt: skip

    @staticmethod
    def _environment(recipe: Recipe, extra: tuple[str, ...]) -> dict[str, str]:
        flags = " ".join((*recipe.flags, *extra))
        return {
            "CC": recipe.compiler, "CXX": cxx_of(recipe.compiler), "CFLAGS": flags,
            "CXXFLAGS": flags, "LDFLAGS": flags, "AR": archiver_of(recipe.compiler),
        }  # fmt: skip

    def _make(self, recipe: Recipe, tree: Path, extra: tuple[str, ...],
              executor: Executor) -> None:  # fmt: skip
        shutil.copytree(self.source, tree, symlinks=True, ignore=shutil.ignore_patterns(*IGNORED))
        environment = self._environment(recipe, extra)
        executor.run(["sh", "-ec", self.build_command], tree.parent / "build.log",
                     executor.build_seconds, tree, environment)  # fmt: skip

    def measure(self, build: Path, executor: Executor) -> Counts:
        output = build / "counts"
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir()
        program = [*self.measure_command]
        if (build / "tree" / program[0]).exists():
            program[0] = str(build / "tree" / program[0])
        executor.run(callgrind.command(output, *program, follow=True), build / "measure.log",
                     executor.measure_seconds, build / "tree")  # fmt: skip
        counts = callgrind.sum_counts(output)
        shutil.rmtree(output)
        return counts

    def measure_counters(self, build: Path, executor: Executor) -> Counts:
        output = build / "perf"
        executor.run([*counters.command(output), "--", *self.measure_command],
                     build / "measure.log", executor.measure_seconds, build / "tree")  # fmt: skip
        return counters.read_counts(output)

    def run_once(self, build: Path, executor: Executor) -> None:
        executor.run(self.measure_command, build / "measure.log", executor.measure_seconds,
                     build / "tree")  # fmt: skip

    def check(self, build: Path, executor: Executor) -> None:
        """On a copy where it was built, the path that programs and build systems know."""
        if not self.check_command:
            return
        tree = Path((build / BUILT_AT).read_text())
        shutil.rmtree(tree.parent, ignore_errors=True)
        try:
            shutil.copytree(build / "tree", tree, symlinks=True)
            executor.run(["sh", "-ec", self.check_command], build / "check.log",
                         executor.build_seconds, tree)  # fmt: skip
        finally:
            shutil.rmtree(tree.parent, ignore_errors=True)


IGNORED = (".git", ".venv", ".penumbra", "build", "build-*", "__pycache__")


def cxx_of(compiler: str) -> str:
    return compiler.replace("gcc", "g++").replace("clang", "clang++")


def _files(source: Path) -> list[Path]:
    found = []
    for root, directories, names in os.walk(source):
        directories[:] = sorted(d for d in directories if d not in IGNORED
                                and not d.startswith("build-"))  # fmt: skip
        found += [Path(root) / name for name in sorted(names)]
    return [path for path in found if path.is_file() and not path.is_symlink()]


def digest_of(source: Path) -> str:
    """Of names, sizes and times: a source that was changed is another project."""
    digest = hashlib.sha256()
    for path in _files(source):
        status = path.stat()
        digest.update(f"{path.relative_to(source)} {status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()

