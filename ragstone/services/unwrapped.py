"""Take an answer out of a wrapper around the whole reply: a code fence of Markdown, or JSON, also if it was cut off."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from ragstone.core.frozen import frozen
from ragstone.services.lenient_json import parsed

_FENCED = re.compile(r"(`{3,}|~{3,})[ \t]*(\w*)[ \t]*\n(.*?)\n?[ \t]*\1[ \t]*", re.DOTALL)
_MARKDOWN = ("markdown", "md")
_PLAIN = ("", "text", "txt", "plaintext", "plain", "answer")
_PROSE = re.compile(r"\[\^?\d+\]|(?:\S+\s+){3,}\S+[.!?。！？][\"'”’)\]*]*\s*\Z")
"""A citation, or a sentence at the end: words, not a command."""
_ANSWERS = ("answer", "final_answer", "response")
"""Fields that have the answer, whatever stands beside them."""
_TEXTS = ("reply", "text", "output", "content", "message")
"""Fields that have it if the others are known."""
_THOUGHTS = ("reasoning", "thinking", "thought", "thoughts", "analysis")
_BESIDES = (
    "citations",
    "sources",
    "source",
    "references",
    "confidence",
    "explanation",
    "status",
    "outcome",
    "language",
)
_LINES = ("found",)
"""Fields that a prompt asks for as a line of its own above the answer, which they become."""
_KNOWN = frozenset((*_ANSWERS, *_TEXTS, *_THOUGHTS, *_BESIDES, *_LINES))
_CALL = frozenset({"name", "arguments", "parameters", "type", "id"})
"""Fields of a call of a tool."""
_YES_OR_NO = {"True": "yes", "False": "no"}
_JSON = re.compile(r"\s*(?:(?:`{3,}|~{3,})[ \t]*(?:json\w*)?[ \t]*\n\s*)?(?=\{)", re.IGNORECASE)
"""What stands before an object."""
_JSON_BEGUN = re.compile(r"[`~]{1,3}|[`~]{3,}[ \t]*(?:j(?:s(?:on?)?)?)?\w?\s*", re.IGNORECASE)
_CLOSED = re.compile(r"\s*(?:`{3,}|~{3,})?[ \t]*")
"""What stands behind one."""
_NAME = re.compile(r'[{,]\s*"(\w+)"\s*:')
_CUT = r'(?:(?<!\\)"\s*(?=,\s*(?:"\w*"?\s*(?::|\Z)|\Z)|[}\]]|\Z)|\Z)'
"""How a text of broken JSON ends: where another field, the end of the object or that of the reply follows."""
_INNER = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(\w*)", re.MULTILINE)
_OPENED = re.compile(r"(?:`{3,}|~{3,})[ \t]*(\w*)")


@frozen
class Unwrapped:
    """The answer of a reply, and the reasoning that a JSON object had beside it."""

    text: str
    reasoning: str = ""


def answer_in(text: str) -> Unwrapped:
    """Return the answer without its wrapper, or the text if there is none. Code and other JSON stay as they are."""
    if found := answer_in_json(text):
        return found
    fenced = _FENCED.fullmatch(text)
    inner = _INNER.search(fenced[3]) if fenced else None
    if fenced and inner and (not inner[1] or fenced[2].lower() not in _MARKDOWN):
        fenced = None  # two blocks with text between
    if fenced:
        language, inside = fenced[2].lower(), fenced[3].strip()
        if language in _MARKDOWN or (language in _PLAIN and _PROSE.search(inside)):
            return answer_in_json(inside) or Unwrapped(text=inside)
    return Unwrapped(text=text)


def answer_in_json(text: str) -> Unwrapped | None:
    """Return the answer of a text that begins with a JSON object, and what follows the object; None if it has none."""
    begun = _JSON.match(text)
    if not begun:
        return None
    body = text[begun.end() :]
    end = body.rfind("}") + 1
    found = parsed(body[:end])
    if not isinstance(found, dict):
        return _of_broken(body)
    fields = _lowered(cast("Mapping[str, object]", found))
    answer = _answer(fields)
    if answer is None:
        return None
    thoughts = [str(value) for name, value in fields.items() if name in _THOUGHTS and value]
    behind = _CLOSED.sub("", body[end:], count=1).strip()
    whole = "\n\n".join(filter(None, (_headed(fields, answer), behind)))
    return Unwrapped(text=whole, reasoning="\n".join(thoughts))


def may_be_json(begun: str) -> bool:
    """Return whether a text that begins like this may begin with a JSON object."""
    return _JSON.match(begun) is not None or _JSON_BEGUN.fullmatch(begun) is not None


def may_be_wrapped(begun: str) -> bool:
    """Return whether a reply that begins like this may be wrapped."""
    if begun.startswith("{"):
        return True
    if not begun.startswith(("`", "~")):
        return False
    opened = _OPENED.match(begun)
    if not opened:
        return len(begun) < 3 and len(set(begun)) == 1
    languages = (*_MARKDOWN, *_PLAIN, "json")
    if "\n" in begun:
        return opened[1].lower() in languages
    return any(one.startswith(opened[1].lower()) for one in languages)


def _lowered(fields: Mapping[str, object]) -> dict[str, object]:
    return {name.lower(): value for name, value in fields.items()}


def _answer(fields: Mapping[str, object]) -> str | None:
    """Return the answer among fields; empty if they call a tool without one, None if they are other data."""
    call = fields.get("arguments", fields.get("parameters"))
    if call is not None and "name" in fields and fields.keys() <= _CALL:
        given = parsed(call) if isinstance(call, str) else call
        return (_words(cast(object, given)) if isinstance(given, dict) else None) or ""
    sure = [value for name, value in fields.items() if name in _ANSWERS]
    found = sure or [value for name, value in fields.items() if name in _TEXTS and fields.keys() <= _KNOWN]
    return _words(found[0]) if len(found) == 1 else None


def _words(value: object) -> str | None:
    """Return the words of a value: a text, one in a field of its own, or a list of these."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        return _answer(_lowered(cast("Mapping[str, object]", value)))
    if isinstance(value, list):
        each = [_words(one) for one in cast("Sequence[object]", value)]
        return "\n".join(filter(None, each)) or None
    return None


def _headed(fields: Mapping[str, object], answer: str) -> str:
    """Return an answer below the lines that are fields."""
    told = {name: fields[name] for name in _LINES if name in fields}
    lines = [f"{name.upper()}: {_YES_OR_NO.get(str(value), value)}" for name, value in told.items()]
    return "\n".join([*lines, answer])


def _of_broken(body: str) -> Unwrapped | None:
    """Return the answer of an object that was cut off, or that has quotation marks within a text."""
    is_known = {name.lower() for name in _NAME.findall(body)} <= _KNOWN
    text = _broken_text((*_ANSWERS, *_TEXTS) if is_known else _ANSWERS, body)
    if not text:
        return None
    fields = {name: value for name in _LINES if (value := _broken_text((name,), body))}
    return Unwrapped(text=_headed(fields, text.strip()))


def _broken_text(names: Sequence[str], body: str) -> str:
    """Return the text of the first of these fields that has one; empty if none has."""
    found = re.search(rf'"(?:{"|".join(names)})"\s*:\s*\[?\s*"(.*?){_CUT}', body, re.DOTALL | re.IGNORECASE)
    escaped = re.sub(r'(?<!\\)"', r'\\"', found[1].rstrip("\\")) if found else ""
    text = parsed(f'"{escaped}"')
    return text if isinstance(text, str) else ""
