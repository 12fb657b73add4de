"""Extension of Griffe: examples in docstrings become blocks of code in the documentation's site."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*", flags=re.MULTILINE)


class Examples(griffe.Extension):
    """Fences each block that begins with a prompt."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object, if it has one."""
        if obj.docstring:
            obj.docstring.value = _EXAMPLE.sub(
                lambda block: f"```pycon\n{block[0].rstrip()}\n```\n", obj.docstring.value
            )
