"""Sentences in several languages; ``¦`` marks their ends in the examples."""

import json
from itertools import groupby, pairwise
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.chunk import sentences

EXAMPLES = {
    "abbreviations": "Dr. Smith met Mrs. Jones, e.g. on Jan. 5 at 3 p.m. in Bonn.¦ They left.",
    "initials": "J. R. R. Tolkien wrote it.¦ So did B. Cole.",
    "an initial, then a starter": "They gave vitamin C.¦ The patients recovered.",
    "decimals": "It costs 3.50 or 1,000.25 in all.¦ Cheap.",
    "number sign": "See No. 5 and Fig. 3 and p. 12.¦ He said no.¦ Then he left.",
    "company": "He works at Apple Inc. Europe.¦ He left Apple Inc.¦ The firm grew.",
    "acronym": "The U.S. Government agreed.¦ He lives in the U.S.¦ They do not.",
    "quotes": '"Stop!" he cried.¦ "Why?"¦ She ran.¦ (He did not.)¦ Then “Fine.”¦ End.',
    "ellipsis": "Well... maybe not.¦ Wait…¦ What?!¦ A . . . yes.",
    "address": "Visit www.example.com or mail a.b@example.org.¦ It works.",
    "footnote": "It was proved.[12]¦ Later it was not.",
    "space forgotten": "He is minister.¦Then he left in 2003.¦After that, www.Example.com.",
    "german": "Am 3. Mai kam er z. B. nach Bonn, d. h. im 19. Jahrhundert.¦ Das war ca. 1850 bzw. später.",
    "german numbers": "Vom 1. bis zum 24. Dezember gilt § 5 Abs. 2 Nr. 3.¦ Zimmer 3 und 4.¦ Danach kam Prof. Meier.",
    "german quotes": "„Hallo!“, rief er.¦ „Gut.“¦ Dann kam Kaiser Wilhelm II.¦ Er ging.",
    "lithuanian": "1990 m. kovo 11 d. Lietuva tapo laisva.¦ Žr. 5 p., pvz., A. Brazausko kalbą.¦ Tai viskas.",
    "malay": "Hadir Hj. Ahmad dan Ust. Ali dari Maju Sdn. Bhd. di Jln. Ampang.¦ Beliau setuju.",
    "chinese": "他说：“你好。”¦然后走了。¦真的吗？¦是的！",
    "japanese": "「はい。」¦彼は行った。¦本当？",
    "arabic": "ما هذا؟¦ هذا كتاب.¦ نعم.",
    "hindi": "यह क्या है?¦ यह किताब है।¦ हाँ।",
    "russian": "Он пришёл в 5.30 утра.¦ Все спали!¦ Почему?",
    "spanish": "¿Qué es?¦ ¡No sé!¦ Dijo «adiós».¦ Fin.",
    "heading": "Working from home¦\nMany people work from home, and this line goes on for a good while.¦ Fine.",
    "wrapped": "This paragraph was wrapped to fit a page, which means that its line\nbreaks mean nothing.¦ Fine.",
    "list": "Bring:¦\n- a pen¦\n- Paper¦\n1. First¦\n2. Second",
    "markdown": "# Title¦\nText of it.¦\n\n| a | b |¦\n| c | d |",
    "numbered": "1. One thing.¦ 2.1. Another.",
    "initial of a name": 'It was led by "Robert P. Smith" and John F. Kennedy.¦ He left.',
    "motto within a sentence": 'The motto is "Designed for you. Made Fair.", and the phone is new.¦ It sells.',
    "quotation of sentences": '"We came.¦ We saw."¦ Then we left.',
    "marks set apart": "He left . ''¦ So it ends ( or not . )¦ Fine .",
    "letter as a name": "We need a plan B.¦ Deutsche Telekom helps after World War I.¦ Shortly after it ends.",
    "time of day": "The bus leaves at 2:00 a.m.¦ Passengers wait until 6 p.m. ET.¦ It is full.",
    "word like an abbreviation": "It was built with cost in mind.¦ In May it opened.¦ It costs 17 sen.¦ Kalau naik.",
    "bold number": "**6. Was ist das?**¦\n### 4. Bauen¦\nIII. Der Aufenthalt.",
    "association": "Sie hilft BILD hilft e. V.¦ During the show they call.",
    "dateline": "KUALA LUMPUR 26 Jan. - Kerajaan setuju.¦ Datuk Mohd. Azis hadir.",
    "name with a mark": "Yahoo! Inc. grew.¦ Fine!¦ News came.",
    "code": "Order No. HC-2026-114 came.¦ See Sec. 4 or ext. 118.¦ He said no.¦ Then he left.",
    "figure after an abbreviation": "Es kostet inkl. MwSt. 89 Euro.¦ Das sind 206 Tsd. £ mehr.¦ Die MwSt.¦ Der Rest.",
    "parentheses": "The order (No. HC-2026-114) came (by post. Not by mail) to us (Ext. B).¦ Fine.",
    "open parenthesis": "He laughed :(.¦ It is so (see below.¦\n\nThat is all).¦ Fine.",
}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_splits_example_sentences(example: str):
    whole = example.replace("¦", "")
    assert [span.of(whole) for span in sentences(whole)] == [part.strip() for part in example.split("¦")]


PARTS = [*"ab P.!?\"“”')(", ". ", ' "', "\n", "\n\n", "Mr. ", " The ", "''", "5. ", "p.m. "]
TEXTS = st.lists(st.sampled_from(PARTS)).map("".join)


@given(TEXTS)
def test_sentences_cover_the_text_once(text: str):
    found = sentences(text)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(one.of(text) == one.of(text).strip() != "" for one in found)
    assert "".join("".join(one.of(text) for one in found).split()) == "".join(text.split())


WRAPPED = """The wheel turns on Fridays only. Please tell the miller until
27 November whether you bring grain, or whether somebody else of the village does so.
His brother brings the bags, which are kept in
London."""


def test_unlike_lines_of_wrapped_prose_are_joined():
    assert [" ".join(one.of(WRAPPED).split()) for one in sentences(WRAPPED)] == [
        "The wheel turns on Fridays only.",
        "Please tell the miller until 27 November whether you bring grain, or whether somebody else of the village "
        "does so.",
        "His brother brings the bags, which are kept in",
        "London.",
    ]


def test_time_is_linear_in_parentheses():
    def seconds(text: str) -> float:
        begin = perf_counter()
        sentences(text)
        return perf_counter() - begin

    for part in ("(A b. C d ", "(A b. C d) ", ") A b. C d ", "(No. A b. "):
        seconds(part * 100)
        assert seconds(part * 8000) < 40 * max(seconds(part * 800), 0.002)


def test_splits_lithuanian_treebank(data_dir: Path):
    lines = (data_dir / "ud_lithuanian" / "dev" / "sentences.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    right = found = wanted = 0
    for _, group in groupby(rows, key=lambda row: row["id"].rsplit("-s", 1)[0]):
        texts = [row["text"].strip() for row in group]
        ends, end = set(), -1
        for text in texts:
            end += 1 + len(text)
            ends.add(end)
        got = {span.end for span in sentences("\n".join(texts))}
        right, found, wanted = right + len(ends & got), found + len(got), wanted + len(ends)
    assert right / found > 0.99
    assert right / wanted > 0.99
