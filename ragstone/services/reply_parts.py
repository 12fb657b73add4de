"""Read an event of a reply in any of the known shapes: OpenAI's, those of its imitators, and Ollama's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from ragstone.core.frozen import frozen
from ragstone.services.retries import PASSING

Fields = dict[str, Any]
End = Literal["", "stop", "length", "filter", "tool", "error"]
_ENDS: dict[str, End] = {
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filter", "safety", "prohibited_content", "recitation", "blocklist"), "filter"),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "tool"),
    **dict.fromkeys(("error",), "error"),
}
_TEXTS = ("text", "content", "thinking", "summary")
_REASONING = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "reasoning_details")
_READ = ("prompt_tokens", "input_tokens", "prompt_eval_count")
_WRITTEN = ("completion_tokens", "output_tokens", "eval_count")
_WITH_USAGE = frozenset(("usage", "x_groq", *_READ, *_WRITTEN))
_LASTING_CODES = ("invalid_request_error", "BadRequestError", "not_found_error", "authentication_error")


@frozen
class Part:
    """What an event says.

    ``index`` tells several replies apart. ``whole`` says that the text is the complete message, not a piece of it.
    """

    index: str = "0"

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool: str = ""
    end: End = ""
    whole: bool = False
    read: int | None = None
    written: int | None = None
    has_choice: bool = False
    failure: Failure | None = None


@frozen
class Failure:
    """A failure that a server reports: its words, its code, and whether it may pass."""

    said: str
    code: str = ""
    passing: bool = True


def part_of(event: Any) -> Part:
    """Return what an event says; an event of no known shape says nothing."""
    if not isinstance(event, dict):
        return Part()
    fields = cast(Fields, event)
    read, written = _usage(fields)
    choices = fields.get("choices")
    if isinstance(choices, list) and choices:
        listed = [cast(Fields, one) for one in cast("Sequence[object]", choices) if isinstance(one, dict)]
        if not listed:
            return Part(read=read, written=written)
        choice = listed[0]
        own_read, own_written = _usage(choice)
        message: Any = choice.get("delta")
        whole = False
        if not isinstance(message, dict) or not _says(cast(Fields, message)):
            whole = isinstance(choice.get("message"), dict)
            message = choice.get("message") if whole else (cast(Any, message) or choice)
        return _of_message(
            cast(Fields, message if isinstance(message, dict) else {"content": message}),
            end=_end(choice.get("finish_reason") or choice.get("stop_reason") or choice.get("done_reason")),
            whole=whole,
            index=str(choice.get("index") or 0),
            read=own_read if read is None else read,
            written=own_written if written is None else written,
            failure=next((failure_of(one) for one in (choice, fields) if one.get("error")), None),
        )
    if failure := failure_of(fields):
        return Part(failure=failure)
    message = fields.get("message") or fields.get("delta")
    ended = fields.get("done") is True or fields.get("stop") is True
    end = _end(fields.get("done_reason") or fields.get("finish_reason") or ("stop" if ended else ""))
    if isinstance(message, dict):
        return _of_message(cast(Fields, message), end=end, whole=False, read=read, written=written)
    text = next((fields[name] for name in ("response", "content", "output_text") if fields.get(name)), "")
    if text or "done" in fields:
        return _of_message({"content": text, "thinking": fields.get("thinking")}, end=end, read=read, written=written)
    return Part(read=read, written=written)


def failure_of(fields: Fields) -> Failure | None:
    """Return the failure that an event reports; None if it reports none."""
    named = fields.get("object") == "error" or fields.get("type") == "error"
    if not fields.get("error") and not named and not fields.get("detail"):
        return None
    said, code = words_of(fields)
    inner = fields.get("error")
    number = cast(Fields, inner if isinstance(inner, dict) else fields).get("code")
    return Failure(said=said or "no reason", code=code, passing=_may_pass(number, code))


def words_of(fields: Fields) -> tuple[str, str]:
    """Return the words and the code of an error's body; empty if it has none."""
    error = fields.get("error")
    inner = cast(Fields, error) if isinstance(error, dict) else fields
    words = error if isinstance(error, str) else inner.get("message") or inner.get("detail") or inner.get("msg") or ""
    metadata = inner.get("metadata")
    raw = cast(Fields, metadata).get("raw") if isinstance(metadata, dict) else None  # of the provider behind a router
    code = inner.get("code")
    if not isinstance(code, str) or code.isdigit():
        code = inner.get("type") or inner.get("status") or ""
    return (f"{words}: {raw}" if raw else str(words)), str(code)


def _may_pass(number: object, code: str) -> bool:
    text = str(number or "")
    if text.isdigit():
        return int(text) in PASSING or int(text) >= 500
    return code not in _LASTING_CODES


def _of_message(
    message: Fields,
    *,
    end: End,
    index: str = "0",
    whole: bool = False,
    read: int | None = None,
    written: int | None = None,
    failure: Failure | None = None,
) -> Part:
    content = message.get("content")
    text, thought = _texts(message.get("text") if content is None else content)
    field = next((message[name] for name in _REASONING if message.get(name)), None)
    return Part(
        index=index,
        text=text,
        reasoning=thought + "".join(_texts(field)),
        refusal=_texts(message.get("refusal"))[0],
        tool=_tool(message),
        end=end,
        whole=whole,
        read=read,
        written=written,
        has_choice=True,
        failure=failure,
    )


def _says(message: Fields) -> bool:
    return any(message.get(name) for name in ("content", "text", "refusal", "tool_calls", *_REASONING))


def _texts(content: Any) -> tuple[str, str]:
    """Return the text and the reasoning of a content: a text, a part, or a list of parts."""
    if isinstance(content, str):
        return content, ""
    if isinstance(content, dict):
        part = cast(Fields, content)
        inside = next((part[name] for name in _TEXTS if part.get(name)), "")
        text, thought = _texts(inside)
        return ("", text + thought) if part.get("type") in ("thinking", "reasoning") else (text, thought)
    if isinstance(content, list):
        parts = [_texts(one) for one in cast("Sequence[object]", content)]
        return "".join(text for text, _ in parts), "".join(thought for _, thought in parts)
    return str(content) if isinstance(content, int | float) else "", ""


def _tool(message: Fields) -> str:
    """Return the name of the tool that a message calls; empty if it calls none."""
    calls = message.get("tool_calls") or ([message["function_call"]] if message.get("function_call") else [])
    for call in cast("Sequence[object]", calls if isinstance(calls, list) else []):
        if isinstance(call, dict):
            fields = cast(Fields, call)
            function = fields.get("function")
            named = cast(Fields, function) if isinstance(function, dict) else fields
            return str(named.get("name") or "a tool")
    return ""


def _end(reason: object) -> End:
    text = str(reason or "").casefold().rpartition(".")[2]
    return _ENDS.get(text, "stop") if text and text != "null" else ""


def _usage(fields: Fields) -> tuple[int | None, int | None]:
    """Return the tokens read and written, each None if it is not a sensible number."""
    if _WITH_USAGE.isdisjoint(fields):  # as of nearly every event
        return None, None
    usage = fields.get("usage")
    extra = fields.get("x_groq")
    if not isinstance(usage, dict):
        usage = cast(Fields, extra).get("usage") if isinstance(extra, dict) else fields
    counts: Fields = cast(Fields, usage) if isinstance(usage, dict) else {}
    return _count(counts, _READ), _count(counts, _WRITTEN)


def _count(counts: Fields, names: Sequence[str]) -> int | None:
    for name in names:
        value = counts.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9:
            return int(value)
    return None
