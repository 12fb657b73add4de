"""The messages of OpenAI's API that its clients send and understand. Other fields of a request are ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, WithJsonSchema, model_serializer

from ragstone.serve.http.messages import Request, Response
from ragstone.serve.http.routes.ask import Answer, FilterText

MODEL = "ragstone"
"""The name of the one model."""
MAX_MESSAGES, MAX_TEXTS = 500, 256
PICTURES = ("image_url", "input_image")
"""The types of parts that are pictures, in chat completions and in the Responses API."""
_TEXT = {"type": "string", "minLength": 1, "pattern": r"\S"}
Texts = Annotated[
    str | list[str] | list[int] | list[list[int]],
    # Token ids are accepted here so that the refusal can say what they are.
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MAX_TEXTS}]}),
]
ModelName = Annotated[str, WithJsonSchema({"type": "string", "enum": [MODEL]})]
EmbedderName = Annotated[str, WithJsonSchema({"type": "string", "format": "ragstone-embedder"})]


class LenientRequest(Request):
    """A request body with fields that are ignored; OpenAI's clients send many."""

    model_config = ConfigDict(extra="ignore")


# ---------------------------------------------------------------- chat
class ImageUrl(LenientRequest):
    """The address of a picture, which has the picture itself: ``data:image/png;base64,...``."""

    url: str = ""


class Part(LenientRequest):
    """A part of a message: text, or a picture that the question is about."""

    type: str
    text: str = ""
    image_url: ImageUrl | str | None = None

    @property
    def picture(self) -> str:
        """The address of a picture; empty if it is something else."""
        given = self.image_url
        return (given.url if isinstance(given, ImageUrl) else given or "") if self.type in PICTURES else ""


class ChatMessage(LenientRequest):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(LenientRequest):
    """What a stream contains besides the answer."""

    include_usage: bool = False


class ChatRequest(LenientRequest):
    """A conversation whose last message is the question.

    The answer comes from the documents, so settings of a model, such as temperature, have no effect.
    """

    model: ModelName
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=1, description="there is one answer")
    tools: list[Any] | None = None
    response_format: Any = None
    reasoning_effort: Any = Field(
        default=None, description="`medium` and `high`: several searches, whose steps are streamed as reasoning"
    )
    where: FilterText | None = Field(
        default=None,
        description="an extension: use only documents that match, such as: language = de; empty matches all",
    )


class UrlCitation(Response):
    """A source: its address, and the characters of the answer that cite it."""

    start_index: int
    end_index: int
    url: str
    title: str


class Annotation(Response):
    """A citation of some characters of the answer."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class AssistantMessage(Response):
    """The answer."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation]


class Choice(Response):
    """The one answer."""

    index: int = 0
    message: AssistantMessage
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class Tokens(Response):
    """Tokens of the language model that wrote the answer; zero if the answer is quoted."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(Response):
    """An answer. ``ragstone`` is what ``POST /query`` returns, with citations and notices."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Tokens
    ragstone: Answer


class Delta(Response):
    """More of the answer; the last one has the annotations."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    reasoning_content: str | None = None
    annotations: list[Annotation] | None = None

    @model_serializer(mode="wrap")
    def _without_nulls(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit null fields, which clients would take for an empty answer."""
        return {name: value for name, value in serialize(self).items() if value is not None}


class ChunkChoice(Response):
    """More of the one answer."""

    index: int = 0
    delta: Delta
    logprobs: None = None
    finish_reason: Literal["stop"] | None = None


class Unfinished(Response):
    """A body whose ``usage`` and ``ragstone`` are left out until they are known."""

    @model_serializer(mode="wrap")
    def _without_unknown(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        unknown = [name for name in ("usage", "ragstone") if getattr(self, name) is None]
        return {name: value for name, value in serialize(self).items() if name not in unknown}


class CompletionChunk(Unfinished):
    """An event of a streamed answer. ``ragstone`` comes with the last part of the answer."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: Tokens | None = None
    ragstone: Answer | None = None


# ---------------------------------------------------------------- models, embeddings
class Model(Response):
    """A model."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "ragstone"


class Models(Response):
    """All models."""

    object: Literal["list"] = "list"
    data: list[Model]


class EmbeddingRequest(LenientRequest):
    """Texts to embed, with the embedder of the knowledge base."""

    input: Texts = Field(description="texts; token ids are refused")
    model: EmbedderName = Field(description=f"'{MODEL}', or the name of the embedder")
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(default=None, description="if given, it has to be that of the embedder")
    input_type: Literal["passage", "query"] = Field(default="passage", description="an extension: what the texts are")


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
