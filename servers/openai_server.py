"""A server on loopback that speaks the OpenAI protocol and fails in the ways a test asks for."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np

from servers.loopback import Loopback
from servers.openapi import Description

KEY = "sk-canary-5f2c9e1d"
CHAT, EMBEDDINGS, MODELS = "/chat/completions", "/embeddings", "/models"
Write = Callable[[str], object]
Body = dict[str, Any]
KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs"}
    | {"description", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"multipleOf", "minItems", "maxItems"}
)
"""The keywords of JSON Schema that strict forms may have (platform.openai.com/docs/guides/structured-outputs)."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault of one request.

    ``status``: the server answers with this code, ``headers`` and ``body``. ``slow``: it waits ``seconds`` first.
    ``stall``: it sends ``pieces`` pieces and then nothing for ``seconds``. ``cut``: the connection ends after the
    pieces; ``short``: the stream ends there properly; ``failed``: the stream contains an error. ``malformed``: the
    answer is not JSON. ``type``: it is a page of HTML. ``empty``: it has no choices. ``filtered``: the content filter
    ends it. ``long``: it reaches the limit of tokens. ``uncounted``: it lacks the tokens used. ``count``, ``numbers``,
    ``width``: a vector is missing, has a value that is not a number, or has one dimension too many.
    """

    kind: str
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    pieces: int = 0
    seconds: float = 30.0


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Body
    at: float


def refusal(message: str, *, code: str | None = None, param: str | None = None, kind: str = "server_error") -> Body:
    """Return the body of an error."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def echo(messages: Sequence[Mapping[str, Any]]) -> str:
    return f"You said: {words_in(messages[-1])}"


def words_in(message: Mapping[str, Any]) -> str:
    """Return the text of a message, which may have pictures too."""
    content: str | list[Body] = message["content"]
    return content if isinstance(content, str) else " ".join(one["text"] for one in content if one["type"] == "text")


def describing(text: str) -> Callable[[Sequence[Mapping[str, Any]]], str]:
    """Return the replies of a vision model that sees the same in every picture."""
    return lambda messages: text if pictures_in(messages) else "no picture"


def pictures_in(messages: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """Return the files of the pictures in a conversation."""
    contents = [message["content"] for message in messages]
    parts: list[Body] = [part for content in contents if not isinstance(content, str) for part in content]
    addresses = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(address.partition(";base64,")[2]) for address in addresses]


class OpenAIServer(Loopback):
    """A server that answers chats with ``reply`` and texts with vectors drawn from their hash.

    Each fault applies to one request.

    Args:
        reply: the whole reply to a conversation; it is streamed word by word.
        description: requests and answers are checked against it; what is wrong is in ``problems``.
        azure: use the paths, key and version of Azure.
        limit: most tokens, which are words here, of an embedded text.
        most: most texts of one request.
        pause: seconds between two pieces of a reply.
    """

    def __init__(
        self,
        reply: Callable[[Sequence[Mapping[str, Any]]], str] = echo,
        *,
        description: Description | None = None,
        azure: bool = False,
        dimensions: int = 32,
        limit: int = 8191,
        most: int = 2048,
        pause: float = 0.0,
    ) -> None:
        self.reply, self.azure, self.dimensions, self.limit, self.most = reply, azure, dimensions, limit, most
        self.pause = pause
        self.faults: deque[Fault] = deque()
        self.refuse: Callable[[Body], Body | None] = lambda _: None
        """Returns the error, with status 400, that refuses a request; None accepts it."""
        self.draw: Callable[[Asked], Fault | None] = lambda _: None
        """Returns the fault of a request when ``faults`` is empty."""
        self.asked: list[Asked] = []
        self.problems: list[str] = []
        self.hung_up = threading.Event()
        """Set when a caller disconnects in the middle of a reply."""
        self._description = description
        super().__init__()
        self.url = self.origin if azure else f"{self.origin}/v1"

    # ------------------------------------------------------------ requests
    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        body: Body = json.loads(raw) if raw else {}
        path = handler.path.partition("?")[0]
        asked = Asked(path=handler.path, headers=headers, body=body, at=time.monotonic())
        self.asked.append(asked)
        fault = self.faults.popleft() if self.faults else self.draw(asked)
        try:
            self._respond(handler, path, headers, body, fault)
        except (BrokenPipeError, ConnectionResetError):
            self.hung_up.set()
            handler.close_connection = True

    def _respond(
        self, handler: BaseHTTPRequestHandler, path: str, headers: Mapping[str, str], body: Body, fault: Fault | None
    ) -> None:
        if not self._is_known(headers):
            _send(handler, 401, refusal("Incorrect API key provided.", code="invalid_api_key"))
            return
        if self.azure:  # which has the model in the path
            start, _, rest = path.removeprefix("/openai/deployments/").partition("/")
            path, body = f"/{rest}", {**body, "model": start}
        else:
            path = path.removeprefix("/v1")
        if fault and fault.kind == "slow":
            self._stopped.wait(fault.seconds)
        if fault and fault.kind == "status":
            _send(handler, fault.status, refusal("a fault") if fault.body is None else fault.body, fault.headers)
        elif fault and fault.kind == "type":
            _send_text(handler, 200, "<html><body>Welcome</body></html>", {"Content-Type": "text/html"})
        elif path == CHAT:
            self._check(body, "CreateChatCompletionRequest")
            self._chat(handler, body, fault)
        elif path == EMBEDDINGS:
            self._check(body, "CreateEmbeddingRequest")
            self._embed(handler, body, fault)
        elif path == MODELS:
            one = {"id": "a-model", "object": "model", "created": 0, "owned_by": "the test"}
            _send(handler, 200, self._checked({"object": "list", "data": [one]}, "ListModelsResponse"))
        else:
            _send(handler, 404, refusal(f"no such path: {path}", kind="invalid_request_error"))

    def _is_known(self, headers: Mapping[str, str]) -> bool:
        return headers.get("api-key") == KEY if self.azure else headers.get("authorization") == f"Bearer {KEY}"

    def _check(self, body: Body, name: str) -> None:
        if self._description:
            self.problems += self._description.problems(body, name)

    def _checked(self, body: Body, name: str) -> Body:
        self._check(body, name)
        return body

    # ------------------------------------------------------------ chats
    def _chat(self, handler: BaseHTTPRequestHandler, body: Body, fault: Fault | None) -> None:
        if refused := self.refuse(body) or _wrong_form(body):
            _send(handler, 400, refused)
            return
        text, most = self.reply(body["messages"]), body.get("max_tokens") or body.get("max_completion_tokens") or 10_000
        words = text.split(" ")
        end = "length" if len(words) > most or _is(fault, "long") else "stop"
        words = words[:most]
        end = "content_filter" if _is(fault, "filtered") else end
        used = {"prompt_tokens": sum(len(words_in(one).split()) for one in body["messages"])}
        used |= {"completion_tokens": len(words), "total_tokens": used["prompt_tokens"] + len(words)}
        counted = not _is(fault, "uncounted")
        if not body.get("stream"):
            message = {"role": "assistant", "content": " ".join(words), "refusal": None}
            choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": end}
            whole = {"id": "chat-1", "object": "chat.completion", "created": 1, "model": body["model"]}
            whole |= {"choices": [] if _is(fault, "empty") else [choice], **({"usage": used} if counted else {})}
            _send(handler, 200, self._checked(whole, "CreateChatCompletionResponse"))
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        options: Body = body.get("stream_options") or {}
        wants_usage = counted and options.get("include_usage")
        for event in self._events(words, end, fault, body["model"], used if wants_usage else None):
            data = event if isinstance(event, str) else json.dumps(event)
            _chunk(handler, f"data: {data}\n\n".encode())
            if self.pause:
                self._stopped.wait(self.pause)
        if _is(fault, "cut"):
            handler.close_connection = True
        else:
            _chunk(handler, b"")

    def _events(
        self, words: Sequence[str], end: str, fault: Fault | None, model: str, used: Mapping[str, int] | None
    ) -> Iterator[Body | str]:
        head = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": model}

        def event(delta: Body, finish: str | None = None) -> Body:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return self._checked({**head, "choices": [choice]}, "CreateChatCompletionStreamResponse")

        if not _is(fault, "empty"):
            yield event({"role": "assistant", "content": ""})
            for place, word in enumerate(words):
                if fault and place == fault.pieces:
                    if fault.kind == "stall":
                        self._stopped.wait(fault.seconds)
                    elif fault.kind in ("cut", "short"):
                        return
                    elif fault.kind == "malformed":
                        yield '{"choices": [{"delta"'
                    elif fault.kind == "failed":
                        yield refusal("The server had an error while processing your request.")
                yield event({"content": word if place == 0 else f" {word}"})
            yield event({}, end)
        if used:
            last: Body = {**head, "choices": [], "usage": dict(used)}
            yield self._checked(last, "CreateChatCompletionStreamResponse")
        yield "[DONE]"

    # ------------------------------------------------------------ embeddings
    def _embed(self, handler: BaseHTTPRequestHandler, body: Body, fault: Fault | None) -> None:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if len(texts) > self.most:
            _send(handler, 400, refusal(f"at most {self.most} inputs", param="input", kind="invalid_request_error"))
            return
        for text in texts:
            if not text or len(text.split()) > self.limit:
                problem = f"This model's maximum context length is {self.limit} tokens" if text else "input is empty"
                _send(handler, 400, refusal(problem, param="input", kind="invalid_request_error"))
                return
        width = body.get("dimensions", self.dimensions) + _is(fault, "width")
        vectors = [hashed(text, width) for text in texts]
        if _is(fault, "numbers"):
            vectors[0][0] = float("nan")
        if _is(fault, "count"):
            vectors.pop()
        data = [{"index": at, "embedding": vector.tolist(), "object": "embedding"} for at, vector in enumerate(vectors)]
        tokens = sum(len(text.split()) for text in texts)
        whole: Body = {"object": "list", "data": data[::-1], "model": body["model"]}  # the index gives the order
        whole["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
        self._check(whole, "CreateEmbeddingResponse")
        if body.get("encoding_format") == "base64":
            for one in data:
                one["embedding"] = base64.b64encode(np.array(one["embedding"], dtype="<f4").tobytes()).decode()
        text = json.dumps(whole)
        _send_text(handler, 200, text[: len(text) // 2] if _is(fault, "malformed") else text)


def hashed(text: str, width: int) -> np.ndarray:
    """Return a vector (width,) of length one: the mean of the vectors of the text's words."""
    total = np.zeros(width)
    for word in text.split() or [""]:
        seed = int.from_bytes(hashlib.sha256(word.encode(errors="surrogatepass")).digest()[:8])
        total += np.random.default_rng(seed).normal(size=width)
    return total / np.linalg.norm(total)


def _is(fault: Fault | None, kind: str) -> bool:
    return fault is not None and fault.kind == kind


def _chunk(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    handler.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
    handler.wfile.flush()


def _send(handler: BaseHTTPRequestHandler, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
    _send_text(handler, status, json.dumps(body), headers)


def _send_text(
    handler: BaseHTTPRequestHandler, status: int, text: str, headers: Mapping[str, str] | None = None
) -> None:
    data = text.encode()
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def _wrong_form(body: Body) -> Body | None:
    """Return the refusal of a strict form whose schema is not one that OpenAI accepts."""
    asked: Body = body.get("response_format") or {}
    form: Body = asked.get("json_schema") or {}
    wrong = next(_not_permitted(form["schema"]), "") if form.get("strict") else ""
    message = f"Invalid schema for response_format '{form.get('name')}': {wrong}"
    return refusal(message, param="response_format", kind="invalid_request_error") if wrong else None


def _not_permitted(schema: Body) -> Iterator[str]:
    yield from (f"'{name}' is not permitted" for name in schema.keys() - KEYWORDS)
    fields: Mapping[str, Body] = schema.get("properties", {})
    if fields and schema.get("additionalProperties") is not False:
        yield "'additionalProperties' is required to be supplied and to be false"
    if missing := fields.keys() - set(schema.get("required", ())):
        yield f"'required' is required to be supplied and to have every field; {', '.join(sorted(missing))} is missing"
    parts = [*fields.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    for part in (*parts, *([schema["items"]] if "items" in schema else [])):
        yield from _not_permitted(part)
