"""Every command is found, and those that can work without a missing package do."""

import subprocess
import sys

from penumbra_lab.cli import COMMANDS, commands


def test_every_command_is_found():
    assert [commands.get_command(None, name).name for name in COMMANDS] == list(COMMANDS)


def without_duckdb(*arguments: str) -> subprocess.CompletedProcess:
    script = "import sys; sys.modules['duckdb'] = None; from penumbra_lab import cli; cli.main()"
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_missing_package_is_one_sentence():
    for arguments in (["bench", "tpch", "--scale", "1"], ["demo", "--help"]):
        done = without_duckdb(*arguments)
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
        assert f"{arguments[0]} needs the Python package duckdb" in done.stderr
    listed = without_duckdb("--help")
    assert listed.returncode == 0 and all(f"  {name} " in listed.stdout for name in COMMANDS)
    assert without_duckdb("environment").returncode == 0
