"""Whether files, their pages and the places of words reach anyone who may not read the document: random readers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from ragstone.core.access import EVERYONE, Reader
from ragstone.core.errors import NotFound
from ragstone.engine.knowledge_base import KnowledgeBase

KINDS, ALIKE = 10, 5
"""Sets of groups, and files that each of them may read."""
WIDTH = 64
_PAGE = """%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Count 1/Kids[4 0 R]>> endobj
3 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
4 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 5 0 R/Resources<</Font<</F1 3 0 R>>>>>> endobj
5 0 obj <</Length {length}>>stream
{drawn}
endstream endobj
trailer <</Root 1 0 R>>
%%EOF
"""


async def wrongly_shown(
    engine: KnowledgeBase, groups: Sequence[str], reader: Callable[[], Reader], chance: random.Random, count: int
) -> int:
    """Return how many of ``count`` requests for files are answered against the rule, or refused in telling words.

    Args:
        engine: files are added to it.
        groups: that may read them; most files are for two, some for everyone or nobody.
        reader: returns a random reader.
        chance: decides what is asked for.
        count: of the requests.
    """
    readable = await _add(engine, groups, chance)
    wrong = 0
    for _ in range(count):
        asked, id = reader(), chance.choice([*readable])
        may = not {EVERYONE, *(asked.groups or ())}.isdisjoint(readable[id])
        for answered in (id, id.rpartition("/")[2]):  # by its full id, and by its name
            wrong += _is_wrong(engine, answered, asked, chance.randrange(5), may=may)
    return wrong


async def _add(engine: KnowledgeBase, groups: Sequence[str], chance: random.Random) -> dict[str, tuple[str, ...]]:
    folder = engine.folder / "uploads"
    folder.mkdir(exist_ok=True)
    readable: dict[str, tuple[str, ...]] = {}
    kinds = [(EVERYONE,), (), *(tuple(chance.sample(groups, 2)) for _ in range(KINDS - 2))]
    for kind, named in enumerate(kinds):
        files = [folder / f"plan-{kind}-{number}.pdf" for number in range(ALIKE)]
        for file in files:
            drawn = f"BT /F1 12 Tf 20 50 Td (The plan of {file.stem} is ready.) Tj ET"
            file.write_text(_PAGE.format(length=len(drawn), drawn=drawn), encoding="ascii")
        await engine.documents.add_uploads(files, groups=named)
        readable |= {f"uploads/{file.name}": named for file in files}
    return readable


def _is_wrong(engine: KnowledgeBase, id: str, reader: Reader, kind: int, *, may: bool) -> bool:
    originals = engine.originals
    try:
        match kind:
            case 0:
                shown = bool(originals.find(id, reader=reader).pages)
            case 1:
                shown = bool(originals.cited(id, 0, 8, reader=reader))
            case 2:
                shown = bool(originals.etag(id, 1, WIDTH, reader=reader))
            case 3:
                shown = originals.draw(id, 1, WIDTH, reader=reader).startswith(b"\x89PNG")
            case _:
                about, file = originals.open(id, reader=reader)
                with file:
                    shown = about.name == Path(id).name and file.read(4) == b"%PDF"
    except NotFound as refusal:
        return may or str(refusal) != f"there is no document '{id}'"
    return shown != may
