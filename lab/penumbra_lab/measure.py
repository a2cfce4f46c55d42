"""Runs the queries of a workload on several systems, interleaved, hot, and checks every answer."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.progress import Progress

from penumbra_lab.answers import difference, value_difference
from penumbra_lab.errors import LabError
from penumbra_lab.run.document import RunDocument
from penumbra_lab.run.recording import MILLISECONDS, measurement
from penumbra_lab.system import Answer, DuckSystem, PostgresSystem
from penumbra_lab.workload import Query, Workload

# A slow query is repeated less: the relative noise of seconds is small.
SECONDS_PER_QUERY_AND_SYSTEM = 20.0


@dataclass(frozen=True)
class Systems:
    stock: PostgresSystem
    penumbra: PostgresSystem
    required: PostgresSystem | None  # in mode require, which refuses what the engine cannot run
    duck: DuckSystem | None

    def __iter__(self) -> Iterator[PostgresSystem | DuckSystem]:
        return filter(None, (self.stock, self.penumbra, self.required, self.duck))


def measure_workload(
    run: RunDocument, workload: Workload, systems: Systems, progress: Progress
) -> None:
    """Fills the run's series, and its section "queries" with what there is to say of each."""
    queries = run.content["sections"]["queries"] = {}
    task = progress.add_task("queries", total=len(workload.queries))
    for query in workload.queries:
        progress.update(task, description=f"query {query.name}")
        queries[query.name] = checked = check_query(query, systems)
        measured = [system for system in systems if not (
            (system is systems.required and checked["require_refusal"])
            or (system is systems.duck and not query.duckdb_sql))]  # fmt: skip
        _measure_query(run, query, measured)
        progress.advance(task)


def check_query(query: Query, systems: Systems) -> dict[str, str]:
    """Warms every system up, compares their answers, asks for the plan."""
    jit, stock_answer = choose_jit(query, systems.stock)
    differences, require_refusal = [], ""
    found = difference(stock_answer.rows, systems.penumbra.run(query.sql).rows, query.is_ordered)
    if found:
        differences.append(f"Penumbra: {found}")
    if systems.required:
        try:
            answer = systems.required.run(query.sql)
        except LabError as error:
            require_refusal = str(error)
        else:
            found = difference(stock_answer.rows, answer.rows, query.is_ordered)
            if found:
                differences.append(f"Penumbra in mode require: {found}")
    if systems.duck and query.duckdb_sql:
        duck_answer = systems.duck.run(query.duckdb_sql)
        found = value_difference(stock_answer.rows, duck_answer.rows, query.is_ordered)
        if found:
            differences.append(f"DuckDB: {found}")
    plan = systems.penumbra.explain(query.sql)
    return {"title": query.title, "sql": query.sql, "plan": plan,
            "refusal": refusal_of_plan(plan), "require_refusal": require_refusal,
            "differences": "\n".join(differences), "stock_jit": jit}  # fmt: skip


def _measure_query(
    run: RunDocument, query: Query, systems: list[PostgresSystem | DuckSystem]
) -> None:
    with measurement(run, None) as samples:
        spent = dict.fromkeys((system.name for system in systems), 0.0)
        for block in range(run.content["design"]["repetitions"]):
            for system in systems:
                if block >= 2 and spent[system.name] > SECONDS_PER_QUERY_AND_SYSTEM:
                    continue
                is_duck = isinstance(system, DuckSystem)
                seconds = system.run(query.duckdb_sql if is_duck else query.sql).seconds
                spent[system.name] += seconds
                samples.add(query.name, system.name, MILLISECONDS, seconds * 1000, block)


def choose_jit(query: Query, stock: PostgresSystem) -> tuple[str, Answer]:
    """Stock PostgreSQL is measured with or without JIT, whichever ran the query faster."""
    stock.set("jit", "on")
    stock.run(query.sql)  # fills the caches
    compiled = stock.run(query.sql)
    stock.set("jit", "off")
    interpreted = stock.run(query.sql)
    if compiled.seconds < interpreted.seconds:
        stock.set("jit", "on")
        return "on", compiled
    return "off", interpreted


def run_paired(system: PostgresSystem, query: Query, stock_jit: str) -> tuple[Answer, Answer]:
    """Penumbra's answer and PostgreSQL's on one snapshot, whatever is being written."""
    system.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    ours = in_mode(system, "auto").run(query.sql)
    stock = in_mode(system, "off", stock_jit).run(query.sql)
    system.connection.execute("COMMIT")
    found = difference(stock.rows, ours.rows, query.is_ordered)
    if found:
        raise LabError(f"{query.name}: the answers differ: {found}")
    return ours, stock


def in_mode(system: PostgresSystem, mode: str, jit: str = "on") -> PostgresSystem:
    system.set("penumbra.mode", mode)
    system.set("jit", jit)
    return system


def refusal_of_plan(plan: str) -> str:
    """Empty when the vector engine runs in the plan; else the reason that EXPLAIN gives."""
    if "Vector " in plan:
        return ""
    for line in plan.splitlines():
        if "Penumbra" in line and ":" in line:
            return line.split(":", 1)[1].strip()
    return "PostgreSQL's plan"
