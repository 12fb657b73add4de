"""Settings for writing answers, and for judging them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ragstone.core.records import Metadata
from ragstone.settings.services import ModelSettings, Section


class RespondSettings(Section):
    """How answers are written."""

    model: ModelSettings = ModelSettings()
    cheap: str = Field(
        default="",
        description="A cheaper model that answers first. `respond.model` answers only if the result is not good"
        " enough.",
    )
    prompt: str = Field(default="default", description="Prompt of the language model: a built-in name, or a path.")
    language: str = Field(
        default="", description="Language of answers (ISO 639-1). If it is empty, the question decides."
    )
    context_tokens: int = Field(
        default=6000, ge=100, description="Maximum tokens of evidence and conversation in a prompt."
    )
    overview_calls: int = Field(
        default=6,
        ge=0,
        description="Maximum calls of the language model for one overview or summary: one for each part, one for the"
        " whole. 0 only quotes.",
    )
    memory_tokens: int = Field(
        default=1000, ge=0, description="Tokens of earlier conversation that a question can refer to. 0 turns this off."
    )
    excerpt_characters: int = Field(
        default=0, ge=0, description="Characters of each chunk in a prompt. 0 includes the whole chunk."
    )
    unsupported: Literal["flag", "drop"] = Field(
        default="flag", description="Mark or leave out written sentences that the evidence denies or lacks."
    )
    passages: int = Field(
        default=20,
        ge=0,
        le=100,
        description="Maximum passages that the language model reads, each widened to its section, within"
        " `respond.context_tokens`. 0: only the `rank.top_k` chunks as they are.",
    )
    ask_from: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Ask the language model only if the evidence answers with at least this probability. 0 always asks"
        " it, unless nothing at all was found. A higher value saves calls, and refuses questions that the model could"
        " answer.",
    )
    check: Literal["match", "trained", "model"] = Field(
        default="trained",
        description="How to verify sentences: `match` compares words; `trained` also uses the packaged entailment"
        " model (English only; other languages compare words); `model` also asks the language model.",
    )
    risk: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Share of answers that may be wrong, instead of `respond.abstain_below`. The supported values are"
        " 0.15, 0.2 and 0.3; below 0.15, every answer is an abstention. 0 turns this off.",
    )
    sentences: int = Field(
        default=4,
        ge=1,
        description="Maximum number of sentences that an extractive answer quotes. It quotes lists and code in full.",
    )
    abstain_below: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Answer if the probability that the answer is right is at least this. Below it, Ragstone shows the"
        " passages that may answer, or refuses (`respond.closest_from`).",
    )
    closest_from: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="If the probability is at least this but below `respond.abstain_below`, show the passages that"
        " may answer, labelled as such, instead of a refusal. At 1 there are only answers and refusals.",
    )
    metadata: bool = Field(
        default=True, description="Show the metadata of sources with the answer, and pass it to the model."
    )
    metadata_names: tuple[str, ...] = Field(
        default=(),
        description="Names of the metadata for `respond.metadata`. If it is empty, all metadata is included.",
    )
    summary: bool = Field(
        default=False, description="End each answer with the number of results per search and the two best sources."
    )

    def language_for(self, asked: str) -> str:
        """Return the language of the reply to a question in this language."""
        return self.language or asked

    def shown(self, metadata: Metadata) -> Metadata:
        """Return the metadata of a document that is shown with an answer and passed to the model."""
        named = self.metadata_names or tuple(metadata)
        return {name: value for name, value in metadata.items() if self.metadata and name in named}


class MarkWeights(Section):
    """Weights of the scores that a judge gives. Only their ratio matters."""

    relevance: float = Field(default=1.0, ge=0, description="Weight of relevance in the overall score.")
    factuality: float = Field(default=1.0, ge=0, description="Weight of factuality in the overall score.")
    completeness: float = Field(default=1.0, ge=0, description="Weight of completeness in the overall score.")

    @model_validator(mode="after")
    def _check_sum(self) -> MarkWeights:
        if not any((self.relevance, self.factuality, self.completeness)):
            raise ValueError("one of the weights must be more than 0")
        return self


class ConfidenceWeights(Section):
    """How the confidence of a judged answer is computed."""

    retrieval: float = Field(
        default=1.0, ge=0, description="Weight of the probability, before answering, that the answer is right."
    )
    answer: float = Field(default=1.0, ge=0, description="Weight of the judge's overall score.")
    slope: float = Field(default=1.0, gt=0, le=10, description="Factor for the log odds of the confidence.")
    shift: float = Field(
        default=0.0, ge=-10, le=10, description="Term added to the log odds of the confidence. -0.7 halves the odds."
    )

    @model_validator(mode="after")
    def _check_sum(self) -> ConfidenceWeights:
        if not self.retrieval and not self.answer:
            raise ValueError("one of the weights must be more than 0")
        return self


class TelemetrySettings(Section):
    """Traces and metrics of questions, by OpenTelemetry."""

    to: str = Field(
        default="",
        pattern=r"^(https?://\S+|sdk)?$",
        description="Address of an OTLP receiver over HTTP, such as `http://127.0.0.1:4318`, for a trace and metrics of"
        " each question; or `sdk`, for the SDK that the program has set up. If it is empty, nothing is sent.",
    )
    texts: bool = Field(default=False, description="Whether traces contain questions and answers.")


class ReviewSettings(Section):
    """How evidence and answers are judged, and what is recorded about them."""

    judge: Literal["off", "auto", "model", "heuristic"] = Field(
        default="off",
        description="Judge of evidence and answers: a language model, an offline heuristic that counts words, or"
        " `auto`, which prefers the model.",
    )
    judge_model: str = Field(
        default="", description="Language model that judges. If it is empty, the model that answers also judges."
    )
    marks: MarkWeights = MarkWeights()
    confidence: ConfidenceWeights = ConfidenceWeights()
    responses_days: float = Field(
        default=30.0, ge=0, description="Days to keep answers and conversations. 0 keeps none."
    )
    statistics_days: float = Field(
        default=90.0, ge=0, description="Days to keep hourly counts and latencies. 0 keeps none."
    )
    telemetry: TelemetrySettings = TelemetrySettings()
    mlflow: str = Field(
        default="",
        description="MLflow store that records evaluations, ingests, and questions with their answers: a folder or a"
        " `.db` file, for an SQLite database, or the URL of a server. If it is empty, Ragstone records"
        " nothing in MLflow.",
    )
