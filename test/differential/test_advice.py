"""Hardly any generated query of which `penumbra advise` promises something is then refused."""

from collections import Counter
from collections.abc import Callable

import pytest
from clause_queries import CACHED, TABLES, ClauseQueryGenerator
from harness import cached_database, search
from join_queries import JoinQueryGenerator
from penumbra_lab.advise.advice import Adviser
from penumbra_lab.advise.server import Server
from promises import NOTHING, PART, WHOLE, planned, promised
from queries import QueryGenerator
from tables import TABLES as STATES

# Of all queries, those that are promised and refused.
REFUSED_SHARE_MAX = 0.01
# Of the queries that are promised as a whole, those that run in part.
LESS_SHARE_MAX = {"single": 0.02, "joins": 0.05, "clauses": 0.15}
CHANCE = 2  # standard deviations by which a run may miss a share
# Of the queries that run as a whole, those of which this is promised: without promises nothing is broken.
WHOLE_SHARE_MIN = {"single": 0.7, "joins": 0.4, "clauses": 0.4}
DIVISOR = 10


def _check(config, dsn: str, connection, kind: str, sql_of: Callable[[int], str]) -> None:
    tally: Counter = Counter()
    connection.prepare_threshold = None
    connection.execute("SET penumbra.mode = prefer")
    connection.execute("SET statement_timeout = '60s'")
    connection.execute("SET client_encoding = 'UTF8'")  # of plans as JSON
    with Server(dsn) as server:
        adviser = Adviser(server)

        def check(seed: int) -> str | None:
            sql = sql_of(seed)
            mine, real = promised(adviser, sql), planned(connection, sql)
            tally[mine, real] += 1
            return f"{mine} was promised and refused: {sql}" if mine in (WHOLE, PART) and real == NOTHING else None

        seeds, failures = search(config, check, DIVISOR, DIVISOR)
    print(f"\n{kind}, seeds {seeds.start} to {seeds.stop - 1}: {dict(tally)}")
    assert len(failures) <= REFUSED_SHARE_MAX * len(seeds), "\n\n".join(failures)
    whole = tally[WHOLE, WHOLE]
    assert whole
    most = LESS_SHARE_MAX[kind] * (whole + tally[WHOLE, PART])
    assert tally[WHOLE, PART] <= most + CHANCE * most**0.5
    least = WHOLE_SHARE_MIN[kind] * (whole + tally[PART, WHOLE] + tally[NOTHING, WHOLE])
    assert whole >= least - CHANCE * least**0.5


@pytest.mark.timeout(3600)
@pytest.mark.sized
@pytest.mark.parametrize("kind", ["single", "joins"])
def test_generated_queries_are_not_refused(server, database, request, kind):
    def sql_of(seed: int) -> str:
        is_join = kind == "joins"
        generator = JoinQueryGenerator(seed) if is_join else QueryGenerator(seed, [table.name for table in STATES])
        generator.expressions.path_share = 0  # what is inside of documents is not judged
        return generator.query().statement[0]

    with server.connect(database) as connection:
        _check(request.config, server.conninfo(database), connection, kind, sql_of)


@pytest.mark.timeout(3600)
@pytest.mark.sized
def test_clauses_are_not_refused(server, request):
    with cached_database(server, "promises", TABLES, CACHED) as connection:
        _check(request.config, server.conninfo("promises"), connection, "clauses",
               lambda seed: ClauseQueryGenerator(seed).query().sql)  # fmt: skip
