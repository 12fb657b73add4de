"""Evidence that does not hang on a few users.

Whoever colludes is among some tenth of the users. The wealth won on the votes of all others is a fair gamble whatever
the colluders do, even if they know everything and bets follow their votes: stakes are fixed before each vote. Since
nobody knows which tenth it is, the evidence is the least over all ways of leaving one out. The wealth is a product over
users, so that is easily found: leave out those who gave most. It is never more than the evidence without the
colluders, so the chance of a wrong promotion stays at ``alpha``, with any colluding tenth.

A tenth of those who have voted is less than a tenth of all, as long as hardly anybody has, and a few who vote on
everything are soon all that can be seen. So nobody else gives more than a third of what a proof takes, however often
they vote. That only lowers the evidence, too. Whoever votes against it is never bounded.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from ragstone.learning.eprocess import Floats

PART = 3
"""Users whom a proof takes at least, besides those left out; in a small team, even shares that one of them may give."""


def left_out(users: int, share: float) -> int:
    """How many users the evidence must do without: the share, and one at least where it is not 0."""
    return ceil(users * share - 1e-9)


def bound(bar: float, users: int) -> float:
    """The most that one user's votes add to the logarithm of the evidence, which proves something at ``bar``.

    A third of it; where users are few, and all are needed, three even shares.
    """
    return bar * max(1 / PART, PART / users)


def least(per_user: Floats, count: int) -> Floats:
    """The sum over users (..., users) without those ``count`` who add most; who takes away is never left out."""
    total = per_user.sum(axis=-1)
    users = per_user.shape[-1]
    if not count or not users:
        return total
    if count >= users:
        return np.minimum(per_user, 0).sum(axis=-1)
    most = np.partition(per_user, users - count, axis=-1)[..., users - count :]
    return total - np.maximum(most, 0).sum(axis=-1)


def trimmed(sums: Floats, counts: Floats, count: int) -> Floats:
    """Mean over the votes of all users but the ``count`` with the largest sums, and as many with the least.

    Args:
        sums: of what each user's votes say (..., users).
        counts: how many votes those are; users without any are passed over, and every row has as many with some.
        count: users left out on either side.
    """
    voted = int((counts > 0).sum(axis=-1).max(initial=0))
    order = np.argsort(np.where(counts > 0, sums, np.inf), axis=-1, kind="stable")[..., count : voted - count]
    votes = np.take_along_axis(counts, order, axis=-1).sum(axis=-1)
    return np.take_along_axis(sums, order, axis=-1).sum(axis=-1) / np.maximum(votes, 1)
