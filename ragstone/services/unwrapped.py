"""Take an answer out of a wrapper around the whole reply: a code fence of Markdown, or a JSON object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from ragstone.core.frozen import frozen
from ragstone.services.lenient_json import parsed

_FENCED = re.compile(r"(`{3,}|~{3,})[ \t]*(\w*)[ \t]*\n(.*?)\n?[ \t]*\1[ \t]*", re.DOTALL)
_MARKDOWN = ("markdown", "md")
_PLAIN = ("", "text", "txt", "plaintext", "plain", "answer")
_PROSE = re.compile(r"\[\^?\d+\]|(?:\S+\s+){3,}\S+[.!?。！？][\"'”’)\]*]*\s*\Z")
"""A citation, or a sentence at the end: words, not a command."""
_ANSWERS = ("answer", "final_answer", "response", "reply", "text", "output", "content")
_THOUGHTS = ("reasoning", "thinking", "thought", "thoughts", "analysis")
_BESIDES = ("citations", "sources", "references", "confidence", "explanation", "status", "outcome", "language")
_FIELD = re.compile(r'[{,]\s*"(\w+)"\s*:\s*(?:"((?:[^"\\]|\\.)*))?')
_INNER = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(\w*)", re.MULTILINE)
_OPENED = re.compile(r"(?:`{3,}|~{3,})[ \t]*(\w*)")


@frozen
class Unwrapped:
    """The answer of a reply, and the reasoning that a JSON object had beside it."""

    text: str
    reasoning: str = ""


def answer_in(text: str) -> Unwrapped:
    """Return the answer without its wrapper, or the text if there is none. Code and other JSON stay as they are."""
    fenced = _FENCED.fullmatch(text)
    inner = _INNER.search(fenced[3]) if fenced else None
    if fenced and inner and (not inner[1] or fenced[2].lower() not in _MARKDOWN):
        fenced = None  # two blocks with text between
    if fenced:
        language, inside = fenced[2].lower(), fenced[3].strip()
        if language in _MARKDOWN or (language in _PLAIN and _PROSE.search(inside)):
            return answer_in(inside) if inside.startswith("{") else Unwrapped(text=inside)
        if language == "json":
            return _from_object(inside) or Unwrapped(text=text)
    return _from_object(text) or Unwrapped(text=text)


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


def _from_object(text: str) -> Unwrapped | None:
    """Return the answer of a JSON object that holds nothing but an answer and what goes with it."""
    if not text.startswith("{"):
        return None
    if not text.endswith("}"):
        return _from_begun(text)
    found = parsed(text)
    if not isinstance(found, dict):
        return None
    fields = cast("Mapping[str, object]", found)
    answers = [name for name in fields if name.lower() in _ANSWERS]
    known = (*_ANSWERS, *_THOUGHTS, *_BESIDES)
    if len(answers) != 1 or any(name.lower() not in known for name in fields):
        return None
    answer = fields[answers[0]]
    if not isinstance(answer, str):
        return None
    thoughts = [str(value) for name, value in fields.items() if name.lower() in _THOUGHTS and value]
    return Unwrapped(text=answer.strip(), reasoning="\n".join(thoughts))


def _from_begun(text: str) -> Unwrapped | None:
    """Return the answer of a JSON object that was cut off."""
    fields = {found[1].lower(): found[2] for found in _FIELD.finditer(text)}
    answers = [value for name, value in fields.items() if name in _ANSWERS]
    if len(answers) != 1 or not answers[0] or not fields.keys() <= {*_ANSWERS, *_THOUGHTS, *_BESIDES}:
        return None
    answer = parsed(f'"{answers[0]}"')
    return Unwrapped(text=answer.strip()) if isinstance(answer, str) else None
