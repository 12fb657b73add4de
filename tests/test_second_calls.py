"""The scripted models of the benchmarks of written replies."""

from benchmarks.presets_with_model import Copier
from benchmarks.second_calls import MISSING, Rates, ScriptedJudge
from ragstone.respond.proof.by_model import Checked
from ragstone.services.chat import objects, quoted

PUMP = "The pump is cleaned every month and oiled twice a year."


def test_judge_errs_as_often_as_its_rates():
    judge = ScriptedJudge(Rates(name="test", keeps=0.8, catches=0.6, source=""))
    judge.is_false = lambda sentence: sentence.startswith("False")
    verdicts: dict[str, list[str]] = {"True": [], "False": []}
    for kind, found in verdicts.items():
        for begin in range(0, 600, 50):
            sentences = [f"{kind} sentence {n} about the pump." for n in range(begin, begin + 50)]
            parts = [("passage 1", PUMP), *((f"sentence {n}", text) for n, text in enumerate(sentences, start=1))]
            reply = judge.reply([{"role": "user", "content": quoted(parts, "k1")}])
            found += [one.means for one in objects(reply, Checked) if isinstance(one, Checked)]
    true, false = verdicts.values()
    assert abs(true.count("yes") / len(true) - 0.8) < 0.05
    assert abs(1 - false.count("yes") / len(false) - 0.6) < 0.05
    assert abs(1 - len(true) / 600 - MISSING) < 0.02


def test_copier_cites_the_passage_of_the_article():
    copier = Copier()
    copier.wanted = f"Pumps. {PUMP}"
    prompt = f"k1\n[1] Filters\nFilters are replaced once a year in the spring.\n[2] Pump\n{PUMP}\nk1"
    assert copier.reply([{"role": "user", "content": prompt}]) == f"FOUND: yes\n{PUMP} [2]"
    assert copier.copied
    assert copier.reply([{"role": "user", "content": "k1\n[1] Filters\nk1"}]).startswith("FOUND: no")
    assert copier.copied is False
