"""PostgreSQL's tests of numeric with penumbra_numeric in its place.

In one server, the tests run in three databases: as they are, with the operators taken over by search_path
(enable('database')), and with plans rewritten. Plans aside, each output must be the same.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from output import output_difference
from penumbra_lab.errors import LabError
from penumbra_lab.server import (
    Installation,
    PrivateServer,
    give_to_server_user,
    server_user,
    terminate_like_interrupt,
)
from penumbra_lab.state import state_directory
from run import build_library
from source import source_tree

TESTS = ("test_setup", "numeric", "numeric_big", "aggregates", "window", "create_aggregate", "groupingsets", "merge",
         "update", "with")  # fmt: skip
# The tests' tables come from test_setup; what later tests read of others' is missing on all sides alike.
TAKE_OVER = {
    "stock": (),
    "search_path": ("SELECT penumbra_numeric.enable('database')",),
    "rewrite": (
        "ALTER DATABASE {} SET session_preload_libraries = 'penumbra_numeric'",
        "ALTER DATABASE {} SET penumbra_numeric.rewrite = on",
    ),
}


def run_tests(server: PrivateServer, database: str, suite: Path, place: Path) -> Path:
    output = place / database
    output.mkdir()
    give_to_server_user(output)
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {database} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with server.connect(database) as connection:
        connection.execute("CREATE EXTENSION penumbra_numeric")
        for statement in TAKE_OVER[database]:
            connection.execute(statement.format(database))
    installation = server.installation
    subprocess.run(
        [*server_user(), str(installation.library_directory / "pgxs/src/test/regress/pg_regress"),
         f"--bindir={installation.bin_directory}", f"--dlpath={place / 'library'}", f"--inputdir={suite}",
         f"--outputdir={output}", *([f"--expecteddir={suite}"] if installation.major >= 16 else []),
         "--use-existing", f"--dbname={database}", f"--host={server.socket_directory}", "--port=5432",
         "--user=postgres", *TESTS],
        capture_output=True, cwd=output,
    )  # fmt: skip
    return output / "results"


def main() -> int:
    place = state_directory() / "test-regression-numeric"
    shutil.rmtree(place, ignore_errors=True)
    (place / "library").mkdir(parents=True)
    installation = Installation.find()
    suite = source_tree(installation.major)
    build_library(suite, installation, place / "library")
    server = PrivateServer(place / "server", {"fsync": "off"},
                           initdb_options=("--no-locale", "--encoding=UTF8"))  # fmt: skip
    failed = 0
    with server:
        results = {database: run_tests(server, database, suite, place) for database in TAKE_OVER}
    for database in ("search_path", "rewrite"):
        for name in TESTS:
            texts = [results[side] / f"{name}.out" for side in ("stock", database)]
            if not all(path.exists() for path in texts):
                difference = "no output"
            else:
                difference = output_difference(*(path.read_text(errors="replace") for path in texts))
            print(f"{difference}\nFAILED: {name}, {database}" if difference else f"ok: {name}, {database}")
            failed += bool(difference)
    if not failed:
        shutil.rmtree(place, ignore_errors=True)
    return int(failed > 0)


if __name__ == "__main__":
    try:
        with terminate_like_interrupt():
            sys.exit(main())
    except LabError as error:
        print(f"FAILED: {error}")
        sys.exit(1)
