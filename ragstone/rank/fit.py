"""What fits into the room there is: a budget of tokens, and neighbours as one piece. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ragstone.contracts import Chunk, Hit, Step


def within_budget(hits: Sequence[Hit], k: int, tokens: int, length: Callable[[str], int]) -> list[Hit]:
    """At most ``k`` hits of together at most ``tokens``, taken in order; one that would overflow is passed over.

    Args:
        hits: best first.
        k: how many at most.
        tokens: the budget.
        length: how many tokens a text has.
    """
    chosen: list[Hit] = []
    left = tokens
    for hit in hits:
        if len(chosen) == k:
            break
        cost = length(hit.chunk.text)
        if cost <= left:
            left -= cost
            chosen.append(hit)
    return chosen


def join_neighbours(hits: Sequence[Hit]) -> list[Hit]:
    """Chunks of a document that overlap or touch become one hit, in the place and with the id of the best.

    Text that two chunks share is there once. The id stays that of a stored chunk; the span says how far it reaches.
    """
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.chunk.document_id, []).append(hit)
    joined: dict[str, Hit] = {}
    for group in groups.values():
        for run in _runs(group):
            best = min(run, key=group.index)
            joined[best.chunk.id] = best if len(run) == 1 else _one(best, run)
    return [joined[hit.chunk.id] for hit in hits if hit.chunk.id in joined]


def _runs(group: Sequence[Hit]) -> list[list[Hit]]:
    """Hits of one document in the order of its text, those that touch together."""
    runs: list[list[Hit]] = []
    end = -1
    for hit in sorted(group, key=lambda hit: (hit.chunk.start, hit.chunk.end)):
        if runs and hit.chunk.start <= end:
            runs[-1].append(hit)
        else:
            runs.append([hit])
        end = max(end, hit.chunk.end)
    return runs


def _one(best: Hit, run: Sequence[Hit]) -> Hit:
    first: Chunk = run[0].chunk
    text, end = first.text, first.end
    for hit in run[1:]:
        if hit.chunk.end > end:
            text += hit.chunk.text[end - hit.chunk.start :]
            end = hit.chunk.end
    chunk = replace(best.chunk, start=first.start, end=end, text=text, index=first.index, context=first.context)
    rank = best.why[-1].rank if best.why else 1
    step = Step(stage="join", score=best.score, rank=rank, note=f"{len(run)} neighbouring chunks")
    return replace(best, chunk=chunk, why=(*best.why, step))
