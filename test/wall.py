"""The wall: engine and kernels know no PostgreSQL header; the library exports SQL entry points only."""

import re
import subprocess
import sys
from pathlib import Path

from named_checks import run_checks

TREE = Path(__file__).resolve().parents[1]
POSTGRES_HEADER = re.compile(
    r'#\s*include\s*[<"](postgres(_fe|_ext)?\.h|c\.h|fmgr\.h|funcapi\.h|miscadmin\.h|pg_config[^>"]*|libpq[^>"]*'
    r"|(access|catalog|commands|common|executor|lib|libpq|mb|nodes|optimizer|parser|port|postmaster|replication"
    r'|rewrite|server|storage|tcop|utils)/[^>"]+\.h)[>"]'
)
ENGINE_HEADER_FOR_ADAPTERS = re.compile(r'#\s*include\s*"([^"]+)"')


def header_failures() -> list[str]:
    found = []
    for folder in ("engine", "kernels"):
        for path in sorted((TREE / folder).rglob("*")):
            if path.suffix not in (".h", ".cc", ".hpp", ".cpp", ".c"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if POSTGRES_HEADER.search(line):
                    found.append(
                        f"{path.relative_to(TREE)}:{number} includes a PostgreSQL header: {line.strip()}"
                    )
    return found


def adapter_failures() -> list[str]:
    """Extensions see engine/include only."""
    found = []
    private = {
        path.relative_to(TREE / root).as_posix()
        for root, folder in (("engine/src", ""), ("kernels/include", "kernels"))
        for path in (TREE / root / folder).rglob("*.h")
    }
    for path in sorted((TREE / "extensions").rglob("*.[ch]")):
        for include in ENGINE_HEADER_FOR_ADAPTERS.findall(path.read_text()):
            if include in private and not (path.parent / include).exists():
                found.append(f"{path.relative_to(TREE)} includes the engine's private {include}")
    return found


# Each folder may include those that stand before it; the other files beside them are above all.
# The engine's order is that of the folder table in its README.
LAYERS = {
    "engine/src": re.findall(r"^\| \[\w+\]\(src/(\w+)/README\.md\) \|", (TREE / "engine/README.md").read_text(), re.M),
    "extensions/columnar/src": ["cache", "query"],
    "extensions/columnar/src/query": ["planning", "pipeline", "execute", "paths"],
}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def layer_failures() -> list[str]:
    failures = []
    for root, layers in LAYERS.items():
        folders = {path.name for path in (TREE / root).iterdir() if path.is_dir()}
        failures += [f"{root}/{name} is no layer" for name in sorted(folders - set(layers))]
        # includes are named from the folder `src` on
        prefix = root.partition("/src/")[2]
        for own, layer in enumerate(layers):
            for path in sorted((TREE / root / layer).rglob("*.[ch]*")):
                for include in INCLUDE.findall(path.read_text()):
                    inside = include.startswith(prefix) and (TREE / root / include.removeprefix(prefix + "/")).exists()
                    other = include.removeprefix(prefix + "/").split("/")[0]
                    if inside and (other not in layers or layers.index(other) > own):
                        failures.append(f"{path.relative_to(TREE)} includes {include}, a layer above it")
    return failures


# The same of the lab's packages; modules beside them are below all, but for cli.py.
LAB = TREE / "lab/penumbra_lab"
LAB_LAYERS = ["run", "analysis", "reporting", "watch", "advise", "bench", "tune", "commands"]
LAB_IMPORT = re.compile(r"^\s*from penumbra_lab\.(\w+)[\w.]* import", re.M)


def lab_failures() -> list[str]:
    failures = []
    for path in sorted(LAB.rglob("*.py")):
        package = path.relative_to(LAB).parts[0]
        own = LAB_LAYERS.index(package) if package in LAB_LAYERS else len(LAB_LAYERS) if package == "cli.py" else 0
        failures += [f"{path.relative_to(TREE)} imports {other}, a layer above it"
                     for other in LAB_IMPORT.findall(path.read_text())
                     if other in LAB_LAYERS and LAB_LAYERS.index(other) > own]  # fmt: skip
    return failures


def modules_of(root: Path) -> dict[str, set[str]]:
    """What each module (a source file with its header) includes of the same folder tree."""
    files = {str(path.relative_to(root)) for path in root.rglob("*") if path.suffix in (".c", ".cc", ".h")}
    modules: dict[str, set[str]] = {}
    for name in sorted(files):
        module = str(Path(name).with_suffix(""))
        includes = modules.setdefault(module, set())
        for include in INCLUDE.findall((root / name).read_text()):
            for candidate in (include, str(Path(name).parent / include)):
                if candidate in files and str(Path(candidate).with_suffix("")) != module:
                    includes.add(str(Path(candidate).with_suffix("")))
    return modules


def circles_of(modules: dict[str, set[str]]) -> list[str]:
    """The modules that include themselves by way of others."""

    def reached_from(module: str) -> set[str]:
        reached: set[str] = set()
        waiting = [module]
        while waiting:
            new = modules[waiting.pop()] - reached
            reached |= new
            waiting += new
        return reached

    return [module for module in sorted(modules) if module in reached_from(module)]


# Recursions that cross files: a relation's pipeline contains those of its subqueries, an expression its arguments.
RECURSIONS = {"query/paths/quantified", "query/paths/base_pipelines", "query/paths/subplans",
              "query/pipeline/translate_expr", "query/pipeline/translate_node",
              "query/pipeline/comparison_key", "query/pipeline/host_call", "query/pipeline/made_range", "query/pipeline/translate_range", "query/pipeline/translate_zone"}  # fmt: skip


def circle_failures() -> list[str]:
    roots = [TREE / "engine/src", TREE / "kernels/src", *sorted(TREE.glob("extensions/*/src"))]
    failures = []
    for root in roots:
        circle = [module for module in circles_of(modules_of(root)) if module not in RECURSIONS]
        if circle:
            failures.append(f"{root.relative_to(TREE)}: includes go in a circle among {', '.join(circle)}")
    return failures


DECLARED = re.compile(r"^extern\s+[^;{}()]*?(\w+)\s*\(", re.M)
DEFINED = re.compile(r"^(\w+)\(", re.M)


def foreign_declarations() -> list[str]:
    """A header of the planner side declares the functions of its own source file."""
    root = TREE / "extensions/columnar/src/query"
    sources = {name: path for path in root.rglob("*.c") for name in DEFINED.findall(path.read_text())}
    return [f"{header.relative_to(TREE)} declares {name}, which is in {sources[name].name}"
            for header in sorted(root.rglob("*.h"))
            for name in DECLARED.findall(header.read_text())
            if name in sources and sources[name].with_suffix(".h") != header]  # fmt: skip


def kind_failures() -> list[str]:
    """A new kind of operator is a row of a table: nobody else tells all kinds apart."""
    table = TREE / "engine/src/plan/operator_kinds.cc"
    return [
        f"{path.relative_to(TREE)} switches over kinds of operators, which {table.name} is for"
        for path in sorted((TREE / "engine/src").rglob("*.cc"))
        if path != table and "case Operator::Kind::" in path.read_text()
    ]


def version_failures() -> list[str]:
    return [
        f"{path.relative_to(TREE)} tests PG_VERSION_NUM outside common/pg_compat.h"
        for folder in ("extensions", "engine", "kernels", "common")
        for path in sorted((TREE / folder).rglob("*.[ch]*"))
        if path.name != "pg_compat.h"
        and path.suffix in (".c", ".h", ".cc")
        and "PG_VERSION_NUM" in path.read_text()
    ]


def symbol_failures() -> list[str]:
    """PostgreSQL loads with RTLD_GLOBAL: whatever else is exported can bind to another library's code."""
    failures = []
    for makefile in sorted(TREE.glob("extensions/*/Makefile")):
        module = re.search(r"^MODULE_big = (\w+)$", makefile.read_text(), re.M)[1]
        library = makefile.with_name(f"{module}.so")
        if not library.exists():
            failures.append(f"{library.relative_to(TREE)} is not built")
            continue
        output = subprocess.run(
            ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
        ).stdout
        exported = {line.split()[-1] for line in output.splitlines()}
        entry_points = {
            name.removeprefix("pg_finfo_") for name in exported if name.startswith("pg_finfo_")
        }
        allowed = (
            {"_PG_init", "Pg_magic_func"}
            | entry_points
            | {f"pg_finfo_{name}" for name in entry_points}
        )
        # Background workers are found by name.
        failures += [f"{library.name} exports {name}" for name in sorted(exported - allowed)
                     if not re.fullmatch(r"penumbra_\w+_main", name)]  # fmt: skip
    return failures


def main() -> int:
    checks = {
        "engine and kernels include no PostgreSQL header": header_failures,
        "extensions include only the engine's public headers": adapter_failures,
        "folders of layers include only what is below them": layer_failures,
        "packages of the lab import only what is below them": lab_failures,
        "no circle of includes": circle_failures,
        "headers declare the functions of their own source file": foreign_declarations,
        "kinds of operators are told apart in their table": kind_failures,
        "version tests stand in common/pg_compat.h": version_failures,
        "libraries export their entry points only": symbol_failures,
    }
    return run_checks(checks)


if __name__ == "__main__":
    sys.exit(main())
