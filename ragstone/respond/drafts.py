"""Drafts: what an answerer hands over, how one is replayed as events, and how a refusal and a summary read.

The texts come from ``language/<language>.yaml``: of the language that the settings or the question name, else English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from ragstone.core.answers import Citation, Draft, SentenceClosed, Statement, TextWritten
from ragstone.core.errors import ResponseError
from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.protocols import Answerer
from ragstone.core.records import Evidence, Hit, Span
from ragstone.core.request import Request
from ragstone.core.table import head_above
from ragstone.language import Phrases, phrases
from ragstone.respond.links import strip_links
from ragstone.respond.requirements.unmet import Lack
from ragstone.settings import RespondSettings

MAX_QUESTION = 300
"""Characters of the question that a refusal repeats."""
MAX_QUOTE = 200
"""Characters of each sentence that a refusal shows."""
DECLINED = 0.2
"""The most likely that passages answer which a model has read without finding an answer; set by judgement."""
MAX_PASSAGES = 3
"""Passages that a refusal names."""
MAX_SOURCES = 2
"""Sources that a summary names."""


_NUMBERED = re.compile(r"\[(\d{1,3})\]")
_MARKER = re.compile(r"\[((?:(?:Web )?Source )?(?:\d+|\?))\]")


@frozen
class ClosestPassage:
    """A passage that comes close without answering, and the sentence of it that comes closest."""

    hit: Hit
    span: Span | None = None


def cite(marker: int, hit: Hit, span: Span) -> Citation:
    """Return the citation, with this marker, of these characters of the hit's text."""
    chunk = hit.chunk
    return Citation(
        marker=marker,
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        start=chunk.start + span.start,
        end=chunk.start + span.end,
        quote=span.of(chunk.text),
        title=chunk.title,
        url=chunk.url,
        section=str(chunk.facts.get("section", "")),
        page=str(chunk.facts.get("page", "")),
        described_by=str(chunk.facts.get("described_by", "")),
        head=head_above(chunk, span),
    )


def abstained(
    evidence: Evidence,
    answerability: float,
    settings: RespondSettings,
    closest: Sequence[ClosestPassage] = (),
    lacks: Sequence[Lack] = (),
) -> Draft:
    """Return the draft of a refusal.

    It repeats the question, says what of it was not found, and names the closest passages, or the best documents if no
    passages are given.
    """
    texts = phrases(settings.language_for(evidence.question.language))
    if not closest:
        titles = {name_of(hit.chunk): hit for hit in reversed(evidence.hits)}
        closest = [ClosestPassage(hit=hit) for hit in reversed(titles.values())][:MAX_PASSAGES]
    question = shortened(evidence.question.asked, MAX_QUESTION)
    lines = [texts.refusal.format(question=question), *lack_lines(lacks, texts)]
    lines += [texts.closest, *dict.fromkeys(map(_line, closest))] if closest else [texts.nothing_close]
    return Draft(text="\n".join(lines), citations=(), answerability=answerability, outcome="refusal")


def refused(draft: Draft, evidence: Evidence, quoted: Draft, settings: RespondSettings) -> Draft:
    """Return a model's words that the documents do not answer as a refusal, with the closest passages below them.

    Args:
        draft: what the model wrote; without text, the usual words of a refusal stand.
        evidence: what it read.
        quoted: what would be quoted without a model; its quotes are the closest passages.
        settings: of the answer.
    """
    texts = phrases(settings.language_for(evidence.question.language))
    if quoted.outcome == "refusal":
        whole = quoted.text
    else:
        quotes = [f"- {one.title}: {shortened(strip_links(one.quote), MAX_QUOTE)}" for one in quoted.citations]
        question = shortened(evidence.question.asked, MAX_QUESTION)
        lines = [texts.refusal.format(question=question), texts.closest, *dict.fromkeys(quotes[:MAX_PASSAGES])]
        whole = "\n".join(lines)
    _, head, closest = whole.rpartition(texts.closest)
    text = f"{draft.text}\n\n{head}{closest}" if draft.text and head else draft.text or whole
    return replace(
        draft,
        text=text,
        outcome="refusal",
        answerability=min(quoted.answerability or 0.0, DECLINED) if draft.text else quoted.answerability,
        rightness=None,
        notices=(*draft.notices, *quoted.notices),
    )


def instead(quoted: Draft, why: str, language: str) -> Draft:
    """Return the quoted answer after the words that the model failed.

    Args:
        quoted: the answer or refusal without a model.
        why: what happened, for a notice.
        language: ISO 639-1 code of the first line.
    """
    lead = f"{phrases(language).failed}\n\n"
    statements = tuple(moved(one, len(lead)) for one in quoted.statements)
    notices = (f"The documents are quoted, because the language model failed: {why}", *quoted.notices)
    text = f"{lead}{quoted.text}"
    return replace(quoted, text=text, statements=statements, notices=notices, degraded=True, failed=True)


def lack_lines(lacks: Sequence[Lack], texts: Phrases) -> list[str]:
    """Return the lines that say what no document mentions, and what only others than the closest passage do."""
    said = [one for one in lacks if one.requirement.text and not one.beside]
    named = {known: [one.requirement.text for one in said if _is_known(one) == known] for known in (False, True)}
    lines = ((texts.unfound, named[False]), (texts.unmentioned, named[True]))
    return [line.format(what=", ".join(dict.fromkeys(what))) for line, what in lines if what]


def _is_known(lack: Lack) -> bool:
    """Return whether a document mentions it; of a version only the number can be looked up, which proves nothing."""
    return lack.found or (lack.known and lack.requirement.kind != "version")


def replayed(draft: Draft) -> Iterator[TextWritten | SentenceClosed]:
    """Yield the events of a finished draft: its text, and each statement with the citations that support it."""
    cited = {citation.marker: citation for citation in draft.citations}
    end = 0
    for statement in draft.statements:
        shown = draft.text[end : statement.end]
        yield TextWritten(text=shown)
        end = statement.end
        yield SentenceClosed(
            text=draft.text[statement.start : statement.end],
            citations=tuple(cited[marker] for marker in statement.markers),
            as_shown=shown,
            state=statement.state,
            support=statement.support,
            reason=statement.reason,
        )
    if rest := draft.text[end:]:
        yield TextWritten(text=rest)


def together(questions: Sequence[str], drafts: Sequence[Draft]) -> Draft:
    """Return the drafts for the questions of a message as one: numbered, each below its question.

    An answer that has all that the others have stands alone. The whole is as sure as the least sure of the answers,
    and a refusal only if every draft is one.
    """
    if not any(one.abstained for one in drafts):
        for draft in drafts:
            if all(says_more(draft, one) for one in drafts):
                return draft
    leads = [f"({number}) {question}\n\n" for number, question in enumerate(questions, start=1)]  # "1." begins a list
    whole = joined(leads, drafts)
    answered = [one for one in drafts if not one.abstained] or list(drafts)
    least = min(answered, key=lambda one: one.sure)
    return replace(
        least,
        text=whole.text,
        citations=whole.citations,
        statements=whole.statements,
        degraded=any(one.degraded for one in drafts),
        notices=tuple(dict.fromkeys(notice for one in drafts for notice in one.notices)),
    )


def says_more(draft: Draft, than: Draft) -> bool:
    """Return whether a draft is an answer and another one is none, or only quotes what this one quotes, too."""
    quotes_all = all(any(_is_within(one, own) for own in draft.citations) for one in than.citations)
    return not draft.abstained and (than.abstained or quotes_all)


def _is_within(one: Citation, other: Citation) -> bool:
    return one.document_id == other.document_id and other.start <= one.start and one.end <= other.end


def joined(leads: Sequence[str], drafts: Sequence[Draft]) -> Draft:
    """Return drafts one below the other, each behind its lead, with citations numbered through; else as the first."""
    text, citations, statements = "", list[Citation](), list[Statement]()
    for lead, draft in zip(leads, drafts, strict=True):
        text += f"\n\n{lead}" if text else lead
        draft = _renumbered(draft, len(citations))
        citations += draft.citations
        statements += [moved(one, len(text)) for one in draft.statements]
        text += draft.text
    return replace(drafts[0], text=text, citations=tuple(citations), statements=tuple(statements))


def _renumbered(draft: Draft, by: int) -> Draft:
    """Return a draft whose citations have numbers that are greater by some number."""
    own = {one.marker for one in draft.citations}
    marks = [one for one in _NUMBERED.finditer(draft.text) if int(one[1]) in own]
    longer = [(one.end(), len(f"[{int(one[1]) + by}]") - len(one[0])) for one in marks]

    def at(place: int) -> int:
        return place + sum(added for end, added in longer if end <= place)

    return replace(
        draft,
        text=_NUMBERED.sub(lambda one: f"[{int(one[1]) + by}]" if int(one[1]) in own else one[0], draft.text),
        citations=tuple(replace(one, marker=one.marker + by) for one in draft.citations),
        statements=tuple(
            replace(one, start=at(one.start), end=at(one.end), markers=tuple(number + by for number in one.markers))
            for one in draft.statements
        ),
    )


def moved(statement: Statement, by: int) -> Statement:
    """Return a statement that stands further on in its text by this many characters."""
    return replace(statement, start=statement.start + by, end=statement.end + by)


async def drafted(answerer: Answerer, evidence: Evidence, request: Request) -> Draft:
    """Return the finished draft, for callers that do not need its events.

    Raises:
        ResponseError: the answerer ended without a draft.
    """
    async with aclosing(answerer.stream(evidence, request)) as parts:
        async for part in parts:
            if isinstance(part, Draft):
                return part
    raise ResponseError("the answerer ended without an answer")


def summary(evidence: Evidence, citations: Sequence[Citation], language: str) -> str:
    """Return the last lines of an answer: how many documents each leg found, and the best sources with addresses.

    Args:
        evidence: what the answer rests on.
        citations: of the answer; the documents they quote are named first.
        language: ISO 639-1 code.
    """
    texts = phrases(language)
    documents_by_leg = {"vector": set[str](), "bm25": set[str]()}
    best: dict[str, str] = {}
    for hit in evidence.hits:
        chunk = hit.chunk
        best.setdefault(chunk.document_id, f"{strip_links(name_of(chunk))} ({chunk.url or chunk.document_id})")
        for leg, documents in documents_by_leg.items():
            if any(step.stage.startswith(leg) for step in hit.why):
                documents.add(chunk.document_id)
    counts = texts.found.format(
        documents=len(best), vector=len(documents_by_leg["vector"]), keywords=len(documents_by_leg["bm25"])
    )
    cited = {citation.document_id for citation in citations}
    first = sorted(best, key=lambda document: document not in cited)[:MAX_SOURCES]
    named = [" ".join(best[document].split()) for document in first]
    return "\n".join([counts, texts.sources, *(f"- {name}" for name in named)])


def _line(passage: ClosestPassage) -> str:
    """Return the name of a document and its closest words, unless they are one word, as the title of a tab is."""
    chunk = passage.hit.chunk
    title = " ".join(strip_links(name_of(chunk)).split())
    words = strip_links(passage.span.of(chunk.text)) if passage.span else ""
    return f"- {title}: {shortened(words, MAX_QUOTE)}" if len(words.split()) > 1 else f"- {title}"


def unmarked(name: str) -> str:
    """Return a name without what would be read as the marker of a citation: "Minutes [2]" as "Minutes (2)"."""
    return _MARKER.sub(r"(\1)", name)


def shortened(text: str, limit: int) -> str:
    """Return the text on one line and within the limit."""
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"
