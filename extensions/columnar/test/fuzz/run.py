"""The libFuzzer harnesses of saved headers and of forms of numbers (test/fuzzing.py)."""

import sys
from pathlib import Path

from penumbra_lab.server import Installation

TREE = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(TREE / "test"))

import fuzzing  # noqa: E402

EXTENSION = TREE / "extensions/columnar"


def build_all() -> list[str]:
    installation = Installation.find()
    folders = [installation.config("includedir-server"), EXTENSION / "src", TREE / "common",
               TREE / "engine/include"]  # fmt: skip
    sources = {
        "header": [EXTENSION / "src/cache/disk/disk_header.c"],
        "form": [EXTENSION / "src/cache/image_form.c"],
    }
    libraries = [installation.library_directory / "libpgport.a"]
    includes = [f"-I{folder}" for folder in folders]
    options = ["-fno-sanitize-recover=all", "-D_GNU_SOURCE"]
    for name, files in sources.items():
        harness = EXTENSION / f"test/fuzz/{name}_fuzz.c"
        fuzzing.build(name, "address,undefined", [*options, *includes, harness, *files, *libraries])
    return list(sources)


if __name__ == "__main__":
    sys.exit(fuzzing.main(__doc__, build_all))
