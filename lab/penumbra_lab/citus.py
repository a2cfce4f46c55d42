"""A Citus cluster that somebody has, and TPC-H's tables in a schema of our own there.

Nothing else of the cluster changes: which node has which shards of these tables is decided by
moving them, not by properties of the nodes, and they are colocated with no table of the user.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
from psycopg import sql

from penumbra_lab.errors import LabError

# Which server has a row goes by this column; tables that are not here are whole on every node.
DISTRIBUTION_COLUMNS = {"lineitem": "l_orderkey", "orders": "o_orderkey"}
SHARDED = "lineitem"  # the others of them are colocated with it

# A shard without rows has no pages to cache.
COVERAGE = """SELECT CASE pg_relation_size('%1$s') WHEN 0 THEN 100 ELSE coalesce(
    (SELECT coverage_percent FROM penumbra.tables WHERE relid = '%1$s'::regclass), 0) END"""
CACHED_BYTES = """SELECT coalesce(sum(memory_bytes), 0) FROM penumbra.tables
    WHERE relid = '%s'::regclass"""
VERSION = "SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'penumbra'), '')"
IS_USABLE = "SELECT count(*) FROM penumbra.tables"


@dataclass(frozen=True, order=True)
class Node:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Move:
    shard: int
    source: Node
    target: Node


def plan_moves(placements: dict[int, Node], nodes: list[Node]) -> list[Move]:
    """So that these nodes have the shards, and none more than one more than another."""
    shards: dict[Node, list[int]] = {node: [] for node in (*nodes, *placements.values())}
    for shard, node in sorted(placements.items()):
        shards[node].append(shard)
    moves = []

    def move_one(source: Node) -> None:
        target = min(nodes, key=lambda node: len(shards[node]))
        shard = shards[source].pop()
        shards[target].append(shard)
        moves.append(Move(shard, source, target))

    for node in shards:
        while node not in nodes and shards[node]:
            move_one(node)
    while True:
        most = max(nodes, key=lambda node: len(shards[node]))
        if len(shards[most]) - min(len(shards[node]) for node in nodes) <= 1:
            return moves
        move_one(most)


def check_version(node: Node, success: bool, result: str) -> None:
    """Of what a node answered to VERSION."""
    if not success:
        raise LabError(f"node {node} does not answer: {_one_line(result)}")
    if not result:
        raise LabError(
            f"node {node} has no extension penumbra in this database: CREATE EXTENSION penumbra"
            " on the coordinator creates it on all nodes"
        )


def check_is_usable(node: Node, success: bool, result: str) -> None:
    """Of what a node answered to IS_USABLE."""
    if not success:
        raise LabError(
            f"node {node} cannot use penumbra: {_one_line(result)}; it needs"
            " shared_preload_libraries = 'citus, penumbra' and a restart"
        )


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


def statements(script: str) -> list[str]:
    """One by one: Citus refuses some in a transaction of others."""
    without_comments = re.sub(r"--.*", "", script)
    return [text for part in without_comments.split(";") if (text := part.strip())]


class Cluster:
    """Seen from its coordinator."""

    def __init__(self, connection: psycopg.Connection):
        self.connection = connection
        if not self._value("SELECT count(*) FROM pg_extension WHERE extname = 'citus'"):
            raise LabError(
                "this database has no Citus: connect to the coordinator, and to its database that"
                " has the extension"
            )
        if not self._value("SELECT citus_is_coordinator()"):
            raise LabError("this is a worker of a Citus cluster: connect to the coordinator")
        self.workers = self._check_nodes()

    def _value(self, query: str, *arguments: object) -> object:
        return self.connection.execute(query, arguments).fetchone()[0]

    def _check_nodes(self) -> list[Node]:
        """Those that may have shards. All have to answer, and to have Penumbra."""
        found = self.connection.execute(
            "SELECT nodeid, nodename, nodeport, isactive, shouldhaveshards FROM pg_dist_node"
            " WHERE noderole = 'primary' ORDER BY nodeid"
        ).fetchall()
        nodes = {nodeid: Node(host, port) for nodeid, host, port, _, _ in found}
        for nodeid, _, _, is_active, _ in found:
            if not is_active:
                raise LabError(
                    f"node {nodes[nodeid]} is not active in pg_dist_node: SELECT"
                    f" citus_activate_node('{nodes[nodeid].host}', {nodes[nodeid].port})"
                )
        for command, check in ((VERSION, check_version), (IS_USABLE, check_is_usable)):
            for nodeid, success, result in self.connection.execute(
                "SELECT nodeid, success, result FROM run_command_on_all_nodes(%s)", (command,)
            ).fetchall():
                check(nodes[nodeid], success, result)
        workers = [nodes[nodeid] for nodeid, _, _, _, has_shards in found if has_shards]
        if not workers:
            raise LabError("no node of pg_dist_node may have shards: add one by citus_add_node()")
        return workers


class OwnSchema:
    """TPC-H's tables in a schema that did not exist before, until remove()."""

    def __init__(self, cluster: Cluster, name: str):
        connection = cluster.connection
        (may_create, role, database) = connection.execute(
            "SELECT has_database_privilege(current_database(), 'CREATE'), current_user,"
            " current_database()"
        ).fetchone()
        if not may_create:
            raise LabError(f'role "{role}" may not create a schema in database "{database}"')
        self.cluster, self.name = cluster, name
        self.why_left: LabError | None = None  # set by remove()
        # a schema would otherwise be a tenant, in whose tables nothing can be distributed
        connection.execute(
            "SELECT set_config(name, 'off', false) FROM pg_settings"
            " WHERE name = 'citus.enable_schema_based_sharding'"
        )
        try:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        except psycopg.errors.DuplicateSchema:
            raise LabError(
                f'schema "{name}" exists: drop it if an earlier run left it, or choose another name'
                " by --schema"
            ) from None
        connection.execute("SELECT set_config('search_path', quote_ident(%s), false)", (name,))

    def distribute(self, tables: tuple[str, ...], shards: int) -> None:
        for table in sorted(tables, key=lambda table: table != SHARDED):
            column = DISTRIBUTION_COLUMNS.get(table)
            if column is None:
                self._execute("SELECT create_reference_table(%s::regclass)", table)
            elif table == SHARDED:
                self._execute(
                    "SELECT create_distributed_table(%s::regclass, %s, colocate_with => 'none',"
                    " shard_count => %s)", table, column, shards,
                )  # fmt: skip
            else:
                self._execute(
                    "SELECT create_distributed_table(%s::regclass, %s, colocate_with => %s)",
                    table, column, f"{sql.Identifier(self.name, SHARDED).as_string()}",
                )  # fmt: skip

    def _execute(self, statement: str, *arguments: object) -> None:
        self.cluster.connection.execute(statement, arguments)

    def placements(self) -> dict[int, Node]:
        """Of the shards of one of the distributed tables; those of the others stand beside them."""
        found = self.cluster.connection.execute(
            "SELECT shardid, nodename, nodeport FROM pg_dist_shard JOIN pg_dist_placement"
            " USING (shardid) JOIN pg_dist_node USING (groupid)"
            " WHERE logicalrelid = %s::regclass AND noderole = 'primary'", (SHARDED,),
        )  # fmt: skip
        return {shard: Node(host, port) for shard, host, port in found}

    def move_to(self, nodes: list[Node]) -> Iterator[Move]:
        for move in plan_moves(self.placements(), nodes):
            source, target = move.source, move.target
            self._execute(
                "SELECT citus_move_shard_placement(%s, %s, %s, %s, %s, 'block_writes')",
                move.shard, source.host, source.port, target.host, target.port,
            )  # fmt: skip
            yield move

    def cache(self, table: str) -> float:
        """Vacuums it and loads all placements; returns the least percentage that one has cached."""
        self.cluster.connection.execute(
            sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table))
        )
        self._on_placements(table, "SELECT penumbra.load('%s')")
        return min(map(float, self._on_placements(table, COVERAGE)))

    def cached_bytes(self, table: str) -> int:
        return sum(map(int, self._on_placements(table, CACHED_BYTES)))

    def _on_placements(self, table: str, command: str) -> list[str]:
        answers = self.cluster.connection.execute(
            "SELECT nodename, nodeport, success, result"
            " FROM run_command_on_placements(%s::regclass, %s)", (table, command),
        ).fetchall()  # fmt: skip
        for host, port, success, result in answers:
            if not success:
                raise LabError(f"node {Node(host, port)}: {_one_line(result)}")
        return [result for _, _, _, result in answers]

    def remove(self, dsn: str) -> None:
        """By a session that nothing interrupted: the other one may be in any state."""
        drop = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(self.name))
        try:
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute("SET client_min_messages = warning")
                connection.execute(drop)
        except psycopg.Error as error:
            self.why_left = LabError(
                f"what was made is left: {drop.as_string()} failed: {_one_line(error)}"
            )
