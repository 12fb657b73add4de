"""Follow-ups: are they understood as what the asker means, with the last turn's measure and another name?

60 conversations in four languages over small collections (``follow_ups.yaml``), written by the author of the rules.
The rules were developed on every second one; the others were first looked at afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from benchmarks.bases import NO_CACHE, opened
from benchmarks.common import Options
from ragstone.core.access import OWNER
from ragstone.core.answers import ABSTAINED, Answer, Turn
from ragstone.engine.knowledge_base import KnowledgeBase

WRITTEN = Path(__file__).with_suffix(".yaml")
Verdict = Literal["right", "wrong", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The turns of a conversation, the last of which is judged; without ``has`` a refusal is right."""

    language: str
    turns: Sequence[str]
    seen: bool
    has: Sequence[str] = ()
    notice: str = ""

    def verdict(self, answer: Answer) -> Verdict:
        """Return whether an answer is right; a right passage labelled as only close counts, a wrong one does not."""
        text = answer.answer.casefold()
        has_all = bool(self.has) and all(one.casefold() in text for one in self.has)
        told = self.notice in " ".join(answer.notices)
        if answer.outcome in ABSTAINED:
            return "right" if not self.has or (has_all and answer.outcome == "closest") else "refused"
        return "right" if has_all and told else "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A conversation, the answer to its last turn, and whether that is right."""

    conversation: Conversation
    answer: Answer
    verdict: Verdict = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", self.conversation.verdict(self.answer))


async def judged(options: Options) -> AsyncGenerator[Judged]:
    """Yield the conversations with the answers to their last turns; every third one in a quick run."""
    for part in yaml.safe_load(WRITTEN.read_text(encoding="utf-8")):
        language = part["language"]
        cases = [_conversation(language, number, one) for number, one in enumerate(part["conversations"])]
        folder = options.keep / f"follow-ups-{language}"
        with opened(folder, (*NO_CACHE, "respond.model.name=extractive", "index.embedder=auto")) as kb:
            await kb.documents.add([str(_written(options.keep / f"follow-ups-{language}-docs", part["documents"]))])
            for case in cases[:: 3 if options.quick else 1]:
                yield Judged(conversation=case, answer=await _last(kb, case.turns))


def share(some: Sequence[Judged], verdict: Verdict) -> float:
    """Return the share of conversations with a verdict."""
    return round(sum(one.verdict == verdict for one in some) / len(some), 4)


def rows(some: Sequence[Judged]) -> Iterator[list[str]]:
    """Yield a row of a table for each language and for those that the rules were not developed on, with the counts."""
    groups = {
        one.conversation.language: [each for each in some if each.conversation.language == one.conversation.language]
        for one in some
    }
    groups["of these, not developed on"] = [one for one in some if not one.conversation.seen]
    for name, group in groups.items():
        counts = Counter(one.verdict for one in group)
        yield [name, str(len(group)), *(str(counts[verdict]) for verdict in get_args(Verdict))]


def _conversation(language: str, number: int, own: dict[str, Any]) -> Conversation:
    return Conversation(language=language, seen=number % 2 == 0, **own)


def _written(folder: Path, documents: dict[str, str]) -> Path:
    """Write the documents of a collection as Markdown files with their titles as headings."""
    folder.mkdir(parents=True, exist_ok=True)
    for title, text in documents.items():
        (folder / f"{title}.md").write_text(f"# {title}\n\n{text}", encoding="utf-8")
    return folder


async def _last(kb: KnowledgeBase, turns: Sequence[str]) -> Answer:
    """Return the answer to the last of some turns, each asked after those before it."""
    before, answer = list[Turn](), None
    for text in turns:
        answer = await kb.ask(text, reader=OWNER, before=before)
        before.append(Turn(question=text, answer=answer.answer))
    assert answer is not None
    return answer
