"""`penumbra dashboard` in a browser: hostile text, faults, tokens, colours, phones, keyboard."""

import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from axe_playwright_python.sync_playwright import Axe
from test_watch_metrics import samples

from penumbra_lab.errors import LabError
from penumbra_lab.watch import sampler as sampler_module
from penumbra_lab.watch.dashboard.charts import (
    POINTS_MAX,
    make_charts,
    scale_top,
    thinned,
    time_ticks,
    unbroken,
)
from penumbra_lab.watch.dashboard.serve import choose_token, make_server
from penumbra_lab.watch.sampler import Point, Sampler
from penumbra_lab.watch.snapshot import (
    VIEWS,
    Database,
    Installed,
    Section,
    Server,
    Setting,
    Snapshot,
)

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
TOKEN = "a token of some length"
HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script> \"a\" 'b' {{ 7*7 }} größe 日本 \u202e x"
)
HOSTILE_SHOWN = HOSTILE.replace("\u202e ", "")
NOW = datetime.now(UTC)
BY_TYPE = (
    ("timedelta", timedelta(minutes=2)),
    ("datetime", NOW - timedelta(minutes=5)),
    ("float", 42.5),
    ("str", HOSTILE),
    ("bool", True),
)


def row(kind: type, **values: object):
    """Of a view, with something in each column."""
    made = {}
    for column in fields(kind):
        text = str(column.type)
        made[column.name] = next((value for word, value in BY_TYPE if word in text), 3)
    return kind(**made | values)


def snapshot_of(rows: int = 3) -> Snapshot:
    sections = {}
    for name, view in VIEWS.items():
        made = tuple(row(view.row, **({"relid": n} if "relid" in view.columns() else {}))
                     for n in range(rows))  # fmt: skip
        sections[name] = Section(made, 100_000, dict.fromkeys(view.sums, 7.0))
    whole = row(VIEWS["memory"].row, size_class="all", used_bytes=2**28, budget_bytes=2**29)
    return Snapshot(
        server=Server("15.20", 150020, HOSTILE, 5432, HOSTILE, HOSTILE, True, False,
                      NOW - timedelta(days=2), NOW),
        installed=Installed(True, "0.1", "0.1", None, "penumbra", True),
        settings=Section((Setting("penumbra.memory", "512MB", "default", True),), 1),
        databases=Section((row(Database),), 1),
        **sections | {"memory": Section((whole,), 1)},
        read_seconds=0.02,
    )  # fmt: skip


class MadeReader:
    """In place of a server."""

    def __init__(self, snapshot: Snapshot | None):
        self.snapshot = snapshot
        self.error = "" if snapshot else HOSTILE

    def read(self) -> Snapshot:
        if self.error:
            raise psycopg.OperationalError(self.error)
        self.snapshot = replace(self.snapshot, server=replace(
            self.snapshot.server, read_at=datetime.now(UTC)))  # fmt: skip
        return self.snapshot

    def close(self) -> None:
        pass


@contextlib.contextmanager
def serving(reader: MadeReader, token: str | None = None, seconds: float = 0.5):
    """The address of a dashboard in a thread."""
    with Sampler(reader, seconds) as sampler, socket.create_server(("127.0.0.1", 0)) as listener:
        server = make_server(sampler, token)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            sampler.wait(10)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def address():
    with serving(MadeReader(snapshot_of())) as found:
        yield found


def without_extension() -> Snapshot:
    snapshot = snapshot_of()
    missing = dict.fromkeys(
        VIEWS, Section(problem="the extension penumbra is not in this database")
    )
    installed = replace(snapshot.installed, extension_version=None, schema=None)
    return replace(snapshot, installed=installed, **missing)


CASES = {
    "page": (lambda: MadeReader(snapshot_of()), None),
    "no extension": (lambda: MadeReader(without_extension()), None),
    "no server": (lambda: MadeReader(None), None),
    "no token": (lambda: MadeReader(snapshot_of()), TOKEN),
}


@contextlib.contextmanager
def shown(browser, address: str, viewport: dict = DESK, scheme: str = "light"):
    page = browser.new_page(viewport=viewport, color_scheme=scheme)
    page.set_default_timeout(30_000)
    try:
        page.goto(address)
        yield page
    finally:
        page.close()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_page_is_accessible_and_fits_a_phone(browser, case):
    make_reader, token = CASES[case]
    with serving(make_reader(), token) as found:
        for scheme in ("light", "dark"):
            with shown(browser, found, scheme=scheme) as page:
                results = Axe().run(page)
                assert results.violations_count == 0, results.generate_report()
        with shown(browser, found, PHONE) as page:
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
            assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_hostile_text_stays_text_and_nothing_else_is_fetched(browser, address):
    requests, messages = [], []
    page = browser.new_page()
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    page.goto(address)
    page.wait_for_timeout(2000)  # some refreshes by script
    text = page.locator("body").inner_text()
    marks = page.evaluate("document.querySelectorAll('main img, main script').length")
    title = page.title()
    page.close()
    assert (messages, marks) == ([], 0)
    assert all(url.startswith(address) for url in requests) and requests.count(address) > 2
    assert f"of {HOSTILE_SHOWN}.{HOSTILE_SHOWN} is read from the table" in text
    assert HOSTILE_SHOWN in title and "\u202e" not in text


def test_a_server_that_goes_away_and_returns(browser):
    reader = MadeReader(snapshot_of())
    with serving(reader) as found, shown(browser, found) as page:
        region = page.locator(".scroll").first
        region.focus()
        details = page.locator("#statements ~ .scroll details").first
        details.locator("summary").click()
        region.focus()
        reader.error = f"the connection is gone {HOSTILE}"
        banner = page.locator(".banner", has_text="The server does not answer")
        banner.wait_for()
        assert HOSTILE_SHOWN in banner.inner_text()
        with urllib.request.urlopen(f"{found}metrics") as answer:
            assert "penumbra_up 0" in answer.read().decode()
        reader.error = ""
        changed = replace(reader.snapshot.tables.rows[0], relname="changed")
        reader.snapshot = replace(reader.snapshot, tables=Section((changed,), 1))
        banner.wait_for(state="detached")
        page.get_by_text("changed").first.wait_for()
        # Where the reader was is kept: the focus, and what was opened.
        assert page.evaluate("document.activeElement.className") == "scroll"
        assert details.get_attribute("open") is not None
        assert page.locator("#tables ~ .scroll tbody tr").count() == 1


def test_a_server_that_hangs_is_told_apart_from_one_that_answers(monkeypatch):
    monkeypatch.setattr(sampler_module, "HANGING_SECONDS", 1)
    reader = MadeReader(snapshot_of())
    with serving(reader, seconds=0.1) as found:
        assert "penumbra_up 1" in ask(f"{found}metrics")[2]
        answers = threading.Event()
        reader.read = lambda: answers.wait(30) and reader.snapshot
        deadline = time.monotonic() + 20
        while "penumbra_up 0" not in ask(f"{found}metrics")[2]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert "nothing has come for" in ask(found)[2]
        answers.set()


def test_a_dashboard_that_ends_is_said_on_the_page(browser):
    with serving(MadeReader(snapshot_of())) as found:
        page = browser.new_page()
        page.goto(found)
    page.locator("#away").wait_for()
    page.close()


def test_rows_are_bounded_and_it_says_so(browser):
    with serving(MadeReader(snapshot_of(rows=100))) as found, shown(browser, found) as page:
        assert page.locator("#tables ~ .scroll tbody tr").count() == 100
        assert "99,900 more are not shown" in page.locator("body").inner_text()
        assert len(page.content()) < 1_000_000


def test_the_keyboard_reaches_everything(browser, address):
    with shown(browser, address) as page:
        reached = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            reached.add(page.evaluate(
                "(e => e.id || e.getAttribute('aria-label') || e.innerText)(document.activeElement)"
            ))  # fmt: skip
        assert {"theme-system", "live", "15 minutes", "6 hours", "metrics"} <= reached
        assert {"Tables, table", "Statements, table", "Settings, table"} <= reached
        # Chosen by keyboard, and kept.
        page.locator("#theme-system").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        background = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(background)
        page.reload()
        assert page.evaluate(background) == dark != "rgb(255, 255, 255)"
        page.locator("#theme-light").check()
        assert page.evaluate(background) == "rgb(255, 255, 255)"


def test_the_range_is_chosen_and_stays(browser, address):
    with shown(browser, address) as page:
        page.get_by_role("link", name="6 hours").click()
        page.wait_for_timeout(1500)
        assert page.locator("nav [aria-current]").inner_text() == "6 hours"
        assert page.locator("figure").count() == 4
        labels = page.locator(".plot").all()
        assert "used now 256 MB, at most 256 MB" in labels[0].get_attribute("aria-label")


# -- requests without a browser --------------------------------------------------------------------


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def ask(url: str, data: bytes | None = None, **headers: str):
    """Status, headers and text of an answer."""
    request = urllib.request.Request(
        url, data=data, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    try:
        answer = urllib.request.build_opener(NoRedirect).open(request)
    except urllib.error.HTTPError as error:
        answer = error
    return answer.status, answer.headers, answer.read().decode()


def test_other_hosts_names_are_refused_on_the_loopback(address):
    port = address.rpartition(":")[2].rstrip("/")
    refused = ("evil.example", f"evil.example:{port}", "localhost.evil.example")
    for host in (f"localhost:{port}", f"[::1]:{port}", *refused):
        status = 400 if host in refused else 200
        assert ask(address, Host=host)[0] == status


def test_every_answer_forbids_foreign_content(address):
    for path in ("", "metrics", "snapshot.json", "static/page.css", "static/app.py", "nothing"):
        status, headers, _ = ask(address + path)
        assert status == (404 if path in ("static/app.py", "nothing") else 200)
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["Cache-Control"] == "no-store" and headers["Server"] is None


def test_machines_read_the_same(address):
    text = ask(f"{address}metrics", Accept="application/openmetrics-text; version=1.0.0")[2]
    assert samples(text)["penumbra_memory_used_bytes", frozenset()] == 2**28
    document = json.loads(ask(f"{address}snapshot.json")[2])
    assert document["tables"]["rows"][0]["relname"] == HOSTILE and document["findings"]


def test_elsewhere_a_token_is_required(browser):
    with serving(MadeReader(snapshot_of()), TOKEN) as found:
        for path in ("", "metrics", "snapshot.json", "nothing"):
            status, _, text = ask(found + path)
            assert status == 401 and HOSTILE_SHOWN[:9] not in text and TOKEN not in text
        assert ask(f"{found}static/page.css")[0] == 200
        started = time.monotonic()
        for wrong in ("wrong", "", TOKEN[:-1], TOKEN + "x", "größe"):
            assert (
                ask(f"{found}metrics", Authorization=f"Bearer {wrong}".encode().decode("latin-1"))[
                    0
                ]
                == 401
            )
        assert time.monotonic() - started > 4  # a guess costs a second
        assert ask(f"{found}metrics", Authorization=f"Bearer {TOKEN}")[0] == 200
        assert ask(f"{found}?token=wrong")[0] == 401
        assert ask(found, data=b"token=" + b"x" * 100_000)[0] == 401
        status, headers, _ = ask(f"{found}?token={TOKEN.replace(' ', '+')}")
        assert (status, headers["Location"]) == (303, "/")
        assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=lax" in headers["Set-Cookie"]
        with shown(browser, found) as page:
            page.locator("#token").fill("wrong")
            page.get_by_role("button").click()
            page.get_by_text("This is not the token.").wait_for()
            page.locator("#token").fill(TOKEN)
            page.keyboard.press("Enter")
            page.get_by_role("heading", name="What to do").wait_for()
            assert page.url == found


def test_where_a_token_is_made_up():
    assert choose_token("127.0.0.1", None) is choose_token("::1", None) is None
    assert choose_token("localhost", None) is None and choose_token("localhost", TOKEN) == TOKEN
    made = {choose_token(host, None) for host in ("0.0.0.0", "::", "192.0.2.1", "db.example")}
    assert len(made) == 4 and all(len(token) >= 32 for token in made)
    with pytest.raises(LabError):
        choose_token("0.0.0.0", "short")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_a_server_until_it_is_stopped(watched_server, stop, tmp_path):
    (tmp_path / "token").write_text(TOKEN + "\n")
    command = [sys.executable, "-c", "from penumbra_lab.cli import main; main()", "dashboard",
               "--dsn", watched_server.conninfo(), "--port", "0",
               "--token-file", str(tmp_path / "token")]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline().strip()
        address = re.fullmatch(r"(http://127\.0\.0\.1:\d+/)\?token=.*", line)[1]
        deadline = time.monotonic() + 60
        while "penumbra_up 1" not in ask(f"{address}metrics", Authorization=f"Bearer {TOKEN}")[2]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(stop)
        assert process.communicate(timeout=30) == ("", "")
        assert process.returncode == 0
    finally:
        process.kill()


# -- charts ----------------------------------------------------------------------------------------


def test_scales_and_times_are_round():
    assert [scale_top(n, False) for n in (0, 0.03, 1, 3, 50, 51)] == [1, 0.05, 1, 5, 50, 100]
    assert [scale_top(n, True) for n in (0, 1000, 1025, 3 * 2**30)] == [1, 1024, 2048, 2**32]
    ticks = list(time_ticks(1_000_000, 1_003_600))
    assert len(ticks) == 6 and all(label.endswith("0") for _, label in ticks)


def test_lines_keep_their_peaks_and_their_gaps():
    line = [(float(n), 9.0 if n == 700 else 1.0) for n in range(1000)]
    few = thinned(line)
    assert len(few) <= POINTS_MAX and max(value for _, value in few) == 9
    parts = list(unbroken([(1, 1), (2, 1), (60, 1), (61, 1)], 10))
    assert [len(part) for part in parts] == [2, 2]
    points = [
        Point(at, {"used_bytes": 5.0, "budget_bytes": 8.0}) for at in (1000, 1005, 1100, 1105)
    ]
    chart = make_charts(points, 0, 1200, 5)[0]
    assert chart.curves[0].path.count("M") == 2 and chart.curves[0].now == "5 bytes"
    assert all(chart.is_empty for chart in make_charts([], 0, 1200, 5))
