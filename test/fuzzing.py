"""What the suites of libFuzzer harnesses share: programs built with clang under sanitizers, and their runs.

Without `seconds` every run tries the same inputs, so that a change is judged by itself; with `seconds` a harness
searches on from a seed of its own. Inputs that a search found new are kept in build/fuzz/corpus-* for the next one; one
that fails is left in build/fuzz and named.
"""

import argparse
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from named_checks import run_checks

BUILD = Path(__file__).resolve().parents[1] / "build/fuzz"
INPUTS = 10000
CLANG = ["clang", "-g", "-O1", "-Wall", "-Wno-ignored-attributes"]


def build(name: str, sanitizers: str, arguments: Sequence[str | Path]) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run([*CLANG, f"-fsanitize=fuzzer,{sanitizers}", *arguments, "-o", BUILD / f"fuzz-{name}"], check=True)


def _failures(name: str, seconds: int | None, bytes_max: int) -> list[str]:
    if seconds is None:
        search = [f"-runs={INPUTS}", "-seed=1"]
    else:
        corpus = BUILD / f"corpus-{name}"
        corpus.mkdir(exist_ok=True)
        search = [f"-max_total_time={seconds}", corpus]
    done = subprocess.run(
        [BUILD / f"fuzz-{name}", *search, f"-max_len={bytes_max}", "-timeout=20", "-rss_limit_mb=2048",
         "-print_final_stats=1", f"-artifact_prefix={BUILD}/{name}-"],
        capture_output=True, text=True, errors="replace", cwd=BUILD,
    )  # fmt: skip
    lines = done.stderr.splitlines()
    inputs = [line.split()[-1] for line in lines if "number_of_executed_units" in line]
    print(f"  {name}: {inputs[0] if inputs else 'no'} inputs")
    return [] if done.returncode == 0 and inputs and int(inputs[0]) > 0 else lines[-60:]


def main(description: str | None, build_all: Callable[[], list[str]], bytes_max: int = 4096) -> int:
    """build_all() returns the names of the harnesses."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=int, help="search for so long with each harness")
    seconds = parser.parse_args().seconds
    return run_checks({
        f"no input breaks {name}": lambda name=name: _failures(name, seconds, bytes_max) for name in build_all()
    })  # fmt: skip
