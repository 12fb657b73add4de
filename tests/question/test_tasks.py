"""Background tasks of chat programs, told from questions."""

from __future__ import annotations

import json

import pytest

from ragstone.core.answers import Turn
from ragstone.question.tasks import task_of

HISTORY = (
    "### Chat History:\n<chat_history>\nUSER: At what pressure does the pump run?\nASSISTANT: It runs at 4.2 bar. [1]\n"
    "USER: Who built it?\nASSISTANT: The water works. [2]\n</chat_history>"
)
ASKED = "At what pressure does the pump run?"


def open_webui(task: str, form: str) -> str:
    return f"### Task:\n{task}\n\n### Guidelines:\n- Be brief.\n\n### Output:\nJSON format: {form}\n\n{HISTORY}"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (open_webui("Generate a concise, 3-5 word title.", '{ "title": "your title" }'), {"title": ASKED}),
        (open_webui("Generate 1-3 broad tags.", '{ "tags": ["tag1"] }'), {"tags": ["General"]}),
        (open_webui("Suggest 3-5 relevant questions.", '{ "follow_ups": ["Question 1?"] }'), {"follow_ups": []}),
        (open_webui("Analyze the chat history.", '{ "queries": ["query1"] }'), {"queries": ["Who built it?"]}),
        (f'### Task:\nContinue `<text>`: {{ "text": "" }}\n<text>The pump</text>\n{HISTORY}', {"text": ""}),
    ],
)
def test_open_webui_gets_its_json(text: str, result: object) -> None:
    task = task_of(text)
    assert task
    assert json.loads(task.done_without_model()) == result


def test_librechat_gets_a_bare_title() -> None:
    wanted = "Provide a concise, 5-word-or-less title for the conversation, using title case conventions."
    talk = f"User: {ASKED}\nAI: It runs at 4.2 bar."
    for text, before in (
        (f"{wanted} Only return the title itself.\n\nConversation:\n{talk}", ()),
        (f"{ASKED}\n{wanted}", ()),
        (wanted, (Turn(question=ASKED, answer="4.2 bar"),)),
    ):
        task = task_of(text, before)
        assert task
        assert task.done_without_model() == ASKED


@pytest.mark.parametrize(
    "question",
    [
        "Give me a concise, 5-word-or-less title for the conversation about pumps",
        "### Task:\nRespond to the user query using the provided context.\n<context>...</context>\nWho built it?",
        'What does the JSON key { "title": "..." } in <chat_history> mean?',
        "What is the task of the porter?",
    ],
)
def test_questions_are_no_tasks(question: str) -> None:
    assert task_of(question) is None
