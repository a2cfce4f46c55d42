"""Where the dashboard listens, and who may see it."""

import ipaddress
import secrets
import socket
from collections.abc import Callable

import uvicorn

from penumbra_lab.errors import LabError
from penumbra_lab.watch.dashboard.app import make_app
from penumbra_lab.watch.sampler import Sampler

TOKEN_CHARACTERS_MIN = 16


def choose_token(host: str, given: str | None) -> str | None:
    """None: there is none, and the loopback needs none."""
    if given is not None and len(given) < TOKEN_CHARACTERS_MIN:
        raise LabError(f"the token has to have {TOKEN_CHARACTERS_MIN} characters at least")
    return given or (None if is_loopback(host) else secrets.token_urlsafe(24))


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(sampler: Sampler, host: str, port: int, token: str | None, say: Callable) -> None:
    """Until it is interrupted."""
    listener = _listen(host, port)
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else host
    shown = f"[{shown}]" if ":" in shown else shown
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    say(f"{address}?token={token}" if token else address)
    with listener:
        make_server(sampler, token).run(sockets=[listener])


def make_server(sampler: Sampler, token: str | None) -> uvicorn.Server:
    return uvicorn.Server(uvicorn.Config(
        make_app(sampler, token), log_level="warning", access_log=False, server_header=False,
        limit_concurrency=100, timeout_graceful_shutdown=2, lifespan="off",
    ))  # fmt: skip


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise LabError(f"cannot listen at {host}, port {port}: {error.strerror}") from error
