"""/generate: one prompt or several, whole or as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from ...simulation.messages import TokensOut
from ...simulation.words import token_count, words
from ..managers.scheduler_client import SchedulerClient

_DEFAULT_NEW_TOKENS = 128


class Responder(Protocol):
    """What an endpoint needs of the handler."""

    def send_json(self, value: object, status: int = 200) -> None:
        """Answer with one JSON value."""
        ...

    def begin_stream(self) -> None:
        """Begin an answer of server-sent events."""
        ...

    def send_event(self, data: object) -> None:
        """One event."""
        ...

    def end_stream(self) -> None:
        """End the answer."""
        ...


def generate(responder: Responder, client: SchedulerClient, body: dict[str, Any]) -> None:
    """Answer a /generate request.

    Raises:
        ValueError: The body holds no prompt.
    """
    prompts = _prompt_tokens(body)
    limit = int(body.get("sampling_params", {}).get("max_new_tokens", _DEFAULT_NEW_TOKENS))
    stream = bool(body.get("stream", False))
    answers = [client.submit(tokens, max(1, limit), stream=stream) for tokens in prompts]
    if stream:
        responder.begin_stream()
        for answer in answers[0]:
            responder.send_event(_result(answer))
        responder.end_stream()
        return
    results = [_result(last(answer)) for answer in answers]
    responder.send_json(results if isinstance(body.get("text"), list) else results[0])


def last(answers: Iterator[TokensOut]) -> TokensOut:
    """The finished answer."""
    *_, final = answers
    return final


def _prompt_tokens(body: dict[str, Any]) -> list[int]:
    if body.get("input_ids"):
        ids = body["input_ids"]
        return [len(prompt) for prompt in ids] if isinstance(ids[0], list) else [len(ids)]
    if not body.get("text"):
        raise ValueError("Either text, input_ids or input_embeds should be provided.")
    text = body["text"]
    return [token_count(prompt) for prompt in text] if isinstance(text, list) else [token_count(text)]


def _result(answer: TokensOut) -> dict[str, Any]:
    meta = answer.meta or {"id": answer.rid, "finish_reason": None, "completion_tokens": answer.output_tokens}
    return {
        "text": words(answer.output_tokens),
        "output_ids": [100] * answer.output_tokens,
        "meta_info": meta,
    }
