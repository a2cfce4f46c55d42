"""Builds the tests of the disk cache's files and runs them, without a server.

AddressSanitizer and UndefinedBehaviorSanitizer watch. Each test prints its line.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[4]
EXTENSION = TREE / "extensions/columnar"
UNIT = EXTENSION / "test/unit"
PROGRAM = TREE / "build/disk_file_test"
DISK = EXTENSION / "src/cache/disk"
SOURCES = [UNIT / "disk_file_test.c", UNIT / "server_stubs.c",
           DISK / "disk_file.c", DISK / "disk_pack.c"]  # fmt: skip
WRAPPED = ("pread", "pwrite", "openat", "unlinkat", "renameat", "syscall")
OPTIONS = ["-g", "-O1", "-D_GNU_SOURCE", "-Wall", "-Werror", "-fsanitize=address,undefined",
           "-fno-sanitize-recover"]  # fmt: skip


def main() -> int:
    pg_major = os.environ.get("PG_MAJOR")
    program = f"/usr/lib/postgresql/{pg_major}/bin/pg_config" if pg_major else "pg_config"
    server = subprocess.run(
        [program, "--includedir-server"], capture_output=True, text=True, check=True
    ).stdout.strip()
    PROGRAM.parent.mkdir(exist_ok=True)
    includes = [f"-I{folder}" for folder in (server, EXTENSION / "src", UNIT, TREE / "common")]
    wrapped = [f"-Wl,--wrap={name}" for name in WRAPPED]
    command = ["gcc", *OPTIONS, *includes, *SOURCES, *wrapped, "-lxxhash", "-llz4", "-o", PROGRAM]
    subprocess.run(command, check=True)
    # not in memory, which has no direct I/O
    with tempfile.TemporaryDirectory(dir=PROGRAM.parent) as directory:
        # what is palloc'd would go with its memory context
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
        return subprocess.run([PROGRAM], cwd=directory, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
