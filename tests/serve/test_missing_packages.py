"""What a command says if the package of a language model is not installed."""

from __future__ import annotations

import sys

import pytest
from hidden import hide
from running import Run

from ragstone.core.installation import install_command

MODEL = "ollama:fake"
NAMED = ("--set", f"respond.model.name={MODEL}")
TOLD = f"openai is not installed; run: {install_command('openai')}"


class Refusing:
    """A finder that refuses a package."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name.partition(".")[0] == "openai":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.mark.usefixtures("kb")
@pytest.mark.parametrize(
    "words",
    [
        ("serve", "--port", "0", *NAMED),
        ("serve", "--port", "0", "--workers", "2", *NAMED),
        ("serve", "--port", "0", "--set", f"respond.cheap={MODEL}", *NAMED),
        ("ask", "What is room 7 called?", *NAMED),
        ("models", "--try", MODEL),
        ("eval", "make", "made.jsonl", *NAMED),
    ],
    ids=lambda words: " ".join(words[:2]),
)
@pytest.mark.parametrize("is_refused", [False, True], ids=["missing", "refused by a finder"])
def test_names_the_package_and_how_to_install_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], is_refused: bool
) -> None:
    hide(monkeypatch, "openai")
    if is_refused:
        monkeypatch.delitem(sys.modules, "openai")
        monkeypatch.setattr(sys, "meta_path", [Refusing(), *sys.meta_path])
    done = run(*words)
    assert (done.code, done.err.strip()) == (1, f"ragstone: {TOLD}")
