"""Generated queries with window functions: the engine's answers against PostgreSQL's."""

import pytest
from harness import Harness, search
from tables import TABLES
from window_queries import WindowQueryGenerator

# Of the queries that run in the engine, those that are one node: not windows with other frames, of text in a locale, of
# types of extensions; and so many less, because the share varies where the queries are few.
WHOLE_SHARE_MIN = 0.3
WHOLE_FEWER_MAX = 2
# See Harness.reset().
SETTINGS = (("statement_timeout", "30s", 1), ("work_mem", "64kB", 5), ("penumbra.threads_per_query", "0", 3),
            ("plan_cache_mode", "force_generic_plan", 7))  # fmt: skip
# Where frames are added up anew for each row, a busy machine may need longer than PostgreSQL did.
PATIENT = (("statement_timeout", "300s", 1), *SETTINGS[1:])
TIMED_OUT = "found error 57014"
# PostgreSQL's answer to a frame that begins after the last row of a partition that it has not read to the end.
PG_DEFECT = "expected error XX000: unexpected end of tuplestore"


@pytest.mark.timeout(3600)
@pytest.mark.sized
def test_generated_windows(server, database, request, capsys):
    harness = Harness(server, database)
    divisor = 4 if database == "utf8_c" else 16

    def check(seed: int) -> str | None:
        harness.reset(seed, SETTINGS)
        generator = WindowQueryGenerator(seed, [table.name for table in TABLES])
        generator.treats_nulls = server.installation.major >= 19
        query = generator.query()
        failure = harness.find_difference(query)
        if failure and TIMED_OUT in failure:
            harness.reset(seed, PATIENT)
            failure = harness.find_difference(query)
        return None if failure and PG_DEFECT in failure else failure

    seeds, failures = search(request.config, check, divisor, seconds_divisor=2)
    with capsys.disabled():
        print(f"\n{database}: seeds {seeds.start} to {seeds.stop - 1}: {harness.tally}")
    assert not failures, "\n\n".join(failures)
    assert harness.tally.whole >= WHOLE_SHARE_MIN * harness.tally.engine - WHOLE_FEWER_MAX
