"""SGLang's own device timers, summed by category. Runs on the host."""

from typing import Any

from specttui.host.remote_scripts import endpoints

_NAME = "sglang:forward_execution_seconds_total{"
_TIMEOUT_S = 5.0


def main(parameters: "dict[str, Any]") -> "dict[str, float]":
    """GPU seconds by category; empty where the server keeps no such timers.

    Args:
        parameters: `host`, `port`, `tls`, `api_key`.
    """
    url = endpoints.base_url(parameters["host"], parameters["port"], parameters["tls"])
    answer = endpoints.get(url, "/metrics", parameters["api_key"], _TIMEOUT_S)
    found: dict[str, float] = {}
    for line in answer.body.splitlines():
        _, mark, rest = line.partition('category="')
        if line.startswith(_NAME) and mark:
            category = rest.split('"')[0]
            found[category] = found.get(category, 0.0) + float(line.rsplit(" ", 1)[1])
    return found
