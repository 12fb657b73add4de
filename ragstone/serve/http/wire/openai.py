"""Messages as OpenAI's clients send and understand them. What a client says beyond these is ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, WithJsonSchema, model_serializer

from ragstone.serve.http.wire.asking import Answer, FilterText
from ragstone.serve.http.wire.base import Request, Response

MODEL = "ragstone"
"""What clients call the documents."""
MOST_MESSAGES, MOST_TEXTS = 500, 256
_TEXT = {"type": "string", "minLength": 1, "pattern": r"\S"}
Texts = Annotated[
    str | list[str] | list[int] | list[list[int]],
    # Numbers of tokens are understood as such, so that the refusal can say what they are.
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MOST_TEXTS}]}),
]
ModelName = Annotated[str, WithJsonSchema({"type": "string", "enum": [MODEL]})]
EmbedderName = Annotated[str, WithJsonSchema({"type": "string", "format": "ragstone-embedder"})]


class _Taken(Request):
    """What a client sends; OpenAI's clients say much that nothing here depends on."""

    model_config = ConfigDict(extra="ignore")


# ---------------------------------------------------------------- chat
class Part(_Taken):
    """A part of a message; only texts are read."""

    type: str
    text: str = ""


class ChatMessage(_Taken):
    """A turn of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(_Taken):
    """What a stream tells beside the answer."""

    include_usage: bool = False


class ChatRequest(_Taken):
    """A conversation whose last message is the question.

    The answer comes from the documents, so nothing that steers a model, such as temperature, has an effect.
    """

    model: ModelName
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=1, description="there is one answer")
    tools: list[Any] | None = None
    response_format: Any = None
    where: FilterText | None = Field(
        default=None, description="ours: only documents such as: language = de; empty: all"
    )


class UrlCitation(Response):
    """A source: characters of the answer that stand for it, and where it is."""

    start_index: int
    end_index: int
    url: str
    title: str


class Annotation(Response):
    """What belongs to some characters of the answer."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class AssistantMessage(Response):
    """The answer."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation]


class Choice(Response):
    """The one answer there is."""

    index: int = 0
    message: AssistantMessage
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class Tokens(Response):
    """Tokens of the language model that wrote the answer; none where it was quoted."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(Response):
    """An answer. ``ragstone`` is the same as ``POST /query`` gives it, with citations and notices."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Tokens
    ragstone: Answer


class Delta(Response):
    """More of the answer; annotations come with the last one."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    annotations: list[Annotation] | None = None

    @model_serializer(mode="wrap")
    def _said(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Only what is said: nothing would be taken for an answer that is empty."""
        return {name: value for name, value in plain(self).items() if value is not None}


class ChunkChoice(Response):
    """More of the one answer there is."""

    index: int = 0
    delta: Delta
    logprobs: None = None
    finish_reason: Literal["stop"] | None = None


class CompletionChunk(Response):
    """An event of a streamed answer. ``ragstone`` comes with the last part of the answer."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: Tokens | None = None
    ragstone: Answer | None = None

    @model_serializer(mode="wrap")
    def _said(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        empty = [name for name in ("usage", "ragstone") if getattr(self, name) is None]
        return {name: value for name, value in plain(self).items() if name not in empty}


# ---------------------------------------------------------------- models, embeddings
class Model(Response):
    """Something that answers."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "ragstone"


class Models(Response):
    """What answers."""

    object: Literal["list"] = "list"
    data: list[Model]


class EmbeddingRequest(_Taken):
    """Texts to be made vectors, by the embedder that the knowledge base was built with."""

    input: Texts = Field(description="texts; numbers of tokens are refused")
    model: EmbedderName = Field(description=f"'{MODEL}', or the name of the embedder")
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(default=None, description="if given, what the embedder has")
    input_type: Literal["passage", "query"] = Field(default="passage", description="ours: what the texts are")


class Embedding(Response):
    """A vector: numbers, or 32-bit floats in base64."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingTokens(Response):
    """Tokens of the embedder."""

    prompt_tokens: int
    total_tokens: int


class Embeddings(Response):
    """The vectors, in the order of the texts."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: EmbeddingTokens


# ---------------------------------------------------------------- errors
class Failure(Response):
    """What went wrong."""

    message: str
    type: str
    param: str | None
    code: str | None


class Failed(Response):
    """The body of every response that is no success."""

    error: Failure
