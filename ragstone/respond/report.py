"""A report: what the passages that belong together say, step by step, below the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.core.answers import Draft
from ragstone.core.naming import name_of
from ragstone.language import phrases
from ragstone.respond.drafts import joined
from ragstone.respond.overview.page import Group, Labelled, page
from ragstone.respond.proof.records import Quote


def with_chain(draft: Draft, quotes: Sequence[Quote], language: str) -> Draft:
    """Return an answer with exact quotes of the passages that lead to it below; a refusal with them is no refusal.

    Args:
        draft: the answer.
        quotes: of the passages, in the order in which they lead on.
        language: ISO 639-1 code of the line above them.
    """
    cited = {(one.document_id, one.quote) for one in draft.citations}
    new = [one for one in quotes if (one.hit.chunk.document_id, one.span.of(one.hit.chunk.text)) not in cited]
    if not new:
        return draft
    lines = tuple((Labelled.of(one, name_of(one.hit.chunk)),) for one in new)
    chain = page(phrases(language).chain, [Group(heading="", lines=lines)])
    whole = joined(["", ""], [draft, chain])
    return replace(whole, outcome="closest" if draft.outcome == "refusal" else draft.outcome)
