"""Builds the libFuzzer harnesses with clang under AddressSanitizer, and runs each.

Without options every run tries the same inputs, so that a change is judged by itself; with
--seconds each harness searches on from a seed of its own.

The libraries of the methods are the distribution's, not instrumented: the buffers that they are
given are watched, and their branches do not guide the fuzzer. Inputs that a search found new are
kept in build/fuzz/corpus-* for the next one; one that fails is left in build/fuzz and named.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from penumbra_lab.server import Installation

TREE = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(TREE / "test"))

from named_checks import run_checks  # noqa: E402

EXTENSION = TREE / "extensions/compress"
FUZZ = EXTENSION / "test/fuzz"
BUILD = TREE / "build/fuzz"
# The file of each method
CODECS = {"pglz": "pglz", "lz4": "lz4", "zlib": "deflate", "gzip": "deflate", "zstd": "zstd",
          "snappy": "snappy", "brotli": "brotli"}  # fmt: skip
LIBRARIES = ["-lzstd", "-llz4", "-ldeflate", "-lz", "-lsnappy", "-lbrotlienc", "-lbrotlidec",
             "-lxxhash"]  # fmt: skip
INPUTS = 10000
CLANG = ["clang", "-g", "-O1", "-fsanitize=fuzzer,address", "-Wall", "-Wno-ignored-attributes"]


def build(name: str, sources: list[Path], *options: str) -> None:
    installation = Installation.find()
    folders = [installation.config("includedir-server"), EXTENSION / "include", EXTENSION / "src",
               FUZZ, TREE / "common"]  # fmt: skip
    pglz = installation.library_directory / "libpgcommon.a"
    includes = [f"-I{folder}" for folder in folders]
    program = BUILD / f"fuzz-{name}"
    command = [*CLANG, *options, *includes, FUZZ / "server_stubs.c", *sources, "-o", program, pglz]
    subprocess.run([*command, *LIBRARIES], check=True)


def build_all() -> list[str]:
    BUILD.mkdir(parents=True, exist_ok=True)
    source = EXTENSION / "src"
    for method, codec in CODECS.items():
        sources = [FUZZ / "codec_fuzz.c", source / f"codec_{codec}.c"]
        build(method, sources, f"-DROUTINE={method}_routine")
    codecs = [source / f"codec_{codec}.c" for codec in sorted(set(CODECS.values()))]
    parts = [
        source / f"{part}.c" for part in ("builtin_methods", "value", "compress", "decompress")
    ]
    build("value", [FUZZ / "value_fuzz.c", *codecs, *parts])
    return [*CODECS, "value"]


def failures(name: str, seconds: int | None) -> list[str]:
    if seconds is None:
        search = [f"-runs={INPUTS}", "-seed=1"]
    else:
        corpus = BUILD / f"corpus-{name}"
        corpus.mkdir(exist_ok=True)
        search = [f"-max_total_time={seconds}", corpus]
    done = subprocess.run(
        [BUILD / f"fuzz-{name}", *search, "-max_len=4096", "-timeout=20", "-rss_limit_mb=2048",
         "-print_final_stats=1", f"-artifact_prefix={BUILD}/{name}-"],
        capture_output=True, text=True, errors="replace", cwd=BUILD,
    )  # fmt: skip
    lines = done.stderr.splitlines()
    inputs = [line.split()[-1] for line in lines if "number_of_executed_units" in line]
    print(f"  {name}: {inputs[0] if inputs else 'no'} inputs")
    return [] if done.returncode == 0 and inputs and int(inputs[0]) > 0 else lines[-60:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, help="search for so long with each harness")
    seconds = parser.parse_args().seconds
    return run_checks({
        f"no input breaks {name}": lambda name=name: failures(name, seconds) for name in build_all()
    })  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
