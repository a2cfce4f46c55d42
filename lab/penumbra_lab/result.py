"""Result documents: one JSON file per run, with everything needed to understand the numbers."""

import datetime
import json
from pathlib import Path

from penumbra_lab import machine
from penumbra_lab.errors import LabError
from penumbra_lab.server import PrivateServer
from penumbra_lab.state import results_directory

SCHEMA = 1


def start_document(kind: str, title: str, server: PrivateServer) -> dict:
    return {
        "schema": SCHEMA,
        "kind": kind,
        "title": title,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine.describe_machine(),
        "versions": machine.describe_versions(server.installation),
        "settings": server.settings,
    }


def write_document(document: dict) -> Path:
    stamp = document["started"].replace(":", "").replace("-", "")[:15]
    path = results_directory() / f"{document['kind']}-{stamp}.json"
    path.write_text(json.dumps(document, indent=1))
    return path


def read_document(path: Path) -> dict:
    try:
        document = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise LabError(f"{path}: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise LabError(f"{path} is not a result of this version (schema {SCHEMA})")
    return document


def is_workload_result(path: Path) -> bool:
    """Of tpch or wide, whose documents have a schema of their own."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("schema") == SCHEMA and "queries" in document


def latest_result(kind: str = "") -> Path:
    found = sorted(results_directory().glob(f"{kind}*.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise LabError("no results yet: run `penumbra demo` or `penumbra bench pgbench`")
    return found[-1]
