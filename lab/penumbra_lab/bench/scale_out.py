"""`penumbra bench scale-out`: TPC-H on a Citus cluster that is there, over 1 to all of its workers.

The shards begin on all workers and move together, from one measurement to the next. The modes take
turns, query by query: a transaction sets its own, which Citus sends to the tasks.
"""

import contextlib
import statistics
import time
from collections.abc import Iterator

import psycopg

from penumbra_lab.answers import difference
from penumbra_lab.bench.queries import STOCK_AND_PENUMBRA
from penumbra_lab.citus import Cluster, OwnSchema, statements
from penumbra_lab.dataset import copy_rows, make_files, progress_bars, step_bars
from penumbra_lab.errors import LabError
from penumbra_lab.measure import refusal_of_plan
from penumbra_lab.run.document import Axis, RunDocument, Variant, medians, utc_now
from penumbra_lab.run.environment import describe_client, describe_machine, describe_server
from penumbra_lab.run.recording import MILLISECONDS, Outcome, alternating, record
from penumbra_lab.show import console, milliseconds, plain_table, ratio
from penumbra_lab.system import Answer
from penumbra_lab.workload import Query, Workload, read_workload

WORKERS = Axis("workers", "workers")
SECONDS_PER_QUERY_AND_MODE = 20.0


def bench_scale_out(dsn: str, schema: str, scale: float, shards: int, runs: int,
                    counts: tuple[int, ...]) -> Outcome:  # fmt: skip
    workload = read_workload("tpch")
    with psycopg.connect(dsn, autocommit=True) as connection:
        cluster = Cluster(connection)
        counts = check_counts(counts, len(cluster.workers), shards)
        with own_schema(cluster, schema, dsn) as own:
            load_tables(own, workload, scale, shards)
            run = scale_out_document(cluster, scale, shards, runs)
            outcome = record(run, lambda: measure_counts(run, own, workload, counts))
        return outcome if outcome.raised else Outcome(outcome.document, own.why_left)


def check_counts(counts: tuple[int, ...], workers: int, shards: int) -> list[int]:
    """Of workers to measure with, the most first; without any chosen, all."""
    chosen = sorted(set(counts or range(1, workers + 1)), reverse=True)
    if chosen[0] > workers:
        raise LabError(f"--workers {chosen[0]}: the cluster has {workers} that may have shards")
    if chosen[0] > shards:
        raise LabError(f"--shards {shards} are fewer than {chosen[0]} workers")
    return chosen


@contextlib.contextmanager
def own_schema(cluster: Cluster, name: str, dsn: str) -> Iterator[OwnSchema]:
    """It is gone afterwards, however the block ends; if it cannot be, that is said, and no more."""
    own = OwnSchema(cluster, name)
    try:
        yield own
    finally:
        cluster.connection.close()
        with console.status("remove what was made"):
            own.remove(dsn)
        if own.why_left:
            console.print(str(own.why_left), style="red", markup=False, soft_wrap=True)


def load_tables(own: OwnSchema, workload: Workload, scale: float, shards: int) -> None:
    connection = own.cluster.connection
    with progress_bars(console) as progress:
        files = make_files(workload, scale, progress)
        for statement in statements(workload.schema_sql()):
            connection.execute(statement)
        own.distribute(workload.tables, shards)
        for table, path in files.items():
            copy_rows(connection, table, path, progress)
    with console.status("indexes"):
        for statement in statements(workload.index_sql()):
            connection.execute(statement)


def scale_out_document(cluster: Cluster, scale: float, shards: int, runs: int) -> RunDocument:
    environment = {
        "machine": None,
        "client_machine": describe_machine(),
        "server": describe_server(cluster.connection, "connection"),
        "client": describe_client(),
    }
    run = RunDocument(
        "scale-out", f"TPC-H, scale {scale:g}, on Citus", environment,
        alternating(runs, scale=scale, shards=shards) | {"subject": "penumbra"}, STOCK_AND_PENUMBRA,
        "The queries of TPC-H that Citus runs; lineitem and orders distributed by the order's key.",
    )  # fmt: skip
    run.content["sections"] = {
        "nodes": [str(node) for node in cluster.workers], "cached": [], "queries": {},
        "refused_by_citus": {},
    }  # fmt: skip
    return run


def measure_counts(
    run: RunDocument, own: OwnSchema, workload: Workload, counts: list[int]
) -> None:
    queries = [query for query in workload.queries if query.name.startswith("q")]
    first_answers: dict[str, Answer] = {}
    with step_bars(console) as progress:
        for count in counts:
            task = progress.add_task(f"{count} workers: move shards", total=None)
            for moved, _ in enumerate(own.move_to(own.cluster.workers[:count]), 1):
                progress.update(task, completed=moved)
            progress.update(task, description=f"{count} workers: load the cache")
            note_cached(run, count, {table: (own.cache(table), own.cached_bytes(table))
                                     for table in workload.tables})  # fmt: skip
            progress.update(task, total=len(queries), completed=0)
            for query in queries:
                progress.update(task, description=f"{count} workers: {query.name}")
                measure_query(run, own.cluster.connection, query, count, first_answers)
                progress.advance(task)


def note_cached(run: RunDocument, workers: int, tables: dict[str, tuple[float, int]]) -> None:
    run.content["sections"]["cached"] += [
        {"workers": workers, "table": table, "coverage_percent": percent, "cached_bytes": size}
        for table, (percent, size) in tables.items()
    ]
    partly = [table for table, (percent, _) in tables.items() if percent < 100]
    if partly:
        message = f"with {workers} workers not all is cached of {', '.join(partly)}"
        run.warn("partly_cached", message, "raise penumbra.memory on the workers")


def measure_query(run: RunDocument, connection: psycopg.Connection, query: Query, workers: int,
                  first_answers: dict[str, Answer]) -> None:  # fmt: skip
    """Skips what Citus does not run. Every answer is compared with the query's first one."""
    sections = run.content["sections"]
    try:
        plan = explain(connection, query)
    except psycopg.errors.FeatureNotSupported as error:
        sections["refused_by_citus"][query.name] = error.diag.message_primary
        return
    checked = sections["queries"].setdefault(
        query.name, {"title": query.title, "sql": query.sql, "differences": ""}
    )
    checked |= {"plan": plan, "refusal": refusal_of_plan(plan)}
    if query.name not in first_answers:
        first_answers[query.name] = run_in_mode(connection, "off", query.sql)
    expected = first_answers[query.name]
    spent = dict.fromkeys((variant.name for variant in STOCK_AND_PENUMBRA), 0.0)
    for block in range(-1, run.content["design"]["repetitions"]):  # the first is not counted
        for variant in STOCK_AND_PENUMBRA:
            if block >= 2 and spent[variant.name] > SECONDS_PER_QUERY_AND_MODE:
                continue
            began = utc_now()
            answer = run_in_mode(connection, variant.settings["penumbra.mode"], query.sql)
            note_difference(checked, variant, workers, expected, answer, query.is_ordered)
            spent[variant.name] += answer.seconds
            if block >= 0:
                run.add_sample(
                    query.name, variant.name, MILLISECONDS, answer.seconds * 1000, block=block,
                    order=run.next_order(), started_at=began, axis=WORKERS, x=workers,
                )  # fmt: skip


def note_difference(checked: dict, variant: Variant, workers: int, expected: Answer, answer: Answer,
                    is_ordered: bool) -> None:  # fmt: skip
    found = difference(expected.rows, answer.rows, is_ordered)
    if found and not checked["differences"]:
        checked["differences"] = f"{variant.label}, {workers} workers: {found}"


@contextlib.contextmanager
def in_mode(connection: psycopg.Connection, mode: str) -> Iterator[None]:
    """A transaction, whose tasks have this mode too."""
    with connection.transaction():
        connection.execute("SET LOCAL citus.propagate_set_commands = 'local'")
        connection.execute(f"SET LOCAL penumbra.mode = {mode}")
        yield


def run_in_mode(connection: psycopg.Connection, mode: str, query: str) -> Answer:
    with in_mode(connection, mode):
        begin = time.perf_counter()
        result = connection.execute(query).pgresult
        seconds = time.perf_counter() - begin
    columns = range(result.nfields)
    return Answer(seconds, [tuple(result.get_value(row, column) for column in columns)
                            for row in range(result.ntuples)])  # fmt: skip


def explain(connection: psycopg.Connection, query: Query) -> str:
    """With the plan of one task of each part."""
    with in_mode(connection, "auto"):
        found = connection.execute(f"EXPLAIN (COSTS OFF) {query.sql}").fetchall()
    return "\n".join(line for (line,) in found)


def scale_out_table(document: dict):
    """A row for each query: times with each number of workers, and what they are to each other."""
    found, queries = medians(document), document["sections"]["queries"]
    refused = document["sections"]["refused_by_citus"]
    counts = sorted({x for _, _, x in found})
    first, last = (counts[0], counts[-1]) if counts else (0, 0)
    columns = ["query", *(f"{name}, {count:g}" for count in counts
                          for name in ("Citus", "Penumbra")), f"gain, {last:g}",
               f"{last:g} against {first:g}", "same answer"]  # fmt: skip
    rows, gains, scalings = [], [], []
    for name in sorted({*queries, *refused}):
        short = name.partition("_")[0]
        times = {count: found.get((name, MILLISECONDS.name, count), {}) for count in counts}
        if not all(len(row) == len(STOCK_AND_PENUMBRA) for row in times.values()):
            why = "refused" if name in refused else "not finished"
            rows.append([short, *[""] * (len(columns) - 2), why])
            continue
        gains.append({count: row["stock"] / row["penumbra"] for count, row in times.items()})
        scalings.append(times[first]["penumbra"] / times[last]["penumbra"])
        rows.append([
            short, *(milliseconds(times[count][system] / 1000) for count in counts
                    for system in ("stock", "penumbra")),
            ratio(gains[-1][last]), ratio(scalings[-1]),
            "NO" if queries[name]["differences"]
            else "yes (not used)" if queries[name]["refusal"] else "yes",
        ])  # fmt: skip
    if gains:
        means = [text for count in counts for text in
                 ("", ratio(statistics.geometric_mean(gain[count] for gain in gains)))]  # fmt: skip
        scaling = ratio(statistics.geometric_mean(scalings))
        rows.append(["geometric mean", *means, means[-1], scaling, ""])
    title = (f"{document['title']}: median milliseconds by number of workers; gain is Citus' time"
             " / Penumbra's")  # fmt: skip
    return plain_table(title, columns, rows)
