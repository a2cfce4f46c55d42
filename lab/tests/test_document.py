"""Documents of a run: schema, building, writing and what is refused when one is read."""

import copy
import json
import os
from pathlib import Path

import jsonschema
import pytest

from penumbra_lab.errors import LabError
from penumbra_lab.run.document import (
    Axis,
    Metric,
    RunDocument,
    Variant,
    command_without_secrets,
    read_run,
    schema,
    validate_run,
    write_run,
)
from penumbra_lab.run.environment import describe_client, describe_machine

THROUGHPUT = Metric("throughput", "transactions/s", "higher")


def _example() -> dict:
    return json.loads(Path(__file__).with_name("example.json").read_text())


def test_the_schema_is_one_and_takes_the_example():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert validate_run(_example(), "example")["status"] == "complete"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("status",), "done"),
        (("started_at",), "yesterday"),
        (("series", 0, "better"), "more"),
        (("series", 0, "points", 0, "samples", 0, "value"), "fast"),
        (("series", 0, "points", 0, "samples", 0, "noise"), ["astrology"]),
        (("environment", "machine", "memory_bytes"), None),
        (("warnings", 0), {"code": "x"}),
        (("unknown",), 1),
    ],
)
def test_what_breaks_the_schema_is_named_with_its_place(path, value):
    document = copy.deepcopy(_example())
    target = document
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    with pytest.raises(LabError, match=r"^place: \$"):
        validate_run(document, "place")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema": 1}', "\x00", '"penumbra-run/1"'])
def test_corrupt_and_foreign_files_are_refused(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(LabError, match="x.json"):
        read_run(path)
    with pytest.raises(LabError, match="missing.json"):
        read_run(tmp_path / "missing.json")


def _small_run() -> RunDocument:
    machine = describe_machine(Path("/"))
    server = {"kind": "private", "version": "15", "version_number": 150000, "build": {},
              "settings": {}}  # fmt: skip
    environment = {"machine": machine, "client_machine": None, "server": server,
                   "client": describe_client()}  # fmt: skip
    design = {"order": "ABBA", "repetitions": 2, "server_starts": 2}
    return RunDocument("pgbench", "t", environment, design, [Variant("stock", "stock", {})])


def test_samples_of_a_point_stay_together_and_points_are_in_order(tmp_path):
    run = _small_run()
    for block, clients in ((0, (1, 2)), (1, (2, 1))):
        for x in clients:
            run.add_sample("w", "stock", THROUGHPUT, 10.0 * x, block=block, order=run.next_order(),
                           started_at="2026-01-01T00:00:00Z", axis=Axis("clients", "clients"), x=x,
                           server_start=block)  # fmt: skip
    path = write_run(run.finish("interrupted"), tmp_path / "results" / "r.json")
    assert [entry.name for entry in path.parent.iterdir()] == ["r.json"]
    (series,) = read_run(path)["series"]
    assert [point["x"] for point in series["points"]] == [1, 2]
    assert [[s["order"] for s in point["samples"]] for point in series["points"]] == [
        [0, 3],
        [1, 2],
    ]


def test_a_document_that_breaks_the_schema_is_not_written(tmp_path):
    document = _small_run().finish("complete")
    document["noise"] = {}
    with pytest.raises(LabError, match="limits"):
        write_run(document, tmp_path / "r.json")
    assert list(tmp_path.iterdir()) == []


def test_passwords_are_left_out_of_the_command():
    shown = command_without_secrets(
        ["/x/penumbra", "bench", "--connection", "host=h password=secret user=u",
         "--other", "postgresql://u:secret@h/db"]
    )  # fmt: skip
    assert shown == ["penumbra", "bench", "--connection", "host=h user=u",
                     "--other", "postgresql://u@h/db"]  # fmt: skip


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    document = _small_run().finish("complete")
    try:
        write_run(document, pipe)
        assert json.loads(os.read(reader, 1 << 16)) == document
    finally:
        os.close(reader)
    assert pipe.is_fifo()
