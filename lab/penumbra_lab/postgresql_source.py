"""PostgreSQL's source of the installed major version, and its packages, from Debian's archive."""

import os
import shutil
import subprocess
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.state import state_directory

IN_EXPERIMENTAL = 19  # which no Debian release has yet


def _run(command: list[str], directory: Path) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=directory, capture_output=True, text=True)


def _apt_options(directory: Path, major: int) -> list[str]:
    """apt with a source list and state of its own: nothing of the system's is changed."""
    codename = next(
        line.partition("=")[2].strip().strip('"')
        for line in Path("/etc/os-release").read_text().splitlines()
        if line.startswith("VERSION_CODENAME=")
    )
    mirror = "http://deb.debian.org"
    (directory / "lists/partial").mkdir(parents=True, exist_ok=True)
    (directory / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
    sources = directory / "sources.list"
    sources.write_text(
        f"deb-src {mirror}/debian {codename} main\n"
        + (
            f"deb-src {mirror}/debian-security {codename}-security main\n"
            if codename != "sid"
            else ""
        )
        + (f"deb-src {mirror}/debian experimental main\n" if major == IN_EXPERIMENTAL else "")
    )
    return [
        "-o", f"Dir::Etc::SourceList={sources}", "-o", "Dir::Etc::SourceParts=/dev/null",
        "-o", f"Dir::State::Lists={directory / 'lists'}", "-o", f"Dir::Cache={directory / 'cache'}",
        "-o", "APT::Sandbox::User=root",
    ]  # fmt: skip


def _versions(options: list[str], package: str, directory: Path) -> list[str]:
    """The installed version first, then the newest that the archive has."""
    installed = _run(
        ["dpkg-query", "-W", "-f", "${source:Version}", package], directory
    ).stdout.strip()
    shown = _run(["apt-cache", *options, "showsrc", package], directory).stdout
    known = [line.split()[1] for line in shown.splitlines() if line.startswith("Version:")]
    return [v for v in (installed, *sorted(set(known) - {installed}, reverse=True)) if v in known]


def source_tree(major: int) -> Path:
    """All of the source, fetched on first use and unpacked as .penumbra/source-15/postgresql."""
    place = state_directory() / f"source-{major}"
    finished = place / "postgresql"
    if finished.exists():
        return finished
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    package = f"postgresql-{major}"
    options = _apt_options(place, major)
    updated = _run(["apt-get", *options, "update"], place)
    messages = [updated.stderr.strip()]
    for version in _versions(options, package, place):
        fetched = _run(
            ["apt-get", *options, "--download-only", "source", f"{package}={version}"], place
        )
        archives = sorted(place.glob(f"{package}_*.orig.tar.*"))
        if fetched.returncode == 0 and archives:
            _unpack(archives[-1], finished)
            for path in (*archives, *place.glob("*.dsc"), *place.glob("*.debian.tar.*")):
                path.unlink()
            shutil.rmtree(place / "lists", ignore_errors=True)
            return finished
        messages.append(fetched.stderr.strip()[-300:])
    raise LabError(f"the source of {package} cannot be fetched: {' '.join(messages)}")


def fetched_package(version: str) -> Path | None:
    """The programs of the distribution's packages of this version (15.18), fetched on first use
    and unpacked as .penumbra/package-<version>; None where the archive has no such package."""
    major = version.partition(".")[0]
    place = state_directory() / f"package-{version}"
    programs = place / f"usr/lib/postgresql/{major}/bin"
    if programs.exists():
        return programs
    if not shutil.which("apt-cache"):
        return None
    # Lines "package | version | where".
    listed = _run(["apt-cache", "madison", f"postgresql-{major}"], state_directory()).stdout
    known = [line.split("|")[1].strip() for line in listed.splitlines() if line.count("|") == 2]
    wanted = next((found for found in known if found.startswith(f"{version}-")), None)
    if wanted is None:
        return None
    part = place.with_name(f"{place.name}-part")
    archives = part / "archives"
    shutil.rmtree(part, ignore_errors=True)
    archives.mkdir(parents=True)
    names = [f"postgresql-{kind}{major}={wanted}" for kind in ("", "client-", "server-dev-")]
    done = [_run(["apt-get", "-o", "APT::Sandbox::User=root", "download", *names], archives)]
    done += [_run(["dpkg-deb", "-x", str(archive), str(part)], part)
             for archive in sorted(archives.glob("*.deb"))]  # fmt: skip
    if any(run.returncode != 0 for run in done):
        shutil.rmtree(part)
        return None
    shutil.rmtree(archives)
    part.rename(place)
    return programs


def _unpack(archive: Path, finished: Path) -> None:
    """Readable by everybody, and there only when all of it is."""
    part = finished.with_name("unpacking")
    part.mkdir()
    done = _run(["tar", "xf", str(archive), "--strip-components=1"], part)
    if done.returncode != 0:
        raise LabError(f"{archive}: {done.stderr.strip()}")
    for path in (part, *part.rglob("*")):
        if not path.is_symlink():
            os.chmod(path, path.stat().st_mode | (0o755 if path.is_dir() else 0o644))
    part.rename(finished)
