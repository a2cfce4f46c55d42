"""A Debian package of an accepted PostgreSQL, beside the system's own."""

import shutil
import subprocess
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.tune.postgresql import PostgreSQL

# Programs find their files from where they are, so the installation may be moved as a whole.
HOME = "opt/postgresql-tuned-{major}"
CONTROL = """Package: postgresql-tuned-{major}
Version: {version}-1
Architecture: {architecture}
Maintainer: {maintainer}
Section: database
Priority: optional
Depends: {depends}
Description: PostgreSQL {major}, compiled for one workload on one machine
 In /{home}, beside the distribution's packages, whose files it does not touch. How it
 was compiled is told in /{home}/recipe.json.
"""


def debian_package(project: PostgreSQL, prefix: Path, place: Path,
                   maintainer: str = "nobody <nobody@localhost>") -> Path:  # fmt: skip
    for program, package in (("dpkg-deb", "dpkg"), ("dpkg-shlibdeps", "dpkg-dev")):
        if not shutil.which(program):
            raise LabError(f"{program} is missing: install the package {package}")
    major = project.version.partition(".")[0]
    home = HOME.format(major=major)
    root = place / "package"
    shutil.rmtree(root, ignore_errors=True)
    (root / "DEBIAN").mkdir(parents=True)
    shutil.copytree(prefix, root / home, symlinks=True)
    shutil.copy2(place / "recipe.json", root / home)
    binaries = [path for path in (root / home / "bin").iterdir() if not path.is_symlink()]
    for path in binaries:
        # Backtraces need the server's symbols; and strip destroys what BOLT has laid out.
        if path.name != "postgres":
            subprocess.run(["strip", "--strip-unneeded", str(path)], capture_output=True)
    architecture = _output(["dpkg", "--print-architecture"], place).strip()
    (root / "DEBIAN/control").write_text(CONTROL.format(
        major=major, version=project.version, architecture=architecture, home=home,
        maintainer=maintainer, depends=_dependencies(binaries, place),
    ))  # fmt: skip
    result = place / f"postgresql-tuned-{major}_{project.version}-1_{architecture}.deb"
    _output(["dpkg-deb", "--root-owner-group", "--build", str(root), str(result)], place)
    shutil.rmtree(root)
    return result


def _dependencies(binaries: list[Path], place: Path) -> str:
    """The packages of the libraries; dpkg-shlibdeps wants to stand in a source package."""
    source = place / "package-source"
    (source / "debian").mkdir(parents=True, exist_ok=True)
    (source / "debian/control").write_text(
        "Source: postgresql-tuned\n\nPackage: postgresql-tuned\nArchitecture: any\n"
    )
    # Clients use the distribution's libpq: a path in the program would not survive the move.
    found = _output(["dpkg-shlibdeps", "-O", "--ignore-missing-info",
                     *(f"-e{path}" for path in binaries)], source)  # fmt: skip
    shutil.rmtree(source)
    return found.partition("=")[2].strip() or "libc6"


def _output(command: list[str], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"{command[0]} failed: {done.stderr.strip()[-300:]}")
    return done.stdout
