"""Presets with a language model: what the product itself refuses or replaces although the model answers.

A scripted model behind a server of OpenAI's protocol replies "FOUND: yes" with a line of the passage that holds a
judged article, and "FOUND: no" if no passage of its prompt does. The settings are those of the preset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.bases import opened
from benchmarks.common import Options, Table, progress
from benchmarks.reply_collections import spread
from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.engine.experiments import add_corpus
from ragstone.review.dataset import load
from servers.openai_server import KEY, OpenAIServer

PRESETS = {"knowledge-base": "covid_faq_kb", "companion": "lt_faq"}
MODEL = "copier:copier"
MOST, QUICK_MOST = 110, 20
"""Questions of a preset."""
LEAST = 30
"""Characters of a line that tell which article it is from."""
_BLOCK = re.compile(r"^\[(?P<number>\d+)\] (?P<text>.*?)(?=^\[\d+\] |\Z)", re.DOTALL | re.MULTILINE)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The questions of a preset.

    ``given`` had an article in the prompt, ``unread`` were refused before the model was asked, and ``replaced`` did not
    end in the model's own answer although an article was in the prompt.
    """

    preset: str
    questions: int
    given: int
    unread: int
    replaced: int


class Copier:
    """A model that copies a line of a wanted article from its prompt."""

    def __init__(self) -> None:
        self.wanted = ""
        """The text of the articles that answer, with single spaces."""
        self.copied: bool | None = None
        """Whether the prompt had one of them; None if there was no prompt."""

    def expect(self, wanted: str) -> None:
        """Copy from this text at the next question."""
        self.wanted, self.copied = wanted, None

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the whole reply to a conversation."""
        for block in _BLOCK.finditer(messages[-1]["content"]):
            for line in map(_spaced, block["text"].split("\n")):
                if len(line) >= LEAST and line in self.wanted:
                    self.copied = True
                    return f"FOUND: yes\n{line} [{block['number']}]"
        self.copied = False
        return "FOUND: no\nThe sources do not say."


async def measured(options: Options) -> list[Asked]:
    """Return what became of the questions of each preset whose data are there."""
    return [await _asked(options, preset, name) for preset, name in PRESETS.items() if options.folder(name)]


async def _asked(options: Options, preset: str, name: str) -> Asked:
    assert options.data is not None
    dataset, copier = load(options.data / name), Copier()
    texts: dict[str, Document] = {one.id: one for one in dataset.documents()}
    questions = {one.text: dataset.qrels.get(one.id, {}) for one in dataset.queries if dataset.qrels.get(one.id)}
    some = spread(list(questions), QUICK_MOST if options.quick else MOST)
    given = unread = replaced = 0
    with OpenAIServer(copier.reply) as server:
        settings = [f"services.servers.copier.base_url={server.url}", f"services.servers.copier.api_key={KEY}"]
        settings += [f"respond.model.name={MODEL}", "cache.enabled=false"]
        progress(f"{preset} with a language model")
        with opened(options.keep / f"with-model-{preset}", settings, preset=preset) as kb:
            await add_corpus(kb, dataset, lambda _: None)
            for question in some:
                articles = [texts[id] for id in questions[question] if id in texts]
                copier.expect(_spaced(" ".join(one.text for one in articles)))
                answer = await kb.ask(question, reader=OWNER)
                unread += copier.copied is None
                given += copier.copied is True
                replaced += copier.copied is True and (
                    answer.outcome != "answer" or not answer.model.startswith("copier")
                )
    return Asked(preset=preset, questions=len(some), given=given, unread=unread, replaced=replaced)


def table(asked: Sequence[Asked]) -> Table:
    """Return the table of the benchmark."""
    return Table(
        title="presets with a language model",
        columns=[
            "preset",
            "questions",
            "article in the prompt",
            "refused before the model read",
            "refused or replaced",
        ],
        rows=[list(map(str, (one.preset, one.questions, one.given, one.unread, one.replaced))) for one in asked],
    )


def _spaced(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
