"""Runs the queries of a workload on several systems, interleaved, hot, and checks every answer."""

import statistics
from dataclasses import dataclass, field

from rich.progress import Progress

from penumbra_lab.compare import difference, value_difference
from penumbra_lab.system import Answer, DuckSystem, PostgresSystem
from penumbra_lab.workload import Query, Workload

# A slow query is repeated less: the relative noise of seconds is small.
SECONDS_PER_QUERY_AND_SYSTEM = 20.0


@dataclass
class QueryResult:
    query: Query
    seconds: dict[str, list[float]] = field(default_factory=dict)
    stock_jit: str = ""
    plan: str = ""
    refusal: str = ""  # why Penumbra left the query to PostgreSQL
    differences: list[str] = field(default_factory=list)

    def median(self, system: str) -> float:
        return statistics.median(self.seconds[system])

    def ratio(self, system: str, reference: str = "penumbra") -> float:
        return self.median(system) / self.median(reference)

    def as_json(self) -> dict:
        return {
            "name": self.query.name,
            "title": self.query.title,
            "sql": self.query.sql,
            "stock_jit": self.stock_jit,
            "refusal": self.refusal,
            "differences": self.differences,
            "plan": self.plan,
            "systems": {
                name: {
                    "seconds": seconds,
                    "median": statistics.median(seconds),
                    "min": min(seconds),
                }
                for name, seconds in self.seconds.items()
            },
        }


def geometric_mean(values: list[float]) -> float:
    return statistics.geometric_mean(values) if values else float("nan")


def measure_workload(
    workload: Workload,
    stock: PostgresSystem,
    penumbra: PostgresSystem,
    duck: DuckSystem | None,
    runs: int,
    progress: Progress,
) -> list[QueryResult]:
    task = progress.add_task("queries", total=len(workload.queries))
    results = []
    for query in workload.queries:
        progress.update(task, description=f"query {query.name}")
        results.append(_measure_query(query, stock, penumbra, duck, runs))
        progress.advance(task)
    return results


def _measure_query(
    query: Query,
    stock: PostgresSystem,
    penumbra: PostgresSystem,
    duck: DuckSystem | None,
    runs: int,
) -> QueryResult:
    result = QueryResult(query)
    stock_answer = _choose_jit(result, query, stock)
    penumbra_answer = penumbra.run(query.sql)
    found = difference(stock_answer.rows, penumbra_answer.rows, query.is_ordered)
    if found:
        result.differences.append(f"Penumbra: {found}")
    if duck:
        duck_answer = duck.run(query.duckdb_sql)
        found = value_difference(stock_answer.rows, duck_answer.rows, query.is_ordered)
        if found:
            result.differences.append(f"DuckDB: {found}")
    result.plan = penumbra.explain(query.sql)
    result.refusal = refusal_of_plan(result.plan)

    systems = [stock, penumbra, *([duck] if duck else [])]
    for system in systems:
        result.seconds[system.name] = []
    for _ in range(runs):
        for system in systems:
            times = result.seconds[system.name]
            if len(times) >= 2 and sum(times) > SECONDS_PER_QUERY_AND_SYSTEM:
                continue
            sql = query.duckdb_sql if system is duck else query.sql
            times.append(system.run(sql).seconds)
    return result


def _choose_jit(result: QueryResult, query: Query, stock: PostgresSystem) -> Answer:
    """Stock PostgreSQL is measured with or without JIT, whichever ran the query faster."""
    stock.set("jit", "on")
    stock.run(query.sql)  # fills the caches
    compiled = stock.run(query.sql)
    stock.set("jit", "off")
    interpreted = stock.run(query.sql)
    if compiled.seconds < interpreted.seconds:
        stock.set("jit", "on")
        result.stock_jit = "on"
        return compiled
    result.stock_jit = "off"
    return interpreted


def refusal_of_plan(plan: str) -> str:
    """Empty when the vector engine runs in the plan; else the reason that EXPLAIN gives."""
    if "Vector " in plan:
        return ""
    for line in plan.splitlines():
        if "Penumbra" in line and ":" in line:
            return line.split(":", 1)[1].strip()
    return "PostgreSQL's plan"
