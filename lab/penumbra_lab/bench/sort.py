"""`penumbra bench sort`: array sorts beside the same server's own, in turns in one backend."""

from dataclasses import dataclass

import psycopg

from penumbra_lab.dataset import step_bars
from penumbra_lab.errors import LabError
from penumbra_lab.run.document import RunDocument, Variant, median_ratio, medians
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.recording import MILLISECONDS, Outcome, alternating, measurement, record
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, milliseconds, plain_table, ratio
from penumbra_lab.state import state_directory

SMALL_ELEMENTS = 5
SMALL_REPEATS = 50_000
SETTINGS = {"work_mem": "1GB", "jit": "off", "max_parallel_workers_per_gather": "0"}

INTARRAY = "public.sort(a)"
ORDER_BY = "array(SELECT v FROM unnest(a) v ORDER BY v)"
BUILT_IN = "array_sort(a)"  # since PostgreSQL 18
PENUMBRA = "penumbra_sort.sort(a)"
# and what tables call them
RIVALS = {INTARRAY: "intarray's sort", ORDER_BY: "ORDER BY", BUILT_IN: "array_sort"}
VARIANTS = [Variant("stock", "stock", {}), Variant("penumbra", "penumbra_sort", {})]

RANDOM_BITS = "('x' || left(md5(i::text), 16))::bit(64)::int8"
SHAPES = {
    "random": RANDOM_BITS,
    "sorted": "i::int8",
    "reversed": "-i::int8",
    "equal": "42::int8",
}
# Of k, a bigint.
TYPES = {
    "integer": "(k % 2147483648)::int4",
    "bigint": "k",
    "double precision": "k::float8",
    "timestamptz": "timestamptz '2020-01-01' + (k >> 16) * interval '1 us'",
    "uuid": "(lpad(to_hex(k), 16, '0') || lpad(to_hex((k >> 8) * 77), 16, '0'))::uuid",
    "numeric": "(k >> 16)::numeric / 100",
    'text COLLATE "C"': "'row ' || lpad((k >> 16)::text, 15, '0')",
    'text COLLATE "en_US.utf8"': "'row ' || lpad((k >> 16)::text, 15, '0')",
}


@dataclass(frozen=True)
class Case:
    type_name: str
    shape: str
    elements: int
    repeats: int
    stock: str

    @property
    def label(self) -> str:
        return f"{self.type_name}, {self.shape}"

    @property
    def workload(self) -> str:
        return f"{self.label}, {self.elements:,} elements, beside {RIVALS[self.stock]}"

    @property
    def element_type(self) -> str:
        return self.type_name.split(" COLLATE")[0]

    @property
    def collation(self) -> str:
        return self.type_name.removeprefix(self.element_type)

    def values(self) -> str:
        return (
            f"SELECT ({TYPES[self.type_name]}){self.collation}"
            f" FROM (SELECT {SHAPES[self.shape]} AS k"
            f" FROM generate_series(1, {self.elements}) i OFFSET 0) s"
        )

    def expression(self, sort: str) -> str:
        return sort.replace("(a)", f"(a{self.collation})").replace(
            "ORDER BY v", f"ORDER BY v{self.collation}"
        )


def cases(elements: int, major: int) -> list[Case]:
    """Every type in every shape, beside all that the server has for it; and small arrays."""
    chosen = []
    for type_name in TYPES:
        rivals = [INTARRAY, ORDER_BY] if type_name == "integer" else [ORDER_BY]
        if major >= 18:
            rivals.append(BUILT_IN)
        for stock in rivals:
            # strcoll() alone takes seconds for a million.
            many = max(elements // 10, 1) if "en_US" in type_name else elements
            chosen += [Case(type_name, shape, many, 1, stock) for shape in SHAPES]
            if "COLLATE" not in type_name:
                chosen.append(Case(type_name, "random", SMALL_ELEMENTS, SMALL_REPEATS, stock))
    return chosen


def bench_sort(elements: int, rounds: int) -> Outcome:
    server = PrivateServer(state_directory() / "server-sort", SETTINGS)
    server.remove()
    try:
        with server, server.connect() as connection:
            connection.execute("CREATE EXTENSION penumbra_sort; CREATE EXTENSION intarray")
            run = RunDocument(
                "sort", f"sort of {elements:,} elements", describe_private(server),
                alternating(rounds, elements=elements), VARIANTS,
            )  # fmt: skip
            run.content["sections"] = {"cases": []}
            todo = cases(elements, server.installation.major)
            return record(run, lambda: _measure_cases(connection, run, todo, rounds))
    finally:
        server.remove()


def _measure_cases(
    connection: psycopg.Connection, run: RunDocument, todo: list[Case], rounds: int
) -> None:
    with step_bars(console) as progress:
        task = progress.add_task("sort", total=len(todo))
        for case in todo:
            progress.update(task, description=case.label)
            _measure(connection, run, case, rounds)
            progress.advance(task)


def _measure(connection: psycopg.Connection, run: RunDocument, case: Case, rounds: int) -> None:
    stock, penumbra = case.expression(case.stock), case.expression(PENUMBRA)
    # array_lower: the sorted array is not copied into a variable, which would cost both the same.
    connection.execute(f"""
        CREATE OR REPLACE FUNCTION pg_temp.measure(
          OUT stock float8[], OUT penumbra float8[], OUT agree bool)
        LANGUAGE plpgsql AS $$
        DECLARE
          a {case.element_type}[];
          n int;
          began timestamptz;
        BEGIN
          SELECT array_agg(v) INTO a FROM ({case.values()}) s(v);
          agree := {penumbra} = {stock};
          FOR round IN 1..{rounds} LOOP
            began := clock_timestamp();
            FOR i IN 1..{case.repeats} LOOP n := array_lower({stock}, 1); END LOOP;
            stock[round] := extract(epoch FROM clock_timestamp() - began) / {case.repeats};
            began := clock_timestamp();
            FOR i IN 1..{case.repeats} LOOP n := array_lower({penumbra}, 1); END LOOP;
            penumbra[round] := extract(epoch FROM clock_timestamp() - began) / {case.repeats};
          END LOOP;
        END
        $$""")
    with measurement(run, connection) as samples:
        stock_seconds, penumbra_seconds, agree = connection.execute(
            "SELECT * FROM pg_temp.measure()"
        ).fetchone()
        if not agree:
            raise LabError(f"{case.label}: {penumbra} and {stock} differ")
        for block in range(rounds):
            for name, times in (("stock", stock_seconds), ("penumbra", penumbra_seconds)):
                samples.add(case.workload, name, MILLISECONDS, times[block] * 1000, block)
    run.content["sections"]["cases"].append(
        {"workload": case.workload, "type": case.type_name, "shape": case.shape,
         "elements": case.elements, "stock": RIVALS[case.stock],
         "speedup": round(1 / median_ratio(run.content, case.workload, "penumbra", "stock"), 3)}
    )  # fmt: skip


def sort_table(document: dict):
    by_workload = {case["workload"]: case for case in document["sections"]["cases"]}
    rows = []
    for (workload, _, _), row in medians(document).items():
        case = by_workload[workload]
        is_small = case["elements"] == SMALL_ELEMENTS
        times = [row["stock"] / 1000, row["penumbra"] / 1000]
        shown = [f"{1e9 * t:,.0f} ns" if is_small else f"{milliseconds(t)} ms" for t in times]
        rows.append([case["type"], case["shape"], f"{case['elements']:,}", case["stock"], *shown,
                     ratio(case["speedup"])])  # fmt: skip
    columns = ["type", "shape", "elements", "stock", "stock's time", "Penumbra's", "speedup"]
    return plain_table(document["title"], columns, rows)
