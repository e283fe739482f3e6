"""Questions to the server's HTTP endpoints, asked on the host. Runs on the host."""
# Addresses that mean "all" are compared, not bound; the URL is that of the server which is looked at.
# ruff: noqa: S104, S310

import ssl
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import NamedTuple

_LIMIT_BYTES = 4 * 1024 * 1024
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}


class Answer(NamedTuple):
    """What an endpoint said; status 0 when nothing came back."""

    status: int
    body: str
    path: str


def base_url(address: str, port: int, tls: bool) -> str:
    """The URL of a server that listens on an address, as seen from its own host."""
    host = _ANY_ADDRESS.get(address, address)
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return "{}://{}:{}".format("https" if tls else "http", host, port)


def _trusting_context() -> "ssl.SSLContext":
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def get(url: str, path: str, api_key: str, timeout_s: float) -> Answer:
    """One GET, without any proxy of the environment; certificates are not checked on the host itself."""
    headers = {"Authorization": "Bearer " + api_key} if api_key else {}
    context = _trusting_context() if url.startswith("https") else None
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if context is not None:
        handlers.append(urllib.request.HTTPSHandler(context=context))
    opener = urllib.request.build_opener(*handlers)
    try:
        with opener.open(urllib.request.Request(url + path, headers=headers), timeout=timeout_s) as response:
            return Answer(response.status, response.read(_LIMIT_BYTES).decode("utf-8", "replace"), path)
    except urllib.error.HTTPError as error:
        return Answer(error.code, "", path)
    except (OSError, ValueError):
        return Answer(0, "", path)


def first_known(url: str, paths: "Sequence[str]", api_key: str, timeout_s: float) -> Answer:
    """The answer of the first path that the server knows; releases renamed their endpoints."""
    answer = Answer(0, "", "")
    for path in paths:
        answer = get(url, path, api_key, timeout_s)
        if answer.status not in (404, 405):
            return answer
    return answer
