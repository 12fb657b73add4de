"""Numbers in attributes of files."""

from __future__ import annotations

import pytest

from ragstone.acquire.readers.numbers import span, whole


@pytest.mark.parametrize(
    ("written", "number"), [("0", 0), ("20", 20), ("21", 7), ("-1", 7), ("٣", 7), ("²", 7), ("1" * 9999, 7), (None, 7)]
)
def test_reads_a_small_number_or_takes_the_default(written: str | None, number: int) -> None:
    assert whole(written, 7, most=20) == number


def test_a_cell_spans_no_more_than_in_browsers() -> None:
    assert [span(one) for one in ("3", "65534", "all", None)] == [3, 1000, 1, 1]
