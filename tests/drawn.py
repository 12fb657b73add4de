"""What Hypothesis draws for more than one test: documents, their metadata, and filters."""

from hypothesis import strategies as st

from ragstone.core.filters import And, Compare, Exists, In, Not, Or
from ragstone.core.records import Document

IDS = st.sampled_from(["a", "b", "c", "d"])
PARAGRAPHS = st.sampled_from([f"paragraph {i} " + "filler words " * 13 for i in range(6)])
TEXTS = st.lists(PARAGRAPHS, min_size=1, max_size=4).map("\n\n".join)
METADATA = st.dictionaries(st.sampled_from(["x", "y"]), st.one_of(st.integers(0, 2), st.just(("p", "q"))), max_size=2)
DOCUMENTS = st.builds(Document, id=IDS, text=TEXTS, title=st.sampled_from(["", "T"]), metadata=METADATA)

KEYS = st.sampled_from(["a", "b", "title", "id", "süß key", ""])
NUMBERS = st.one_of(
    st.sampled_from([0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 0.0, 1.0, -0.0, 0.5, 1e308]),
    st.sampled_from([float("inf"), float("-inf"), float("nan"), float(2**53)]),
    st.integers(-5, 5),
)
WORDS = st.sampled_from(["", "a", "A", "é", "\U0001f600", "\uffff", "a b", "1", "true", "2024-05-01", "%", "doc3"])
SCALARS = st.one_of(NUMBERS, WORDS, st.booleans())
FACTS_OF_ANY_KIND = st.dictionaries(KEYS, st.one_of(SCALARS, st.lists(SCALARS, max_size=3).map(tuple)), max_size=4)
LEAVES = st.one_of(
    st.builds(Compare, key=KEYS, op=st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), value=SCALARS),
    st.builds(In, key=KEYS, values=st.lists(SCALARS, max_size=3).map(tuple)),
    st.builds(Exists, key=KEYS),
)
FILTERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Not, part=inner),
        st.builds(And, parts=st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, parts=st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)
