"""The HTML page: one file without network or script, light and dark, from a phone to a desk."""

import base64
import csv
import io
import json
from collections.abc import Sequence
from html import escape
from itertools import zip_longest

from penumbra_lab.analysis.comparison import Comparison
from penumbra_lab.analysis.document import Run
from penumbra_lab.analysis.verdict import Outcome
from penumbra_lab.reporting.charts import Chart
from penumbra_lab.reporting.content import Content, Section
from penumbra_lab.reporting.tables import Table
from penumbra_lab.reporting.theme import DARK, LIGHT

# light-dark() follows color-scheme, which the buttons of the head set without script.
COLOURS = "\n".join(f"--{name}: light-dark({LIGHT[name]}, {DARK[name]});" for name in LIGHT)
STYLE = f"""
:root {{ color-scheme: light dark; {COLOURS} }}
:root:has(#theme-light:checked) {{ color-scheme: light; }}
:root:has(#theme-dark:checked) {{ color-scheme: dark; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; max-width: 80rem; padding: 1rem; background: var(--page);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.6rem; line-height: 1.2; margin: .5rem 0; }}
h2 {{ font-size: 1.25rem; margin: 2.5rem 0 .5rem; }}
p {{ margin: .5rem 0; max-width: 46rem; }} a {{ color: var(--link); }}
.quiet {{ color: var(--quiet); }} .good {{ color: var(--good); }} .bad {{ color: var(--bad); }}
:focus-visible {{ outline: 2px solid var(--link); outline-offset: 2px; }}
.theme {{ border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0 1rem;
  font-size: .9rem; color: var(--quiet); }} .theme legend {{ float: left; margin-right: 1rem; }}
.facts {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem;
  margin: 1rem 0; padding: 0; }}
.facts div {{ background: var(--panel); border-radius: .5rem; padding: .75rem;
  display: flex; flex-direction: column-reverse; justify-content: flex-end; }}
.facts dd {{ margin: 0; font-size: 1.4rem; font-weight: 600; line-height: 1.3; }}
.facts small {{ display: block; color: var(--quiet); }}
.charts {{ display: grid; gap: 1.5rem 1rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }}
figure {{ margin: 0; }} figcaption {{ font-weight: 600; margin-bottom: .25rem; }}
figure svg {{ max-width: 100%; height: auto; display: block; overflow: visible; }}
.scroll {{ overflow-x: auto; margin: 1rem 0; }}
table {{ border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; font-weight: 600; padding: .3rem 0; }}
caption span {{ display: inline-block; position: sticky; left: 0;
  max-width: calc(100vw - 2rem); }}
th, td {{ padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--grid);
  vertical-align: top; white-space: nowrap; overflow-wrap: normal; }}
thead th {{ vertical-align: bottom; white-space: normal; }}
tbody th {{ font-weight: normal; text-align: left; background: var(--page); white-space: normal;
  min-width: 6rem; max-width: 14rem; overflow-wrap: anywhere; }}
td.text, th.text {{ text-align: left; white-space: normal; min-width: 12rem; max-width: 32rem; }}
pre {{ background: var(--panel); border-radius: .5rem; padding: .75rem; overflow-x: auto;
  font-size: .8rem; }}
summary {{ cursor: pointer; padding: .15rem 0; }}
@media (min-width: 40rem) {{ tbody th {{ position: sticky; left: 0; }} }}
@media print {{ .theme {{ display: none; }} }}
"""
MARKS = {Outcome.BETTER: "good", Outcome.WORSE: "bad"}
THEMES = (("theme-system", "as the system"), ("theme-light", "light"), ("theme-dark", "dark"))


def render_page(content: Content, comparison: Comparison | None = None) -> str:
    body = [_theme(), _head(content), *map(_section, content.sections)]
    if comparison is not None:
        body.append(_downloads(comparison))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Penumbra: {escape(content.title)}</title>\n"
        # Without an icon of its own a page makes the browser ask the server for one.
        f'<link rel="icon" href="data:,">\n<style>{STYLE}</style></head>\n'
        "<body><main>\n" + "\n".join(body) + "\n</main></body></html>\n"
    )


def _theme() -> str:
    choices = "".join(
        f'<label><input type="radio" name="theme" id="{identifier}"'
        f"{' checked' if number == 0 else ''}> {label}</label>"
        for number, (identifier, label) in enumerate(THEMES)
    )
    return f'<fieldset class="theme"><legend>Colours</legend>{choices}</fieldset>'


def _head(content: Content) -> str:
    boxes = "".join(
        f"<div><dt>{escape(fact.what)}"
        + (f"<small>{escape(fact.detail)}</small>" if fact.detail else "")
        + f"</dt><dd>{escape(fact.value)}</dd></div>"
        for fact in content.facts
    )
    return f'<h1>{escape(content.title)}</h1><p class="quiet">{escape(content.subtitle)}</p>' + (
        f'<dl class="facts">{boxes}</dl>' if boxes else ""
    )


def _section(section: Section) -> str:
    parts = [f"<h2>{escape(section.heading)}</h2>"]
    if section.charts:
        figures = "".join(map(_figure, section.charts))
        parts.append(f'<div class="charts">{figures}</div>')
    parts += _paragraphs(section.lead)
    parts += map(render_table, section.tables)
    parts += _paragraphs(section.notes)
    for details in section.details:
        texts = "".join(f'<pre tabindex="0">{escape(text)}</pre>' for text in details.texts)
        parts.append(f"<details><summary>{escape(details.summary)}</summary>{texts}</details>")
    return "\n".join(parts)


def _paragraphs(texts: Sequence[str]) -> list[str]:
    return [f"<p>{escape(text)}</p>" for text in texts]


def _figure(chart: Chart) -> str:
    return f"<figure><figcaption>{escape(chart.title)}</figcaption>{chart.svg()}</figure>"


def render_table(table: Table) -> str:
    heads = "".join(
        f'<th scope="col"{_class(number, table)}>{escape(name)}</th>'
        for number, name in enumerate(table.columns)
    )
    rows = "".join(
        _row(row, table, MARKS.get(outcome, ""))
        for row, outcome in zip_longest(table.rows, table.outcomes)
    )
    # A region that scrolls must be reachable by keyboard, and then have a name.
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(table.caption)}">'
        f"<table><caption><span>{escape(table.caption)}</span></caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(row: Sequence[str], table: Table, mark: str) -> str:
    cells = [f'<th scope="row">{escape(row[0])}</th>']
    for number, text in enumerate(row[1:], 1):
        kind = _class(number, table, mark if number in table.texts else "")
        cells.append(f"<td{kind}>{escape(text)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _class(number: int, table: Table, mark: str = "") -> str:
    is_text = number == 0 or number in table.texts
    names = " ".join(filter(None, ("text" if is_text else "", mark)))
    return f' class="{names}"' if names else ""


def _downloads(comparison: Comparison) -> str:
    links = []
    for run in comparison.runs:
        document = json.dumps(run.document, separators=(",", ":"))
        links.append(_download(f"{run.name}.json", "application/json", document))
        links.append(_download(f"{run.name}.csv", "text/csv", samples_csv(run)))
    return f"<h2>The data</h2><p>{' · '.join(links)}</p>"


def _download(name: str, kind: str, text: str) -> str:
    data = base64.b64encode(text.encode()).decode()
    return f'<a download="{escape(name)}" href="data:{kind};base64,{data}">{escape(name)}</a>'


def samples_csv(run: Run) -> str:
    """Every sample of a run, a line each."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(["workload", "variant", "metric", "unit", "better", "x_name", "x",
                     "value", "block", "server_start", "noise"])  # fmt: skip
    for series in run.series:
        for point in series.points:
            for sample in point.samples:
                writer.writerow([
                    series.workload, series.variant, series.metric, series.unit, series.better,
                    series.x_name, point.x, sample.value, sample.block, sample.server_start,
                    " ".join(sample.noise),
                ])  # fmt: skip
    return output.getvalue()
