"""Read a question: from its text and the conversation before it to the record that every stage receives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache, reduce

from ragstone.core.answers import Turn
from ragstone.core.frozen import frozen
from ragstone.core.question import MAX_QUESTION, Question, Requirement, Wording
from ragstone.language import language_of
from ragstone.language.contacts import contact_in
from ragstone.language.facts import words
from ragstone.question import analysis
from ragstone.question.asks import asks_of
from ragstone.question.ellipsis import MOST_WORDS, Completed, beside, completed
from ragstone.question.follow_up import (
    CONTEXT_ANSWER,
    MOST_TURNS,
    Last,
    LastTurns,
    context_of,
    is_refused,
    joined,
    leant_on,
)
from ragstone.question.frame import parts_of, subject_of, unframed
from ragstone.question.requirements import requirements_of
from ragstone.question.talk import talk_of
from ragstone.respond.replies import asks_back


@frozen
class Context:
    """What a question is read with.

    ``before`` is the conversation, in order. ``language`` is an ISO 639-1 code, for a question whose words do not tell.
    ``entities`` are names, terms and places to recognise, by kind; a word that ends in ``*`` matches all its endings.
    """

    before: Sequence[Turn] = ()
    language: str = ""
    entities: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


KEPT_TURNS = 256
"""Earlier turns that are kept as they were understood, because each further question leans on them."""
ALONE = Context()
"""No conversation, and nothing known of the language."""


def read(text: str, context: Context = ALONE) -> Question:
    """Return the record of a question, with what it takes from the conversation."""
    conversation = _turns(context.before)
    question = _alone(text, context)
    if question.about_answer and conversation.asked:
        return _about(question, conversation.asked, context)
    whole = _following(question, conversation, context)
    return replace(whole, parts=tuple(_parts(whole, context)))


def _about(question: Question, last: Last, context: Context) -> Question:
    """Return a question about the last answer as the last question, asked again with the wishes of this one."""
    again = _alone(last.text, replace(context, language=question.language or context.language))
    language = question.language or again.language
    told = replace(again, asked=question.asked, language=language, wishes=question.wishes, rewritten=last.text)
    return _with_meaning(replace(told, about_answer=True), last.text)


def _parts(question: Question, context: Context) -> Iterator[Question]:
    """Yield the questions of a message, each with what it takes from the one before; nothing if there is only one."""
    conversation = LastTurns()
    for own in parts_of(question.wording.typed, question.language) if not question.talk else ():
        part = _alone(own.text, replace(context, language=question.language))
        if part.talk and not part.talk.names_something:
            continue
        # "and what caused the delay?" needs the rest of its sentence, unless it fixes something of its own.
        leans = own.goes_on and not _with_meaning(part, part.text).requirements
        part = replace(part, depends=part.depends or leans)
        part = _following(part, conversation if part.depends else LastTurns(), context)
        last = Last(text=subject_of(part.text, part.language), answer="")  # what it asked for, the next one does not
        conversation = LastTurns(asked=last, answered=last)
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


def _turns(before: Sequence[Turn]) -> LastTurns:
    """Return the turns that a question can lean on, as they were understood."""
    return reduce(_after, before[-MOST_TURNS:], LastTurns())


@lru_cache(maxsize=KEPT_TURNS)
def _after(conversation: LastTurns, turn: Turn) -> LastTurns:
    """Return the turns that a question can lean on after one more turn."""
    own = _turn(turn.question)
    if (own.about_answer and conversation.asked) or (own.talk and not own.talk.names_something):
        return conversation
    goes_on, refused = asks_back(turn.answer), is_refused(turn.answer)
    answer = "" if goes_on or refused else turn.answer[:CONTEXT_ANSWER]
    last = Last(text=_understood(own, conversation), answer=answer, goes_on=goes_on)
    return LastTurns(asked=last, answered=conversation.answered if refused else last)


@lru_cache(maxsize=KEPT_TURNS)
def _turn(text: str) -> Question:
    """Return the record of an earlier question."""
    return _with_meaning(_alone(text, ALONE), text)


def _understood(question: Question, conversation: LastTurns) -> str:
    """Return the text of a question with what it takes from the conversation."""
    whole = _completed(question, conversation)
    return whole.text if whole else joined(question, leant_on(question, conversation))


def _completed(question: Question, conversation: LastTurns) -> Completed | None:
    """Return a question without a verb as the last one with another name; None if it is something else."""
    if conversation.asked is None or conversation.asked.goes_on or len(question.text.split()) > MOST_WORDS:
        return None
    for last in {one.text: one for one in (conversation.asked, conversation.answered) if one}.values():
        text = joined(question, last)
        language = question.language or _turn(last.text).language or language_of(text)
        if found := completed(_with_meaning(replace(question, language=language), text), _turn(last.text)):
            return found
    return None


def _alone(text: str, context: Context) -> Question:
    """Return a question without a conversation, and without what only its whole meaning tells."""
    language = language_of(text)
    talk = talk_of(text, language)
    language = language or (talk.language if talk else "") or context.language
    framed = unframed(text, language)
    core = framed.text
    language = language or language_of(core)
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


def _following(question: Question, conversation: LastTurns, context: Context) -> Question:
    """Return a question with what it takes from the conversation."""
    if whole := _completed(question, conversation):
        new = _alone(whole.text, replace(context, language=question.language or context.language))
        new = replace(new, asked=question.asked, wishes=question.wishes, depends=False, rewritten=whole.text)
        return _of_new_names(_with_meaning(new, whole.text), whole)
    last = leant_on(question, conversation)
    if (before := last or conversation.answered) is None:
        return _with_meaning(question, question.text)
    wording = replace(question.wording, context=context_of(question, before))
    whole = _with_meaning(replace(question, wording=wording), joined(question, last))
    added = beside(whole, len(last.text)) if last else ()
    return replace(whole, requirements=(*whole.requirements, *added))


def _of_new_names(question: Question, whole: Completed) -> Question:
    """Return a question that requires the words that are new: "Vienna" of "Vienna office", and "students"."""

    def strict(one: Requirement) -> Requirement:
        new = tuple(word for word in one.words if word.lower in whole.new)
        return replace(one, words=new or one.words) if one.kind == "name" else one

    return replace(question, requirements=(*map(strict, question.requirements), *whole.required))


def _with_meaning(question: Question, text: str) -> Question:
    looked_at = text[:MAX_QUESTION]
    found = words(looked_at)
    asks = asks_of(looked_at, found, question.language)
    if asks.contact is None and text != question.wording.typed:
        # "His phone number" asks for one, whatever stands before it.
        asks = replace(asks, contact=contact_in(question.wording.typed[:MAX_QUESTION]))
    fixed = requirements_of(looked_at, found, question.language)
    return replace(question, text=text, words=tuple(found), asks=asks, requirements=fixed)
