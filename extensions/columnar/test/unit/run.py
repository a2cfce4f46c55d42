"""Builds the tests that need no server, and runs them: files of the disk cache, limits on memory.

AddressSanitizer and UndefinedBehaviorSanitizer watch. Each test prints its line.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from penumbra_lab.server import Installation

TREE = Path(__file__).resolve().parents[4]
EXTENSION = TREE / "extensions/columnar"
UNIT = EXTENSION / "test/unit"
BUILD = TREE / "build"
SOURCES = {
    "disk_file_test": ["cache/disk/disk_file.c", "cache/disk/disk_pack.c"],
    "machine_test": ["cache/policy/machine.c"],
}
WRAPPED = ("pread", "pwrite", "openat", "unlinkat", "renameat", "syscall")
OPTIONS = ["-g", "-O1", "-D_GNU_SOURCE", "-Wall", "-Werror", "-fsanitize=address,undefined",
           "-fno-sanitize-recover"]  # fmt: skip


def main() -> int:
    server = Installation.find().config("includedir-server")
    BUILD.mkdir(exist_ok=True)
    includes = [f"-I{folder}" for folder in (server, EXTENSION / "src", UNIT, TREE / "common")]
    wrapped = [f"-Wl,--wrap={name}" for name in WRAPPED]
    failed = 0
    for name, sources in SOURCES.items():
        files = [
            UNIT / f"{name}.c",
            UNIT / "server_stubs.c",
            *(EXTENSION / "src" / s for s in sources),
        ]
        options = [*OPTIONS, *includes, *files, *wrapped, "-lxxhash", "-llz4"]
        subprocess.run(["gcc", *options, "-o", BUILD / name], check=True)
        # not in memory, which has no direct I/O
        with tempfile.TemporaryDirectory(dir=BUILD) as directory:
            # what is palloc'd would go with its memory context
            environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
            failed |= subprocess.run([BUILD / name], cwd=directory, env=environment).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
