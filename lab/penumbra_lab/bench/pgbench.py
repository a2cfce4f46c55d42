"""The command `penumbra bench pgbench`: its options, the document, the table that it prints."""

import json
import os
import random
from pathlib import Path

import click

from penumbra_lab.errors import LabError
from penumbra_lab.run import environment
from penumbra_lab.run.cpus import parse_cpus, split_cpus
from penumbra_lab.run.document import RunDocument, medians
from penumbra_lab.run.levels import LEVELS, Level
from penumbra_lab.run.pgbench import WORKLOADS, Workload, check_disk
from penumbra_lab.run.recording import conclude
from penumbra_lab.run.sweep import Design, Sweep, execute_sweep, sweep_bars
from penumbra_lab.run.targets import (
    PRESETS,
    ConnectionTarget,
    Target,
    VariantPlan,
    check_version,
    initialize,
    parse_variant,
    private_settings,
    private_targets,
    scale_of,
)
from penumbra_lab.server import program_version
from penumbra_lab.show import number, plain_table

SCALE_DEFAULT = 10
SCALE_MAX = 1_000_000
REPETITIONS_DEFAULT = 25
STARTS_DEFAULT = 5


class ClientCounts(click.ParamType):
    """1,2,4: from small to large, each once."""

    name = "counts"

    def convert(self, value, param, ctx):
        if not isinstance(value, str):
            return value
        try:
            counts = sorted({int(part) for part in value.split(",")})
        except ValueError:
            self.fail(f"{value!r} is no list of client counts: write it as 1,2,4,8", param, ctx)
        if counts[0] < 1 or counts[-1] > 10_000:
            self.fail("client counts are from 1 to 10000", param, ctx)
        return tuple(counts)


def default_clients(cpus: int) -> tuple[int, ...]:
    """Past the knee: up to four clients for each CPU."""
    counts, count = {1, cpus, 4 * cpus}, 2
    while count < 4 * cpus:
        counts.add(count)
        count *= 2
    return tuple(sorted(counts))


@click.command("pgbench")
@click.option(
    "--workload",
    "-w",
    "workload_names",
    multiple=True,
    type=click.Choice([*WORKLOADS]),
    help="May be given again.  [default: select-only, simple-update, tpcb]",
)
@click.option(
    "--file",
    "-f",
    "scripts",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A pgbench script of your own, a workload named like the file.",
)
@click.option(
    "--clients",
    type=ClientCounts(),
    default=None,
    help="As 1,2,4.  [default: up to four for each CPU]",
)
@click.option(
    "--scale",
    type=click.IntRange(1, SCALE_MAX),
    default=None,
    help=f"About 16 MB each.  [default: {SCALE_DEFAULT}; of a --connection: what is there]",
)
@click.option(
    "--partitions", type=click.IntRange(min=0), default=0, help="Partitions of pgbench_accounts."
)
@click.option(
    "--protocol",
    type=click.Choice(["prepared", "simple", "extended"]),
    default="prepared",
    show_default=True,
)
@click.option(
    "--seconds",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Length of one measurement.",
)
@click.option(
    "--warmup",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Seconds of each workload after a server start.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    default=REPETITIONS_DEFAULT,
    show_default=True,
    help="Of every measurement: many short ones tell more than a few long ones.",
)
@click.option(
    "--starts",
    type=click.IntRange(min=1),
    default=STARTS_DEFAULT,
    show_default=True,
    help="Of private servers: the repetitions are spread over them.",
)
@click.option(
    "--levels/--no-levels",
    default=None,
    help="The same lookup over the wire, in a C loop, in PL/pgSQL and in the index, with"
    " the extension penumbra_bench.  [default: where it is to be had]",
)
@click.option(
    "--variant",
    "variant_texts",
    multiple=True,
    metavar="NAME[:SETTING=VALUE,...]",
    help="What to compare, may be given again: settings, bin=DIRECTORY for another build,"
    f" or one of {', '.join(PRESETS)}.  [default: stock]",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="SETTING=VALUE",
    help="A setting of all private servers.",
)
@click.option(
    "--connection",
    default=None,
    metavar="CONNINFO",
    help="Measure this server and not a private one; passwords are better in ~/.pgpass.",
)
@click.option(
    "--initialize",
    is_flag=True,
    help="With --connection: make the pgbench tables, dropping those that are there.",
)
@click.option(
    "--server-machine",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="What `penumbra environment` printed on the server's machine.",
)
@click.option("--server-cpus", default=None, metavar="0-3", help="CPUs of private servers.")
@click.option(
    "--client-cpus",
    default=None,
    metavar="4-7",
    help="CPUs of pgbench.  [default: half of the cores each, from 4 CPUs on]",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=None)
@click.option("--title", default=None)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The document.  [default: in .penumbra/results]",
)
def bench_pgbench(**options) -> None:
    """pgbench over client counts, repeated in blocks, with what disturbed it."""
    plans = [parse_variant(text) for text in options["variant_texts"] or ("stock",)]
    if len({plan.name for plan in plans}) < len(plans):
        raise LabError("two variants have the same name")
    if options["connection"]:
        _bench_connection(plans, options)
    else:
        _bench_private(plans, options)


def _bench_private(plans: list[VariantPlan], options: dict) -> None:
    for name in ("initialize", "server_machine"):
        if options[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --connection")
    scale = options["scale"] or SCALE_DEFAULT
    server_cpus, client_cpus = _cpus(options)
    clients = _clients(options)
    settings = private_settings(scale, max(clients), len(plans))
    for text in options["settings"]:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--set {text!r}: write it as SETTING=VALUE")
        settings[name] = value
    with (
        sweep_bars() as progress,
        private_targets(
            plans, settings, scale, _init_options(options), server_cpus, progress
        ) as targets,
    ):
        targets[0].server.start()
        levels = _levels(targets[0], options["levels"])
        design = _design(options, scale, clients, levels, client_cpus)
        described = environment.describe_private(
            targets[0].server, pgbench=program_version(targets[0].pgbench)
        )
        run = _document(options, design, plans, described, server_cpus)
        outcome = execute_sweep(Sweep(design, targets, run, progress))
    conclude(outcome, sweep_table, options["output"])


def _bench_connection(plans: list[VariantPlan], options: dict) -> None:
    for name in ("settings", "server_cpus"):
        if options[name]:
            raise click.UsageError("--set and --server-cpus are for private servers")
    targets = [ConnectionTarget(plan, options["connection"]) for plan in plans]
    first = targets[0]
    with first.connect() as connection:
        check_version(connection)
        server = environment.describe_server(connection, "connection")
    local = first.is_local()
    with sweep_bars() as progress:
        if options["initialize"]:
            _initialize_connection(first, local, options, progress)
        with first.connect() as connection:
            scale = scale_of(connection)
        if options["scale"] not in (None, scale):
            raise LabError(
                f"the pgbench tables have scale {scale}: leave out --scale, or add --initialize"
            )
        levels = _levels(first, options["levels"])
        client_cpus = options["client_cpus"]
        design = _design(options, scale, _clients(options), levels, client_cpus)
        here = environment.describe_machine()
        described = {
            "machine": here if local else _described_machine(options["server_machine"]),
            "client_machine": None if local else here,
            "server": server,
            "client": environment.describe_client(pgbench=program_version(first.pgbench)),
        }
        run = _document(options, design, plans, described, None)
        outcome = execute_sweep(Sweep(design, targets, run, progress))
    conclude(outcome, sweep_table, options["output"])


def _initialize_connection(target: Target, local: bool, options: dict, progress) -> None:
    scale = options["scale"] or SCALE_DEFAULT
    with target.connect() as connection:
        row = connection.execute(
            "SELECT setting FROM pg_settings WHERE name = 'data_directory'"
        ).fetchone()
    # Roles that may not see the setting get no row; on another machine it would be another disk.
    if local and row and Path(row[0]).parent.exists():
        check_disk(Path(row[0]), scale, 1)
    initialize(target, scale, _init_options(options), progress)


def _init_options(options: dict) -> list[str]:
    return [f"--partitions={options['partitions']}"] if options["partitions"] else []


def _described_machine(path: Path | None) -> dict | None:
    if path is None:
        return None
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise LabError(f"{path}: {error}") from None


def _cpus(options: dict) -> tuple[str | None, str | None]:
    server, client = options["server_cpus"], options["client_cpus"]
    if server is None and client is None:
        return split_cpus()
    for text in (server, client):
        if text:
            parse_cpus(text)
    return server, client


def _clients(options: dict) -> tuple[int, ...]:
    return options["clients"] or default_clients(len(os.sched_getaffinity(0)))


def _levels(target: Target, wanted: bool | None) -> tuple[Level, ...]:
    if wanted is False:
        return ()
    if target.has_loops():
        return LEVELS
    if wanted:
        raise LabError(
            "the extension penumbra_bench is not there or not for this role: install it"
            " (make -C extensions/bench install) and connect as superuser, or use --no-levels"
        )
    return ()


def _design(
    options: dict,
    scale: int,
    clients: tuple[int, ...],
    levels: tuple[Level, ...],
    client_cpus: str | None,
) -> Design:
    scripts = [Workload(path.stem, script=path) for path in options["scripts"]]
    names = options["workload_names"]
    if not names and not scripts:
        names = ("select-only", "simple-update", "tpcb")
    workloads = (*(WORKLOADS[name] for name in dict.fromkeys(names)), *scripts)
    if len({workload.name for workload in workloads}) < len(workloads):
        raise LabError("two workloads have the same name")
    seed = options["seed"]
    return Design(
        repetitions=options["repetitions"],
        starts=min(options["starts"], options["repetitions"]),
        seconds=options["seconds"],
        warmup_seconds=options["warmup"],
        seed=random.randrange(2**31) if seed is None else seed,
        protocol=options["protocol"],
        clients=clients,
        workloads=workloads,
        levels=levels,
        scale=scale,
        client_cpus=client_cpus,
    )


def _document(
    options: dict,
    design: Design,
    plans: list[VariantPlan],
    described: dict,
    server_cpus: str | None,
) -> RunDocument:
    size: dict[str, int | str] = {"scale": design.scale, "protocol": design.protocol}
    if options["partitions"]:
        size["partitions"] = options["partitions"]
    written = {
        "order": "ABBA",
        "repetitions": design.repetitions,
        "seconds": design.seconds,
        "warmup_seconds": design.warmup_seconds,
        "seed": design.seed,
        "server_starts": 0,
        "server_cpus": server_cpus,
        "client_cpus": design.client_cpus,
        "size": size,
    }
    title = options["title"] or f"pgbench, scale {design.scale}, {design.protocol}"
    run = RunDocument("pgbench", title, described, written, [plan.described() for plan in plans])
    _warn_of_places(run, design, described)
    return run


def _warn_of_places(run: RunDocument, design: Design, described: dict) -> None:
    if described["client_machine"] is None and not design.client_cpus:
        cpus = described["machine"]["cpu"]["cpus"]
        run.warn("shared_cpus", f"server and client shared {cpus} CPUs",
                 "run the client on another machine, or on one with 4 CPUs or more")  # fmt: skip
    if described["machine"] is None:
        run.warn("server_machine_unknown", "nothing is known of the server's machine",
                 "run `penumbra environment` there, and give its output here with"
                 " --server-machine")  # fmt: skip


def sweep_table(document: dict):
    """Medians; `penumbra compare` and `penumbra report` tell what they are worth."""
    labels = {variant["name"]: variant["label"] for variant in document["variants"]}
    # CPU time is of a transaction of a workload, and of an execution of a lookup.
    units = {(s["workload"], s["metric"]): s["unit"] for s in document["series"]}
    rows = [
        [workload, "" if x is None else f"{x}", units[workload, metric],
         *(number(row.get(name, float("nan"))) for name in labels)]
        for (workload, metric, x), row in medians(document).items()
    ]  # fmt: skip
    title = f"{document['title']}: medians"
    return plain_table(title, ["", "clients", "unit", *labels.values()], rows)
