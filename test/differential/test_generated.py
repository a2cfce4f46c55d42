"""Thousands of generated single-table queries: the engine's answers against PostgreSQL's."""

import time

import pytest
from harness import Harness
from queries import QueryGenerator
from tables import TABLES

FAILURES_SHOWN_MAX = 12
# What is refused today, and no more: a fast path that is lost makes this fail.
ENGINE_SHARE_MIN = 0.75
TIME_ZONES = ("UTC", "Europe/Berlin", "America/St_Johns")


def _tables_of(state: str) -> list[str]:
    return [table.name for table in TABLES] if state == "all" else [state]


@pytest.mark.timeout(3600)
def test_generated_queries(server, database, request, capsys):
    first = request.config.getoption("--seed")
    count = request.config.getoption("--queries")
    deadline = time.monotonic() + request.config.getoption("--seconds")
    if database != "utf8_c":
        count = count // 4
    failures = []
    harness = Harness(server, database)
    seed = first
    for seed in range(first, first + count):
        if time.monotonic() > deadline or len(failures) >= FAILURES_SHOWN_MAX:
            break
        harness.set("timezone", TIME_ZONES[seed % len(TIME_ZONES)])
        query = QueryGenerator(seed, _tables_of("all")).query()
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
