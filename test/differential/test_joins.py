"""Thousands of generated queries with joins and subqueries: the engine's answers against PostgreSQL's."""

import pytest
from harness import Harness, search
from join_queries import JoinQueryGenerator
from tables import READER

ENGINE_SHARE_MIN = 0.85
# Of the queries that run in the engine, those that are one node.
WHOLE_SHARE_MIN = 0.4
OTHER_ORDER_SHARE_MAX = 0.01
OTHER_ORDER_IN_AUTO_SHARE_MAX = 0.001
# See Harness.reset().
SETTINGS = (
    ("geqo_threshold", "2", 29), ("plan_cache_mode", "force_generic_plan", 5), ("work_mem", "64kB", 11),
    ("join_collapse_limit", "1", 13), ("penumbra.threads_per_query", "0", 7),
)  # fmt: skip


@pytest.mark.timeout(36000)
@pytest.mark.sized
def test_generated_joins(server, database, request, capsys):
    harness = Harness(server, database)
    divisor = 1 if database == "utf8_c" else 8

    def check(seed: int) -> str | None:
        harness.reset(seed, SETTINGS, READER)
        return harness.find_difference(JoinQueryGenerator(seed).query())

    seeds, failures = search(request.config, check, divisor)
    with capsys.disabled():
        print(f"\n{database}: seeds {seeds.start} to {seeds.stop - 1}: {harness.tally}")
    assert not failures, "\n\n".join(failures)
    wanted = min(request.config.getoption("--queries") // divisor, 300)
    assert len(seeds) >= wanted, "too slow: fewer than 300 queries in the time given"
    assert harness.tally.engine_share >= ENGINE_SHARE_MIN
    assert harness.tally.other_order <= OTHER_ORDER_SHARE_MAX * harness.tally.engine
    assert harness.tally.other_order_in_auto <= max(1, OTHER_ORDER_IN_AUTO_SHARE_MAX * harness.tally.engine)
    assert harness.tally.whole >= WHOLE_SHARE_MIN * harness.tally.engine
