"""Embedding models by name, or from a folder, with sentence-transformers.

Many models expect a prefix that marks a text as a question or a passage. The prefix comes from the model's
configuration, or from a small table for families whose files omit it.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.core.errors import MissingExtra, SettingsError
from ragstone.core.protocols import Role
from ragstone.core.records import Span, TokenVectors
from ragstone.core.request import Request
from ragstone.core.threads import computed

try:
    import sentence_transformers  # pyright: ignore[reportMissingImports]
except ModuleNotFoundError as error:
    raise MissingExtra("sentence-transformers", extra="sentence-transformers") from error

library: Any = sentence_transformers

if TYPE_CHECKING:
    from ragstone.core.records import Vector

PROMPTS: Mapping[str, Mapping[Role, str]] = {
    r"(^|[-_/])e5-(small|base|large)": {"query": "query: ", "passage": "passage: "},
    r"(^|/)bge-(small|base|large)-en": {
        "query": "Represent this sentence for searching relevant passages: ",
        "passage": "",
    },
}
"""The prefixes that authors of models use but omit from the configuration, by the name of the model."""
OWN = {"query": ("query",), "passage": ("passage", "document", "corpus")}
"""What configurations call the two roles."""


class SentenceTransformersEmbedder:
    """A model from the Hugging Face hub, downloaded if necessary, or from a folder."""

    def __init__(self, name: str, *, threads: int = 0) -> None:
        """Load the model.

        Args:
            name: on the hub, such as ``intfloat/multilingual-e5-large``, or the path of a folder.
            threads: threads of one call; 0 leaves that to torch.

        Raises:
            SettingsError: there is no such model, or it cannot be fetched.
        """
        if threads:
            import torch  # pyright: ignore[reportMissingImports]

            torch.set_num_threads(threads)  # pyright: ignore[reportUnknownMemberType]
        try:
            self._model = library.SentenceTransformer(name)
        except (OSError, ValueError, RuntimeError) as error:
            first = str(error).strip().partition("\n")[0]
            raise SettingsError(f"index.embedder: sentence-transformers cannot load '{name}': {first}") from error
        self._tokenizer = self._model.tokenizer
        self.dimensions = int(self._model.encode("a").shape[0])
        self._prompts = prompts(name, self._model.prompts)
        reach = self._model.max_seq_length or self._tokenizer.model_max_length
        markers = len(self._tokenizer("")["input_ids"])
        lead = max(len(self._cut(prompt)) for prompt in self._prompts.values())
        self._window = min(int(reach), 8192) - markers - lead
        self.fingerprint = f"sentence-transformers-{name}-{_of_weights(self._model)}-window{self._window}"

    def familiarity(self, text: str) -> float:
        """Return the share of words without an unknown token; 1 for most models, which can spell any word."""
        unknown = self._tokenizer.unk_token_id
        words = text.split()
        if unknown is None or not words:
            return 1.0
        ids = self._tokenizer(words, add_special_tokens=False)["input_ids"]
        return sum(unknown not in word for word in ids) / len(words)

    def tokens(self, text: str) -> list[Span]:
        """Return the tokens of a text, however long, in order."""
        return self._cut(text)

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:  # noqa: ARG002
        """Return a vector for each text, L2-normalised; a text longer than the model's window is read in windows."""
        return await asyncio.to_thread(self._embed, texts, role)

    async def embed_tokens(
        self,
        texts: Sequence[str],
        *,
        role: Role,
        request: Request,
    ) -> list[TokenVectors]:
        """Return the vectors of each text's own tokens, L2-normalised; a text longer than the model's window is cut."""
        return await computed(partial(self._embed_tokens, texts, role), can_wait=request.can_wait)

    def _embed(self, texts: Sequence[str], role: Role) -> Vector:
        windows = [self._windows(text) for text in texts]
        flat = [window for one in windows for window in one]
        sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if flat:
            vectors = self._model.encode(
                flat, prompt=self._prompts[role] or None, normalize_embeddings=True, show_progress_bar=False
            )
            owners = [owner for owner, one in enumerate(windows) for _ in one]
            np.add.at(sums, owners, np.asarray(vectors, dtype=np.float32))
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)

    def _embed_tokens(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        prompt = self._prompts[role]
        out = list[TokenVectors]()
        for text in texts:
            (found,) = self._model.encode(
                [text], prompt=prompt or None, output_value="token_embeddings", show_progress_bar=False
            )
            vectors = found.float().cpu().numpy()
            offsets = self._tokenizer(prompt + text, return_offsets_mapping=True)["offset_mapping"][: len(vectors)]
            own = [(i, a - len(prompt), b - len(prompt)) for i, (a, b) in enumerate(offsets) if a >= len(prompt)]
            kept = [(i, max(a, 0), b) for i, a, b in own if b > a]
            vectors = vectors[[i for i, _, _ in kept]]
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
            out.append(TokenVectors(vectors=vectors, spans=tuple(Span(start=a, end=b) for _, a, b in kept)))
        return out

    def _windows(self, text: str) -> list[str]:
        """Return the text in pieces of about equal length that fit the model's window."""
        tokens = self._cut(text)
        count = max(1, -(-len(tokens) // self._window))
        starts = [0, *(tokens[len(tokens) * i // count].start for i in range(1, count)), len(text)]
        return [text[start:end] for start, end in pairwise(starts)]

    def _cut(self, text: str) -> list[Span]:
        encoded = self._tokenizer(text, add_special_tokens=False, truncation=False, return_offsets_mapping=True)
        return [Span(start=start, end=end) for start, end in encoded["offset_mapping"] if end > start]


def prompts(name: str, configured: Mapping[str, str]) -> Mapping[Role, str]:
    """Return the prefixes of questions and passages: those of the model's configuration, of the table, or none."""
    own = {role: next((configured[one] for one in names if configured.get(one)), "") for role, names in OWN.items()}
    if any(own.values()):
        return {"query": own["query"], "passage": own["passage"]}
    for pattern, known in PROMPTS.items():
        if re.search(pattern, name.lower()):
            return known
    return {"query": "", "passage": ""}


def _of_weights(model: Any) -> str:
    """Return a hash of the first numbers of each tensor, which changes with the weights."""
    digest = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        digest.update(name.encode() + tensor.flatten()[:64].float().cpu().numpy().tobytes())
    return digest.hexdigest()[:12]
