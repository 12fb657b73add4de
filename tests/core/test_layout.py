"""Boxes of words on pages: as bytes, and of a span of the text."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import UsageError
from ragstone.core.layout import Box, Placed, boxes, columns, packed, unpacked

SHARES = st.floats(0, 1)
PAIRS = st.tuples(SHARES, SHARES).map(sorted)


@st.composite
def placed(draw: st.DrawFn) -> Placed:
    start, length = draw(st.integers(0, 500)), draw(st.integers(1, 60))
    (left, right), (top, bottom) = draw(PAIRS), draw(PAIRS)
    return Placed(
        start=start,
        end=start + length,
        page=draw(st.integers(0, 3)),
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        confidence=draw(SHARES),
    )


LAYOUTS = st.lists(placed(), max_size=20).map(tuple)
LINE = Placed(start=10, end=20, page=1, left=0.2, top=0.5, right=0.4, bottom=0.52)


@given(LAYOUTS)
def test_bytes_give_the_boxes_again(layout: tuple[Placed, ...]) -> None:
    given = unpacked(packed(layout))
    ordered = sorted(layout, key=lambda one: (one.start, one.end))
    assert [(one.start, one.end, one.page) for one in given] == [(one.start, one.end, one.page) for one in ordered]
    for one, other in zip(given, ordered, strict=True):
        for name in ("left", "top", "right", "bottom"):
            assert abs(getattr(one, name) - getattr(other, name)) <= 1 / 0xFFFF
        assert abs(one.confidence - other.confidence) <= 1 / 0xFF
    assert packed(given) == packed(layout)
    assert columns(given) == columns(layout)


@pytest.mark.parametrize("data", [b"", b"\x02", b"\x01no", b"\x01" + zlib.compress(b"\x05\0\0\0"), packed([LINE])[:-6]])
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="the boxes of the text"):
        unpacked(data)


@pytest.mark.parametrize("wrong", [{"start": -1}, {"start": 9, "end": 3}, {"page": -1}, {"left": float("nan")}])
def test_impossible_places_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="is impossible"):
        packed([replace(LINE, **wrong)])  # pyright: ignore[reportArgumentType]


@given(LAYOUTS, st.integers(0, 600), st.integers(0, 600))
def test_boxes_lie_within_their_lines(layout: tuple[Placed, ...], start: int, end: int) -> None:
    found = boxes(layout, start, end)
    lines = [one for one in layout if max(one.start, start) < min(one.end, end)]
    assert {page: len(own) for page, own in found.items()} == {
        page: sum(one.page == page for one in lines) for page in {one.page for one in lines}
    }
    for page, own in found.items():
        for box, line in zip(own, [one for one in lines if one.page == page], strict=True):
            assert (box.top, box.bottom) == (line.top, line.bottom)
            assert line.left - 1e-9 <= box.left <= box.right <= line.right + 1e-9
            if start <= line.start and line.end <= end:
                assert box == Box(left=line.left, top=line.top, right=line.right, bottom=line.bottom)


@given(st.integers(10, 20))
def test_two_parts_make_the_line(at: int) -> None:
    (first,), (second,) = boxes([LINE], 0, at).get(1, [None]), boxes([LINE], at, 99).get(1, [None])
    wide = sum(box.right - box.left for box in (first, second) if box)
    assert wide == pytest.approx(LINE.right - LINE.left)


def test_part_of_a_line_is_its_share() -> None:
    (box,) = boxes([LINE], 15, 20)[1]
    assert (box.left, box.right) == (pytest.approx(0.3), pytest.approx(0.4))


def test_upright_line_is_taken_whole() -> None:
    upright = Placed(start=0, end=10, page=0, left=0.1, top=0.2, right=0.12, bottom=0.8)
    assert boxes([upright], 0, 2) == {0: (Box(left=0.1, top=0.2, right=0.12, bottom=0.8),)}
