"""Workloads are data: a folder with workload.toml, schema.sql and queries/*.sql."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from penumbra_lab.errors import LabError


@dataclass(frozen=True)
class Query:
    name: str
    title: str
    sql: str
    duckdb_sql: str  # the same, except where the dialects differ; empty: it lacks a function

    @property
    def is_ordered(self) -> bool:
        """Whether the outermost ORDER BY fixes the order of the rows (the workloads' rule)."""
        return "order by" in _outermost_text(self.sql.lower())


def _outermost_text(sql: str) -> str:
    """The text outside of all parentheses."""
    kept, depth = [], 0
    for character in sql:
        depth += character == "("
        if depth == 0:
            kept.append(character)
        depth -= character == ")"
    return "".join(kept)


@dataclass(frozen=True)
class Target:
    """The most that Penumbra's time may be of DuckDB's."""

    mean: float  # the geometric mean of all queries
    each: float


@dataclass(frozen=True)
class Workload:
    name: str
    directory: Path
    description: str
    size_name: str  # "scale" or "rows"
    size_default: float
    size_test: float  # small enough for tests
    tables: tuple[str, ...]
    queries: tuple[Query, ...]
    require: bool = False  # measure Penumbra in mode require too
    target: Target | None = None
    may_be_empty: tuple[str, ...] = ()  # queries without rows at the test's size
    expressions: dict[str, list[str]] = field(default_factory=dict)  # cached too, by table

    def size_text(self, size: float) -> str:
        return f"{self.size_name}-{size:g}" if size < 1e6 else f"{self.size_name}-{size:.0f}"

    def schema_sql(self) -> str:
        return (self.directory / "schema.sql").read_text()

    def index_sql(self) -> str:
        """What PostgreSQL gets after the rows are loaded."""
        return self._optional("indexes.sql")

    def duckdb_sql(self) -> str:
        """How DuckDB gets its tables, where their types differ."""
        return self._optional("duckdb.sql")

    def _optional(self, name: str) -> str:
        path = self.directory / name
        return path.read_text() if path.exists() else ""


def _read_query(path: Path) -> Query:
    text = path.read_text()
    title = ""
    if text.startswith("--"):
        title, _, text = text.partition("\n")
        title = title.removeprefix("--").strip()
    sql = text.strip().rstrip(";")
    other = path.with_suffix(".duckdb")
    duckdb_sql = other.read_text().strip().rstrip(";") if other.exists() else sql
    return Query(path.stem, title, sql, duckdb_sql)


# A link to the tree's workloads/; in a package they are copies.
WORKLOADS = Path(__file__).parent / "workloads"


def workload_names() -> list[str]:
    return sorted(p.parent.name for p in WORKLOADS.glob("*/workload.toml"))


def read_workload(name: str) -> Workload:
    directory = WORKLOADS / name
    try:
        described = tomllib.loads((directory / "workload.toml").read_text())
    except FileNotFoundError:
        raise LabError(f"no workload {name!r}; there are: {', '.join(workload_names())}") from None
    queries = tuple(_read_query(path) for path in sorted((directory / "queries").glob("*.sql")))
    return Workload(
        name=name,
        directory=directory,
        description=described["description"],
        size_name=described["size"]["name"],
        size_default=described["size"]["default"],
        size_test=described["size"]["test"],
        tables=tuple(described["tables"]),
        queries=queries,
        require=described.get("require", False),
        may_be_empty=tuple(described.get("may_be_empty", ())),
        expressions=described.get("expressions", {}),
        target=Target(**described["target"]) if "target" in described else None,
    )
