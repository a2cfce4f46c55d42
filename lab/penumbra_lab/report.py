"""The HTML report of a workload's run: one file without network or script, light and dark."""

from html import escape
from pathlib import Path

from penumbra_lab.charts import SYSTEM_LABELS, speedup_chart, times_chart
from penumbra_lab.show import megabytes, milliseconds, ratio

STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --text: #1d2430; --quiet: #5b6675;
  --grid: #d8dde5; --panel: #f5f7fa; --stock: #c2571a; --penumbra: #2457c5; --duckdb: #7d8794;
  --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #12161d; --text: #e4e8ee; --quiet: #9aa5b4;
  --grid: #333c49; --panel: #1a202a; --stock: #f0944d; --penumbra: #7ea6ff; --duckdb: #a4afbd;
  --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1rem; background: var(--page);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
p { margin: .5rem 0; max-width: 46rem; } .quiet { color: var(--quiet); } .bad { color: var(--bad); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; }
.fact { background: var(--panel); border-radius: .5rem; padding: .75rem; }
.fact b { display: block; font-size: 1.5rem; }
.charts { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
.charts svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--grid);
  white-space: nowrap; vertical-align: top; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
  background: var(--page); }
td small { color: var(--quiet); display: block; white-space: normal; min-width: 8rem; }
pre { background: var(--panel); border-radius: .5rem; padding: .75rem; overflow-x: auto;
  font-size: .8rem; }
details { margin: .5rem 0; } summary { cursor: pointer; }
"""


def write_report(document: dict, path: Path) -> None:
    path.write_text(render_report(document))


def render_report(document: dict) -> str:
    systems = [name for name in SYSTEM_LABELS if name in document["queries"][0]["systems"]]
    sections = [
        _head(document),
        "<h2>Times</h2>",
        f'<div class="charts"><div>{times_chart(document)}</div>'
        f"<div>{speedup_chart(document, 'stock')}</div></div>",
        "<h2>Every query</h2>",
        _query_table(document, systems),
        "<h2>Tables</h2>",
        _size_table(document),
        "<h2>Plans and statements</h2>",
        *[_query_details(query) for query in document["queries"]],
        "<h2>How it was measured</h2>",
        _conditions(document),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Penumbra: {escape(document['title'])}</title>\n<style>{STYLE}</style></head>\n"
        "<body>\n" + "\n".join(sections) + "\n</body></html>\n"
    )


def _head(document: dict) -> str:
    summary, count = document["summary"], len(document["queries"])
    facts = [(ratio(summary["speedup_geometric_mean"]),
              "PostgreSQL's time / Penumbra's, geometric mean")]  # fmt: skip
    if "to_duckdb_geometric_mean" in summary:
        facts.append((ratio(summary["to_duckdb_geometric_mean"]),
                      "DuckDB's time / Penumbra's, geometric mean"))  # fmt: skip
    facts += [
        (f"{ratio(summary['speedup_min'])} to {ratio(summary['speedup_max'])}",
         "smallest and largest against PostgreSQL"),
        (f"{summary['same_answers']} of {count}", "queries with the same answer everywhere"),
        (f"{summary['in_vector_engine']} of {count}", "queries run by the vector engine"),
    ]  # fmt: skip
    boxes = "".join(
        f'<div class="fact"><b>{escape(value)}</b>{escape(text)}</div>' for value, text in facts
    )
    return (
        f"<h1>Penumbra: {escape(document['title'])}</h1>"
        f'<p class="quiet">{escape(document["description"])}. {escape(document["started"])}</p>'
        f'<div class="facts">{boxes}</div>'
    )


def _query_table(document: dict, systems: list[str]) -> str:
    others = [name for name in systems if name != "penumbra"]
    heads = ["query", *[f"{SYSTEM_LABELS[name]} ms" for name in systems],
             *[f"to {SYSTEM_LABELS[name]}" for name in others],
             "fastest runs ms", "same answer"]  # fmt: skip
    lines = ["<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
    for query in document["queries"]:
        times = query["systems"]
        verdict = '<span class="bad">no</span>' if query["differences"] else "yes"
        if query["refusal"]:
            verdict += f"<small>{escape(query['refusal'])}</small>"
        cells = [
            f"{escape(query['name'])}<small>{escape(query['title'])}</small>",
            *[milliseconds(times[name]["median"]) for name in systems],
            *[ratio(times[name]["median"] / times["penumbra"]["median"]) for name in others],
            " / ".join(milliseconds(times[name]["min"]) for name in systems),
            verdict,
        ]
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def _size_table(document: dict) -> str:
    lines = ["<tr><th>table</th><th>rows</th><th>heap</th><th>cached</th><th>share</th></tr>"]
    for entry in document["tables"]:
        share = entry["cached_bytes"] / entry["heap_bytes"] if entry["heap_bytes"] else 0.0
        lines.append(
            f"<tr><td>{escape(entry['table'])}</td><td>{entry['rows']:,}</td>"
            f"<td>{megabytes(entry['heap_bytes'])}</td><td>{megabytes(entry['cached_bytes'])}</td>"
            f"<td>{share:.1%}</td></tr>"
        )
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def _query_details(query: dict) -> str:
    found = "".join(f'<p class="bad">{escape(text)}</p>' for text in query["differences"])
    return (
        f"<details><summary>{escape(query['name'])}: {escape(query['title'])}</summary>{found}"
        f"<pre>{escape(query['sql'])}</pre><pre>{escape(query['plan'])}</pre></details>"
    )


def _conditions(document: dict) -> str:
    machine, versions = document["machine"], document["versions"]
    settings = "\n".join(f"{name} = {value}" for name, value in document["settings"].items())
    return (
        f"<p>{escape(machine['cpu'])}, {machine['cpus']} CPUs,"
        f" {megabytes(machine['memory_bytes'])} memory, {escape(machine['system'])}, load average"
        f" when it began {machine['load_average']:.1f}.</p>"
        f"<p>PostgreSQL {escape(versions['postgresql'])}, DuckDB {escape(versions['duckdb'])} with"
        f" {document['duckdb_threads']} threads, Penumbra {escape(versions['commit'])}.</p>"
        "<p>One server; stock PostgreSQL is a session with penumbra.mode = off, with or without"
        " JIT, whichever ran the query faster. Everything is warm: heap in shared buffers, columns"
        " in the cache. Runs of the systems alternate; a time ends with the last byte of the"
        f" result.</p><pre>{escape(settings)}</pre>"
    )
