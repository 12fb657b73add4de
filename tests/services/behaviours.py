"""How servers of language models behave: one row for each way that a client met, with what has to come of it.

The rows are from the issues of Ollama, llama.cpp, LM Studio, vLLM, SGLang, Azure, OpenRouter, LiteLLM, Gemini, Mistral,
Groq and others. `lost` names those whose complete reply does not arrive.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ragstone.core.answers import Message, Reply
from ragstone.core.errors import ModelError
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.models import build_chat_model
from ragstone.settings.services import ModelSettings, ServiceSettings
from servers.scripted_chat import Body, Script, ScriptedChat, Sent, answering

ANSWER = "The pump at the north gate runs at 4.2 bar [1]."
THOUGHT = "Okay, the user asks about the pump. Source 1 says 9 bar? No, 4.2 bar."
WORDS = [*(f"{word} " for word in ANSWER.split(" ")[:-1]), "[1]."]
Chunk = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """A way in which a server behaves.

    Either the complete ``text`` and ``reasoning`` arrive, or the call ends with an error that ``fails`` describes, as a
    regular expression. ``refuses`` answers a request that the server does not accept; whether that is ``remembered``
    is checked too.
    """

    name: str
    sends: Sent
    refuses: Callable[[Body], Sent | None] = lambda _: None
    text: str = ANSWER
    reasoning: str = ""
    fails: str = ""
    remembered: bool = True


def row(name: str, sends: Sent, **more: Any) -> Behaviour:
    return Behaviour(name=name, sends=sends, **more)


# ---------------------------------------------------------------- how a reply is written


def chunk(delta: object, end: str | None = None, **more: Any) -> Chunk:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": end}], **more}


def said(text: str, size: int = 9) -> list[Chunk]:
    """A text in pieces that break words and marks."""
    return [chunk({"content": text[at : at + size]}) for at in range(0, len(text), size)]


STOP = chunk({}, "stop")
USED = {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 9}}


def sse(*events: object, done: bool = True, line: str = "data: {}\n\n", **more: Any) -> Sent:
    """Events as a stream; a text is sent as it is."""
    lines = [one if isinstance(one, str) else line.format(json.dumps(one, ensure_ascii=False)) for one in events]
    if done:
        lines.append(line.format("[DONE]"))
    return Sent(pieces=tuple(one.encode() for one in lines), **more)


def streamed(text: str) -> Sent:
    return sse(*said(text), STOP, USED)


def sent(text: str, **more: Any) -> Sent:
    return Sent(pieces=(text.encode(),), **more)


def error(message: str, http: int = 400, **more: Any) -> Sent:
    return answering({"error": {"message": message, **more}}, http)


def has(name: str, refusal: Sent) -> Callable[[Body], Sent | None]:
    """Refuse a body with this field."""
    return lambda body: refusal if body.get(name) else None


def role(name: str, refusal: Sent) -> Callable[[Body], Sent | None]:
    """Refuse a conversation with this role."""
    return lambda body: refusal if any(one["role"] == name for one in body["messages"]) else None


def in_a_row(refusal: Sent) -> Callable[[Body], Sent | None]:
    """Refuse two turns of one role in a row."""

    def refuse(body: Body) -> Sent | None:
        roles = [one["role"] for one in body["messages"] if one["role"] != "system"]
        return refusal if any(a == b for a, b in pairwise(roles)) else None

    return refuse


def blank(refusal: Sent) -> Callable[[Body], Sent | None]:
    return lambda body: None if all(one["content"].strip() for one in body["messages"]) else refusal


def above(limit: int, refusal: Sent) -> Callable[[Body], Sent | None]:
    return lambda body: refusal if body.get("max_tokens", 0) > limit else None


def unless(condition: Callable[[Body], bool], refusal: Sent) -> Callable[[Body], Sent | None]:
    return lambda body: None if condition(body) else refusal


def whole(message: object, end: str | None = "stop", **more: Any) -> Sent:
    return answering({"choices": [{"index": 0, "message": message, "finish_reason": end}], **more})


def counted(usage: object) -> Sent:
    return sse(*said(ANSWER), chunk({}, "stop", usage=usage))


PARTS = [{"type": "text", "text": ANSWER[:20]}, {"type": "text", "text": ANSWER[20:]}]
THINKING_PART = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
HARMONY = f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}"
OLLAMA = [{"model": "m", "message": {"role": "assistant", "content": word}, "done": False} for word in WORDS]
OLLAMA_END = {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 12}
SYSTEM = "System role not supported"
LLAMA_TEMPLATE = "Only user, assistant and tool roles are supported, got system. at row 12, column 34"

# ---------------------------------------------------------------- protocol

PROTOCOL = [
    row("as specified", streamed(ANSWER)),
    row("counts are null", counted({"prompt_tokens": None, "completion_tokens": None})),
    row("counts are floats", counted({"prompt_tokens": 12.0, "completion_tokens": 9.5})),
    row("counts are negative", counted({"prompt_tokens": -1, "completion_tokens": -1})),
    row("counts are texts", counted({"prompt_tokens": "12", "completion_tokens": "9"})),
    row("counts are zero", counted({"prompt_tokens": 0, "completion_tokens": 0})),
    row("usage is an empty object", counted({})),
    row("usage is a list", counted([1, 2])),
    row("usage is null in every piece", sse(*({**one, "usage": None} for one in said(ANSWER)), STOP)),
    row("counts under x_groq", sse(*said(ANSWER), chunk({}, "stop", x_groq={"usage": {"prompt_tokens": 12}}))),
    row("no finish_reason, then [DONE]", sse(*said(ANSWER))),
    row("no finish_reason, then the end", sse(*said(ANSWER), done=False)),
    row("finish_reason, no [DONE]", sse(*said(ANSWER), STOP, done=False)),
    row("finish_reason, then the connection breaks", sse(*said(ANSWER), STOP, done=False, breaks=True)),
    row("finish_reason, then silence", sse(*said(ANSWER), STOP, done=False, hangs=True)),
    row("[DONE], then silence", sse(*said(ANSWER), hangs=True)),
    row("finish_reason is empty in every piece", sse(*(chunk({"content": w}, "") for w in WORDS), STOP)),
    row("finish_reason is stop in every piece", sse(*(chunk({"content": w}, "stop") for w in WORDS))),
    row("finish_reason is eos_token", sse(*said(ANSWER), chunk({}, "eos_token"))),
    row("finish_reason in capitals", sse(*said(ANSWER), chunk({}, "STOP"))),
    row(
        "last piece is sent twice",
        sse(*said(ANSWER[:-4]), *[chunk({"content": " [1]."}, "stop")] * 2),
        text=ANSWER[:-4] + " [1].",
    ),
    row("last event repeats the whole text", sse(*said(ANSWER), chunk({"content": ANSWER}, "stop"))),
    row(
        "last event has the whole message",
        sse(*said(ANSWER), {"choices": [{"message": {"content": ANSWER}, "finish_reason": "stop"}]}),
    ),
    row("each piece has all text so far", sse(*(chunk({"content": ANSWER[:n]}) for n in (16, 30, 40, 47)), STOP)),
    row("content is a list of parts", sse(chunk({"content": PARTS}), STOP)),
    row("content is one part", sse(*(chunk({"content": part}) for part in PARTS), STOP)),
    row("content type in capitals", sse(*said(ANSWER), STOP, type="Text/Event-Stream; charset=UTF-8")),
    row("no content type", sse(*said(ANSWER), STOP, type="")),
    row("a stream called JSON", sse(*said(ANSWER), STOP, type="application/json")),
    row("a stream called plain text", sse(*said(ANSWER), STOP, type="text/plain")),
    row("JSON although a stream was asked for", whole({"role": "assistant", "content": ANSWER})),
    row(
        "JSON on several lines",
        sent(json.dumps({"choices": [{"message": {"content": ANSWER}}]}, indent=2), type="application/json"),
    ),
    row("JSON called a stream", sent(json.dumps({"choices": [{"message": {"content": ANSWER}}]}))),
    row("JSON with a list of parts", whole({"content": PARTS})),
    row("lines of JSON", sse(*said(ANSWER), STOP, done=False, line="{}\n", type="application/x-ndjson")),
    row("lines of Ollama's own chat", sse(*OLLAMA, OLLAMA_END, done=False, line="{}\n", type="application/x-ndjson")),
    row(
        "lines of Ollama's own completion",
        sse(*({"response": w, "done": False} for w in WORDS), {"response": "", "done": True}, done=False, line="{}\n"),
    ),
    row(
        "pieces of llama.cpp's own completion",
        sse(*({"content": w, "stop": False} for w in WORDS), {"content": "", "stop": True}, done=False),
    ),
    row("pieces as text of a completion", sse(*({"choices": [{"text": w, "index": 0}]} for w in WORDS), STOP)),
    row("message instead of delta", sse(*({"choices": [{"message": {"content": w}}]} for w in [ANSWER]), STOP)),
    row(
        "null delta beside an empty message",
        sse(*said(ANSWER), {"choices": [{"delta": None, "message": {"content": None}, "finish_reason": "stop"}]}),
    ),
    row("carriage returns", sse(*said(ANSWER), STOP, line="data: {}\r\n\r\n")),
    row("carriage returns alone", sse(*said(ANSWER), STOP, line="data: {}\r\r")),
    row("no blank lines", sse(*said(ANSWER), STOP, line="data: {}\n")),
    row("no blank after the colon", sse(*said(ANSWER), STOP, line="data:{}\n\n")),
    row("data: twice", sse(*said(ANSWER), STOP, line="data: data: {}\n\n")),
    row("comments while it waits", sse(": OPENROUTER PROCESSING\n\n", ":\n\n", *said(ANSWER), ": ping\n\n", STOP)),
    row("names and numbers of events", sse("event: message\nid: 7\nretry: 100\n", *said(ANSWER), STOP)),
    row("empty events while it waits", sse("data:\n\n", "\n\n", *said(ANSWER), {}, STOP)),
    row("a byte order mark", sse("\ufeff", *said(ANSWER), STOP)),
    row(
        "one byte at a time",
        Sent(
            pieces=tuple(
                bytes([one]) for one in b"".join(streamed("Die Pumpe läuft mit 4,2 bar – „Nord“ 🚰 [1].").pieces)
            )
        ),
        text="Die Pumpe läuft mit 4,2 bar – „Nord“ 🚰 [1].",
    ),
    row("everything at once", Sent(pieces=(b"".join(streamed(ANSWER).pieces),))),
    row("[DONE] without brackets", sse(*said(ANSWER), STOP, "data: DONE\n\n", done=False)),
    row("[DONE] as a JSON text", sse(*said(ANSWER), STOP, 'data: "[DONE]"\n\n', done=False)),
    row(
        "first event has no choices",
        sse({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}, *said(ANSWER), STOP),
    ),
    row("choices are null", sse({"choices": None}, *said(ANSWER), STOP, {"choices": None, "usage": {}})),
    row(
        "an event of the filter has no delta",
        sse(*said(ANSWER), {"choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]}, STOP),
    ),
    row(
        "role first, content null",
        sse(chunk({"role": "assistant", "content": None}), *said(ANSWER), chunk({"content": None}, "stop")),
    ),
    row(
        "several replies at once",
        sse(*({"choices": [{"index": i, "delta": {"content": (w, "no ")[i]}}]} for w in WORDS for i in (0, 1)), STOP),
    ),
    row(
        "replies are counted from 1", sse(*({"choices": [{"index": 1, "delta": {"content": w}}]} for w in WORDS), STOP)
    ),
    row("indexes are texts", sse(*({"choices": [{"index": "0", "delta": {"content": w}}]} for w in WORDS), STOP)),
    row("a list of events", answering([*said(ANSWER), STOP])),
    row(
        "JSON on several lines of data",
        sent("data: {\ndata: " + json.dumps(chunk({"content": ANSWER}, "stop"))[1:] + "\n\n"),
    ),
    row("JSON within a text", sse(*(f"data: {json.dumps(json.dumps(one))}\n\n" for one in said(ANSWER)), STOP)),
    row(
        "line breaks within a text",
        sent('data: {"choices": [{"delta": {"content": "' + ANSWER + '\tYes."}}]}\n\ndata: [DONE]\n\n'),
        text=f"{ANSWER}\tYes.",
    ),
    row(
        "a number as content",
        sse(*said("The pressure is "), chunk({"content": 4.2}), *said(" bar [1]."), STOP),
        text="The pressure is 4.2 bar [1].",
    ),
    row(
        "a byte that is no text",
        Sent(pieces=(*sse(*said(ANSWER), done=False).pieces, b": \xff\xfe\n\n", b"data: [DONE]\n\n")),
    ),
    row("the last line has no end", Sent(pieces=(b"".join(sse(*said(ANSWER), STOP).pieces).rstrip(),))),
    row("status 201", sse(*said(ANSWER), STOP, status=201)),
    row("choices without an index", sse(*({"choices": [{"delta": {"content": w}}]} for w in WORDS), STOP)),
    row("an error that is null", sse(*({**one, "error": None} for one in said(ANSWER)), STOP)),
    row("an error after the end", sse(*said(ANSWER), STOP, {"error": {"message": "late"}})),
    row("no JSON after the end", sse(*said(ANSWER), STOP, "data: bye\n\n")),
    row("a tool is offered beside the text", sse(*said(ANSWER), chunk({"tool_calls": []}, "tool_calls"))),
]

# ---------------------------------------------------------------- thinking, tokens and wrappers

CODE = (
    "Write the tags as `<think>` and `</think>`:\n\n```xml\n<think>\n...\n</think>\n<|im_end|>\n```\nThat is all [1]."
)
STEPS = "Run these commands [1]:\n\n```sh\npip install pump\n```\n\nThen restart [2]."
TEXT = [
    row("thinking between tags", streamed(f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}"), reasoning=THOUGHT),
    row("thinking between other tags", streamed(f"<thinking>{THOUGHT}</thinking>{ANSWER}"), reasoning=THOUGHT),
    row("reasoning between tags", streamed(f"<reasoning>\n{THOUGHT}\n</reasoning>\n{ANSWER}"), reasoning=THOUGHT),
    row("thinking in brackets", streamed(f"[THINK]{THOUGHT}[/THINK]{ANSWER}"), reasoning=THOUGHT),
    row("thinking between rhombs", streamed(f"◁think▷{THOUGHT}◁/think▷{ANSWER}"), reasoning=THOUGHT),
    row("thinking without an opening tag", streamed(f"{THOUGHT}\n</think>\n\n{ANSWER}"), reasoning=THOUGHT),
    row("thinking is empty", streamed(f"<think>\n\n</think>\n\n{ANSWER}")),
    row(
        "thinking within thinking",
        streamed(f"<think>{THOUGHT}<think>More.</think></think>{ANSWER}"),
        reasoning=f"{THOUGHT}More.",
    ),
    row(
        "thinking opens twice and closes once", streamed(f"<think><think>{THOUGHT}</think>{ANSWER}"), reasoning=THOUGHT
    ),
    row(
        "thinking twice",
        streamed(f"<think>{THOUGHT}</think>\n{ANSWER}\n<think>Done.</think>"),
        reasoning=f"{THOUGHT}\nDone.",
    ),
    row("channels", streamed(f"{HARMONY}<|return|>"), reasoning=THOUGHT),
    row("channels without an end of the first", streamed(HARMONY.replace("<|end|>", "")), reasoning=THOUGHT),
    row(
        "channels without their tokens",
        streamed(f"analysisWe need the pump. It is in 1.assistantfinal{ANSWER}"),
        reasoning="We need the pump. It is in 1.",
    ),
    row("only the final channel", streamed(f"<|channel|>final<|message|>{ANSWER}")),
    row(
        "thinking in reasoning_content",
        sse(chunk({"reasoning_content": THOUGHT}), *said(ANSWER), STOP),
        reasoning=THOUGHT,
    ),
    row(
        "thinking in reasoning",
        sse(
            chunk({"reasoning": THOUGHT, "reasoning_details": [{"text": THOUGHT}], "content": ""}), *said(ANSWER), STOP
        ),
        reasoning=THOUGHT,
    ),
    row("thinking in parts", sse(chunk({"content": [THINKING_PART]}), *said(ANSWER), STOP), reasoning=THOUGHT),
    row(
        "thinking in Ollama's own field",
        sse({"message": {"thinking": THOUGHT}, "done": False}, *OLLAMA, OLLAMA_END, done=False, line="{}\n"),
        reasoning=THOUGHT,
    ),
    row("thinking in a whole message", whole({"content": ANSWER, "reasoning_content": THOUGHT}), reasoning=THOUGHT),
    row(
        "the answer in the field of the thinking",
        whole({"content": None, "reasoning_content": f"{THOUGHT}</think>{ANSWER}"}),
        reasoning=f"{THOUGHT}</think>{ANSWER}",
    ),
    row("a token at the end", streamed(f"{ANSWER}<|im_end|>")),
    row("another token at the end", streamed(f"{ANSWER}</s>")),
    row("tokens of Llama", streamed(f"<|start_header_id|>assistant<|end_header_id|>\n\n{ANSWER}<|eot_id|>")),
    row("tokens of Gemma", streamed(f"<start_of_turn>model\n{ANSWER}<end_of_turn>\n<eos>")),
    row("tokens of DeepSeek", streamed(f"{ANSWER}<｜end▁of▁sentence｜>")),
    row("the next turn of the user", streamed(f"{ANSWER}<|im_end|>\n<|im_start|>user\nThank you!<|im_end|>")),
    row("the name of the role", streamed(f"Assistant: {ANSWER}")),
    row("the role on a line", streamed(f"assistant\n\n{ANSWER}")),
    row("a fence of Markdown", streamed(f"```markdown\n{ANSWER}\n```")),
    row("a fence without a language", streamed(f"```\n{ANSWER}\n```")),
    row("a fence of Markdown around code", streamed(f"```markdown\n{STEPS}\n```"), text=STEPS),
    row("JSON around the answer", streamed(json.dumps({"answer": ANSWER}))),
    row(
        "JSON in a fence",
        streamed(f'```json\n{{"reasoning": "Source 1.", "answer": "{ANSWER}"}}\n```'),
        reasoning="Source 1.",
    ),
    row("JSON with other fields", streamed(json.dumps({"answer": ANSWER, "next_question": "", "pages": [3]}))),
    row("JSON with an answer inside", streamed(json.dumps({"answer": {"text": ANSWER, "confidence": 0.9}}))),
    row(
        "JSON with a list of sentences",
        streamed(json.dumps({"response": [ANSWER, ANSWER]})),
        text=f"{ANSWER}\n{ANSWER}",
    ),
    row(
        "JSON with the first line",
        streamed(json.dumps({"found": True, "answer": ANSWER})),
        text=f"FOUND: yes\n{ANSWER}",
    ),
    row("JSON cut off behind the answer", streamed(f'{{"answer": "{ANSWER}", "sources": [')),
    row("JSON cut off within the answer", streamed(f'{{"sources": [1], "answer": "{ANSWER}')),
    row("JSON in a fence, cut off", streamed(f'```json\n{{"answer": "{ANSWER}",\n')),
    row(
        "JSON with quotation marks within a text",
        streamed('{"answer": "The valve "north" opens at 4 bar.", "sources": [1]}'),
        text='The valve "north" opens at 4 bar.',
    ),
    row(
        "JSON with words behind it",
        streamed(f'{{"answer": "{ANSWER}"}}\n\nAsk me more.'),
        text=f"{ANSWER}\n\nAsk me more.",
    ),
    row(
        "the answer as a call of a tool",
        streamed(f'<tool_call>\n{{"name": "reply", "arguments": {{"answer": "{ANSWER}"}}}}\n</tool_call>'),
    ),
    row("the answer as a call without tags", streamed(f'{{"name": "reply", "parameters": {{"text": "{ANSWER}"}}}}')),
    row(
        "tags around the answer", streamed(f"<think>{THOUGHT}</think><answer>\n{ANSWER}\n</answer>"), reasoning=THOUGHT
    ),
    row("code with tags is kept", streamed(CODE), text=CODE),
    row("code of a command is kept", streamed("```\npip install ragstone\n```"), text="```\npip install ragstone\n```"),
    row("code in the answer is kept", streamed(STEPS), text=STEPS),
    row("JSON with a text among other data is kept", streamed('{"text": "a", "x": 1}'), text='{"text": "a", "x": 1}'),
    row("other JSON is kept", streamed('{"pressure": 4.2}'), text='{"pressure": 4.2}'),
    row(
        "a tag in quotation marks is kept",
        streamed('The tag "<think>" opens it, "</think>" closes it [1].'),
        text='The tag "<think>" opens it, "</think>" closes it [1].',
    ),
    row(
        "signs of comparison are kept",
        streamed("If a < b and b > c, then [x] <br> is 3 [1]."),
        text="If a < b and b > c, then [x] <br> is 3 [1].",
    ),
    row(
        "an answer that begins like thinking",
        streamed(f"Okay, here it is. {ANSWER}"),
        text=f"Okay, here it is. {ANSWER}",
    ),
]

# ---------------------------------------------------------------- refused parts of a request

EXTRA = answering({"detail": [{"loc": ["body", "stream_options"], "msg": "extra fields not permitted"}]}, 422)
GEMMA = error("Developer instruction is not enabled for models/gemma-3-27b-it", status="INVALID_ARGUMENT")
ROLES = error("Conversation roles must alternate user/assistant/user/assistant/...", type="BadRequestError")
TOO_MUCH = error(
    "max_tokens is too large: 4096. This model supports at most 1024 completion tokens.", param="max_tokens"
)
ROOM = error(
    "This model's maximum context length is 4096 tokens. However, you requested 4400 tokens "
    "(304 in the messages, 4096 in the completion). Please reduce the length of the messages or completion."
)
OUTPUT = error(
    "This model's maximum context length is 4096 tokens. However, you requested 4096 output tokens and your prompt"
    " contains 304 input tokens, for a total of 4400 tokens. Please reduce the length of the input prompt."
)
LARGE = error(
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and"
    " your request has 304 input tokens (4096 > 4096 - 304)."
)
REQUESTS = [
    row("refuses the system role", streamed(ANSWER), refuses=role("system", error(SYSTEM))),
    row("refuses the system role as a failure", streamed(ANSWER), refuses=role("system", error(LLAMA_TEMPLATE, 500))),
    row(
        "refuses the system role as a value",
        streamed(ANSWER),
        refuses=role(
            "system", error("Unsupported value: 'messages[0].role' does not support 'system' with this model.")
        ),
    ),
    row(
        "refuses instructions",
        streamed(ANSWER),
        refuses=role("system", answering([{"error": {"message": "Developer instruction is not enabled"}}], 400)),
    ),
    row("refuses instructions of Gemma", streamed(ANSWER), refuses=role("system", GEMMA)),
    row("calls the system role roles that must alternate", streamed(ANSWER), refuses=role("system", ROLES)),
    row("refuses two turns of one role", streamed(ANSWER), refuses=in_a_row(ROLES)),
    row(
        "refuses two turns of one role as a failure",
        streamed(ANSWER),
        refuses=in_a_row(error("roles must alternate at row 5", 500)),
    ),
    row(
        "refuses an empty turn",
        streamed(ANSWER),
        refuses=blank(error("messages.1: text content blocks must be non-empty")),
    ),
    row(
        "refuses stream",
        whole({"content": ANSWER}),
        refuses=has("stream", error("Streaming is not supported for this model", param="stream")),
    ),
    row(
        "refuses stream in other words",
        whole({"content": ANSWER}),
        refuses=has("stream", error("Unsupported value: 'stream' does not support true with this model.")),
    ),
    row("refuses stream_options", streamed(ANSWER), refuses=has("stream_options", EXTRA)),
    row(
        "refuses temperature",
        streamed(ANSWER),
        refuses=has(
            "temperature",
            error(
                "Unsupported value: 'temperature' does not support 0.3 with this model. "
                "Only the default (1) value is supported."
            ),
        ),
    ),
    row(
        "refuses max_tokens for another name",
        streamed(ANSWER),
        refuses=has(
            "max_tokens",
            error(
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead."
            ),
        ),
    ),
    row(
        "refuses max_tokens",
        streamed(ANSWER),
        refuses=has("max_tokens", error("Unrecognized request argument supplied: max_tokens")),
    ),
    row("refuses so many tokens", streamed(ANSWER), refuses=above(1024, TOO_MUCH)),
    row(
        "refuses tokens outside a range",
        streamed(ANSWER),
        refuses=above(2048, error("Invalid max_tokens value, the valid range of max_tokens is [1, 2048]")),
    ),
    row("counts the reply with the prompt", streamed(ANSWER), refuses=above(1024, ROOM), remembered=False),
    row("counts the reply with the prompt as output", streamed(ANSWER), refuses=above(1024, OUTPUT), remembered=False),
    row("finds the reply too large for the window", streamed(ANSWER), refuses=above(1024, LARGE), remembered=False),
    row("refuses without a word", streamed(ANSWER), refuses=has("stream_options", answering({}, 400))),
    row(
        "refuses in a nested error",
        streamed(ANSWER),
        refuses=has(
            "temperature",
            error("Provider returned error", metadata={"raw": "temperature is deprecated for this model"}),
        ),
    ),
]

# ---------------------------------------------------------------- failures that keep their words


def fails(name: str, response: Sent, words: str) -> Behaviour:
    return Behaviour(name=name, sends=response, text="", fails=words)


LONG = r"longer than the model's window"
FAILURES = [
    fails(
        "an error in the stream", sse({"object": "error", "message": "boiler exploded", "code": 500}), "boiler exploded"
    ),
    fails(
        "an error object in the stream", sse({"error": {"message": "boiler exploded", "code": 503}}), "boiler exploded"
    ),
    fails("an error text in the stream", sse({"error": "boiler exploded"}), "boiler exploded"),
    fails(
        "an error of a named event",
        sse('event: error\ndata: {"type": "error", "error": {"message": "boiler exploded"}}\n\n', done=False),
        "boiler exploded",
    ),
    fails(
        "an error within a choice",
        sse(
            {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "boiler exploded", "code": 502}}]}
        ),
        "boiler exploded",
    ),
    fails("an error with status 200", answering({"error": {"message": "boiler exploded"}}), "boiler exploded"),
    fails("an error without an object", answering({"detail": "boiler exploded"}, 400), "boiler exploded"),
    fails("an error that is no JSON", sent("boiler exploded", status=500, type="text/plain"), "boiler exploded"),
    fails("text that is no JSON", sse("data: boiler exploded\n\n"), "boiler exploded"),
    fails("no money", error("Insufficient Balance", 402), "out of quota: Insufficient Balance"),
    fails(
        "nothing but thinking, cut",
        sse(chunk({"reasoning_content": THOUGHT}), chunk({}, "length"), USED),
        "empty reply: its 9 tokens went into reasoning.*length.*respond.model.max_tokens",
    ),
    fails(
        "thinking without an end, cut",
        sse(*said(f"<think>{THOUGHT}"), chunk({}, "length")),
        "went into reasoning.*respond.model.max_tokens",
    ),
    fails("nothing but thinking", sse(chunk({"reasoning": THOUGHT}), STOP), "empty reply: it only reasoned"),
    fails("no words", sse(chunk({"role": "assistant", "content": ""}), STOP), "sent an empty reply"),
    fails(
        "a call of a tool",
        sse(
            chunk({"tool_calls": [{"index": 0, "function": {"name": "search", "arguments": "{}"}}]}),
            chunk({}, "tool_calls"),
        ),
        "empty reply: it called the tool search",
    ),
    fails("a refusal", sse(chunk({"refusal": "I can't help with that."}), STOP), "the model refuses: I can't help"),
    fails("the content filter", sse(*said("The pump"), chunk({}, "content_filter")), "content filter stopped"),
    fails("a reply that breaks off", sse(*said("The pump at the north"), done=False), "broke off"),
    fails("a prompt that fills Ollama's window", sse(chunk({"content": ""}, "length")), "fills the model's window"),
    *(
        fails(f"too long, says {server}", response, LONG)
        for server, response in (
            ("OpenAI", error("too many", code="context_length_exceeded")),
            (
                "vLLM",
                answering(
                    {
                        "object": "error",
                        "message": "This model's maximum context "
                        "length is 4096 tokens. "
                        "However, you requested 5120 tokens.",
                        "code": 400,
                    },
                    400,
                ),
            ),
            (
                "llama.cpp",
                error(
                    "the request exceeds the available context size (4096 tokens), try increasing it",
                    type="exceed_context_size_error",
                ),
            ),
            (
                "LM Studio",
                sse(
                    {
                        "error": "Trying to keep the first 5120 "
                        "tokens when context the "
                        "overflows. However, the model is "
                        "loaded with context length of only 4096 "
                        "tokens, which is not enough."
                    }
                ),
            ),
            ("Ollama", error("the input length exceeds the context length")),
            ("Anthropic", error("prompt is too long: 210000 tokens > 200000 maximum", type="invalid_request_error")),
            (
                "Gemini",
                answering(
                    [
                        {
                            "error": {
                                "code": 400,
                                "message": "The input token count (1200000) "
                                "exceeds the maximum "
                                "number of tokens allowed (1048576).",
                                "status": "INVALID_ARGUMENT",
                            }
                        }
                    ],
                    400,
                ),
            ),
            (
                "Mistral",
                answering(
                    {
                        "object": "error",
                        "message": "Prompt contains 40000 tokens and 0 draft "
                        "tokens, too large for "
                        "model with 32768 maximum context length",
                    },
                    400,
                ),
            ),
            (
                "Groq",
                error(
                    "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7013",
                    413,
                    code="rate_limit_exceeded",
                ),
            ),
            (
                "OpenRouter",
                error(
                    "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens"
                ),
            ),
            ("SGLang", error("The input (5120 tokens) is longer than the model's context length (4096 tokens).")),
            (
                "TGI",
                answering(
                    {
                        "error": "Input validation error: `inputs` tokens + "
                        "`max_new_tokens` must be <= 4096. Given: 5000",
                        "error_type": "validation",
                    },
                    422,
                ),
            ),
            (
                "a simulator",
                sse({"error": {"message": "This model's maximum context length is 1024 tokens.", "code": 400}}),
            ),
        )
    ),
]

BEHAVIOURS = [*PROTOCOL, *TEXT, *REQUESTS, *FAILURES]


# ---------------------------------------------------------------- asking such a server

CONVERSATION = (
    Message(role="system", content="Answer from the sources."),
    Message(role="user", content="Hello."),
    Message(role="assistant", content=" "),
    Message(role="user", content="1. The pump at the north gate runs at 4.2 bar."),
    Message(role="user", content="At what pressure does the pump run?"),
)
"""A conversation with all that servers refuse: a system, an empty turn, and two turns of one role in a row."""


def script(behaviour: Behaviour) -> Script:
    return Script(chat=lambda body: behaviour.refuses(body) or behaviour.sends)


def model_at(address: str) -> ChatModel:
    services = {"openai": {"base_url": address}, "retries": 0, "timeout_seconds": 5, "deadline_seconds": 10}
    model = build_chat_model(ModelSettings(name="openai:a-model"), ServiceSettings.model_validate(services))
    assert model is not None
    return model


async def listened(model: ChatModel) -> tuple[str, Reply]:
    """Return the text that was streamed, and the reply."""
    words = ""
    async with aclosing(model.stream(CONVERSATION, Request.by_owner())) as pieces:
        async for piece in pieces:
            if isinstance(piece, Reply):
                return words, piece
            assert piece
            words += piece
    raise AssertionError("the stream ended without a reply")


def lost() -> list[str]:
    """Return the names of the behaviours that lose a complete reply."""
    names: list[str] = []
    for one in BEHAVIOURS:
        with ScriptedChat(script(one)) as server:
            try:
                text = asyncio.run(listened(model_at(server.url)))[1].text
            except ModelError:
                text = ""
        if text != one.text:
            names.append(one.name)
    return names
