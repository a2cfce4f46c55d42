"""The report in a real browser: nothing fetched or cut off, readable, reachable by keyboard."""

import contextlib
import csv
import io
import itertools
import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from click.testing import CliRunner
from playwright.sync_api import Browser, Page
from test_comparison import document, example

from penumbra_lab.analysis.comparison import compare_runs
from penumbra_lab.analysis.document import make_run
from penumbra_lab.cli import commands
from penumbra_lab.errors import LabError
from penumbra_lab.reporting.report import write_report
from penumbra_lab.reporting.theme import DARK, LIGHT, SIDES

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}
TEXT_CONTRAST_MIN, MARK_CONTRAST_MIN = 4.5, 3.0
# Texts of charts that leave the window.
CLIPPED = """[...document.querySelectorAll('svg text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.width > 0 && (box.left < 0 || box.right > innerWidth);
}).map(text => text.textContent)"""
HOSTILE = "<script>alert(1)</script> & \"quoted\" 'single' | pipe"


def _hostile() -> dict:
    """Markup where text belongs, a word that no line holds, opened texts, an unfinished run."""
    made = document({HOSTILE: 100, "b" * 120: 50}, deviation=0.02)
    made["title"] = made["description"] = HOSTILE
    made["status"] = "interrupted"
    made["series"][0]["points"] = made["series"][0]["points"][:2]
    for series in made["series"]:
        series["workload"] = HOSTILE
    made["warnings"] = [{"code": "steal", "message": HOSTILE, "advice": "x" * 200}]
    made["sections"] = {
        "plans": {HOSTILE: {"sql": "SELECT 1 < 2", "plan": "Seq Scan\n" + "  ->  wide " * 40}},
        "tables": [{"table": HOSTILE, "rows": 1_000_000}],
        "tool": {"cpu_seconds": 0.25},
        "nothing": [],
    }
    return made


def _queries() -> dict:
    """Many rows without a curve, ratios of orders of magnitude."""
    made = document({"PostgreSQL": 100, "Penumbra": 6000, "DuckDB": 2500})
    made["sections"] = {}
    flat = [series for series in made["series"] if series["x"] is None]
    made["design"]["subject"] = "Penumbra"
    made["sections"]["queries"] = {
        f"q{number:02}": {"title": "a title", "sql": "SELECT 1", "plan": "Custom Scan\n  Chunks: 1",
                          "refusal": "" if number else "a reason",
                          "differences": "row 0: a against b" if number == 1 else ""}
        for number in range(18)
    }  # fmt: skip
    made["series"] = [series | {"workload": f"q{number:02}_of_some_length"}
                      for number in range(1, 19) for series in flat]  # fmt: skip
    return made


def _second_machine() -> dict:
    made = document({"arm": 110})
    made["environment"]["machine"]["cpu"]["model"] = "Neoverse-N1"
    return made


CASES = {
    "example": lambda: [example()],
    "machines": lambda: [document({"x86": 100}), _second_machine()],
    "queries": lambda: [_queries()],
    "hostile": lambda: [_hostile()],
    "alone": lambda: [document({"only": 100})],
}


def _comparison(case: str):
    documents = CASES[case]()
    return compare_runs([make_run(d, f"run{n}", "made") for n, d in enumerate(documents)])


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, str]:
    """The address of each case's report."""
    directory = tmp_path_factory.mktemp("pages")
    for case in CASES:
        write_report(_comparison(case), directory / f"{case}.html")
    return {case: (directory / f"{case}.html").as_uri() for case in CASES}


@contextlib.contextmanager
def _shown(browser: Browser, address: str, viewport: dict = DESK, scheme: str = "light"):
    page = browser.new_page(viewport=viewport, color_scheme=scheme, offline=True)
    try:
        page.goto(address)
        yield page
    finally:
        page.close()


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_fetched_and_nothing_complains(browser, pages, case):
    page = browser.new_page()
    requests, messages = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    page.goto(pages[case])
    page.wait_for_load_state("networkidle")
    page.close()
    assert (requests, messages) == ([pages[case]], [])


@pytest.mark.parametrize("case", CASES)
def test_a_phone_shows_it_without_scrolling_sideways(browser, pages, case):
    with _shown(browser, pages[case], PHONE) as page:
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        width = page.evaluate("document.documentElement.scrollWidth")
        outside = page.evaluate(
            "[...document.querySelectorAll('h1, h2, p, svg, .facts > div, summary, figcaption')]"
            ".filter(e => e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.outerHTML)"
        )
        clipped = page.evaluate(CLIPPED)
        smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('svg')].map(svg =>"
            " svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))"
        )
    assert width == PHONE["width"] and outside == [] and clipped == []
    # The text of charts is 10 and 11 pixels high at full size.
    assert smallest >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("case", CASES)
def test_axe_finds_no_violation(browser, pages, case, scheme):
    with _shown(browser, pages[case], scheme=scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        results = Axe().run(page)
    found = [
        (v["id"], [n["html"][:200] for n in v["nodes"]]) for v in results.response["violations"]
    ]
    assert found == []


def _luminance(colour: str) -> float:
    channels = [int(text) / 255 for text in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _colours(page: Page, selector: str, name: str) -> set[str]:
    script = "([selector, name]) => [...document.querySelectorAll(selector)]" \
             ".map(e => getComputedStyle(e)[name])"  # fmt: skip
    return set(page.evaluate(script, [selector, name])) - {"none", "rgba(0, 0, 0, 0)"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("case", ["example", "queries"])
def test_charts_can_be_read_in_both_schemes(browser, pages, case, scheme):
    with _shown(browser, pages[case], scheme=scheme) as page:
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        texts = _colours(page, "svg text", "fill")
        marks = _colours(page, "svg .mark-symbol path", "fill")
        marks |= _colours(page, "svg .mark-line path", "stroke")
    assert texts and marks
    assert all(_contrast(background, colour) >= TEXT_CONTRAST_MIN for colour in texts), texts
    assert all(_contrast(background, colour) >= MARK_CONTRAST_MIN for colour in marks), marks
    palette = LIGHT if scheme == "light" else DARK
    red, green, blue = (int(palette["page"][n : n + 2], 16) for n in (1, 3, 5))
    assert background == f"rgb({red}, {green}, {blue})"


def test_no_two_sides_look_alike():
    assert len(set(LIGHT.values())) == len(LIGHT) and LIGHT.keys() == DARK.keys()
    assert len(SIDES) == 6


@pytest.mark.parametrize("case", CASES)
def test_tables_tell_screen_readers_what_is_what(browser, pages, case):
    with _shown(browser, pages[case]) as page:
        tables = page.locator("table")
        assert tables.count() >= 2
        for number in range(tables.count()):
            table = tables.nth(number)
            assert table.locator("caption").inner_text().strip()
            columns = table.locator("thead th[scope=col]").count()
            rows = table.locator("tbody tr").count()
            assert columns == table.locator("thead th").count() > 1 and rows > 0
            assert table.locator("tbody th[scope=row]").count() == rows
            assert table.locator("tbody td").count() == rows * (columns - 1)
        charts = page.locator("svg")
        for number in range(charts.count()):
            assert charts.nth(number).get_attribute("role") == "img"
            assert charts.nth(number).get_attribute("aria-label")


def test_the_keyboard_reaches_everything(browser, pages):
    with _shown(browser, pages["hostile"]) as page:
        wanted = page.locator("a, summary, .scroll").count() + 1  # the buttons are one stop
        seen = set()
        for number in itertools.count():
            page.keyboard.press("Tab")
            stop = page.evaluate(
                "[...document.querySelectorAll('body *')].indexOf(document.activeElement)"
            )
            if stop == -1 or stop in seen or number > 3 * wanted:
                break
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none"
            seen.add(stop)
        assert len(seen) >= wanted


def test_colours_follow_the_buttons(browser, pages):
    with _shown(browser, pages["example"]) as page:

        def background() -> str:
            return page.evaluate("getComputedStyle(document.body).backgroundColor")

        system = background()
        page.focus("#theme-system")
        page.keyboard.press("ArrowRight")
        assert background() == system
        page.keyboard.press("ArrowRight")
        dark = background()
        assert dark != system
        page.emulate_media(color_scheme="dark")
        page.check("#theme-light")
        assert background() == system


def test_the_downloads_are_the_data(browser, pages):
    made = example()
    with _shown(browser, pages["example"]) as page:
        texts = {}
        for link in page.locator("a[download]").all():
            with page.expect_download() as waiting:
                link.click()
            texts[waiting.value.suggested_filename] = waiting.value.path().read_text()
    assert json.loads(texts["run0.json"]) == made
    rows = list(csv.DictReader(io.StringIO(texts["run0.csv"])))
    samples = [s for entry in made["series"] for point in entry["points"] for s in point["samples"]]
    assert [float(row["value"]) for row in rows] == [s["value"] for s in samples]


def test_wrong_and_refused_answers_are_named(browser, pages):
    with _shown(browser, pages["queries"]) as page:
        facts = page.locator(".facts").inner_text()
        summaries = page.locator("summary").all_inner_texts()
    assert facts.count("17 of 18") == 2
    assert summaries[0].endswith("a title; not run by the vector engine: a reason")
    assert summaries[1].endswith("a title; the answers differ: row 0: a against b")


def test_a_page_is_small_and_has_no_script(tmp_path):
    write_report(_comparison("queries"), tmp_path / "q.html")
    page = (tmp_path / "q.html").read_text()
    assert len(page) < 600_000
    assert "<script" not in page and "@import" not in page and not re.search(r"url\((?!#)", page)
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)
    # No colour of the light theme is left in a chart, where dark would not follow.
    assert not re.search(r"<svg.*(" + "|".join(LIGHT.values()) + ")", page)


def test_markdown_and_pictures(tmp_path):
    write_report(_comparison("hostile"), tmp_path / "r.md")
    text = (tmp_path / "r.md").read_text()
    pictures = re.findall(r"!\[[^\n]*\]\(([^)]+)\)", text)
    assert pictures and all((tmp_path / name).read_bytes()[:4] == b"\x89PNG" for name in pictures)
    assert not re.search(r"(?<!\\)<script", text)
    tables = re.findall(r"(?:^\|.*\|\n)+", text, re.M)
    assert tables
    for table in tables:
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(cells) == 1
    write_report(_comparison("machines"), tmp_path / "all.png")
    assert (tmp_path / "all.png").read_bytes()[:4] == b"\x89PNG"


def test_the_command_writes_what_is_asked_for(tmp_path):
    source = tmp_path / "a run.json"
    source.write_text(json.dumps(document({"a": 100, "b": 105})))
    outputs = [str(tmp_path / name) for name in ("r.html", "r.md", "r.png")]
    arguments = [text for output in outputs for text in ("-o", output)]
    result = CliRunner().invoke(commands, ["report", str(source), *arguments])
    assert result.exit_code == 0 and all(output in result.output for output in outputs)
    assert "faster by" in (tmp_path / "r.html").read_text()
    for bad in ("r.pdf", "no/such/directory.html", "r"):
        result = CliRunner().invoke(commands, ["report", str(source), "-o", str(tmp_path / bad)])
        assert isinstance(result.exception, LabError) and bad in str(result.exception)
