"""Thousands of generated queries with joins and subqueries: the engine's answers against PostgreSQL's."""

import time

import pytest
from harness import Harness
from join_queries import JoinQueryGenerator
from tables import READER

FAILURES_SHOWN_MAX = 12
ENGINE_SHARE_MIN = 0.9
# Of the queries that run in the engine, those that are one node.
WHOLE_SHARE_MIN = 0.4
OTHER_ORDER_SHARE_MAX = 0.01
OTHER_ORDER_IN_AUTO_SHARE_MAX = 0.001
# Name and value, and of how many queries one has it.
SETTINGS = (
    ("geqo_threshold", "2", 29), ("plan_cache_mode", "force_generic_plan", 5), ("work_mem", "64kB", 11),
    ("join_collapse_limit", "1", 13), ("penumbra.workers", "0", 7),
)  # fmt: skip


def _set_for(harness: Harness, seed: int) -> None:
    harness.connection.execute("RESET ALL")
    harness.connection.execute(f"SET ROLE {READER}")
    harness.set("statement_timeout", "60s")
    for name, value, every in SETTINGS:
        if seed % every == 0:
            harness.set(name, value)


@pytest.mark.timeout(36000)
def test_generated_joins(server, database, request, capsys):
    first = request.config.getoption("--seed")
    count = request.config.getoption("--queries")
    deadline = time.monotonic() + request.config.getoption("--seconds")
    if database != "utf8_c":
        count = count // 8
    failures = []
    harness = Harness(server, database)
    seed = first
    for seed in range(first, first + count):
        if time.monotonic() > deadline or len(failures) >= FAILURES_SHOWN_MAX:
            break
        _set_for(harness, seed)
        query = JoinQueryGenerator(seed).query()
        difference = harness.check(query)
        if difference:
            shortest = harness.shorten(query)
            failures.append(
                f"seed {seed}, {database}:\n{shortest.statement}\n"
                f"{harness.check(shortest, count=False) or difference}"
            )
    with capsys.disabled():
        print(f"\n{database}: seeds {first} to {seed}: {harness.tally}")
    assert not failures, "\n\n".join(failures)
    assert seed >= first + min(count, 300) - 1, "too slow: fewer than 300 queries in the time given"
    assert harness.tally.engine_share >= ENGINE_SHARE_MIN
    assert harness.tally.other_order <= OTHER_ORDER_SHARE_MAX * harness.tally.engine
    assert harness.tally.other_order_in_auto <= max(1, OTHER_ORDER_IN_AUTO_SHARE_MAX * harness.tally.engine)
    assert harness.tally.whole >= WHOLE_SHARE_MIN * harness.tally.engine
