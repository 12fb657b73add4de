"""How questions are answered, and answers judged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ragstone.services import ModelSettings, Section


class RespondSettings(Section):
    model: ModelSettings = ModelSettings()
    cheap: str = Field(
        default="", description="a cheaper model, tried first; model only writes where it does not satisfy"
    )
    cheap_support: float = Field(
        default=0.8, ge=0, le=1, description="share of the cheaper model's sentences that the documents must prove"
    )
    cheap_marks: float = Field(
        default=0.7, ge=0, le=1, description="a judge's marks, as a share of the best, that the cheaper model must get"
    )
    prompt: str = Field(default="default", description="prompt of a language model: a shipped name, or a path")
    language: str = Field(default="", description="language of answers, ISO 639-1; empty: that of the question")
    context_tokens: int = Field(default=6000, ge=100, description="tokens of evidence and conversation in a prompt")
    memory_tokens: int = Field(
        default=1000, ge=0, description="tokens of a conversation that a question may lean on; 0: none"
    )
    memory_days: float = Field(default=30.0, ge=0, description="days that conversations are kept; 0: they are not")
    excerpt_characters: int = Field(default=0, ge=0, description="characters of each chunk in a prompt; 0: all")
    unsupported: Literal["flag", "drop"] = Field(
        default="flag", description="what becomes of a written sentence that the documents do not prove"
    )
    eager: bool = Field(
        default=True,
        description="ask the model while it is estimated whether the evidence answers: sooner, and a prompt more is"
        " paid for where it does not",
    )
    check: Literal["match", "model"] = Field(
        default="match", description="how sentences are proved: by matching words; model: a model looks again"
    )
    risk: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="share of answers that may be wrong; takes the place of abstain_below: 0.15, 0.2 and 0.3"
        " can be promised, below nothing is answered; 0: off",
    )
    passages: int = Field(default=3, ge=1, description="best chunks an extractive answer reads sentence by sentence")
    sentences: int = Field(default=3, ge=1, description="most sentences an extractive answer quotes")
    abstain_below: float = Field(
        default=0.5, ge=0, le=1, description="abstain where the evidence answers with less than this probability"
    )
    metadata: bool = Field(
        default=True, description="show a source's metadata beside the answer, and to prompts that have room for them"
    )
    summary: bool = Field(
        default=False, description="end an answer with how much each search found, and its two best sources"
    )


class MarkWeights(Section):
    """What each mark of a judge counts; only their proportion matters."""

    relevance: float = Field(default=1.0, ge=0, description="weight of the mark for relevance; a third like the others")
    factuality: float = Field(default=1.0, ge=0, description="weight of the mark for factuality")
    completeness: float = Field(default=1.0, ge=0, description="weight of the mark for completeness")

    @model_validator(mode="after")
    def _counts(self) -> MarkWeights:
        if not any((self.relevance, self.factuality, self.completeness)):
            raise ValueError("one of the weights must be more than 0")
        return self


class ConfidenceWeights(Section):
    """What the confidence in a judged answer is made of, by proportion, and how far to trust that number."""

    retrieval: float = Field(
        default=1.0, ge=0, description="weight of the probability, before answering, that the evidence answers"
    )
    answer: float = Field(default=1.0, ge=0, description="weight of the judge's marks for the answer")
    slope: float = Field(default=1.0, gt=0, le=10, description="what the confidence's log odds are multiplied by")
    shift: float = Field(default=0.0, ge=-10, le=10, description="what is added to them: -0.7 halves the odds")

    @model_validator(mode="after")
    def _counts(self) -> ConfidenceWeights:
        if not self.retrieval and not self.answer:
            raise ValueError("one of the weights must be more than 0")
        return self


class JudgeModelSettings(ModelSettings):
    """The language model that judges."""

    name: str = Field(default="", description="empty: the model that answers; another as in respond.model.name")
    temperature: float = Field(default=0.0, ge=0, le=2, description="0: the same marks for the same answer")


class ReviewSettings(Section):
    judge_model: JudgeModelSettings = JudgeModelSettings()
    marks: MarkWeights = MarkWeights()
    confidence: ConfidenceWeights = ConfidenceWeights()
    judge: Literal["off", "auto", "model", "heuristic"] = Field(
        default="off",
        description="marks evidence and answers: a language model, or heuristic, an offline stand-in that counts"
        " words; auto: the model where there is one",
    )
    evidence_tokens: int = Field(default=4000, ge=100, description="tokens of evidence that a judging model reads")
    responses_days: float = Field(
        default=30.0, ge=0, description="days that answers are kept, to be looked at again and rated; 0: they are not"
    )
    statistics_days: float = Field(
        default=90.0, ge=0, description="days that counts of questions and their times are kept by the hour; 0: none"
    )
    statistics_seconds: float = Field(
        default=300.0, gt=0, description="seconds after which counts in memory are saved; they are at the end, too"
    )
    mlflow: str = Field(
        default="", description="MLflow store that measurements are recorded in: a folder or address; empty: none"
    )
