"""What `penumbra advise` promises of a statement, and what the planner does with Penumbra."""

from collections.abc import Iterator

import psycopg
from penumbra_lab.advise.advice import Adviser
from penumbra_lab.advise.server import NotPlanned
from penumbra_lab.advise.statements import Statement

WHOLE, PART, NOTHING = "vectors", "part", "no"
PREPARED = "promised"


def promised(adviser: Adviser, sql: str) -> str | None:
    """None: the server does not plan it."""
    try:
        return adviser.examine(Statement("query", sql)).verdict.promise
    except NotPlanned:
        return None


def planned(connection: psycopg.Connection, sql: str) -> str | None:
    """As the connection's mode has it, for any parameters."""
    connection.execute("SET plan_cache_mode = force_generic_plan")
    try:
        connection.execute(f"PREPARE {PREPARED} AS {sql}")
        [[count]] = connection.execute(
            "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = %s", (PREPARED,))
        values = f"({', '.join(['NULL'] * count)})" if count else ""
        [[plans]] = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {PREPARED}{values}")
    except psycopg.Error:
        return None
    finally:
        connection.execute("DEALLOCATE ALL")
    plan = plans[0]["Plan"]
    if plan["Node Type"] == "Custom Scan":
        return WHOLE
    return PART if "Custom Scan" in _kinds(plan) else NOTHING


def _kinds(plan: dict) -> Iterator[str]:
    yield plan["Node Type"]
    for child in plan.get("Plans", []):
        yield from _kinds(child)
