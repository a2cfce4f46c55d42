"""Writes golden/expr_cases.tsv and golden/aggregate_cases.tsv anew, with this machine's PostgreSQL: `make goldens`.

One server cannot know what other versions answer: where it and the file disagree on the same call of the same values,
versions disagree, and the result becomes ~, as it stays what it was ~ before.
"""

import subprocess
import sys
from pathlib import Path

from penumbra_lab.server import PrivateServer
from penumbra_lab.state import state_directory

TEST = Path(__file__).resolve().parent
# The file, what prints its SQL, and which field of a line is the result.
GOLDENS = [("expr_cases", 3), ("aggregate_cases", 3)]


def merged(old: list[str], new: list[str], result: int) -> tuple[list[str], int]:
    """The new lines, and how many results the old ones contradict."""

    def split(line: str) -> tuple[tuple[str, ...], str]:
        fields = line.split("\t")
        return (*fields[:result], *fields[result + 1 :]), fields[result]

    known = dict(split(line) for line in old if not line.startswith("zone "))
    lines, contradicted = [], 0
    for line in new:
        if not line.startswith("zone "):
            call, answer = split(line)
            if known.get(call, answer) != answer:
                contradicted += known[call] != "~"
                line = "\t".join((*call[:result], "~", *call[result:]))
        lines.append(line)
    return lines, contradicted


def main() -> None:
    server = PrivateServer(
        state_directory() / "goldens", {"fsync": "off"}, initdb_options=("--encoding=UTF8", "--no-locale")
    )
    server.remove()
    try:
        with server:
            for name, result in GOLDENS:
                path = TEST / "golden" / f"{name}.tsv"
                sql = subprocess.run([sys.executable, TEST / f"{name}.py"], check=True, capture_output=True).stdout
                answers = subprocess.run(
                    [server.installation.program("psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", server.conninfo()],
                    input=sql, check=True, stdout=subprocess.PIPE,
                ).stdout.decode()  # fmt: skip
                old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
                lines, contradicted = merged(old, answers.splitlines(), result)
                path.write_text("\n".join(lines) + "\n", encoding="utf-8")
                print(f"{path.name}: {len(lines)} lines, {len(old)} before; {contradicted} results are now ~")
    finally:
        server.remove()


main()
