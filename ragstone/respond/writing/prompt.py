"""Compose messages for a language model from evidence and a question.

The templates are the YAML files in ``prompts/``. Text of documents and people is substituted once and never expanded
again. Evidence is enclosed in lines with a random mark, new for each prompt, that no document can know. That alone does
not stop prompt injection (Willison 2023, "Delimiters won't save you from prompt injection"), so the citations of an
answer are checked against the documents in any case.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from ragstone.core.answers import Message, Turn
from ragstone.core.errors import SettingsError
from ragstone.core.frozen import frozen
from ragstone.core.kinds import Kind
from ragstone.core.naming import file_name, name_of
from ragstone.core.records import OF_FILE, Evidence, Hit, Metadata, Passage, SourceType, beside, date_of
from ragstone.core.table import as_markdown, table_of
from ragstone.language.files import english_name
from ragstone.respond.writing.told import FIRST_LINE, REFUSAL
from ragstone.settings import RespondSettings
from ragstone.settings.yaml_text import read_yaml

HISTORY = 0.25
"""Share of the token budget for the conversation so far."""
RESERVED = 1024
"""Tokens of a model's window reserved for rules and examples."""
LEAST_TOKENS = 256
"""Tokens of evidence in a prompt, at least, however small the model's window is."""
_NAME = re.compile(r"\$\{?([a-z_]+)")
_MAX_FACTS = 8
"""Metadata fields shown with a source."""


class Example(BaseModel):
    """A question, its sources, and the expected answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: tuple[dict[str, str], ...]
    question: str
    answer: str


class Prompt(BaseModel):
    """A template, as read by `load_prompt`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: str
    rules: tuple[str, ...]
    style: str
    forms: dict[Kind, str] = {}
    marker: str
    web_marker: str
    tool_marker: str
    block: str
    question: str
    examples: tuple[Example, ...] = ()

    def label(self, number: int, of: SourceType = "internal") -> str:
        """Return the citation label of a source, such as ``[1]``."""
        marker = {"internal": self.marker, "web": self.web_marker, "tool": self.tool_marker}[of]
        return _put(marker, {"number": str(number)})


@frozen
class ComposedPrompt:
    """The messages for the model, and the hits in them in the order of their numbers.

    ``left_out`` counts the passages that did not fit.
    """

    messages: tuple[Message, ...]
    hits: tuple[Hit, ...]
    left_out: int = 0


@frozen
class PromptBudget:
    """Limits of a prompt: tokens of evidence and conversation together, and characters of a source (0: all)."""

    tokens: int
    characters: int = 0
    count: Callable[[str], int] = field(default=len)


def room(settings: RespondSettings, window: int = 0) -> int:
    """Return the tokens of a prompt for evidence and conversation.

    Args:
        settings: of the answer.
        window: the context window of the model, in tokens; 0 if it is not known.
    """
    return max(LEAST_TOKENS, min(settings.context_tokens, settings.model.room(window) - RESERVED))


def prompt_for(
    settings: RespondSettings,
    count: Callable[[str], int],
    evidence: Evidence,
    before: Sequence[Turn],
    tokens: int,
    today: str = "",
) -> ComposedPrompt:
    """Return the messages that the settings compose, with at most so many tokens of evidence and conversation."""
    budget = PromptBudget(tokens=tokens, characters=settings.excerpt_characters, count=count)
    return compose(
        load_prompt(settings.prompt),
        evidence,
        before,
        budget=budget,
        language=settings.language_for(evidence.question.language),
        shown=settings.shown,
        today=today,
    )


@cache
def load_prompt(name: str) -> Prompt:
    """Return a shipped template by its name, or one by the path of its YAML file; omitted keys come from the default.

    Raises:
        SettingsError: there is no such template, or it is malformed.
    """
    shipped = {
        file.name.removesuffix(".yaml"): file
        for file in files("ragstone.respond.writing.prompts").iterdir()
        if file.name.endswith(".yaml")
    }
    place = shipped.get(name) or Path(name)
    if not place.is_file():
        known = ", ".join(sorted(shipped))
        raise SettingsError(
            f"respond.prompt: there is no prompt '{name}'; choose {known}, or give the path of a YAML file"
        )
    try:
        own: Any = read_yaml(place.read_text(encoding="utf-8"))
        return Prompt.model_validate({**read_yaml(shipped["default"].read_text(encoding="utf-8")), **own})
    except (ValidationError, TypeError, ValueError, OSError) as error:
        raise SettingsError(f"respond.prompt: {name} is not a valid prompt: {error}") from error


def compose(
    prompt: Prompt,
    evidence: Evidence,
    before: Sequence[Turn],
    *,
    budget: PromptBudget,
    language: str = "",
    shown: Callable[[Metadata], Metadata] = dict,
    today: str = "",
) -> ComposedPrompt:
    """Compose the messages.

    Args:
        prompt: the template.
        evidence: its passages, or else its hits, become sources 1, 2, ... in order; those that do not fit are skipped.
        before: earlier turns; the latest that fit are used.
        budget: for evidence and conversation.
        language: ISO 639-1 code of the answer; if empty, the model is told to use that of the question.
        shown: returns what a source shows of the metadata of its document.
        today: the date of today, in ISO 8601.
    """
    mark = secrets.token_hex(4)  # encloses the evidence
    history = _latest(before, int(budget.tokens * HISTORY), budget.count)
    left = budget.tokens - sum(budget.count(message.content) for message in history)
    blocks: list[str] = []
    hits: list[Hit] = []
    passages = evidence.passages or [Passage(hit=hit) for hit in evidence.hits]
    for passage in passages:
        hit, number = passage.hit, len(hits) + 1
        label = prompt.label(number, hit.chunk.source_type)
        block = _put(prompt.block, _facts(passage, number, label, budget.characters, shown)).replace(mark, "")
        if (cost := budget.count(block)) <= left:
            blocks.append(block)
            hits.append(hit)
            left -= cost
    publisher = next((str(hit.chunk.metadata["source"]) for hit in hits if hit.chunk.metadata.get("source")), "")
    values = {
        "refusal": REFUSAL,
        "found": FIRST_LINE.strip(),
        "language": _in_language(language),
        "mark": mark,
        "first": prompt.label(1),
        "second": prompt.label(2),
        "source": publisher or "the organisation",
        "today": today,
    }
    style = prompt.forms.get(evidence.question.kind, prompt.style)
    rules = [one for rule in (*prompt.rules, style) if (one := _put(rule, values))]
    system = "\n".join([_put(prompt.role, values), "Rules:", *(f"- {rule}" for rule in rules)])
    examples = [message for example in prompt.examples for message in _example(prompt, example, values)]
    question = _question(prompt, blocks, evidence.question.asked, mark, evidence.question.rewritten)
    messages = (
        Message(role="system", content=system, mark=mark),
        *examples,
        *history,
        Message(role="user", content=question),
    )
    return ComposedPrompt(messages=messages, hits=tuple(hits), left_out=len(passages) - len(hits))


def _question(prompt: Prompt, blocks: Sequence[str], question: str, mark: str, rewritten: str = "") -> str:
    sources = [f"--- source {mark}\n{block}\n--- end {mark}" for block in blocks]
    return "\n".join([*sources, "", _put(prompt.question, {"question": question, "rewritten": rewritten})])


def _example(prompt: Prompt, example: Example, values: dict[str, str]) -> list[Message]:
    blocks = [
        _put(prompt.block, {"index": str(number), "number": prompt.label(number), **source})
        for number, source in enumerate(example.sources, start=1)
    ]
    return [
        Message(role="user", content=_question(prompt, blocks, example.question, values["mark"])),
        Message(role="assistant", content=_put(example.answer, values)),
    ]


def _facts(
    passage: Passage, index: int, label: str, characters: int, shown: Callable[[Metadata], Metadata]
) -> dict[str, str]:
    chunk = passage.hit.chunk
    facts = {**chunk.metadata, **chunk.facts}
    table = table_of(chunk)
    text = as_markdown(table) if table else chunk.text
    text = text if not characters or len(text) <= characters else f"{text[:characters].rstrip()} …"
    told = beside(chunk.text, shown(chunk.metadata))
    listed = [f"{name}: {_shown(value)}" for name, value in told.items() if name not in OF_FILE]
    listed = [fact for fact in listed if not _says(text, fact)]  # the text of a row of a data file is its fields
    author = facts.get("author") or facts.get("authors") or chunk.url
    section, page = _shown(facts.get("section", "")), _shown(facts.get("page", ""))
    line = f", line {facts['line']}" if "line" in facts else ""
    return {
        "index": str(index),
        "number": label,
        "title": name_of(chunk),
        "author": _shown(author),
        "place": f", {section}" if section else f", page {page}" if page else line,
        "section": section or name_of(chunk),
        "dated": f" ({date})" if (date := date_of(chunk.metadata)) else "",
        "also": "; ".join(passage.also),
        "url": chunk.url,
        "id": _shown(facts.get("publication_id", file_name(chunk.document_id))),
        "source": _shown(facts.get("source", "")),
        "facts": "; ".join(listed[:_MAX_FACTS]),
        "text": text,
    }


def _says(text: str, fact: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", text) is not None


def _shown(value: object) -> str:
    text = ", ".join(map(str, cast("tuple[object, ...]", value))) if isinstance(value, tuple) else str(value)
    return " ".join(text.split())


def _latest(before: Sequence[Turn], tokens: int, count: Callable[[str], int]) -> list[Message]:
    """Return the last turns that fit, in order."""
    out: list[Message] = []
    for turn in reversed(before):
        tokens -= count(turn.question) + count(turn.answer)
        if tokens < 0:
            break
        messages = [Message(role="user", content=turn.question), Message(role="assistant", content=turn.answer)]
        out = [*messages, *out]
    return out


def _in_language(code: str) -> str:
    name = english_name(code)
    return f"Answer in {name}." if name else "Answer in the language of the question."


def _put(template: str, values: dict[str, str]) -> str:
    """Substitute the names of a template once; drop lines all of whose names are empty."""
    lines: list[str] = []
    for line in template.split("\n"):
        names = _NAME.findall(line)
        if not names or any(values.get(name, "").strip() for name in names):
            lines.append(Template(line).safe_substitute(_Blank(values)))
    return "\n".join(lines)


class _Blank(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return ""
