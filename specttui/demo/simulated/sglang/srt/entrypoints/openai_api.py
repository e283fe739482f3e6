"""The OpenAI-compatible endpoints, whole or as a stream."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from ...simulation.messages import TokensOut
from ...simulation.words import token_count, words
from ..managers.scheduler_client import SchedulerClient
from .generation import Responder, last

_COMPLETION_TOKENS, _CHAT_TOKENS = 16, 512


@dataclass(frozen=True, slots=True)
class _Shape:
    """How an endpoint words its answers."""

    kind: str
    chat: bool
    model: str

    def frame(self, rid: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": rid,
            "object": self.kind,
            "created": int(time.time()),
            "model": self.model,
            "choices": choices,
        }

    def choice(self, text: str, *, key: str, finished: bool) -> dict[str, Any]:
        said = {key: {"role": "assistant", "content": text}} if self.chat else {"text": text}
        return {"index": 0, **said, "logprobs": None, "finish_reason": "length" if finished else None}


def completion(responder: Responder, client: SchedulerClient, model: str, body: dict[str, Any]) -> None:
    """/v1/completions."""
    prompt = body.get("prompt", "")
    tokens = token_count(prompt if isinstance(prompt, str) else str(prompt))
    limit = int(body.get("max_tokens") or _COMPLETION_TOKENS)
    shape = _Shape("text_completion", chat=False, model=model)
    _respond(responder, client, body, shape, (tokens, limit))


def chat_completion(responder: Responder, client: SchedulerClient, model: str, body: dict[str, Any]) -> None:
    """/v1/chat/completions."""
    tokens = token_count(str([message.get("content") for message in body.get("messages", [])]))
    limit = int(body.get("max_completion_tokens") or body.get("max_tokens") or _CHAT_TOKENS)
    kind = "chat.completion.chunk" if body.get("stream") else "chat.completion"
    _respond(responder, client, body, _Shape(kind, chat=True, model=model), (tokens, limit))


def _respond(
    responder: Responder,
    client: SchedulerClient,
    body: dict[str, Any],
    shape: _Shape,
    sizes: tuple[int, int],
) -> None:
    prompt_tokens, limit = sizes
    if not body.get("stream"):
        final = last(client.submit(prompt_tokens, limit))
        choice = shape.choice(words(final.output_tokens), key="message", finished=True)
        usage = _usage(prompt_tokens, final.output_tokens)
        responder.send_json({**shape.frame(final.rid, [choice]), "usage": usage})
        return
    responder.begin_stream()
    said = TokensOut("", 0, finished=False)
    for answer in client.submit(prompt_tokens, limit, stream=True):
        text = words(answer.output_tokens)[len(words(said.output_tokens)) :]
        choice = shape.choice(text, key="delta", finished=answer.finished)
        responder.send_event(shape.frame(answer.rid, [choice]))
        said = answer
    if body.get("stream_options", {}).get("include_usage"):
        usage = _usage(prompt_tokens, said.output_tokens)
        responder.send_event({**shape.frame(said.rid, []), "usage": usage})
    responder.end_stream()


def _usage(prompt_tokens: int, completion_tokens: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "completion_tokens": completion_tokens,
        "prompt_tokens_details": None,
    }
