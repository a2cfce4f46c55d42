"""`penumbra metrics`, the queries for postgres_exporter, Grafana's board: one set of names."""

import json
import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from penumbra_lab.cli import commands
from penumbra_lab.watch.metrics import GROUPS, exporter_queries, metrics_answer, metrics_text
from penumbra_lab.watch.reader import Reader

MONITORING = Path(__file__).parents[2] / "docs/monitoring"
HOSTILE = 'a "name" \\ with\nlines größe 日本 {x="y"}'
# What only the lab's own exporter knows.
OWN = {"penumbra_up", "penumbra_info", "penumbra_read_seconds"}


@pytest.fixture(scope="module")
def snapshot(watched_server):
    with watched_server.connect() as connection:
        connection.execute("CREATE DATABASE measured")
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    with watched_server.connect("measured") as connection:
        for statement in (
            "CREATE EXTENSION penumbra",
            f"CREATE TABLE {quoted} AS SELECT i, '{{}}'::jsonb AS doc"
            " FROM generate_series(1, 20000) i",
            "VACUUM ANALYZE",
            f"SELECT penumbra.load($x${quoted}$x$, '{{i}}')",
            f"UPDATE {quoted} SET i = i + 1 WHERE i % 4 = 0",
            f"SELECT sum(i) FROM {quoted}",
            f"SELECT count(doc) FROM {quoted}",
        ):
            connection.execute(statement)
    with Reader(watched_server.conninfo("measured"), "test") as reader:
        return reader.read()


def samples(text: str) -> dict[tuple, float]:
    """By name and labels, as a strict parser reads them."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def test_names_units_and_kinds_follow_the_rules(snapshot):
    text = metrics_text(snapshot)
    assert text.endswith("# EOF\n")
    for family in text_string_to_metric_families(text):
        assert (
            family.documentation
            and re.fullmatch(r"penumbra(_[a-z]+)+", family.name)
            or family.name == "penumbra"
        )
        for unit in ("bytes", "seconds"):
            assert (family.unit == unit) == family.name.endswith(f"_{unit}")
        assert {sample.name.endswith("_total") for sample in family.samples} <= {
            family.type == "counter"
        }


def test_values_are_the_snapshot_s(snapshot):
    found = samples(metrics_text(snapshot))
    labels = frozenset({"schema": "public", "table": HOSTILE}.items())
    [table] = snapshot.tables.rows
    assert found["penumbra_table_memory_bytes", labels] == table.memory_bytes > 0
    assert found["penumbra_table_scans_total", labels] == table.hits == 1
    [stale] = snapshot.staleness.rows
    assert found["penumbra_stale_heap_pages", labels] == stale.heap_pages > 0
    since = found["penumbra_stale_since_timestamp_seconds", labels]
    assert since == pytest.approx(stale.stale_at.timestamp())
    assert found["penumbra_disk_state_current", frozenset({("state", "off")})] == 1
    reason = frozenset({("reason", "column of type jsonb")})
    assert found["penumbra_refusal_executions_total", reason] >= 1
    assert found["penumbra_up", frozenset()] == 1


def test_a_server_that_does_not_answer(snapshot):
    text, content_type = metrics_answer(None, "application/openmetrics-text; version=1.0.0")
    assert samples(text.decode()) == {("penumbra_up", frozenset()): 0}
    assert content_type.startswith("application/openmetrics-text")
    text, content_type = metrics_answer(snapshot, "text/plain")
    assert content_type.startswith("text/plain") and b"# EOF" not in text


def test_the_exporter_s_queries_give_the_same(snapshot, watched_server):
    """docs has what the command writes, and the server answers these queries as the lab does."""
    written = CliRunner().invoke(commands, ["metrics", "--postgres-exporter"]).output
    assert (MONITORING / "postgres_exporter.yaml").read_text() == written == exporter_queries()
    found = {}
    with watched_server.connect("measured", penumbra__mode="off") as connection:
        for prefix, entry in yaml.safe_load(written).items():
            usage = {
                name: of["usage"] for metric in entry["metrics"] for name, of in metric.items()
            }
            cursor = connection.execute(entry["query"])
            names = [column.name for column in cursor.description]
            assert set(names) == set(usage)
            for row in cursor:
                columns = dict(zip(names, row, strict=True))
                labels = frozenset((n, str(v)) for n, v in columns.items() if usage[n] == "LABEL")
                found |= {(f"{prefix}_{n}", labels): float(v) for n, v in columns.items()
                          if usage[n] != "LABEL" and v is not None}  # fmt: skip
            assert all((usage[n] == "COUNTER") == n.endswith("_total") for n in usage)
    own = {
        key: value for key, value in samples(metrics_text(snapshot)).items() if key[0] not in OWN
    }
    assert found == pytest.approx(own)


def exported_names(snapshot) -> set[str]:
    of_groups = {
        f"{group.prefix}_{value.exported_name}" for group in GROUPS for value in group.values
    }
    return of_groups | {name for name, _ in samples(metrics_text(snapshot))}


LABELS = {label for group in GROUPS for label in group.labels} | {"instance"}


def test_every_metric_of_the_board_exists(snapshot):
    board = json.loads((MONITORING / "grafana.json").read_text())
    asked = set(re.findall(r"penumbra_\w+", json.dumps([board["panels"], board["templating"]])))
    assert asked and asked <= exported_names(snapshot)
    for panel in board["panels"]:
        for target in panel["targets"]:
            for names in re.findall(r"\bby \(([^)]*)\)", target["expr"]):
                assert {name.strip() for name in names.split(",")} <= LABELS
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_every_metric_of_the_alerts_exists(snapshot):
    (group,) = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    page = (MONITORING.parent / "reference.md").read_text()
    for rule in group["rules"]:
        asked = set(re.findall(r"penumbra_\w+", rule["expr"]))
        assert asked and asked <= exported_names(snapshot)
        text = " ".join(rule["annotations"].values())
        assert set(re.findall(r"\$labels\.(\w+)", text)) <= LABELS
        named = re.findall(r"penumbra\.(?:auto|max|load)\w+", text)
        assert all(f"`{name}`" in page for name in named)
    assert len({rule["alert"] for rule in group["rules"]}) == len(group["rules"])
