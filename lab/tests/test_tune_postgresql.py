"""`penumbra tune postgresql`: how a backend is counted, and in which order a server is built.

PostgreSQL itself takes minutes to compile. Here a source tree of a few lines "compiles" the
installed server, so that everything around the compiler is real.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from penumbra_lab.errors import LabError
from penumbra_lab.postgresql_source import fetched_package
from penumbra_lab.run.pgbench import WORKLOADS
from penumbra_lab.server import Installation
from penumbra_lab.state import state_directory
from penumbra_lab.tune import postgresql
from penumbra_lab.tune.execute import Executor, Infeasible
from penumbra_lab.tune.package import debian_package
from penumbra_lab.tune.postgresql import DEBIAN_FLAGS, PostgreSQL
from penumbra_lab.tune.space import Recipe

CONFIGURE = """#!/bin/sh
PACKAGE_VERSION='{version}'
echo "configure $*" >>{log}
for option in "$@"; do case $option in (--prefix=*) prefix=${{option#--prefix=}};; esac; done
for part in src/common src/port src/timezone src/backend contrib; do
	mkdir -p $part
	printf 'all generated-headers:\\n\\t@echo "%s $(COPT)" >>{log}\\n' $part >$part/Makefile
	printf 'clean:\\n\\t@echo "%s clean" >>{log}\\n\\trm -f postgres\\n' $part >>$part/Makefile
	printf 'install:\\n' >>$part/Makefile
done
cat >src/backend/Makefile <<'END'
# As GCC names a profile by its object's path.
MANGLED = $(subst /,\\#,$(CURDIR))
all:
	@echo "src/backend all $(COPT)" >>{log}
	case '$(COPT)' in (*-fprofile-generate=*) echo '$(COPT)' >../../profile/$(MANGLED)#1.gcda;; esac
	case '$(COPT)' in (*-finline-functions*-fprofile-use=*) \
		if ! grep -q -e -finline-functions ../../profile/$(MANGLED)#1.gcda; then \
			echo 'error: no match [-Werror=coverage-mismatch]' >&2; exit 1; fi;; esac
	case '$(COPT)' in (*-fweb*) echo 'error: no web' >&2; exit 1;; esac
	case '$(COPT)' in (*-ftracer*) printf '#!/bin/sh\\nexit 1\\n' >postgres; chmod +x postgres;; \\
	(*) cp -f {home}/bin/postgres postgres;; esac
generated-headers:
	mkdir -p profile
clean:
	@echo "src/backend clean" >>{log}
	rm -f postgres
END
mkdir -p src/test/regress src/test/perl
printf 'install-tests:\\n\\tmkdir -p $(DESTDIR)%s/lib/regress\\n' $prefix >src/test/regress/Makefile
cat >src/test/perl/Makefile <<END
ifeq (\\$(enable_tap_tests),yes)
install:
	mkdir -p \\$(DESTDIR)$prefix/lib/pgxs/src/test/perl/PostgreSQL
else
install:
endif
END
cat >Makefile <<END
all:
	@:
install:
	mkdir -p \\$(DESTDIR)$prefix/bin \\$(DESTDIR)$prefix/lib \\$(DESTDIR)$prefix/share
	cp {home}/bin/* \\$(DESTDIR)$prefix/bin
	cp -f src/backend/postgres \\$(DESTDIR)$prefix/bin
END
"""


@pytest.fixture(scope="module")
def project():
    """Over a base that is the private installation, as `make install` fills it."""
    home = Installation.find().bin_directory.parent
    place = state_directory() / "test-tune"
    subprocess.run(["rm", "-rf", str(place)], check=True)
    source = place / "source"
    (source / "src/backend").mkdir(parents=True)
    (source / "src/backend/Makefile").touch()
    log = place / "log"
    log.touch()
    log.chmod(0o666)
    configure = source / "configure"
    configure.write_text(CONFIGURE.format(version=Installation.find().version(), home=home,
                                          log=log))  # fmt: skip
    configure.chmod(0o755)
    (place / "base").symlink_to(home)
    project = PostgreSQL(source, WORKLOADS["select-only"], place, "gcc", 1, (WORKLOADS["tpcb"],))
    project.prepare(Executor(300, 300))
    yield project
    subprocess.run(["rm", "-rf", str(place)], check=True)


@pytest.fixture
def executor():
    return Executor(300, 300)


def _log(project: PostgreSQL) -> list[str]:
    return (project.place / "log").read_text().splitlines()


def _build(project: PostgreSQL, recipe: Recipe, executor: Executor):
    scratch, result = project.place / "scratch", project.place / "result"
    subprocess.run(["rm", "-rf", str(scratch), str(result)], check=True)
    scratch.mkdir()
    result.mkdir()
    (project.place / "log").write_text("")
    project.build(recipe, scratch, result, executor)
    return result


@pytest.mark.slow
def test_a_backend_is_counted(project, executor):
    result = _build(project, Recipe("gcc", DEBIAN_FLAGS), executor)
    first, second = (project.measure(result, executor) for _ in range(2))
    # One prepared SELECT by primary key: not the start of a backend, which is millions.
    assert 20_000 < first["instructions"] < 100_000
    assert 500 < first["I1 misses"] < 10_000
    # What a backend does by the clock (it reports statistics each second) moves this by 0.2 %.
    assert abs(second["instructions"] / first["instructions"] - 1) < 0.005
    assert not list(project.place.glob("measuring"))
    # A server that hangs is given up, and stopped.
    with pytest.raises(Infeasible, match="did not end within 1 seconds"):
        project.measure(result, Executor(300, 1))
    assert not list(project.place.glob("measuring/server"))


PERF = """#!/bin/sh
while [ "$1" != -- ]; do [ "$1" = -o ] && output=$2; [ "$1" = -p ] && kill -0 $2; shift; done
shift
"$@" || exit
for word; do [ "$before" = -t ] && transactions=$word; before=$word; done
echo "$((1000 * transactions + 77777));;cycles:u;1;100.00;;" >$output
"""


def test_a_server_is_counted_by_the_processor_per_transaction(project, executor, tmp_path,
                                                              monkeypatch):  # fmt: skip
    (tmp_path / "perf").write_text(PERF)
    (tmp_path / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(postgresql, "COUNTED_TRANSACTIONS", 1)
    result = _build(project, project.baseline("gcc"), executor)
    # What it costs without a transaction is left out.
    assert project.measure_counters(result, executor) == {"cycles": 1000.0}
    assert not list(project.place.glob("measuring"))


def test_workloads_that_no_profile_knows_run(project, executor):
    assert {w.name for w in project.held_out} == {"expressions", "joins", "maintenance"}
    assert not {*project.held_out} & {*project.training}
    directory = project.place / "held-out"
    with project._server(directory, project.base / "bin") as server:
        for workload in project.held_out:
            for _ in range(2):  # it leaves nothing in its own way
                postgresql._client(server, executor, postgresql._pgbench(workload, "-t", "1"))


def test_a_missing_program_is_named_with_its_package(project, executor, monkeypatch):
    monkeypatch.setattr(postgresql.shutil, "which", lambda name: None if name == "bison" else name)
    with pytest.raises(LabError, match="install the package bison"):
        project.prepare(executor)


def test_a_profile_is_trained_between_two_compilations(project, executor):
    recipe = Recipe("gcc", ("-O2", "-flto=auto"), profile=True)
    result = _build(project, recipe, executor)
    backend = [line for line in _log(project) if line.startswith("src/backend")]
    assert [line.split()[1] for line in backend] == ["all", "clean", "all"]
    assert "-fprofile-generate=" in backend[0] and "-fprofile-update=prefer-atomic" in backend[0]
    assert "-fprofile-use=" in backend[2] and "-fprofile-partial-training" in backend[2]
    # The training's server is compiled file by file: linking takes as long as compiling.
    assert "-flto" not in backend[0] and "-O2 -flto=auto" in backend[2]
    # The profile goes with the installation, and how it is used.
    tuned = project.finish(result, project.place / "profiled")
    assert [path.name for path in (tuned / "recipe/profile").iterdir()] == ["@#src#backend#1.gcda"]
    configured, made = project.steps(recipe)
    assert "CC=gcc" in configured and "-O2 -flto=auto -fprofile-use=PROFILE" in made


@pytest.mark.slow
def test_a_profile_is_kept_for_recipes_that_it_fits(project, executor):
    shutil.rmtree(project.place / "profiles", ignore_errors=True)
    compilations = []
    for flags in (("-O2",), ("-O2", "-fgcse-sm"), ("-O2", "-finline-functions"), ("-O2", "-O3")):
        _build(project, Recipe("gcc", flags, profile=True), executor)
        backend = [line for line in _log(project) if line.startswith("src/backend")]
        compilations.append(
            [("train" if "-generate=" in line else "use" if "-use=" in line else line.split()[1])
             for line in backend]
        )  # fmt: skip
    trained = ["train", "clean", "use"]
    # Tried with what is kept, which the compiler refuses.
    refused = ["use", "clean"]
    assert compilations == [trained, ["use"], refused + trained, trained]


BOLT = """#!/bin/sh
echo "$*" >>{log}
case "$*" in
(*skip-funcs=*odd.\\**) ;;
(*) echo 'BOLT-ERROR: unable to get new address corresponding to input address 0x1 in function'\\
	'odd.lto_priv.0/1(*2). Consider adding this function to --skip-funcs=...'; exit 1;;
esac
input=$1
while [ $# != 0 ]; do
	case $1 in (-o) output=$2;; (-instrumentation-file=*) touch "${{1#*=}}.123";; esac
	shift
done
cp $input $output
"""


@pytest.fixture
def bolt(tmp_path, monkeypatch):
    """A BOLT that moves nothing, and one function of which it cannot."""
    log = tmp_path / "log"
    for name, text in (("llvm-bolt", BOLT.format(log=log)),
                       ("merge-fdata", '#!/bin/sh\ncp "$3" "$2"\n')):  # fmt: skip
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(postgresql, "find_bolt", lambda: str(tmp_path / "llvm-bolt"))
    return log


def test_bolt_lays_out_what_it_can_move(project, executor, bolt):
    recipe = Recipe("gcc", ("-O2",), layout=True)
    result = _build(project, recipe, executor)
    made = next(line for line in _log(project) if line.startswith("src/backend all"))
    assert "-Wl,--emit-relocs -fno-reorder-blocks-and-partition" in made
    # Clang does not know the second.
    clang = project.steps(Recipe("clang", ("-O2",), layout=True))
    assert "--emit-relocs" in clang[1] and "partition" not in clang[1]
    asked = bolt.read_text().splitlines()
    # Refused once; the second time, and to lay it out, without the function that is not moved.
    assert ["-instrument" in line for line in asked] == [True, True, False]
    assert ["odd" in line for line in asked] == [False, True, True]
    assert all("ExecInterpExpr" in line for line in asked)
    assert (result / "recipe/bolt.fdata").exists()
    assert (result / "bin/postgres").read_bytes() == (project.base / "bin/postgres").read_bytes()
    assert "-data=bolt.fdata" in project.steps(recipe)[-1]


def test_a_bolt_that_fails_is_infeasible(project, executor, bolt):
    (bolt.parent / "llvm-bolt").write_text("#!/bin/sh\necho BOLT-ERROR: broken; exit 1\n")
    with pytest.raises(Infeasible, match="BOLT-ERROR: broken"):
        _build(project, Recipe("gcc", ("-O2",), layout=True), executor)


def test_the_baseline_is_built_once(project, executor):
    result = _build(project, project.baseline("gcc"), executor)
    assert _log(project) == []
    assert (result / "bin/postgres").read_bytes() == (
        project.base / "bin/postgres"
    ).read_bytes()  # fmt: skip


def test_the_base_has_what_the_gate_runs(project, executor, monkeypatch):
    place = project.place / "other"
    other = PostgreSQL(project.source, project.workload, place, "gcc", 1, ())
    monkeypatch.setattr(other, "_make_cluster", lambda: None)
    place.mkdir()
    other.prepare(executor)
    assert other.tests.is_dir()
    assert (other.base / "lib/pgxs/src/test/perl/PostgreSQL").is_dir()
    assert sorted(path.name for path in place.iterdir()) == ["base", "build.log"]
    # Extensions are compiled with what configure was told: as for the distribution's server.
    told = [line for line in _log(project) if line.startswith("configure")][-1]
    assert f"CFLAGS={' '.join(DEBIAN_FLAGS)}" in told


def test_the_package_to_compare_with_is_of_the_same_version_and_private(project, monkeypatch):
    home = Installation.find().bin_directory
    monkeypatch.setattr(postgresql, "fetched_package", lambda version: f"archive's {version}")

    def found():
        vars(project).pop("distribution", None)
        return project.distribution

    assert found() == home
    # The system's own would get extensions installed.
    monkeypatch.setenv("PG_BIN", str(Path("/").joinpath(*home.parts[-5:])))
    assert found() == f"archive's {project.version}"
    monkeypatch.delenv("PG_BIN")
    monkeypatch.setattr(project, "version", "15.0")
    assert found() == "archive's 15.0"


def test_packages_come_from_the_archive_once(tmp_path, monkeypatch):
    """apt and dpkg of our own, whose archive has 15.18 in two revisions."""
    state, tools = tmp_path / "state", tmp_path / "tools"
    state.mkdir()
    tools.mkdir()
    asked = tools / "asked"
    for name, does in (
        ("apt-cache", "printf 'p | 15.1-2 | a\\np | 15.18-1 | b\\np | 15.18-0 | c\\n'"),
        ("apt-get", f'echo "$@" >> {asked}; for p in server client; do : > $p.deb; done'),
        ("dpkg-deb", 'mkdir -p "$3/usr/lib/postgresql/15/bin"'),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{does}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("PENUMBRA_STATE", str(state))
    programs = state / "package-15.18/usr/lib/postgresql/15/bin"
    assert fetched_package("15.18") == fetched_package("15.18") == programs
    assert programs.is_dir()
    lines = asked.read_text().splitlines()
    assert len(lines) == 1
    assert lines[0].split()[-3:] == [
        f"postgresql{part}-15=15.18-1" for part in ("", "-client", "-server-dev")
    ]  # fmt: skip
    assert fetched_package("15.8") is None
    # An archive that does not answer leaves nothing behind.
    (tools / "apt-get").write_text("#!/bin/sh\nexit 100\n")
    assert fetched_package("15.1") is None
    assert [path.name for path in state.iterdir()] == ["package-15.18"]


def test_training_is_counted_in_transactions(project, executor, monkeypatch):
    asked = []
    monkeypatch.setattr(postgresql, "_client", lambda server, executor, command: asked.append(
        (command[command.index("-b") + 1], "-T" in command, command[command.index("-t") + 1])
    ))  # fmt: skip
    directory = project.place / "training"
    project._train(project.base / "bin/postgres", directory, executor)
    assert asked == [("select-only", False, "20000"), ("tpcb-like", False, "1000")]
    assert not directory.exists()


def test_a_server_that_does_not_compile_or_start_is_infeasible(project, executor):
    with pytest.raises(Infeasible, match="no web"):
        _build(project, Recipe("gcc", ("-O2", "-fweb")), executor)
    result = _build(project, Recipe("gcc", ("-O2", "-ftracer")), executor)
    with pytest.raises(Infeasible, match="did not start"):
        project.measure(result, executor)


@pytest.fixture
def tests(project, tmp_path, monkeypatch):
    """A suite of one test, which is PostgreSQL's way to run a thousand."""
    directory = state_directory() / "test-tune-regress"
    files = {
        "sql/one.sql": "SELECT 1 AS one;\n",
        "parallel_schedule": "test: one\n",
        "expected/one.out": "SELECT 1 AS one;\n one \n-----\n   1\n(1 row)\n\n",
    }
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    monkeypatch.setattr(PostgreSQL, "tests", directory)
    yield directory
    shutil.rmtree(directory)


@pytest.mark.slow
def test_a_finalist_is_checked_and_installed_beside_the_system(project, tests, executor):
    build = _build(project, Recipe("gcc", ("-O2", "-O3")), executor)
    prefix = project.place / "tuned"
    project.check(project.finish(build, prefix), executor)
    assert "All 1 tests passed" in (project.place / "check.log").read_text()
    # What was measured is what is installed.
    assert (prefix / "bin/postgres").read_bytes() == (build / "bin/postgres").read_bytes()
    assert not list(project.place.glob("checking"))
    (project.place / "recipe.json").write_text("{}")
    package = debian_package(project, prefix, project.place)
    listed = subprocess.run(["dpkg-deb", "--contents", str(package)], capture_output=True,
                            text=True, check=True).stdout  # fmt: skip
    major = project.version.partition(".")[0]
    assert f"./opt/postgresql-tuned-{major}/bin/postgres" in listed
    assert "./usr/" not in listed
    control = subprocess.run(["dpkg-deb", "--field", str(package), "Depends"], capture_output=True,
                             text=True, check=True).stdout  # fmt: skip
    assert "libc6" in control
    unpacked = project.place / "unpacked"
    subprocess.run(["dpkg-deb", "--extract", str(package), str(unpacked)], check=True)
    server = unpacked / f"opt/postgresql-tuned-{major}/bin/postgres"
    assert server.read_bytes() == (build / "bin/postgres").read_bytes()


@pytest.mark.slow
def test_a_finalist_that_fails_a_test_is_refused(project, tests, executor):
    (tests / "expected/one.out").write_text("2\n")
    build = _build(project, Recipe("gcc", ("-O2", "-O3")), executor)
    with pytest.raises(Infeasible, match="1 of 1 tests failed"):
        project.check(project.finish(build, project.place / "tuned"), executor)


def test_what_was_changed_is_another_project(project, tmp_path):
    script = tmp_path / "own.sql"
    script.write_text("SELECT 1;\n")
    identities = {project.identity}
    for workload in (WORKLOADS["tpcb"], type(WORKLOADS["tpcb"])("own", script=script)):
        identities.add(PostgreSQL(project.source, workload, tmp_path, "gcc", 1, ()).identity)
    assert len(identities) == 3
    with pytest.raises(LabError, match="no source tree"):
        PostgreSQL(tmp_path, WORKLOADS["tpcb"], tmp_path, "gcc", 1, ())
