"""When a trial ends, and how."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.learning.ballots import Compared

State = Literal["going", "promoted", "stopped", "kept", "rolled back"]
STATES: tuple[State, ...] = ("going", "promoted", "stopped", "kept", "rolled back")
_GOING, _PROMOTED, _STOPPED, _KEPT, _BACK = range(5)
FIRST = 200
"""Votes before which no trial is decided; those of a few who rush into it come first."""
_SURE = log(19)
"""A doubt ends where one side is nineteen times as likely as the other."""
DOUBT = 0.1
"""Advantage, in shares of up, of either side that a doubt decides between."""
MOST_IN_DOUBT = 1000
"""Votes after which a doubt ends whichever way it leans."""


def of_trial(found: Sequence[Compared], *, alpha: float, worth: float, most: int) -> NDArray[np.int64]:
    """The state after each look (looks,), as a place in `STATES`: as if none had come before.

    Promoted, where the evidence for a challenger reaches the bar, which is higher the more challengers there are
    (Bonferroni). Stopped, where each of them is probably worth less than a change, or the votes are spent. Neither
    before `FIRST` votes, unless these are more than there will be.
    """
    votes = found[0].votes
    enough = votes >= min(FIRST, most)
    proved = np.max([one.evidence for one in found], axis=0) >= log(len(found) / alpha)
    hopeless = np.all([one.high < worth for one in found], axis=0)
    state = np.where((enough & hopeless) | (votes >= most), _STOPPED, _GOING)
    return np.where(enough & proved, _PROMOTED, state)


def of_doubt(found: Compared, new: float, old: float) -> NDArray[np.int64]:
    """The state after each look, where version 0, the new, is compared with a champion that is in doubt.

    A sequential test between two advantages (Wald 1945): version 0 is better by `DOUBT`, or the champion is. To go back
    needs no proof that is safe from a few users: version 0 is where everything began.
    """
    leans = 2 * (2 * DOUBT) * found.paid / (1 / new + 1 / old)  # logarithm of how much likelier the first is
    ended = (np.abs(leans) >= _SURE) | (found.votes >= MOST_IN_DOUBT)
    return np.where(ended, np.where(leans > 0, _BACK, _KEPT), _GOING)
