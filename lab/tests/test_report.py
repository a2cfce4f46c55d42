"""The report is one self-contained file with every query in it."""

import re

from click.testing import CliRunner

from penumbra_lab.cli import commands
from penumbra_lab.report import render_report
from penumbra_lab.show import console, query_table


def _document() -> dict:
    def query(name: str, stock: float, penumbra: float, duck: float) -> dict:
        times = {"stock": stock, "penumbra": penumbra, "DuckDB": duck}
        return {
            "name": name,
            "title": f"title of {name} <&>",
            "sql": "SELECT 1 < 2",
            "plan": "Custom Scan (x)",
            "refusal": "" if name == "q1" else "a reason",
            "differences": [] if name == "q1" else ["row 0: a against b"],
            "stock_jit": "off",
            "systems": {
                system: {"seconds": [value], "median": value, "min": value}
                for system, value in times.items()
            },
        }

    return {
        "title": "tpch, scale 1",
        "description": "TPC-H",
        "started": "2026-01-01T00:00:00+00:00",
        "machine": {"cpu": "x", "cpus": 2, "memory_bytes": 8e9, "system": "Debian",
                    "load_average": 0.1},
        "versions": {"postgresql": "15", "duckdb": "2", "commit": "abc"},
        "duckdb_threads": 2,
        "settings": {"shared_buffers": "1GB"},
        "tables": [{"table": "t", "rows": 5, "heap_bytes": 1000, "cached_bytes": 400}],
        "queries": [query("q1", 2.0, 0.1, 0.2), query("q2", 0.5, 0.4, 0.02)],
        "summary": {"speedup_geometric_mean": 5.0, "speedup_min": 1.25, "speedup_max": 20.0,
                    "to_duckdb_geometric_mean": 0.3, "in_vector_engine": 1, "same_answers": 1},
    }  # fmt: skip


def test_report_needs_no_network_and_escapes():
    page = render_report(_document())
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)
    assert "<script" not in page and "@import" not in page and "url(" not in page
    assert "&lt;&amp;&gt;" in page and "<&>" not in page
    assert "prefers-color-scheme: dark" in page and 'name="viewport"' in page
    assert page.count("<svg ") == 2
    # No placeholder colour of the charts is left.
    assert not re.search(r"#0[1-5]0[1-5]0[1-5]", page)
    assert len(page) < 200_000


def test_table_names_wrong_and_refused_answers():
    with console.capture() as capture:
        console.print(query_table(_document()), width=140)
    shown = capture.get()
    assert "20.0 x" in shown and "NO" in shown and "1 of 2" in shown


def test_help_and_bad_input():
    runner = CliRunner()
    for command in ([], ["demo"], ["bench"], ["bench", "wide"], ["bench", "pgbench"], ["report"]):
        result = runner.invoke(commands, [*command, "--help"])
        assert result.exit_code == 0 and "Usage:" in result.output
    result = runner.invoke(commands, ["demo", "--scale", "-3"])
    assert result.exit_code == 2 and "--scale" in result.output
