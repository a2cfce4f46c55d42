"""Generated queries with ordered-set aggregates: the engine's answers against PostgreSQL's."""

import pytest
from harness import Harness, search
from ordered_queries import OrderedQueryGenerator
from tables import TABLES

# The others order values that are equal and written differently, or text in a locale that the engine does not have.
ENGINE_SHARE_MIN = 0.5
# Name and value, and of how many queries one has it.
SETTINGS = (("work_mem", "64kB", 5), ("penumbra.threads_per_query", "0", 3), ("plan_cache_mode", "force_generic_plan", 7))


@pytest.mark.timeout(3600)
@pytest.mark.sized
def test_generated_ordered_aggregates(server, database, request, capsys):
    harness = Harness(server, database)
    divisor = 4 if database == "utf8_c" else 16

    def check(seed: int) -> str | None:
        harness.reset(seed, SETTINGS)
        if server.installation.major >= 16:
            # Else floats beside an ordered aggregate are added in its order, and may overflow where they do not in the table's.
            harness.set("enable_presorted_aggregate", "off")
        return harness.find_difference(OrderedQueryGenerator(seed, [table.name for table in TABLES]).query())

    seeds, failures = search(request.config, check, divisor, seconds_divisor=2)
    with capsys.disabled():
        print(f"\n{database}: seeds {seeds.start} to {seeds.stop - 1}: {harness.tally}")
    assert not failures, "\n\n".join(failures)
    assert harness.tally.engine_share >= ENGINE_SHARE_MIN
