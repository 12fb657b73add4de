"""Separate what a model answers from what it thinks, and remove the special tokens of its chat template.

Servers that do not know a model's template pass its thinking on as text: between tags, in channels, or without an
opening tag because the template wrote it. Code is left alone, because an answer may be about these tags.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cache

from ragstone.core.answers import Piece, Reply
from ragstone.core.errors import EmptyReply
from ragstone.services import unwrapped

_TAG = r"(?:seed:|antml:|ant)?(?:think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad)"
_PARTIAL = re.compile(
    r"(?:(?:<\|(?:channel|start|im_start|start_header_id|constrain)\|>|<\|channel>|<start_of_turn>)"
    r"[^<\n]{0,40}(?:<(?:\|\w{0,24}\|?)?)?|<(?:[/|｜<A-Za-z][^<>\n]{0,60})?|\[/?[A-Z]{0,5}|◁/?\w{0,6}|`+|~+"
    r"|[\"'“‘«„](?:<[^<>\n]{0,60}>?|\[/?[A-Z]*\]?)?)\Z",
    re.IGNORECASE,
)
"""An end of the text that may become a mark, or a mark that may be quoted."""
_TAIL = 80
"""Characters at the end of the text in which a mark may begin."""
_HARMONY = re.compile(r"analysis(?=[A-Z])|assistant(?:commentary|analysis)?(?=final)")
"""The channels of gpt-oss if a server removed their tokens: ``analysisWe need ... assistantfinalThe answer``."""
_BEGINNINGS = (
    *("okay", "ok,", "ok ", "alright", "hmm", "let me", "let's", "the user", "the question", "user asks", "we need"),
    *("we have to", "we are asked", "we are given", "i need to", "i should", "i have to", "i'll", "i must", "first, i"),
    *("first, let", "first, the", "so the", "so, ", "so i", "looking at", "thinking", "to answer", "now, ", "wait"),
    *(
        "here's a thinking",
        "here is a thinking",
        "here's my thought",
        "got it",
        "analysis",
        "嗯",
        "好的",
        "首先",
        "用户",
    ),
)
"""How models begin to think. Such a beginning waits for a closing tag, or for the end of the reply."""
_ECHO = re.compile(r"(?:assistant|ai assistant)\s*:\s*|(?:assistant|model)\s*\n+\s*", re.IGNORECASE)
_ECHOES = ("assistant:", "assistant :", "ai assistant:", "assistant\n", "model\n")
_LAST_TOKENS = re.compile(r"(?:\s*(?:<\|[\w▁-]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</s>|<end_of_turn>|<eos>))+\s*\Z")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“"}


@dataclass(slots=True)
class Habits:
    """What earlier replies of a model showed: whether it thinks without an opening tag; None if that is not known."""

    thinks_first: bool | None = None


class Cleaner:
    """Cleans a reply that arrives in pieces.

    Text that may still turn out to be thinking, a mark or a wrapper waits. If a closing tag comes although the text
    before it did not look like thinking, the complete reply is right, but that text was already returned.
    """

    def __init__(self, habits: Habits, *, form: bool = False) -> None:
        """Take the habits of the model, and whether a JSON object was asked for, which is not unwrapped."""
        self._habits, self._form = habits, form
        self._rest = self._text = self._block = self._fence = self._ticks = self._line = ""
        self._thoughts: list[str] = []
        self._sent = self._depth = self._closed_at = 0
        self._in_channel = self._in_answer = self._over = self._has_thought = self._inline = False

    def add(self, piece: str) -> str:
        """Take a piece, and return the text that is certain by now."""
        self._rest += piece
        if not self._text and not self._has_thought and self._begins_harmony():
            return ""
        partial = _PARTIAL.search(self._rest, max(0, len(self._rest) - _TAIL))
        self._scan(partial.start() if partial else len(self._rest))
        return self._certain()

    def end(self) -> Reply:
        """Return the text and the reasoning as a reply without counts."""
        self._scan(len(self._rest))
        if self._depth:
            self._end_block()
        text = _LAST_TOKENS.sub("", self._text).strip()
        if not self._has_thought and self._habits.thinks_first is None and _looks_like_thinking(text):
            self._habits.thinks_first = False
        if not self._sent and (echo := _ECHO.match(text)):
            text = text[echo.end() :]
        if not self._form:
            found = unwrapped.answer_in(text)
            text = found.text
            self._thoughts += [found.reasoning] if found.reasoning else []
        return Reply(text=text, reasoning="\n".join(one.strip() for one in self._thoughts if one.strip()))

    def unsent(self, text: str) -> str:
        """Return the end of the complete text that `add` has not returned."""
        return text[self._sent :] if text.startswith(self._text[: self._sent]) else ""

    # ------------------------------------------------------------ marks
    def _begins_harmony(self) -> bool:
        """Return whether the text may be of gpt-oss without its tokens, and take its thinking out once it is over."""
        begun = self._rest.lstrip()
        if len(begun) < len("analysisW"):
            return bool(begun) and "analysis".startswith(begun)
        if not _HARMONY.match(begun):
            return False
        thinking, found, answer = begun.partition("assistantfinal")
        if not found:
            return True
        self._thoughts.append(_HARMONY.sub("\n", thinking))
        self._has_thought, self._rest = True, answer
        return False

    def _scan(self, end: int) -> None:
        """Read the text up to this place."""
        start, text = 0, self._rest
        for mark in _mark().finditer(text, 0, end):
            if self._over:
                break
            self._put(text[start : mark.start()])
            start = mark.end()
            if not self._take(mark, text[start : start + 1]):
                self._put(mark[0])
        if not self._over:
            self._put(text[start:end])
        self._rest = text[max(start, end) :]

    def _take(self, mark: re.Match[str], following: str) -> bool:
        """Take a mark; return false if it is text."""
        kind = str(mark.lastgroup)
        if self._depth:
            return self._take_in_block(kind, mark[0])
        if kind == "line":
            self._put("\n")
            self._line, self._ticks = "", ""
            return True
        if kind == "ticks":
            self._take_ticks(mark[0])
            return False
        if self._fence or self._ticks or _is_quoted(self._line, following):
            return False
        match kind:
            case "open" | "channel":
                self._depth, self._in_channel = 1, kind == "channel"
                self._inline, self._block, self._closed_at = bool(self._line.strip()), mark[0], 0
            case "close":
                self._thoughts.append(self._text)
                self._text, self._line, self._sent = "", "", 0
                self._habits.thinks_first = self._has_thought = True
            case "user":  # the model goes on with a turn of the user
                self._over = bool(self._text)
            case "wrap":
                if mark[0].startswith("</"):
                    known, self._in_answer = self._in_answer, False
                    return known
                self._in_answer = not self._text
                return self._in_answer
            case "details":
                return False
            case _:
                pass  # a token is removed
        return True

    def _take_in_block(self, kind: str, mark: str) -> bool:
        """Take a mark within the thinking."""
        channel = self._in_channel and (kind in ("final", "role") or mark.lower() in ("<|end|>", "<channel|>"))
        closes = channel or kind in ("close", "final", "details")
        self._block += mark
        self._depth += (kind == "open") - closes
        if closes:
            self._closed_at = len(self._block)
        if not self._depth:
            self._thoughts.append(_mark().sub(_kept_line, self._block))
            self._has_thought, self._block = True, ""
        return True

    def _take_ticks(self, ticks: str) -> None:
        """Follow code blocks and code within a line."""
        if self._fence:
            if not self._line.strip() and ticks.startswith(self._fence):
                self._fence = ""
        elif not self._line.strip() and len(ticks) >= 3:
            self._fence = ticks
        elif ticks[0] == "`":
            self._ticks = "" if self._ticks == ticks else self._ticks or ticks

    def _put(self, text: str) -> None:
        if self._depth:
            self._block += text
            return
        self._line = (self._line + text).rpartition("\n")[2]
        self._text = self._text + text if self._text else text.lstrip()

    def _end_block(self) -> None:
        """Decide what thinking that does not end is."""
        block, self._depth = self._block, 0
        if self._closed_at:  # it opened twice and closed once
            self._thoughts.append(_mark().sub(_kept_line, block[: self._closed_at]))
            self._put(block[self._closed_at :])
        elif self._inline and self._text:  # a tag in a sentence
            self._put(block)
        else:
            self._thoughts.append(_mark().sub(_kept_line, block))
        self._has_thought = True

    # ------------------------------------------------------------ waiting
    def _certain(self) -> str:
        """Return the text after what was returned, unless it has to wait."""
        if not self._sent:
            if self._waits():
                return ""
            if echo := _ECHO.match(self._text):
                self._text = self._text[echo.end() :]
        end = len(self._text.rstrip())
        new = self._text[self._sent : end]
        self._sent = max(self._sent, end)
        return new

    def _waits(self) -> bool:
        """Return whether the beginning may be thinking, a wrapper or the name of a role."""
        begun = self._text.casefold()
        if not self._has_thought:
            if self._habits.thinks_first:
                return True
            if self._habits.thinks_first is None and _looks_like_thinking(begun):
                return True
        may_be_role = any(echo.startswith(begun) for echo in _ECHOES)
        return may_be_role or (not self._form and unwrapped.may_be_wrapped(begun))


async def cleaned(
    pieces: AsyncGenerator[Piece], name: str, habits: Habits, *, form: bool = False
) -> AsyncGenerator[Piece]:
    """Yield the text of a model's stream without its thinking and special tokens, then the clean `Reply`.

    Args:
        pieces: as the model sends them.
        name: of the model, for messages.
        habits: what is known of the model; they are updated.
        form: a JSON object was asked for.

    Raises:
        EmptyReply: no words are left; the message says why.
    """
    cleaner, begun = Cleaner(habits, form=form), False
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, str):
                begun = True
                if text := cleaner.add(piece):
                    yield text
                continue
            if not begun and (text := cleaner.add(piece.text)):
                yield text
            reply = cleaner.end()
            reasoning = "\n".join(filter(None, (piece.reasoning.strip(), reply.reasoning)))
            text = reply.text or _answer_after(piece.reasoning)
            if not text:
                empty = replace(piece, text="", reasoning=reasoning)
                raise EmptyReply(_without_words(name, empty), empty)
            if rest := cleaner.unsent(text):
                yield rest
            yield replace(piece, text=text, reasoning=reasoning)
            return


def _without_words(name: str, reply: Reply) -> str:
    """Return why a reply is empty, and what to do."""
    counted = f"its {reply.completion_tokens} tokens" if reply.completion_tokens else "all of its tokens"
    if reply.reasoning and reply.cut:
        return (
            f"{name} sent an empty reply: {counted} went into reasoning, up to the length limit;"
            " raise respond.model.max_tokens"
        )
    if reply.reasoning:
        return f"{name} sent an empty reply: it only reasoned; ask again, or choose another model"
    if reply.cut:
        return (
            f"{name} sent an empty reply: it reached the length limit before the first word; raise"
            " respond.model.max_tokens, or the context window of the server"
        )
    return f"{name} sent an empty reply; ask again, or choose another model"


def _answer_after(reasoning: str) -> str:
    """Return the answer that a server put into the field of the reasoning, after the end of the thinking."""
    ends = [mark for mark in _mark().finditer(reasoning) if mark.lastgroup in ("close", "final")]
    if not ends:
        return ""
    cleaner = Cleaner(Habits(thinks_first=False))
    cleaner.add(reasoning[ends[-1].end() :])
    return cleaner.end().text


def _looks_like_thinking(text: str) -> bool:
    begun = text[:20].casefold()
    return bool(begun) and any(begun.startswith(one) or one.startswith(begun) for one in _BEGINNINGS)


def _is_quoted(before: str, following: str) -> bool:
    """Return whether a mark stands between quotation marks, as in a sentence about it."""
    return bool(before) and _QUOTES.get(before[-1]) == following


def _kept_line(mark: re.Match[str]) -> str:
    """Return what is kept of a mark within thinking: line breaks and code."""
    return mark[0] if mark.lastgroup in ("line", "ticks") else ""


@cache
def _mark() -> re.Pattern[str]:
    """Return a pattern of all marks; it takes long to compile, and only replies of a model need it."""
    return re.compile(
        rf"""
        (?P<final><\|channel\|>\s*final[^<\n]*(?:<\|constrain\|>[^<\n]*)?<\|message\|>)
        |(?P<channel><\|channel\|>\s*\w+[^<\n]*(?:<\|constrain\|>[^<\n]*)?<\|message\|>|<\|channel>\s*thought\b)
        |(?P<open><{_TAG}(?:\s[^<>\n]*)?>|\[THINK\]|◁think▷|<\|(?:START_THINKING|begin_of_thought)\|>
            |<details\s+type="reasoning"[^<>\n]*>)
        |(?P<close></{_TAG}>|\[/THINK\]|◁/think▷|<\|(?:END_THINKING|end_of_thought)\|>|<channel\|>)
        |(?P<user><\|im_start\|>user|<\|start_header_id\|>user|<start_of_turn>user|<\|user\|>|<\|start\|>user|<｜User｜>)
        |(?P<role>(?:<\|im_start\|>|<start_of_turn>|<\|start\|>)\s*(?:assistant|model)\n?
            |<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>)
        |(?P<token><\|[\w▁-]{{1,40}}\|>|<｜[^｜<>\n]{{1,40}}｜>|</?s>|<(?:bos|eos|pad|unk|end_of_turn|start_of_turn)>
            |\[/?INST\]|<</?SYS>>)
        |(?P<wrap></?(?:answer|final_answer|response|tool_call|function_call|function(?:=\w{{1,40}})?)>)
        |(?P<details></details>)
        |(?P<ticks>`+|~~~+)
        |(?P<line>\n)
        """,
        re.VERBOSE | re.IGNORECASE,
    )
