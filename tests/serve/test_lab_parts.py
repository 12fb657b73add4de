"""What the lab is made of, without its page: forms, sides, presets, stages, views, figures, trials."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from kb import add, open_fast
from selectolax.lexbor import LexborHTMLParser

from ragstone.core.access import READERS, Reader
from ragstone.core.answers import Answer, Answered, EvidenceFound, SentenceClosed, TextWritten
from ragstone.core.errors import SettingsError, UsageError
from ragstone.core.records import Document, Trace
from ragstone.engine.built import PATHS
from ragstone.engine.experiments.preset import as_preset
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.query.fuse import RULES
from ragstone.serve.lab import answers, plots
from ragstone.serve.lab.answers import Progress, pieces, placed
from ragstone.serve.lab.desk import Desk, Heard
from ragstone.serve.lab.settings import (
    Input,
    changes_of,
    differing,
    inputs,
    is_changeable,
    rebuild_command,
    save,
    sections,
    settings_of,
    stored_inputs,
)
from ragstone.serve.lab.stages import EVIDENCE, FUSION, stage_table, stages, understood
from ragstone.serve.lab.trial import Outcome, Trial, latency, reliability, wilson
from ragstone.settings import Settings
from ragstone.settings.load import leaves, load, preset_names

BASE = Settings()
FORMS = {one.path: one for one in inputs(BASE)}
QUESTIONS = """\
question,source,answerable
Where do visitors of house 7 park?,d7,
What closes at nine in house 3?,d3,
Who won the cup?,,no
"""
HOSTILE = (
    "Guests of the manor leave their horses here <img src=http://198.51.100.7/x.png onerror=alert(1)> [gate](http://198.51.100.7)"
    " ![map](http://198.51.100.7/p.png) <script>alert(1)</script> :red[parking] $x$."
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk with a small knowledge base, one document of which is hostile, and one for the board alone."""
    engine = open_fast(tmp_path / "kb")
    texts = [
        f"Visitors of house {i} do park behind mill {i}, where it is dry. Gate {i} closes at nine." for i in range(12)
    ]
    add(engine, *(Document(id=f"d{i}", text=text, title=f"House {i}") for i, text in enumerate(texts)))
    add(engine, Document(id="hostile", text=HOSTILE, title="<b>Manor</b> [x](http://198.51.100.7)"))
    add(engine, Document(id="secret", text="Visitors park in the vault.", metadata={READERS: ("board",)}))
    engine.close()
    desk = Desk(KnowledgeBase.open(tmp_path / "kb"), Reader(groups=frozenset({"staff"})))
    yield desk
    desk.close()


# ---------------------------------------------------------------- forms


def test_every_setting_of_a_question_has_its_input() -> None:
    expected = {
        path
        for path, _, _ in leaves(BASE)
        if path.split(".")[0] in ("query", "rank", "respond", "review", "index") and path not in PATHS
    } - {"review.mlflow"}
    assert set(FORMS) == expected
    assert {one.path for one in stored_inputs(BASE)} == set(PATHS)
    assert all(one.description for one in FORMS.values())
    assert sum(len(its) for its in sections(inputs(BASE)).values()) == len(FORMS)


def test_inputs_suit_their_settings() -> None:
    def kind(path: str) -> tuple:
        one = FORMS[path]
        return one.kind, one.low, one.high, one.whole, one.word

    assert kind("query.vector_weight") == ("slider", 0, 1, False, "auto")
    assert kind("rank.top_k") == ("number", 1, None, True, "")
    assert kind("respond.model.temperature") == ("slider", 0, 2, False, "")
    assert kind("query.words")[0] == "lines"
    assert kind("query.synonyms")[0] == "yaml"
    assert kind("rank.join")[0] == "toggle"
    assert set(FORMS["query.fusion"].options) == set(RULES)
    with pytest.raises(SettingsError, match=r"query\.synonyms is a mapping"):
        FORMS["query.synonyms"].read("- one")
    with pytest.raises(SettingsError, match=r"query\.synonyms: not a mapping in YAML"):
        FORMS["query.synonyms"].read("{a: [")


def test_no_service_and_no_key_can_be_changed() -> None:
    assert not any(is_changeable(path) for path, _, _ in leaves(BASE) if path.startswith("services."))


WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)


def values(one: Input) -> st.SearchStrategy[Any]:
    """Values that an input can give."""
    number = (
        st.integers(int(one.low or 0), int(one.high or 5000))
        if one.whole
        else st.floats(one.low or 0.0, one.high or 9.0, allow_nan=False, width=32)
    )
    match one.kind:
        case "toggle":
            return st.booleans()
        case "choice":
            return st.sampled_from(one.options)
        case "slider" | "number":
            return st.one_of(number, st.just(one.word)) if one.word else number
        case "lines":
            return st.lists(WORDS.map(lambda word: " ".join(word.split()) or "x"), max_size=3).map(tuple)
        case "yaml":
            return st.dictionaries(WORDS, st.lists(WORDS, max_size=3).map(tuple), max_size=2)
        case "text":
            return st.sampled_from(["none", "maxsim", "cross-encoder:a/b"]) if one.path == "rank.reranker" else WORDS


CHANGES = st.fixed_dictionaries({}, optional={path: values(one) for path, one in FORMS.items()})


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(changes=CHANGES)
def test_a_saved_preset_gives_equal_settings(changes: dict[str, Any], tmp_path: Path) -> None:
    try:
        side = settings_of(BASE, changes)
    except SettingsError:
        assume(False)
        raise
    save(side, tmp_path / "side.yaml", replace=True)
    again = load(preset=str(tmp_path / "side.yaml")).settings
    assert again.model_copy(update={"preset": "default"}) == side
    for path, value in changes.items():
        one = FORMS[path]
        assert one.kind == "yaml" or one.read(one.shown(value)) == value


@pytest.mark.parametrize("name", preset_names())
def test_a_shipped_preset_survives_being_saved(name: str, tmp_path: Path) -> None:
    shipped = load(preset=name).settings
    save(shipped, tmp_path / "again.yml")
    assert load(preset=str(tmp_path / "again.yml")).settings.model_copy(update={"preset": name}) == shipped
    side = settings_of(BASE, changes_of(BASE, name))
    changed = {one.path for one in differing(BASE, side)}
    assert changed == set(changes_of(BASE, name))
    assert {path: v for path, _, v in leaves(side) if path in FORMS} == {
        path: v for path, _, v in leaves(shipped) if path in FORMS
    }


def test_saved_preset_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    text = as_preset(load(["rank.top_k=9"]).settings)
    assert text == "rank:\n  top_k: 9\n"
    (tmp_path / "there.yaml").write_text("rank: {top_k: 2}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="exists"):
        save(BASE, tmp_path / "there.yaml")
    with pytest.raises(UsageError, match="does not end in"):
        save(BASE, tmp_path / "there.txt")
    assert (tmp_path / "there.yaml").read_text("utf-8") == "rank: {top_k: 2}\n"


def test_refuses_wrong_values() -> None:
    with pytest.raises(SettingsError, match=r"rank\.top_k"):
        settings_of(BASE, {"rank.top_k": 0})
    with pytest.raises(SettingsError, match="one of the weights must be more than 0"):
        settings_of(BASE, {f"review.marks.{name}": 0.0 for name in ("relevance", "factuality", "completeness")})
    assert rebuild_command(Path("my kb"), {"chunk.size": 600}) == "ragstone rebuild --kb 'my kb' --set chunk.size=600"


# ---------------------------------------------------------------- stages and answers


def test_the_table_of_stages_tells_each_chunks_way(desk: Desk) -> None:
    side = settings_of(
        desk.kb.settings, {"rank.reranker": "maxsim", "rank.diversify": "mmr", "rank.top_k": 3, "rank.pool": 6}
    )
    trace = desk.trace("Where do visitors of house 7 park?", "", side, 9)
    it = stages(trace)
    assert it.names == ("bm25", "vector", FUSION, "maxsim", "mmr", EVIDENCE)
    assert [row.place for row in it.rows[:3]] == [1, 2, 3]
    assert [row.chunk.id for row in it.rows[:3]] == [hit.chunk.id for hit in trace.evidence.hits]
    assert [row.fate for row in it.rows] == ["evidence 1", "evidence 2", "evidence 3"] + ["not chosen"] * 3 + [
        "beyond the pool"
    ] * 3
    for row in it.rows:
        at = dict(zip(it.names, row.cells, strict=True))
        fusion, maxsim = at[FUSION], at["maxsim"]
        assert fusion is not None
        assert fusion.moved is None, "no stage before it has one rank"
        assert (maxsim is None) == (row.fate == "beyond the pool")
        if maxsim:
            assert maxsim.moved == fusion.rank - maxsim.rank
    drawn = values_of(plots.stage_ranks(it))
    assert {row["stage"] for row in drawn} == {"keywords", "vectors", "fusion", "maxsim", "mmr", "evidence"}


def test_answer_grows_event_by_event(desk: Desk) -> None:
    sides = (desk.kb.settings, settings_of(desk.kb.settings, {"rank.top_k": 2, "respond.sentences": 1}))
    for at_once in (False, True):
        views, order = [Progress(), Progress()], []
        for heard in desk.ask("Where do visitors of house 7 park?", "", sides, at_once=at_once):
            views[heard.side] = views[heard.side].after(heard)
            order.append((heard.side, type(heard.event)))
        for side, view in enumerate(views):
            kinds = [kind for of, kind in order if of == side]
            assert kinds[0] is EvidenceFound
            assert {TextWritten, SentenceClosed} <= set(kinds)
            assert kinds[-1] is Answered
            assert view.answer is not None
            assert not view.answer.abstained
            assert view.first is not None
            assert view.last is not None
            assert view.first <= view.last
            assert "".join(piece.text for piece in pieces(view.answer, None)) == view.answer.answer
            assert view.answer.usage.cached == (), "nothing comes from a cache"
        if not at_once:
            assert [side for side, _ in order] == sorted(side for side, _ in order)


def test_marks_what_only_one_side_has(desk: Desk) -> None:
    a, b = (Progress().after(Heard(side=0, milliseconds=1, event=Answered(answer=answer_of(desk, n)))) for n in (7, 3))
    assert a.answer is not None
    assert b.answer is not None
    assert [piece.only for piece in pieces(a.answer, a.answer) if piece.support is not None] == [False] * len(
        a.answer.statements
    )
    assert all(piece.only for piece in pieces(a.answer, b.answer) if piece.support is not None)
    shown = LexborHTMLParser(answers.answer_card(a, b))
    assert len(shown.css(".rs-citation .rs-only")) == len(a.answer.citations)
    rows = placed([a.answer.hits, b.answer.hits])
    assert {row.chunk.id for row in rows} == {hit.chunk.id for hit in (*a.answer.hits, *b.answer.hits)}
    assert len(LexborHTMLParser(answers.evidence_table(rows, "AB")).css("tbody tr")) == len(rows)


def test_contradicted_sentences_are_marked(desk: Desk) -> None:
    answer = answer_of(desk, 7)
    doubtful = replace(
        answer, statements=tuple(replace(one, state="contradicted", reason="no") for one in answer.statements)
    )
    card = LexborHTMLParser(answers.answer_card(Progress(answer=doubtful), None))
    assert len(card.css(".rs-unproved")) == len(answer.statements) > 0


def with_wording(trace: Trace, text: str) -> Trace:
    question = trace.evidence.question
    worded = replace(question, wording=replace(question.wording, text=text))
    return replace(trace, evidence=replace(trace.evidence, question=worded))


def test_nothing_of_a_document_becomes_markup(desk: Desk) -> None:
    answer = answer_of(desk, "hostile")
    assert any(hit.chunk.document_id == "hostile" for hit in answer.hits)
    view = Progress(answer=answer)
    trace = desk.trace("Where do guests of the manor leave their horses?", "", desk.kb.settings, 20)
    everything = "".join(
        [
            answers.answer_card(view, None),
            answers.answer_card(Progress(hits=answer.hits, text=HOSTILE), None),
            answers.answer_card(Progress(error=HOSTILE), None),
            answers.evidence_table(placed([answer.hits, ()]), "AB"),
            stage_table(stages(trace)),
            understood(with_wording(trace, HOSTILE)),
        ]
    )
    page = LexborHTMLParser(everything)
    assert HOSTILE in page.text()
    names = {node.tag for node in page.root.traverse()} if page.root else set()
    assert not names & {"a", "img", "script", "iframe", "link", "object", "embed", "form", "svg", "style", "b0"}
    given = {name for node in page.css("*") for name in node.attributes}
    assert given <= {"class", "style", "title"}


def answer_of(desk: Desk, house: int | str) -> Answer:
    question = (
        f"Where do visitors of house {house} park?"
        if isinstance(house, int)
        else "Where do guests of the manor leave their horses?"
    )
    return desk.wait(desk.under(desk.kb.settings).ask(question, reader=desk.reader))


# ---------------------------------------------------------------- the desk


def test_errors_stand_where_the_answer_would(desk: Desk) -> None:
    heard = list(desk.ask("Where?", "kind ==== 3", (desk.kb.settings, desk.kb.settings)))
    assert [one.side for one in heard] == [0, 1]
    assert all(one.error for one in heard)


def test_a_reader_sees_only_what_the_reader_may(desk: Desk) -> None:
    heard = list(desk.ask("Do visitors park in the vault?", "", (desk.kb.settings,)))
    answers = [one.event.answer for one in heard if isinstance(one.event, Answered)]
    assert "secret" not in {hit.chunk.document_id for hit in answers[0].hits}
    trial = finished(Trial(desk, b"question,source\nWhere is the vault?,secret\n", "q.csv", (desk.kb.settings,)))
    unknown = finished(Trial(desk, b"question,source\nWhere is the vault?,nothing\n", "q.csv", (desk.kb.settings,)))
    assert "secret" in trial.error
    assert trial.error.replace("secret", "nothing") == unknown.error


def test_the_lab_follows_a_rebuild(desk: Desk) -> None:
    assert "behind mill 7" in answer_of(desk, 7).answer
    with_other = KnowledgeBase.open(desk.kb.folder)
    asyncio.run(with_other.versions.rebuild(["chunk.size=100"]))
    with_other.close()
    assert "behind mill 7" in answer_of(desk, 7).answer
    assert desk.kb.settings.chunk.size == 100


# ---------------------------------------------------------------- trials and figures


def test_a_trial_measures_both_sides_and_compares_them(desk: Desk) -> None:
    sides = (desk.kb.settings, settings_of(desk.kb.settings, {"query.method": "bm25"}))
    trial = finished(Trial(desk, QUESTIONS.encode(), "questions.csv", sides))
    assert trial.error == ""
    assert (trial.done, trial.total) == (6, 6)
    outcomes = trial.outcomes
    assert outcomes is not None
    assert outcomes.comparison is not None
    assert outcomes.comparison.questions == 2
    a, b = outcomes.sides
    assert a.settings == sides[0]
    assert [len(side.answerability()) for side in (a, b)] == [3, 3]
    assert all(len(side.milliseconds()) == 3 for side in (a, b))
    true = {id: one.true for id, one in zip(a.answers, a.answerability(), strict=True)}
    assert true == {
        "Where do visitors of house 7 park?": True,
        "What closes at nine in house 3?": True,
        "Who won the cup?": False,
    }
    assert len(values_of(plots.measures(outcomes.comparison.measures))) == 2 * len(outcomes.comparison.measures)
    assert {"shown", "p"} <= set(values_of(plots.differences(outcomes.comparison.measures))[-1])
    assert len(values_of(plots.latencies({"A": a.milliseconds()}))) == 3


def test_trial_stops_when_asked_or_unwatched(desk: Desk) -> None:
    many = "question,source\n" + "".join(
        f"Where do visitors of house {i % 12} park {i}?,d{i % 12}\n" for i in range(3000)
    )
    trial = Trial(desk, many.encode(), "many.csv", (desk.kb.settings,))
    while trial.running and not trial.done:
        time.sleep(0.01)
    trial.stop()
    assert finished(trial).error == "stopped"
    assert trial.outcomes is None
    assert 0 < trial.done < trial.total
    left = Trial(desk, many.encode(), "many.csv", (desk.kb.settings,), unwatched=0)
    while not left.error:
        time.sleep(0.01)
    assert left.error == "stopped"


@pytest.mark.parametrize(
    ("csv", "printed"),
    [
        (b"a,b\n1,2\n", "'question' and 'source' are expected"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"question,source\n", "no questions"),
    ],
)
def test_refuses_a_wrong_file(desk: Desk, csv: bytes, printed: str) -> None:
    assert printed in finished(Trial(desk, csv, "../../etc/wrong.csv", (desk.kb.settings,))).error


def finished(trial: Trial) -> Trial:
    while trial.running:
        time.sleep(0.01)
    return trial


def values_of(chart: plots.Chart) -> list[dict[str, Any]]:
    """Return the rows of a chart's data."""
    spec = chart.to_dict()
    data = [one["data"] for one in (spec, *spec.get("layer", ())) if "data" in one]
    return [row for one in data for row in one["values"]]


def test_reliability_by_hand() -> None:
    outcomes = [Outcome(predicted=0.9, true=i < 8) for i in range(10)] + [Outcome(predicted=0.1, true=False)] * 10
    found = reliability(outcomes)
    assert found is not None
    assert [(one.predicted, one.observed, one.count) for one in found.bins] == [
        (pytest.approx(0.1), 0.0, 10),
        (pytest.approx(0.9), 0.8, 10),
    ]
    assert found.error == pytest.approx((0.1 + 0.1) / 2)
    assert found.brier == pytest.approx((8 * 0.01 + 2 * 0.81 + 10 * 0.01) / 20)
    assert reliability([]) is None
    assert latency([]) is None
    times = latency([1.0, 2.0, 3.0])
    assert times is not None
    assert (times.median, times.most) == (2.0, 3.0)


@given(st.lists(st.builds(Outcome, predicted=st.floats(0, 1), true=st.booleans()), min_size=1, max_size=60))
def test_every_outcome_is_in_one_bin(outcomes: list[Outcome]) -> None:
    found = reliability(outcomes)
    assert found is not None
    assert sum(one.count for one in found.bins) == len(outcomes)
    assert all(0 <= one.low <= one.observed <= one.high <= 1 for one in found.bins)
    assert 0 <= found.error <= 1


def test_wilsons_interval_is_the_published_one() -> None:
    """Newcombe, Statistics in Medicine 17 (1998), method 3: 81 of 263, 15 of 148."""
    assert wilson(81 / 263, 263) == (pytest.approx(0.2553, abs=1e-4), pytest.approx(0.3662, abs=1e-4))
    assert wilson(15 / 148, 148) == (pytest.approx(0.0624, abs=1e-4), pytest.approx(0.1605, abs=1e-4))
