"""In what the conditions of several runs differ: the first thing that a comparison has to say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penumbra_lab.analysis.document import Run

# In the order of what matters; whatever a document has besides follows under its own name.
NAMES = {
    "machine.cpu.model": "CPU",
    "machine.cpu.architecture": "architecture",
    "machine.cpu.cpus": "number of CPUs",
    "machine.cpu.quota_cpus": "CPU quota",
    "machine.memory_bytes": "memory",
    "server.version": "server version and compiler",
    "server.build.CC": "compiler",
    "server.build.CFLAGS": "compiler flags",
    "server.build.CONFIGURE": "configure options",
    "design.size": "size",
    "design.seconds": "seconds per measurement",
    "design.warmup_seconds": "warm-up",
    "design.repetitions": "repetitions",
    "design.server_starts": "server starts",
    "design.server_cpus": "CPUs of the server",
    "design.client_cpus": "CPUs of the client",
    "machine.cpu.microcode": "microcode",
    "machine.cpu.governor": "frequency governor",
    "machine.caches": "caches",
    "machine.numa": "NUMA nodes",
    "machine.page_bytes": "page size",
    "machine.huge_pages": "huge pages",
    "machine.kernel": "kernel",
    "machine.operating_system": "operating system",
    "machine.virtualization": "virtualization",
    "machine.filesystem": "file system",
    "machine.cpu.flags": "CPU features",
    "penumbra_version": "Penumbra's version",
}
# Under these every entry is a fact of its own, and its key the name that people know it by.
TABLES = ("server.settings.", "server.extensions.", "variant.", "client.")
# They differ from minute to minute and say nothing about the machine.
VOLATILE = ("load_average", "free_bytes", "machine.cpu.mhz", "design.seed", "server.version_number")
# In a list of facts these speak for themselves.
UNNAMED = ("name", "type", "bytes")
ABSENT = "–"
HEADLINE_NAMES_MAX = 8


@dataclass(frozen=True)
class Difference:
    name: str
    values: tuple[str, ...]  # one per run


def environment_facts(run: Run) -> dict[str, str]:
    """Name and value of what describes the conditions of a run."""
    document = run.document
    facts = dict(_flatten("", document["environment"]))
    facts |= _flatten("design.", document["design"])
    facts["penumbra_version"] = document["penumbra_version"]
    if len(document["variants"]) == 1:
        facts |= _flatten("variant.", document["variants"][0]["settings"])
    order = {key: number for number, key in enumerate(NAMES)}
    return {
        _name(key): facts[key] for key in sorted(facts, key=lambda key: order.get(key, len(order)))
    }


def environment_differences(runs: Sequence[Run]) -> list[Difference]:
    facts = [environment_facts(run) for run in runs]
    names = dict.fromkeys(name for entry in facts for name in entry)
    found = []
    for name in names:
        values = tuple(entry.get(name, ABSENT) for entry in facts)
        if len(set(values)) > 1:
            found.append(Difference(name, _shortened(values)))
    order = {name: number for number, name in enumerate(NAMES.values())}
    return sorted(found, key=lambda entry: order.get(entry.name, len(order)))


def headline(differences: Sequence[Difference], runs: int) -> str:
    who = "These two" if runs == 2 else f"These {runs}"
    if not differences:
        return f"{who} were measured under the same conditions, as far as they are recorded."
    names = [entry.name for entry in differences]
    more = len(names) - HEADLINE_NAMES_MAX
    shown = ", ".join(names[:HEADLINE_NAMES_MAX]) + (f" and {more} more" if more > 0 else "")
    return f"{who} differ in: {shown}."


def _flatten(prefix: str, value: object) -> Iterator[tuple[str, str]]:
    if value is None or prefix.rstrip(".").endswith(VOLATILE):
        return
    key = prefix.rstrip(".")
    if isinstance(value, dict) and key not in NAMES:
        for name, entry in value.items():
            yield from _flatten(f"{prefix}{name}.", entry)
    else:
        yield key, _text(key, value)


def _text(key: str, value: object) -> str:
    if isinstance(value, dict):
        parts = (_text(name, entry) if name in UNNAMED else f"{name} {_text(name, entry)}"
                 for name, entry in value.items()
                 if entry is not None and name not in VOLATILE)  # fmt: skip
        return ", ".join(parts)
    if isinstance(value, list):
        return ("; " if value and isinstance(value[0], dict) else " ").join(
            _text(key, entry) for entry in value
        )
    if key.endswith("bytes") and isinstance(value, int):
        return _bytes_text(value)
    return str(value)


def _bytes_text(count: int) -> str:
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << shift:
            return f"{count / (1 << shift):.4g} {unit}"
    return f"{count} B"


def _name(key: str) -> str:
    for prefix in TABLES:
        if key.startswith(prefix):
            return key.removeprefix(prefix)
    return NAMES.get(key, key)


def _shortened(values: tuple[str, ...]) -> tuple[str, ...]:
    """Long lists of words (CPU features, flags) show only what not all have."""
    words = [value.split() for value in values]
    if max(len(entry) for entry in words) < 12:
        return values
    common = set(words[0]).intersection(*words[1:])
    return tuple(
        " ".join(word for word in entry if word not in common) or "nothing else" for entry in words
    )
