"""Questions that come with a picture: a vision model describes it, and its words become part of the question."""

from __future__ import annotations

import asyncio

from ragstone import acquire
from ragstone.core.errors import SettingsError, UsageError
from ragstone.core.request import Request
from ragstone.engine.components import Components

MEGABYTE = 1_000_000
MOST_BYTES = 5 * MEGABYTE
"""Bytes of the file of a picture in a question, at most."""


async def with_picture(version: Components, question: str, picture: bytes, request: Request) -> str:
    """Return a question with the description of its picture, which says whose words these are.

    Args:
        version: of the knowledge base, with the settings of the question.
        question: as typed.
        picture: the file of a picture, such as a PNG or JPEG image; the question itself is returned if it is empty.
        request: who asks, until when, and who pays.

    Raises:
        UsageError: the picture is too large.
        SettingsError: no setting names a vision model, or it cannot be used.
        MissingExtra: the package that decodes pictures is not installed.
        SourceError: it is no picture, or it is damaged.
        ModelError: the model cannot be reached, refuses or fails.
    """
    if not picture:
        return question
    captions = version.models.captions()
    if captions is None:
        raise SettingsError(
            "the question has a picture, but no model describes pictures; name a vision model in"
            " acquire.captions.model, such as openai:NAME or ollama:NAME"
        )
    if len(picture) > MOST_BYTES:
        size, most = (one / MEGABYTE for one in (len(picture), MOST_BYTES))
        raise UsageError(f"the picture has {size:.1f} MB, but at most {most:.0f} MB are allowed; make it smaller")
    image = await asyncio.to_thread(acquire.reduced, picture, version.settings.acquire)
    description = await captions.describe(image, request)
    return f"{question}\n\n(The question came with a picture. {captions.name} describes it: {description})"
