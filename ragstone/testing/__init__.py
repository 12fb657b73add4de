"""Checks of components of your own, the same that Ragstone's own components pass. They need no test framework.

>>> from ragstone.testing import check_embedder
>>> check_embedder(MyEmbedder())

Each ``check_...`` runs all checks of its kind and raises `Failed` at the first that does not hold. With pytest, run
them one by one:

>>> @pytest.mark.parametrize("check", EMBEDDER_CHECKS, ids=lambda check: check.__name__)
... def test_my_embedder(check):
...     check(MyEmbedder())
"""

from __future__ import annotations

from ragstone.testing.chat_models import CHAT_MODEL_CHECKS, check_chat_model
from ragstone.testing.embedders import EMBEDDER_CHECKS, check_embedder
from ragstone.testing.expect import Failed
from ragstone.testing.readers import check_reader
from ragstone.testing.rerankers import RERANKER_CHECKS, check_reranker
from ragstone.testing.sources import check_source
from ragstone.testing.vector_stores import VECTOR_STORE_CHECKS, VectorStoreCase, check_vector_store

__all__ = [
    "CHAT_MODEL_CHECKS",
    "EMBEDDER_CHECKS",
    "RERANKER_CHECKS",
    "VECTOR_STORE_CHECKS",
    "Failed",
    "VectorStoreCase",
    "check_chat_model",
    "check_embedder",
    "check_reader",
    "check_reranker",
    "check_source",
    "check_vector_store",
]
