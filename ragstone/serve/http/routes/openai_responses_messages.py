"""The messages of OpenAI's Responses API that its clients send and understand. Other fields are ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, StringConstraints, model_serializer

from ragstone.serve.http.messages import Response
from ragstone.serve.http.routes.ask import Answer, FilterText
from ragstone.serve.http.routes.openai_messages import (
    MAX_MESSAGES,
    LenientRequest,
    ModelName,
    Part,
    Unfinished,
    UrlCitation,
)

PREFIX = "resp_"
ID = rf"^{PREFIX}[0-9a-f]{{48}}$"
"""An id is that of the answer, and has the conversation in its first 32 digits."""


# ---------------------------------------------------------------- requests
class TextForm(LenientRequest):
    """The form of the answer that a client wants."""

    type: str = "text"


class TextSettings(LenientRequest):
    """How the answer is to be written."""

    format: TextForm | None = None


class InputItem(LenientRequest):
    """A message, or something else, which is ignored."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[Part] | None = None


class ResponsesRequest(LenientRequest):
    """A question, or a conversation that ends with one.

    The answer comes from the documents, so settings of a model, such as temperature, have no effect.
    """

    model: ModelName
    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=MAX_MESSAGES)]
    instructions: str | None = None
    previous_response_id: Annotated[str, StringConstraints(pattern=ID)] | None = Field(
        default=None, description="the last response of a stored conversation, which goes on"
    )
    store: bool | None = Field(default=None, description="whether the conversation is stored; true if not given")
    stream: bool | None = None
    tools: list[Any] | None = None
    text: TextSettings | None = None
    metadata: dict[str, str] | None = None
    where: FilterText | None = Field(
        default=None,
        description="an extension: use only documents that match, such as: language = de; empty matches all",
    )


# ---------------------------------------------------------------- the response
class CitedUrl(UrlCitation):
    """A source: its address, and the characters of the answer that cite it."""

    type: Literal["url_citation"] = "url_citation"


class OutputText(Response):
    """The text of the answer. Citations lead to the web address of a document, or to its cited words on the page."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[CitedUrl]
    logprobs: list[Any] = Field(default_factory=list)


class OutputMessage(Response):
    """The answer."""

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: Literal["in_progress", "completed"]
    content: list[OutputText]


class InputTokensDetails(Response):
    """Tokens of the prompt that cost less."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputTokensDetails(Response):
    """Tokens of the reply that are not shown."""

    reasoning_tokens: int = 0


class ResponseUsage(Response):
    """Tokens of the language model that wrote the answer; zero if the answer is quoted."""

    input_tokens: int
    input_tokens_details: InputTokensDetails = InputTokensDetails()
    output_tokens: int
    output_tokens_details: OutputTokensDetails = OutputTokensDetails()
    total_tokens: int


class TextFormat(Response):
    """The form of the answer."""

    type: Literal["text"] = "text"


class TextConfig(Response):
    """The form of the answer, which is always text."""

    format: TextFormat = TextFormat()


class Reasoning(Response):
    """No model reasons."""

    effort: None = None
    summary: None = None


class OpenAIResponse(Unfinished):
    """An answer. ``ragstone`` is what ``POST /query`` returns, with citations and notices, once it is complete."""

    id: str
    object: Literal["response"] = "response"
    created_at: int
    completed_at: int | None = None
    status: Literal["in_progress", "completed"]
    error: None = None
    incomplete_details: None = None
    instructions: str | None = None
    max_output_tokens: None = None
    model: str
    output: list[OutputMessage]
    parallel_tool_calls: bool = False
    previous_response_id: str | None = None
    reasoning: Reasoning = Reasoning()
    store: bool
    temperature: float = 0.0
    text: TextConfig = TextConfig()
    tool_choice: Literal["none"] = "none"
    tools: list[Any] = Field(default_factory=list)
    top_p: float = 1.0
    truncation: Literal["disabled"] = "disabled"
    usage: ResponseUsage | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    ragstone: Answer | None = None


class DeletedResponse(Response):
    """A response that was deleted."""

    id: str
    object: Literal["response"] = "response"
    deleted: Literal[True] = True


# ---------------------------------------------------------------- events
class ResponseEvent(Response):
    """An event of a streamed response; its ``type`` is its name too, and says which fields it has."""

    type: str = ""
    sequence_number: int = 0
    response: OpenAIResponse | None = None
    item_id: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    item: OutputMessage | None = None
    part: OutputText | None = None
    delta: str | None = None
    text: str | None = None
    logprobs: list[Any] | None = None
    annotation: CitedUrl | None = None
    annotation_index: int | None = None

    @model_serializer(mode="wrap")
    def _without_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in serialize(self).items() if getattr(self, name) is not None}


class ErrorEvent(Response):
    """The last event of a stream that failed."""

    type: Literal["error"] = "error"
    sequence_number: int
    code: str | None
    message: str
    param: str | None
