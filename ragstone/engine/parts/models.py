"""The models of a version: what embeds, reads, reranks, writes and judges."""

from __future__ import annotations

from ragstone import chunk, index, rank
from ragstone.core.answers import Draft
from ragstone.core.errors import SettingsError
from ragstone.core.frozen import frozen
from ragstone.core.protocols import (
    Answerer,
    ChatModel,
    Embedder,
    Judge,
    Reranker,
    TokenEmbedder,
    TokenMatcher,
)
from ragstone.core.records import Evidence
from ragstone.core.request import Request
from ragstone.engine.built import BuiltWith, unavailable_embedder
from ragstone.engine.cached_models import CachedEmbedder, CachedModel, CachedService, CachedTokenEmbedder
from ragstone.engine.captions import MAX_TOKENS, Captions, refuse_blind
from ragstone.engine.lazy import Lazy
from ragstone.engine.leaving import model_address, served_at
from ragstone.engine.parts.history import HistoryParts
from ragstone.engine.parts.indexes import IndexParts
from ragstone.engine.parts.source import Source
from ragstone.query.outside import Outside, build_outside
from ragstone.respond import build_answerer
from ragstone.respond.writing.overview import OverviewWriter, build_overview_writer
from ragstone.respond.writing.tiers import TieredAnswerer, unproved
from ragstone.review.confidence import overall
from ragstone.review.heuristic import HeuristicJudge
from ragstone.review.judge import build_judge, marks
from ragstone.services.metered import Metered, MeteredEmbedder
from ragstone.services.models import build_chat_model
from ragstone.settings import Settings
from ragstone.settings.services import ModelSettings
from ragstone.storage.cache import Cache

LEAST_SUPPORT = 0.8
"""Share of the sentences of a cheaper model's answer that the documents must support."""
LEAST_MARKS = 0.7
"""Overall score from which a judge accepts a cheaper model's answer."""


@frozen
class ModelParts:
    """The readers and writers.

    ``chat``, ``overviews``, ``judge``, ``reranker`` and ``captions`` are None if the settings name none.
    """

    embedder: Lazy[Embedder]
    question_embedder: Lazy[Embedder]
    token_embedder: Lazy[TokenEmbedder]
    matcher: Lazy[TokenMatcher]
    chat: Lazy[ChatModel | None]
    answerer: Lazy[Answerer]
    overviews: Lazy[OverviewWriter | None]
    judge: Lazy[Judge | None]
    reranker: Lazy[Reranker | None]
    outside: Lazy[tuple[Outside, ...]]
    captions: Lazy[Captions | None]


def build_embedder(
    source: Source, settings: Settings, built: BuiltWith, history: HistoryParts, cache: Lazy[Cache]
) -> Lazy[Embedder]:
    """Return the embedder that the settings name; calls of a service are metered and cached."""
    own, services, name = settings.index, settings.services, settings.index.embedder

    def build() -> Embedder:
        try:
            embedder = source.build_embedder(own, services)
        except SettingsError as refusal:
            if name == built.settings["index.embedder"] and services.missing(name):
                raise unavailable_embedder(refusal, name, source.location.folder) from refusal
            raise
        if not name.startswith(index.SERVICES):
            return embedder
        metered = MeteredEmbedder(embedder, name, services, history.spending(), served_at(name, services))
        return CachedService(metered, cache(), batch=own.batch_size)

    basis = (name, own.dimensions, own.threads, own.batch_size, services, settings.cache)
    return source.shared.part("embedder", basis, build)


def build_models(
    source: Source,
    settings: Settings,
    built: BuiltWith,
    history: HistoryParts,
    cache: Lazy[Cache],
    indexes: IndexParts,
    embedder: Lazy[Embedder],
) -> ModelParts:
    """Return the models that the settings name."""
    pool, own = source.own, settings.respond
    reads = (settings.index, settings.cache, own, settings.services, built.embedder)
    words = indexes.words

    def token_embedder() -> TokenEmbedder:
        made = embedder()
        if not isinstance(made, TokenEmbedder):  # a third-party embedder may give no token vectors
            made = index.build_token_embedder(settings.index)
        return CachedTokenEmbedder(made, cache())

    tokens = pool.part("token embedder", reads, token_embedder)
    matcher = pool.part("matcher", reads, lambda: rank.build_matcher(tokens(), words().weigh))
    chat = source.shared.part(
        "chat model",
        (own.model, settings.services, settings.cache),
        lambda: _cached(own.model, settings, history, cache),
    )

    threads = settings.index.threads
    claims = source.shared.part("claim model", threads, lambda: index.build_claim_model(threads))
    passages = source.shared.part("passage model", threads, lambda: index.build_passage_model(threads))

    def answerer_with(model: ChatModel | None) -> Answerer:
        return build_answerer(
            own,
            matcher=matcher(),
            sentences=chunk.sentences,
            weigh=words().weigh,
            model=model,
            occurs=lambda asked, request: words().known(asked, "", request),
            embedder=tokens().fingerprint,
            entailment=claims,
            reader=passages,
        )

    def answerer() -> Answerer:
        if not own.cheap or chat() is None:
            return answerer_with(chat())
        cheap = _cached(own.model.model_copy(update={"name": own.cheap}), settings, history, cache)
        return TieredAnswerer(answerer_with(cheap), answerer_with(chat()), dissatisfied)

    async def dissatisfied(evidence: Evidence, draft: Draft, request: Request) -> str:
        """Return why the cheap model's answer is not good enough, by its proof and the judge; empty if it is."""
        why = unproved(draft, least=LEAST_SUPPORT, abstain_below=own.abstain_below)
        if why or draft.abstained or (marker := judge()) is None:
            return why
        scores, _ = await marks(marker, evidence, draft.text, request)
        if scores is None or overall(scores, settings.review.marks) >= LEAST_MARKS:
            return ""
        return f"{scores.judge} gives the first model's answer {overall(scores, settings.review.marks):.0%}"

    def build_the_judge() -> Judge | None:
        review = settings.review
        if review.judge == "off":
            return None
        model = chat()
        if review.judge_model:
            model = _cached(own.model.model_copy(update={"name": review.judge_model}), settings, history, cache)
        stand_in = HeuristicJudge(
            terms=indexes.analyzer(),
            weigh=words().weigh,
            sentences=chunk.sentences,
            answerability=lambda evidence, request: answering().answerability(evidence, request),
        )
        return build_judge(review, model, stand_in)

    def question_embedder() -> Embedder:
        made = embedder()
        return made if isinstance(made, CachedService) else CachedEmbedder(made, cache())

    answering = pool.part("answerer", (*reads, settings.review if own.cheap else None), answerer)
    judge = pool.part("judge", (*reads, settings.review), build_the_judge)

    def reranker() -> Reranker | None:
        if settings.rank.reranker == "none":  # then no model need be loaded
            return None
        return rank.build_reranker(settings.rank, matcher(), chat() if settings.rank.reranker == "model" else None)

    return ModelParts(
        embedder=embedder,
        question_embedder=Lazy(question_embedder),
        token_embedder=tokens,
        matcher=matcher,
        chat=chat,
        answerer=answering,
        overviews=pool.part(
            "overviews", reads, lambda: build_overview_writer(own, chat(), answerer_with(chat())) if chat() else None
        ),
        judge=judge,
        reranker=pool.part("reranker", (*reads, settings.rank.reranker), reranker),
        outside=pool.part(
            "outside",
            (settings.query.web, settings.query.tools, settings.services),
            lambda: build_outside(settings.query, settings.services),
        ),
        captions=source.shared.part(
            "captions",
            (settings.acquire.captions, settings.services, settings.cache),
            lambda: _captions(settings, history, cache),
        ),
    )


def _captions(settings: Settings, history: HistoryParts, cache: Lazy[Cache]) -> Captions | None:
    """Return what describes pictures.

    Raises:
        MissingExtra, SettingsError: as of `refuse_blind`.
    """
    name = settings.acquire.captions.model.strip()
    if not name:
        return None
    refuse_blind(settings)
    model = metered(ModelSettings(name=name, temperature=0.0, max_tokens=MAX_TOKENS), settings, history)
    return Captions(model, cache(), settings.services) if model else None


def _cached(named: ModelSettings, settings: Settings, history: HistoryParts, cache: Lazy[Cache]) -> ChatModel | None:
    """Return the language model of this name; its calls are metered, limited by the budget, and cached."""
    model = metered(named, settings, history)
    if model is None:
        return None
    return CachedModel(model, cache(), (named, settings.services.endpoint(model.name.partition(":")[0])))


def metered(named: ModelSettings, settings: Settings, history: HistoryParts) -> ChatModel | None:
    """Return the language model of this name; its calls are metered, and limited by the budget."""
    model, services = build_chat_model(named, settings.services), settings.services
    if model is None:
        return None
    address = model_address(named, services)
    return Metered(model, services, history.spending(), longest=named.max_tokens, address=address)
