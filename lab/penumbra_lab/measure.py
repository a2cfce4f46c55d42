"""Runs the queries of a workload on several systems, interleaved, hot, and checks every answer."""

from rich.progress import Progress

from penumbra_lab.compare import difference, value_difference
from penumbra_lab.run.document import RunDocument
from penumbra_lab.run.recording import MILLISECONDS, measurement
from penumbra_lab.system import Answer, DuckSystem, PostgresSystem
from penumbra_lab.workload import Query, Workload

# A slow query is repeated less: the relative noise of seconds is small.
SECONDS_PER_QUERY_AND_SYSTEM = 20.0


def measure_workload(
    run: RunDocument,
    workload: Workload,
    stock: PostgresSystem,
    penumbra: PostgresSystem,
    duck: DuckSystem | None,
    progress: Progress,
) -> None:
    """Fills the run's series, and its section "queries" with what there is to say of each."""
    queries = run.content["sections"]["queries"] = {}
    task = progress.add_task("queries", total=len(workload.queries))
    for query in workload.queries:
        progress.update(task, description=f"query {query.name}")
        queries[query.name] = _check_query(query, stock, penumbra, duck)
        _measure_query(run, query, [stock, penumbra, *([duck] if duck else [])])
        progress.advance(task)


def _check_query(
    query: Query, stock: PostgresSystem, penumbra: PostgresSystem, duck: DuckSystem | None
) -> dict[str, str]:
    """Warms every system up, compares their answers, asks for the plan."""
    jit, stock_answer = _choose_jit(query, stock)
    differences = []
    found = difference(stock_answer.rows, penumbra.run(query.sql).rows, query.is_ordered)
    if found:
        differences.append(f"Penumbra: {found}")
    if duck:
        duck_answer = duck.run(query.duckdb_sql)
        found = value_difference(stock_answer.rows, duck_answer.rows, query.is_ordered)
        if found:
            differences.append(f"DuckDB: {found}")
    plan = penumbra.explain(query.sql)
    return {"title": query.title, "sql": query.sql, "plan": plan,
            "refusal": refusal_of_plan(plan), "differences": "\n".join(differences),
            "stock_jit": jit}  # fmt: skip


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


def _choose_jit(query: Query, stock: PostgresSystem) -> tuple[str, Answer]:
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


def refusal_of_plan(plan: str) -> str:
    """Empty when the vector engine runs in the plan; else the reason that EXPLAIN gives."""
    if "Vector " in plan:
        return ""
    for line in plan.splitlines():
        if "Penumbra" in line and ":" in line:
            return line.split(":", 1)[1].strip()
    return "PostgreSQL's plan"
