"""Thousands of generated single-table queries: the engine's answers against PostgreSQL's."""

import pytest
from harness import Harness, search
from queries import QueryGenerator
from tables import TABLES

# What is refused today, and no more: a fast path that is lost makes this fail.
ENGINE_SHARE_MIN = 0.75
TIME_ZONES = ("UTC", "Europe/Berlin", "America/St_Johns")


def _tables_of(state: str) -> list[str]:
    return [table.name for table in TABLES] if state == "all" else [state]


@pytest.mark.timeout(3600)
@pytest.mark.sized
def test_generated_queries(server, database, request, capsys):
    harness = Harness(server, database)
    divisor = 1 if database == "utf8_c" else 4

    def check(seed: int) -> str | None:
        harness.set("timezone", TIME_ZONES[seed % len(TIME_ZONES)])
        return harness.find_difference(QueryGenerator(seed, _tables_of("all")).query())

    seeds, failures = search(request.config, check, divisor)
    with capsys.disabled():
        print(f"\n{database}: seeds {seeds.start} to {seeds.stop - 1}: {harness.tally}")
    assert not failures, "\n\n".join(failures)
    wanted = min(request.config.getoption("--queries") // divisor, 300)
    assert len(seeds) >= wanted, "too slow: fewer than 300 queries in the time given"
    assert harness.tally.engine_share >= ENGINE_SHARE_MIN
