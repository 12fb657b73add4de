"""What stands around an answer that is not part of it.

Before it: a lead-in, the question once more, the word "Answer", or the beginning of a JSON object that has the answer.
Behind it: the next turns of a conversation that the model goes on to write.
"""

from __future__ import annotations

import re
from functools import cache

from ragstone.language import lexicon, plain
from ragstone.language.words import any_of
from ragstone.respond.writing.claims import introduces
from ragstone.services.unwrapped import answer_in_json, may_be_json

_LEAD, _QUESTION = 200, 600
"""Characters of a lead-in and of a repeated question, at most."""
_WORD = 30
"""Characters of a word, at most."""
_SIGNS = r"[ \t*_#>-]{0,6}"
_TEMPLATE = r"#{2,4} *(?:response|assistant)[*_ ]{0,3}:\s*"
"""The label of an answer in the templates with which models were trained."""
_FORMAT = re.compile(r"\b(?:json|formate?)\b", re.IGNORECASE)
_LINE = re.compile(r"[ \t]*(?P<signs>[*_#> ]{0,6})(?P<label>[^\W\d_]{1,20})[*_ ]{0,3}:[*_]{0,2}(?P<rest>.*)")
"""A line with a label."""
_TEMPLATES = ("instruction", "input", "human", "user")
"""Labels of the next turn in templates, as headings."""
_ROLES = ("user", "human")
_REPLY = re.compile(r"\n[ \t]*[*_]{0,2}(?:assistant|ai|bot|model)[*_]{0,2}:", re.IGNORECASE)


class Preamble:
    """Takes the preamble off a streamed answer."""

    def __init__(self) -> None:
        self._held, self._is_over = "", False

    def add(self, piece: str) -> str:
        """Add a piece and return what belongs to the answer; nothing while a preamble may go on."""
        if self._is_over:
            return piece
        self._held += piece
        return "" if _may_go_on(self._held) or may_be_json(_in_json(self._held)) else self.end()

    def end(self) -> str:
        """Return what was held and belongs to the answer."""
        self._is_over = True
        text, self._held = self._held, ""
        found = _preamble().match(text)
        if found and introduces(found["lead"] or ""):
            text = text[found.end() :].lstrip()
        json = answer_in_json(_in_json(text))
        return json.text if json else text


class Turns:
    """Takes off a streamed answer what the model writes behind it: the question once more, or turns of a conversation.

    "User:" may begin a line of the answer, so it counts only if a line "Assistant:" follows.
    """

    def __init__(self, *asked: str) -> None:
        """Take the question, as it was asked and as it was read."""
        self._asked = {said for one in asked if (said := _said(one))}
        self._held, self._has_begun, self._in_line, self._is_over = "", False, False, False

    def add(self, piece: str, *, ended: bool = False) -> str:
        """Add a piece and return what belongs to the answer, but for a line that may begin another turn."""
        self._held, out = self._held + piece, ""
        while self._held and not self._is_over:
            is_turn = self._begins_turn(ended=ended) if self._has_begun and not self._in_line else False
            if is_turn is None:
                break
            self._is_over = is_turn
            line, end, rest = self._held.partition("\n")
            self._has_begun, self._in_line = self._has_begun or bool(line.strip()), not end
            self._held, out = rest, out if is_turn else f"{out}{line}{end}"
        return out

    def _begins_turn(self, *, ended: bool) -> bool | None:
        """Return whether another turn begins with the line that is held; None if more text has to tell."""
        line, end, _ = self._held.partition("\n")
        is_whole, asked = bool(end) or ended, lexicon().layout["asked"]
        found = _LINE.match(line)
        if not found:
            begun = line.strip(" \t*_#>").casefold()
            return None if not is_whole and any(one.startswith(begun) for one in (*_TEMPLATES, *asked)) else False
        label = found["label"].casefold()
        if label in _TEMPLATES and "##" in found["signs"]:
            return True
        if label in asked:
            return _said(found["rest"]) in self._asked if is_whole else None
        if label in _ROLES:
            return bool(_REPLY.search(self._held)) or (False if ended else None)
        return False


def _said(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", plain(text)))


def _in_json(text: str) -> str:
    """Return a text without a line that introduces the answer as JSON."""
    lead, _, rest = text.lstrip().partition("\n")
    introduced = lead.rstrip().endswith(":") and len(lead) <= _LEAD and _introduces(lead)
    return rest.lstrip() if introduced else text


@cache
def _label(kind: str) -> str:
    """Return the pattern of "Question:" or "Answer:" in any language, possibly in bold."""
    return rf"{_SIGNS}(?:{any_of(lexicon().layout[kind])})[*_ ]{{0,3}}:{_SIGNS}"


@cache
def _preamble() -> re.Pattern[str]:
    heading = rf"(?:#{{1,6}} *|\*\*)(?:{any_of(lexicon().layout['answered'])})[*_ ]*\n\s*"
    asked, answered = _label("asked"), rf"(?:{_label('answered')}|{_TEMPLATE}|{heading})"
    lead = rf"(?!{asked}|{answered})(?P<lead>[^\n]{{1,{_LEAD}}})\n\s*"
    return re.compile(rf"\s*(?:{lead})?(?:{asked}[^\n]{{0,{_QUESTION}}}\n\s*)?(?:{answered}){{1,2}}", re.IGNORECASE)


@cache
def _asked() -> re.Pattern[str]:
    return re.compile(_label("asked"), re.IGNORECASE)


def _may_go_on(text: str) -> bool:
    """Return whether more text may show that this is a preamble, or where it ends."""
    if found := _preamble().match(text):
        return _may_be_label(text[found.end() :], "answered")
    *lines, begun = text.lstrip().split("\n")
    whole = [line for line in lines if line.strip()]
    leads, asks = (whole[:1], whole[1:]) if whole and not _asked().match(whole[0]) else ([], whole)
    if len(asks) > 1 or not all(map(_asked().match, asks)) or not all(map(_may_lead, leads)):
        return False
    if asks:
        return _may_be_label(begun, "answered")
    if _asked().match(begun):
        return len(begun) <= _QUESTION
    return _may_be_label(begun, "asked") or _may_be_label(begun, "answered") or (not leads and _may_lead(begun))


def _may_lead(line: str) -> bool:
    """Return whether a line, whose last word may be incomplete, only introduces."""
    whole, _, last = line.rpartition(" ")
    is_whole = line.rstrip().endswith((":", "!", ".")) or len(last) > _WORD
    return len(line) <= _LEAD and _introduces(line if is_whole else whole)


def _introduces(line: str) -> bool:
    """Return whether a line only introduces an answer, in whatever format."""
    return introduces(_FORMAT.sub("", line))


def _may_be_label(begun: str, kind: str) -> bool:
    word = begun.lstrip(" *_#>").rstrip(" *_:").casefold()
    return any(one.startswith(word) for one in lexicon().layout[kind])
