"""The filter language: what it reads, what it refuses, and what filters mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import UsageError
from ragstone.core.filters import And, Compare, Exists, Filter, In, Not, Or
from ragstone.query.where import MAX_DEPTH, MAX_LENGTH, describe, matches, parse

texts = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["de", "5G", "2020-01-01", "and", "IN", "true", "12", "1e3", "-", 'say "hi"', "back\\slash", "it's"]
    ),
)
scalars = st.one_of(
    texts, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)
)
keys = st.one_of(st.sampled_from(["lang", "year", "topic", "a.b-c_d", "not"]), st.text(max_size=5))
leaves = st.one_of(
    st.builds(Compare, key=keys, op=st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), value=scalars),
    st.builds(In, key=keys, values=st.lists(scalars, min_size=1, max_size=3).map(tuple)),
    st.builds(Exists, key=keys),
)


def compounds(part: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    parts = st.lists(part, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(And, parts=parts), st.builds(Or, parts=parts), st.builds(Not, part=part))


filters: st.SearchStrategy[Filter] = st.recursive(leaves, compounds, max_leaves=8)
members = st.one_of(st.sampled_from(["de", "en", 1, 2, 1.0, True, False]))
small_filters = st.recursive(
    st.one_of(
        st.builds(
            Compare, key=st.sampled_from("ab"), op=st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), value=members
        ),
        st.builds(In, key=st.sampled_from("ab"), values=st.lists(members, min_size=1, max_size=3).map(tuple)),
        st.builds(Exists, key=st.sampled_from("ab")),
    ),
    compounds,
    max_leaves=5,
)
metadata = st.dictionaries(st.sampled_from("abc"), st.one_of(members, st.lists(members, max_size=3).map(tuple)))


# ---------------------------------------------------------------- text


@given(filters)
def test_filter_round_trips_through_text(where: Filter) -> None:
    # repr, because 1 == 1.0 == True in Python and the three differ in a filter
    assert repr(parse(describe(where))) == repr(where)


@given(st.text(max_size=40) | st.text(alphabet="ab1 =!<>()\"'\\,-.andornotinexists", max_size=40))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        where = parse(text)
    except UsageError:
        return
    assert repr(parse(describe(where))) == repr(where)


def test_parses_the_example() -> None:
    where = parse('lang = de and (year >= 2020 or topic in (5G, "Press Release")) and not exists url')
    assert where == And(
        parts=(
            Compare(key="lang", op="=", value="de"),
            Or(
                parts=(
                    Compare(key="year", op=">=", value=2020),
                    In(key="topic", values=("5G", "Press Release")),
                )
            ),
            Not(part=Exists(key="url")),
        )
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x = 12", 12),
        ("x == -1.5", -1.5),
        ("x=1e3", 1000.0),
        ("x = TRUE", True),
        ('x = "true"', "true"),
        ("x = '12'", "12"),
        ("x = 2024-05-01", "2024-05-01"),
        ("x = https://a.example/b?c", "https://a.example/b?c"),
        ("x = ünïcode", "ünïcode"),
        (r'x = "a \"b\" \\ c"', 'a "b" \\ c'),
        ("x = nan", "nan"),
        ("x = 007", "007"),
        ("x = +4912", "+4912"),
    ],
)
def test_parses_values(text: str, value: object) -> None:
    assert repr(parse(text)) == repr(Compare(key="x", op="=", value=value))  # type: ignore[arg-type]


def test_operator_precedence() -> None:
    a, b, c = (Exists(key=key) for key in "abc")
    assert parse("exists a or exists b and not exists c") == Or(parts=(a, And(parts=(b, Not(part=c)))))
    assert parse("NOT exists a AND exists b") == And(parts=(Not(part=a), b))
    assert parse("not (exists a and exists b)") == Not(part=And(parts=(a, b)))


def test_parses_not_in_and_quoted_names() -> None:
    assert parse('"Article Language" not in (de)') == Not(part=In(key="Article Language", values=("de",)))


@pytest.mark.parametrize(
    ("text", "where", "hint"),
    [
        ("", "empty", "language = de"),
        ("lang", "at its end", "exists lang"),
        ("lang de", r"character 6 \('de'\)", "= != <"),
        ("lang =", "at its end", "value is expected"),
        ("lang = IN", "character 8", '"IN"'),
        ("topic = Press Release", r"character 15 \('Release'\)", "quotes"),
        ("topic in 5G", "character 10", "list"),
        ("topic in ()", "character 11", "value is expected"),
        ("topic in (5G", "at its end", r"'\)'"),
        ("topic not 5G", "character 11", "'in'"),
        ("(a = 1", "at its end", r"'\)'"),
        ("a = 1)", "character 6", "'and', 'or'"),
        ("a = 1 && b = 2", r"character 7 \('&&'\)", "'and', 'or'"),
        ('a = "open', "character 5", "not closed"),
        ("a ! 1", "character 3", "!= or not"),
        ("a/b = 1", "character 1", "in quotes"),
        ("a = 99999999999999999999", "character 5", '"99999999999999999999"'),
        ("a = 9223372036854775808", "character 5", "too large"),
        ("a = 1e999", "character 5", "too large"),
        ("a" * (MAX_LENGTH + 1), str(MAX_LENGTH + 1), "the limit is"),
        ("(" * (MAX_DEPTH + 1) + "exists a" + ")" * (MAX_DEPTH + 1), "character 52", "deep"),
        ("not " * 2000 + "exists a", "character", "deep"),
    ],
)
def test_refuses_bad_filters_with_position_and_hint(text: str, where: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"{where}.*{hint}"):
        parse(text)


# ---------------------------------------------------------------- meaning


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lang = de", True),
        ("lang = DE", False),
        ("lang != en", True),
        ("absent != en", True),
        ("absent < 5", False),
        ("absent = 5", False),
        ("topics = 5G", True),
        ("topics != 5G", False),
        ("topics in (AI, 5G)", True),
        ("topics not in (AI, IoT)", True),
        ("date >= 2024-01-01 and date < '2025'", True),
        ("year >= 2020.5", True),
        ("year = 2024.0", True),
        ("year = '2024'", False),
        ("date < 2025", False),
        ("public = true", True),
        ("public = 1", False),
        ("public > false", False),
        ("one = true", False),
        ("exists topics and not exists absent", True),
        ("exists nothing", False),
        ("exists empty", True),
        ("lang = en or year < 2025", True),
    ],
)
def test_evaluates_comparisons(text: str, expected: bool) -> None:
    facts = {
        "lang": "de",
        "topics": ("5G", "Press"),
        "date": "2024-05-01",
        "year": 2024,
        "public": True,
        "one": 1,
        "nothing": (),
        "empty": "",
    }
    assert matches(parse(text), facts) is expected


@given(small_filters, small_filters, metadata)
def test_evaluates_logic(one: Filter, other: Filter, facts) -> None:
    a, b = matches(one, facts), matches(other, facts)
    assert matches(And(parts=(one, other)), facts) is (a and b)
    assert matches(Or(parts=(one, other)), facts) is (a or b)
    assert matches(Not(part=one), facts) is not a


@given(st.sampled_from("ab"), members, metadata)
def test_comparisons_are_consistent(key: str, value, facts) -> None:
    def holds(op) -> bool:
        return matches(Compare(key=key, op=op, value=value), facts)

    assert holds("!=") is not holds("=")
    assert holds("=") is matches(In(key=key, values=(value,)), facts)
    if not isinstance(value, bool):
        assert holds("<=") is (holds("<") or holds("="))
        assert holds(">=") is (holds(">") or holds("="))
    if holds("=") or holds("<") or holds(">"):
        assert matches(Exists(key=key), facts)


@given(small_filters, st.dictionaries(st.sampled_from("abc"), members))
def test_list_of_one_equals_its_value(where: Filter, facts) -> None:
    assert matches(where, facts) is matches(where, {key: (value,) for key, value in facts.items()})
