"""libFuzzer harnesses of the methods' callbacks, and of the reading of values (test/fuzzing.py).

The libraries of the methods are the distribution's, not instrumented: the buffers that they are
given are watched, and their branches do not guide the fuzzer.
"""

import sys
from pathlib import Path

from penumbra_lab.server import Installation

TREE = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(TREE / "test"))

import fuzzing  # noqa: E402

EXTENSION = TREE / "extensions/compress"
FUZZ = EXTENSION / "test/fuzz"
# The file of each method
CODECS = {"pglz": "pglz", "lz4": "lz4", "zlib": "deflate", "gzip": "deflate", "zstd": "zstd",
          "snappy": "snappy", "brotli": "brotli"}  # fmt: skip
LIBRARIES = ["-lzstd", "-llz4", "-ldeflate", "-lz", "-lsnappy", "-lbrotlienc", "-lbrotlidec",
             "-lxxhash"]  # fmt: skip


def build(name: str, sources: list[Path], *options: str) -> None:
    installation = Installation.find()
    folders = [installation.config("includedir-server"), EXTENSION / "include", EXTENSION / "src",
               FUZZ, TREE / "common"]  # fmt: skip
    pglz = installation.library_directory / "libpgcommon.a"
    includes = [f"-I{folder}" for folder in folders]
    stubs = FUZZ / "server_stubs.c"
    fuzzing.build(name, "address", [*options, *includes, stubs, *sources, pglz, *LIBRARIES])


def build_all() -> list[str]:
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


if __name__ == "__main__":
    sys.exit(fuzzing.main(__doc__, build_all))
