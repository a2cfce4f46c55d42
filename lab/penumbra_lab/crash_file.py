"""Crash files of penumbra_backtrace, and penumbra-symbolize, which reads their stacks."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.server import Installation

FIRST_LINE = "penumbra crash 1"
# In the data directory, unless penumbra_backtrace.crash_directory says otherwise.
DIRECTORY_NAME = "pg_crash"
# Never in a bug report unless asked for: what users typed, who they are, what they worked on.
PRIVATE_FACTS = frozenset({"database", "user", "query"})

FRAME = re.compile(
    r"#\d+ 0x(?P<pc>[0-9a-f]+) (?P<function>.+?)"
    r"(?: at (?P<position>\S.*:\d+)| in (?P<module>\S.*\+0x[0-9a-f]+) \[(?P<build_id>[0-9a-f]+|-)\]"
    r"(?: \((?P<problem>[^()]+)\))?)(?P<inlined> \(inlined\))?"
)


@dataclass(frozen=True)
class Frame:
    text: str  # the line as it was
    function: str | None
    position: str | None  # FILE:LINE
    module: str | None  # PATH+0xOFFSET, where there is no line
    build_id: str | None
    problem: str | None
    inlined: bool

    @staticmethod
    def parse(line: str) -> "Frame":
        match = FRAME.fullmatch(line)
        if match is None:
            return Frame(line, None, None, None, None, None, False)
        function = None if match["function"] == "??" else match["function"]
        return Frame(line, function, match["position"], match["module"], match["build_id"],
                     match["problem"], match["inlined"] is not None)  # fmt: skip


@dataclass(frozen=True)
class CrashFile:
    path: Path
    facts: dict[str, str]
    registers: dict[str, str]
    modules: tuple[tuple[str, str], ...]  # path and build-id
    raw_frames: int

    @staticmethod
    def read(path: Path) -> "CrashFile":
        try:
            lines = path.read_text(encoding="ascii", errors="replace").splitlines()
        except OSError as error:
            raise LabError(f"{path}: {error.strerror}") from error
        if not lines or lines[0] != FIRST_LINE:
            raise LabError(f"{path} is not a crash file: it does not begin with '{FIRST_LINE}'")
        facts, registers, modules, raw_frames, section = {}, {}, [], 0, ""
        for line in lines[1:]:
            if line.startswith("[") and line.endswith("]"):
                section = line
            elif not section and ": " in line:
                key, value = line.split(": ", 1)
                facts[key] = value
            elif section == "[registers]" and " " in line:
                name, value = line.split(" ", 1)
                registers[name] = value
            elif section == "[stack]" and line.startswith("module "):
                words = line.split(" ", 4)
                if len(words) == 5:
                    modules.append((words[4], words[3]))
            elif section == "[stack]" and line.startswith("frame "):
                raw_frames += 1
        return CrashFile(path, facts, registers, tuple(modules), raw_frames)

    @property
    def signal(self) -> str:
        return self.facts.get("signal", "?")

    @property
    def process(self) -> str:
        return f"{self.facts.get('process_type', 'server process')} {self.facts.get('pid', '?')}"

    def frames(self, symbolizer: "Symbolizer | None") -> list[Frame]:
        """By the symboliser and by the report beside the file, whichever knows more lines."""
        texts = []
        if symbolizer is not None:
            texts.append(symbolizer.report(self.path))
        report = self.path.with_suffix(".report")
        if report.is_file():
            texts.append(report.read_text(encoding="ascii", errors="replace"))
        stacks = [
            [Frame.parse(line) for line in re.findall(r"^#\d+ .*$", text, re.M)] for text in texts
        ]
        return max(
            stacks, key=lambda frames: sum(f.position is not None for f in frames), default=[]
        )


class Symbolizer:
    """The executable penumbra-symbolize with its options."""

    def __init__(self, path: Path | None, debug_directories: tuple[Path, ...], debuginfod: bool):
        self._command = [str(path or Symbolizer.find())]
        for directory in debug_directories:
            self._command += ["--debug-dir", str(directory)]
        if debuginfod:
            self._command.append("--debuginfod")

    @staticmethod
    def find() -> Path:
        """Of the private installation, on the PATH, or of the newest PostgreSQL of this machine."""
        name = "penumbra-symbolize"
        try:
            candidates = [Installation.find().bin_directory / name]
        except LabError:
            candidates = []
        on_path = shutil.which(name)
        if on_path:
            candidates.append(Path(on_path))
        installed = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
        candidates += sorted(installed, key=lambda path: int(path.parts[-3]), reverse=True)
        for candidate in candidates:
            if candidate.is_file():
                return candidate
        raise LabError(
            f"{name} is not installed here: run `make install`, or name it with --symbolizer"
        )

    def report(self, path: Path) -> str:
        try:
            done = subprocess.run(
                [*self._command, str(path)], capture_output=True, text=True, errors="replace"
            )
        except OSError as error:
            raise LabError(f"{self._command[0]}: {error.strerror}") from error
        if done.returncode != 0:
            raise LabError(done.stderr.strip() or f"{self._command[0]} failed")
        return done.stdout


def find_crash_files(directory: Path) -> list[Path]:
    """Of a directory of crash files or a data directory; the newest first."""
    if not directory.is_dir():
        raise LabError(f"{directory} is not a directory")
    if (directory / "PG_VERSION").exists():
        directory = directory / DIRECTORY_NAME
    try:
        found = [
            path
            for path in directory.iterdir()
            if re.fullmatch(r"pg_crash_\d+_\d+\.txt", path.name)
        ]
    except OSError as error:
        raise LabError(f"{directory}: {error.strerror}") from error
    return sorted(found, key=lambda path: (int(path.stem.split("_")[3]), path.name), reverse=True)
