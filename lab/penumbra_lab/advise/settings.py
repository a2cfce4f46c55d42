"""Which settings of a server to change, and what else to do before Penumbra helps."""

import math
from collections.abc import Iterator, Sequence

from penumbra_lab.advise.advice import MEGABYTE, Advice
from penumbra_lab.advise.server import Server
from penumbra_lab.watch.findings import Finding
from penumbra_lab.watch.wording import counted, name, size

SETTINGS = (
    "shared_preload_libraries", "penumbra.memory", "random_page_cost", "work_mem",
    "hash_mem_multiplier",
    "max_parallel_workers_per_gather", "effective_cache_size", "compute_query_id",
    "old_snapshot_threshold",
)  # fmt: skip
# From here on look-ups by index seem too expensive for data in memory.
RANDOM_PAGE_COST_OF_DISKS = 2.0
RANDOM_PAGE_COST_OF_MEMORY = 1.1
# Of tables that are worth a line.
PAGES_MIN = 128
VISIBLE_SHARE_MIN = 0.9
NAMED_TABLES_MAX = 5
PAGE_BYTES, KILOBYTE = 8192, 1024
WORK_MEMORY_MB_MAX = 1024


def find_settings(server: Server, advice: Advice) -> list[Finding]:
    rows = server.ask(
        "SELECT name, current_setting(name) AS shown, setting FROM pg_settings"
        " WHERE name = ANY (%s)",
        (list(SETTINGS),),
    )
    settings = {row.name: row for row in rows}
    found = [*_library(settings, advice), *_costs(settings, advice),
             *_work_memory(settings, advice), *_tables(advice.tables)]  # fmt: skip
    if settings["max_parallel_workers_per_gather"].setting == "0":
        found.append(Finding(False, "queries run in one thread",
                             "max_parallel_workers_per_gather = 2, or more: the engine takes as"
                             " many threads"))  # fmt: skip
    if int(settings.get("old_snapshot_threshold", _NONE).setting) >= 0:
        found.append(Finding(True, "old_snapshot_threshold is set, so nothing is cached",
                             "ALTER SYSTEM RESET old_snapshot_threshold, and restart"))  # fmt: skip
    if server.major == 16:
        found.append(Finding(False, "Penumbra knows PostgreSQL 16, but is not tested on it"))
    return found


class _Missing:
    setting = "-1"


_NONE = _Missing()


def _library(settings: dict, advice: Advice) -> Iterator[Finding]:
    loaded = settings.get("shared_preload_libraries")
    if advice.memory_mb == 0:
        return
    if loaded is not None and "penumbra" not in loaded.setting.replace('"', "").replace(
        " ", ""
    ).split(","):
        libraries = ", ".join(filter(None, (loaded.setting, "penumbra")))
        yield Finding(True, "the library is not loaded",
                      f"shared_preload_libraries = '{libraries}', and restart")  # fmt: skip
    memory = f"penumbra.memory = '{advice.memory_mb}MB'"
    given = settings.get("penumbra.memory")
    if given is None or not given.setting.isdigit():
        yield Finding(False, f"the columns that pay need {advice.memory_mb} MB", memory)
    elif int(given.setting) < advice.memory_mb:
        yield Finding(False, f"penumbra.memory is {given.shown}; the columns that pay need"
                      f" {advice.memory_mb} MB", memory)  # fmt: skip


def _costs(settings: dict, advice: Advice) -> Iterator[Finding]:
    heap_bytes = sum(table.pages * PAGE_BYTES for table in advice.tables)
    cache_bytes = int(settings["effective_cache_size"].setting) * PAGE_BYTES
    cost = float(settings["random_page_cost"].setting)
    if cost >= RANDOM_PAGE_COST_OF_DISKS and 0 < heap_bytes <= cache_bytes:
        yield Finding(
            False,
            f"random_page_cost is {cost:g}, which is for disks, but these tables fit into memory",
            f"random_page_cost = {RANDOM_PAGE_COST_OF_MEMORY}: plans get better with and without"
            " Penumbra",
        )


def _work_memory(settings: dict, advice: Advice) -> Iterator[Finding]:
    multiplier = float(settings["hash_mem_multiplier"].setting)
    allowed = int(settings["work_mem"].setting) * KILOBYTE * multiplier
    larger = [one for one in advice.statements if one.is_promised and one.kept_bytes > allowed]
    if not larger:
        return
    most = max(one.kept_bytes for one in larger)
    wanted = min(2 ** math.ceil(math.log2(most / multiplier / MEGABYTE)), WORK_MEMORY_MB_MAX)
    yield Finding(
        False,
        f"{counted(len(larger), 'statement')} would hash or sort up to {size(most)}, more than"
        f" work_mem ({settings['work_mem'].shown}) times hash_mem_multiplier, and spill to disk",
        f"work_mem = '{wanted}MB' for the role that runs them",
    )


def _tables(tables: Sequence) -> Iterator[Finding]:
    unvacuumed = [
        table
        for table in tables
        if table.pages >= PAGES_MIN and table.visible_pages < VISIBLE_SHARE_MIN * table.pages
    ]
    for table in unvacuumed[:NAMED_TABLES_MAX]:
        yield Finding(
            False,
            f"{name(table.schema, table.name)} ({size(table.pages * PAGE_BYTES)}) has pages that"
            " are not marked all-visible, which a scan looks at one by one",
            f"VACUUM {name(table.schema, table.name)}",
        )
    if len(unvacuumed) > NAMED_TABLES_MAX:
        yield Finding(
            False, f"{counted(len(unvacuumed) - NAMED_TABLES_MAX, 'more table')} want VACUUM"
        )
    for table in tables:
        if all(column.width is None for column in table.columns.values()):
            yield Finding(
                False,
                f"{name(table.schema, table.name)} has no statistics that this role may see, so"
                " its sizes are guesses",
                f"ANALYZE {name(table.schema, table.name)}, or GRANT SELECT on it to this role",
            )
