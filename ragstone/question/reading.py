"""Read a question: from its text and the conversation before it to the record that every stage receives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragstone.core.answers import Turn
from ragstone.core.question import Question, Wording
from ragstone.language import language_of
from ragstone.language.facts import words
from ragstone.question import analysis
from ragstone.question.asks import MAX_QUESTION, asks_of
from ragstone.question.follow_up import MOST_TURNS, Last, context, is_refused, joined, leans
from ragstone.question.frame import unframed
from ragstone.question.parts import parts_of
from ragstone.question.requirements import requirements_of
from ragstone.question.talk import talk_of
from ragstone.respond.replies import asks_back


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a question is read with.

    ``before`` is the conversation, in order. ``language`` is an ISO 639-1 code, for a question whose words do not tell.
    ``entities`` are names, terms and places to recognise, by kind; a word that ends in ``*`` matches all its endings.
    """

    before: Sequence[Turn] = ()
    language: str = ""
    entities: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


ALONE = Context()
"""No conversation, and nothing known of the language."""


def read(text: str, context: Context = ALONE) -> Question:
    """Return the record of a question, with what it takes from the conversation."""
    last = last_of(context.before)
    question = _alone(text, context)
    if question.about_answer and last:
        return _about(question, last, context)
    whole = _with_last(question, last)
    return replace(whole, parts=tuple(_parts(whole, context)))


def _about(question: Question, last: Last, context: Context) -> Question:
    """Return a question about the last answer as the last question, asked again with the wishes of this one."""
    again = _alone(last.text, replace(context, language=question.language or context.language))
    language = question.language or again.language
    told = replace(again, asked=question.asked, language=language, wishes=question.wishes, rewritten=last.text)
    return _with_meaning(replace(told, about_answer=True), last.text)


def _parts(question: Question, context: Context) -> Iterator[Question]:
    """Yield the questions of a message, each with what it takes from the one before; nothing if there is only one."""
    last: Last | None = None
    for text in parts_of(question.wording.typed, question.language) if not question.talk else ():
        part = _alone(text, replace(context, language=question.language))
        if part.talk and not part.talk.names_something:
            continue
        part = _with_last(part, last if part.depends else None)
        last = Last(text=part.text, answer="")
        yield part


def read_again(question: Question, own: str, *, rewritten: bool = False) -> Question:
    """Return a question with other words of its own, because a part of it names a document, or a model put it so.

    Args:
        question: as it was read; its language, its wishes and what it takes from the conversation stay.
        own: the new words, in place of its typed ones.
        rewritten: whether they are a model's, which names what the conversation would add.
    """
    new = _alone(own, Context(language=question.language))
    wording = replace(new.wording, context=question.wording.context)
    added = "" if rewritten else question.text.removesuffix(question.wording.typed)
    kept = replace(
        new,
        asked=question.asked,
        talk=question.talk,
        wishes=question.wishes,
        wording=wording,
        rewritten=own if rewritten else question.rewritten,
    )
    return _with_meaning(kept, f"{added}{own}")


def last_of(before: Sequence[Turn]) -> Last | None:
    """Return the last turn that a question can lean on, as it was understood: one that was answered."""
    last: Last | None = None
    for turn in before[-MOST_TURNS:]:
        own = _alone(turn.question, ALONE)
        if (own.about_answer and last) or (own.talk and not own.talk.names_something) or is_refused(turn.answer):
            continue
        goes_on = asks_back(turn.answer)
        text = joined(own, last) if leans(own, last) else own.text
        last = Last(text=text, answer="" if goes_on else turn.answer, goes_on=goes_on)
    return last


def _alone(text: str, context: Context) -> Question:
    """Return a question without a conversation, and without what only its whole meaning tells."""
    language = language_of(text)
    talk = talk_of(text, language)
    language = language or (talk.language if talk else "") or context.language
    framed = unframed(text, language)
    core = framed.text
    if talk is None and core != text:
        talk = talk_of(core, language)
    question = Question(
        asked=text,
        text=core,
        language=language,
        talk=talk,
        wishes=framed.wishes,
        about_answer=framed.about_answer,
        wording=Wording(typed=core, text=core),
    )
    return analysis.analysed(question, context.entities)


def _with_last(question: Question, last: Last | None) -> Question:
    if last is None:
        return _with_meaning(question, question.text)
    wording = replace(question.wording, context=context(question, last))
    return _with_meaning(
        replace(question, wording=wording), joined(question, last) if leans(question, last) else question.text
    )


def _with_meaning(question: Question, text: str) -> Question:
    looked_at = text[:MAX_QUESTION]
    found = words(looked_at)
    asks = asks_of(looked_at, found)
    fixed = requirements_of(looked_at, found, question.language, asks)
    return replace(question, text=text, words=tuple(found), asks=asks, requirements=fixed)
