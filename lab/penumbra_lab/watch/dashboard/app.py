"""The dashboard: a small server that shows what its sampler knows.

On the loopback it answers only who names it as localhost, so that no page of another host can read
it through its visitor's browser. Elsewhere it wants a token: in the header of a scraper, or once in
the address or the form, and then in a cookie.
"""

import asyncio
import hmac
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib.resources import files
from urllib.parse import parse_qs

import jinja2
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from penumbra_lab.reporting.theme import DARK, LIGHT
from penumbra_lab.watch import sheets
from penumbra_lab.watch.dashboard.charts import HEIGHT, WIDTH, make_charts
from penumbra_lab.watch.facts import find_facts
from penumbra_lab.watch.findings import find
from penumbra_lab.watch.metrics import metrics_answer
from penumbra_lab.watch.sampler import HISTORY_HOURS, Sampler
from penumbra_lab.watch.sheets import make_sheet
from penumbra_lab.watch.status import about, status_json
from penumbra_lab.watch.wording import duration, line

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
COOKIE = "penumbra_token"
WRONG_TOKEN_SECONDS = 1  # what a guess costs
LOGIN_BYTES_MAX = 4096
RANGES = {
    "15m": ("15 minutes", 900),
    "1h": ("1 hour", 3600),
    "6h": ("6 hours", HISTORY_HOURS * 3600),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
STATIC = {"page.css": "text/css", "page.js": "text/javascript"}
WIDE_FORMS = (
    sheets.TABLES,
    sheets.LOADS,
    sheets.STALENESS,
    sheets.STATEMENTS,
    sheets.REFUSALS,
    sheets.COLUMNS,
)
NARROW_FORMS = (sheets.DATABASES, sheets.SIZE_CLASSES, sheets.DISK, sheets.SETTINGS)


class Dashboard:
    def __init__(self, sampler: Sampler):
        self._sampler = sampler
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader(__name__.rpartition(".")[0]),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        colours = "\n".join(f"--{name}: light-dark({LIGHT[name]}, {DARK[name]});" for name in LIGHT)
        folder = files(__package__) / "static"
        self._static = {name: (folder / name).read_text() for name in STATIC}
        self._static["page.css"] = f":root {{ {colours} }}\n" + self._static["page.css"]

    def page(self, chosen: str) -> str:
        state, now = self._sampler.look(), time.time()
        if state.snapshot is None:
            return self._render("waiting.html", error=line(state.error) if state.error else "")
        snapshot = state.snapshot
        length = RANGES[chosen][1]
        return self._render(
            "page.html",
            snapshot=snapshot,
            line=line,
            about=about(snapshot),
            error=line(state.error) if state.error else "",
            age=duration(timedelta(seconds=now - state.read_at)),
            read_at=datetime.fromtimestamp(state.read_at),
            seconds=self._sampler.seconds,
            findings=find(snapshot),
            facts=find_facts(snapshot),
            charts=make_charts(
                self._sampler.points(now - length), now - length, now, self._sampler.seconds
            ),
            width=WIDTH,
            height=HEIGHT,
            ranges=RANGES,
            chosen=chosen,
            wide_sheets=[make_sheet(form, snapshot) for form in WIDE_FORMS],
            narrow_sheets=[make_sheet(form, snapshot) for form in NARROW_FORMS],
            has_extension=snapshot.installed.schema is not None,
        )

    def login(self, is_wrong: bool) -> str:
        return self._render("login.html", is_wrong=is_wrong)

    def _render(self, name: str, **values: object) -> str:
        return self._templates.get_template(name).render(**values)

    # -- answers -----------------------------------------------------------------------------------

    async def show(self, request: Request) -> Response:
        chosen = request.query_params.get("range", "1h")
        # Made beside the loop: a page of many rows must not hold up the others.
        page = await asyncio.to_thread(self.page, chosen if chosen in RANGES else "1h")
        return HTMLResponse(page)

    async def metrics(self, request: Request) -> Response:
        state = self._sampler.look()
        snapshot = None if state.error else state.snapshot
        text, content_type = metrics_answer(snapshot, request.headers.get("accept", ""))
        return Response(text, headers={"Content-Type": content_type})

    async def snapshot(self, request: Request) -> Response:
        snapshot = self._sampler.state.snapshot
        if snapshot is None:
            return PlainTextResponse("nothing was read yet\n", status_code=503)
        return Response(status_json(snapshot), media_type="application/json")

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            return PlainTextResponse("not found\n", status_code=404)
        return Response(self._static[name], media_type=STATIC[name])


class TokenMiddleware:
    """Lets through who has the token, and the style of the page that asks for it."""

    def __init__(self, app: Callable, token: str, dashboard: Dashboard):
        self._app, self._token, self._dashboard = app, token, dashboard

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = await self._answer(Request(scope, receive))
        await (answer or self._app)(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        given = await self._given(request)
        is_from_login = request.method == "POST" or "token" in request.query_params
        if given is not None and self._is_right(given):
            return self._welcome(request, given) if is_from_login else None
        if request.url.path.startswith("/static/"):
            return None
        if given is not None:
            await asyncio.sleep(WRONG_TOKEN_SECONDS)
        page = self._dashboard.login(is_wrong=given is not None)
        return HTMLResponse(page, status_code=401, headers={"WWW-Authenticate": "Bearer"})

    def _is_right(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    async def _given(self, request: Request) -> str | None:
        kind, _, value = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return value.strip()
        if request.method == "POST" and request.url.path == "/":
            return parse_qs(await _body(request)).get("token", [""])[0]
        if "token" in request.query_params:
            return request.query_params["token"]
        return request.cookies.get(COOKIE)

    def _welcome(self, request: Request, token: str) -> Response:
        """To the address without the token, which then stands in no history and no log."""
        answer = RedirectResponse(request.url.path, status_code=303)
        answer.set_cookie(
            COOKIE, token, httponly=True, samesite="lax", secure=request.url.scheme == "https"
        )
        return answer


async def _body(request: Request) -> str:
    """The beginning of it: who asks has shown no token."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LOGIN_BYTES_MAX:
            break
    return body[:LOGIN_BYTES_MAX].decode(errors="replace")


class HeaderMiddleware:
    def __init__(self, app: Callable):
        self._app = app

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        async def send_with_headers(message: dict) -> None:
            if message["type"] == "http.response.start":
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, send_with_headers)


def make_app(sampler: Sampler, token: str | None) -> Starlette:
    """Without a token: for the loopback."""
    dashboard = Dashboard(sampler)
    guard = (
        Middleware(TrustedHostMiddleware, allowed_hosts=list(LOOPBACK), www_redirect=False)
        if token is None
        else Middleware(TokenMiddleware, token=token, dashboard=dashboard)
    )
    return Starlette(
        routes=[
            Route("/", dashboard.show),
            Route("/metrics", dashboard.metrics),
            Route("/snapshot.json", dashboard.snapshot),
            Route("/static/{name}", dashboard.static),
        ],
        middleware=[Middleware(HeaderMiddleware), guard],
    )
