"""Sets of row numbers, compared with Python's own sets."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.ascending import ascending, contained, difference, intersection

ROWS = st.sets(st.integers(0, 60) | st.integers(-(2**62), 2**62)).map(sorted)


@given(ROWS, ROWS)
def test_they_are_sets(first: list[int], second: list[int]) -> None:
    one, other = (np.array(rows, dtype=np.int64) for rows in (first, second))
    assert intersection(one, other).tolist() == sorted({*first} & {*second})
    assert difference(one, other).tolist() == sorted({*first} - {*second})
    assert ascending(np.concatenate([other, one[::-1], one])).tolist() == sorted({*first} | {*second})
    assert contained(one[::-1], other).tolist() == [row in {*second} for row in reversed(first)]
