"""Extension of Griffe for the documentation's site: examples become blocks of code, and records have parameters."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*", flags=re.MULTILINE)


def _data_class() -> griffe.ExprCall:
    """Return the decorator as which Griffe understands `ragstone.core.frozen.frozen`."""
    name = griffe.ExprName("dataclasses.dataclass")
    return griffe.ExprCall(function=name, arguments=[griffe.ExprKeyword(name="kw_only", value="True", function=name)])


class Examples(griffe.Extension):
    """Fences each block that begins with a prompt, and shows records as the data classes that they are."""

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:
        """Change the decorator of a record."""
        for decorator in cls.decorators:
            if decorator.callable_path == "ragstone.core.frozen.frozen":
                decorator.value = _data_class()

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object, if it has one."""
        if obj.docstring:
            obj.docstring.value = _EXAMPLE.sub(
                lambda block: f"```pycon\n{block[0].rstrip()}\n```\n", obj.docstring.value
            )
