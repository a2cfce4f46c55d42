"""`penumbra bench advise`: what was predicted of a workload's queries, beside what they took."""

import contextlib

from scipy.stats import spearmanr

from penumbra_lab.advise.advice import GAIN_MIN, Adviser
from penumbra_lab.advise.model import read_costs
from penumbra_lab.advise.server import Server
from penumbra_lab.advise.statements import Statement
from penumbra_lab.bench.queries import (
    STOCK_AND_PENUMBRA,
    cached_bytes,
    loaded_server,
    warm,
    workload_document,
)
from penumbra_lab.dataset import load_cache, progress_bars, step_bars
from penumbra_lab.measure import Systems, measure_workload
from penumbra_lab.run.document import medians
from penumbra_lab.run.recording import Outcome, record
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, plain_table, ratio
from penumbra_lab.system import PostgresSystem
from penumbra_lab.workload import Workload, read_workload


def bench_advise(name: str, size: float | None, runs: int, keep: bool) -> Outcome:
    workload = read_workload(name)
    size = size or workload.size_default
    with loaded_server(workload, size, keep) as server, contextlib.ExitStack() as stack:
        predictions, sizes = predict(server, workload)
        with progress_bars(console) as progress:
            load_cache(server, workload, progress)
        warm(server, workload.tables)
        with server.connect() as connection:
            for table in workload.tables:
                sizes[table]["cached_bytes"] = cached_bytes(connection, table)
        run = workload_document(server, workload, size, runs, STOCK_AND_PENUMBRA, None, "advise")
        run.content["sections"] |= {"advice": predictions, "sizes": sizes}
        stock, penumbra = (
            PostgresSystem(variant.name, stack.enter_context(server.connect()), variant.settings)
            for variant in STOCK_AND_PENUMBRA
        )
        with step_bars(console) as progress:
            systems = Systems(stock, penumbra, None, None)
            return record(run, lambda: measure_workload(run, workload, systems, progress))


def predict(server: PrivateServer, workload: Workload) -> tuple[dict, dict]:
    """Of each query, and of each table's columns, by what stock PostgreSQL knows."""
    with Server(server.conninfo()) as asked:
        adviser = Adviser(asked)
        predictions = {}
        for query in workload.queries:
            examined = adviser.examine(Statement(query.name, query.sql))
            verdict, quantities = examined.verdict, examined.quantities
            predictions[query.name] = {
                "is_whole": verdict.is_whole,
                "is_partial": verdict.is_partial,
                "in_the_way": [blocker.reason for blocker in verdict.blockers],
                "speedup": quantities.speedup(read_costs()),
                "quantities": {name: dict(counted) for name, counted in vars(quantities).items()},
            }
        sizes = {
            table: {"predicted_bytes": sum(adviser.cached_column_bytes("public", table))}
            for table in workload.tables
        }
    return predictions, sizes


def real_speedups(document: dict) -> dict[str, float]:
    return {query: times["stock"] / times["penumbra"]
            for (query, _, _), times in medians(document).items()}  # fmt: skip


def advise_table(document: dict):
    sections, real = document["sections"], real_speedups(document)
    rows, refused = [], 0
    for query, advice in sections["advice"].items():
        refusal = sections["queries"][query]["refusal"]
        is_promised = (advice["is_whole"] or advice["is_partial"]) and (
            advice["speedup"] >= GAIN_MIN
        )
        refused += is_promised and bool(refusal)
        promised = "vectors" if advice["is_whole"] else "part" if advice["is_partial"] else "not"
        rows.append([query, promised if is_promised or promised == "not" else "no gain",
                     refusal[:30] or "vectors", ratio(advice["speedup"]),
                     ratio(real[query])])  # fmt: skip
    predicted = [advice["speedup"] for advice in sections["advice"].values()]
    rank = spearmanr(predicted, [real[query] for query in sections["advice"]]).statistic
    title = (f"{document['title']}: rank correlation {rank:.2f}; promised and then refused:"
             f" {refused}")  # fmt: skip
    return plain_table(title, ["query", "predicted", "ran", "predicted", "real"], rows)
