"""An answer on a terminal while it is written; what stands there in the end is printed by whoever asked."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

from ragstone.answers import Answer, Answered, Event, TextWritten
from ragstone.errors import ResponseError
from ragstone.serve.screen import printable

if TYPE_CHECKING:
    from collections.abc import Callable


async def watched(events: AsyncGenerator[Event], *, quiet: bool = False) -> Answer:
    """The answer; on a terminal its words are shown as they come, unless ``quiet``, and wiped off when it is whole."""
    text = ""
    with _area(quiet=quiet) as show:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Answered):
                    return event.answer
                if isinstance(event, TextWritten):
                    text += event.text
                    show(text)
    raise ResponseError("the stream ended without an answer")


@contextmanager
def _area(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Lines of a terminal that can be written anew; elsewhere nothing is shown."""
    if quiet or not sys.stdout.isatty():
        yield lambda _: None
        return
    from rich.live import Live
    from rich.text import Text

    with Live(Text(""), refresh_per_second=12, transient=True) as live:
        yield lambda text: live.update(Text(printable(text)))
