"""Extension of Griffe for the documentation's site: it reads what only shows when the code runs.

Examples become blocks of code, records are data classes, methods that wrap others have their parameters and docstrings,
and settings have their descriptions.
"""

from __future__ import annotations

import re
from ast import literal_eval
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*", flags=re.MULTILINE)
_WRAPPERS = {"blocking": "", "iterating": "Generator"}
"""The functions that make a method of `Ragstone` from one that is awaited, and what it then returns instead."""


def _data_class() -> griffe.ExprCall:
    """Return the decorator as which Griffe understands `ragstone.core.frozen.frozen`."""
    name = griffe.ExprName("dataclasses.dataclass")
    return griffe.ExprCall(function=name, arguments=[griffe.ExprKeyword(name="kw_only", value="True", function=name)])


class Examples(griffe.Extension):
    """Shows examples, records, wrapped methods and settings as what they are."""

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

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Complete the members that other modules define."""
        if "serve" in pkg.members and "blocking" in pkg["serve"].members:
            for cls in pkg["serve.blocking"].classes.values():
                for name, attribute in list(cls.attributes.items()):
                    if method := _wrapped(attribute, pkg):
                        cls.set_member(name, method)
        if "settings" in pkg.members and "Settings" in pkg["settings"].members:
            for attribute in pkg["settings.Settings"].attributes.values():
                attribute.docstring = attribute.docstring or _described(attribute, pkg)


def _described(attribute: griffe.Attribute, pkg: griffe.Module) -> griffe.Docstring | None:
    """Return the description of a setting, or the docstring of a section of settings."""
    if isinstance(attribute.value, griffe.ExprCall) and attribute.value.canonical_path == "pydantic.Field":
        for argument in attribute.value.arguments:
            if isinstance(argument, griffe.ExprKeyword) and argument.name == "description":
                return griffe.Docstring(literal_eval(str(argument.value)), parent=attribute)
    if isinstance(attribute.annotation, griffe.ExprName):
        section = attribute.annotation.canonical_path
        return pkg.modules_collection[section].docstring if section.startswith("ragstone.") else None
    return None


def _wrapped(attribute: griffe.Attribute, pkg: griffe.Module) -> griffe.Function | None:
    """Return the method that an attribute is: ``ask = blocking(AsyncRagstone.ask)``."""
    call = attribute.value
    if not (isinstance(call, griffe.ExprCall) and str(call.function) in _WRAPPERS and len(call.arguments) == 1):
        return None
    (method,) = call.arguments
    if isinstance(method, str):
        return None
    awaited = pkg.modules_collection[method.canonical_path]
    returned = awaited.returns
    if _WRAPPERS[str(call.function)] and isinstance(returned, griffe.ExprSubscript):
        returned = griffe.ExprSubscript(griffe.ExprName(_WRAPPERS[str(call.function)]), returned.slice)
    return griffe.Function(
        attribute.name,
        lineno=attribute.lineno,
        endlineno=attribute.endlineno,
        parameters=awaited.parameters,
        returns=returned,
        docstring=awaited.docstring,
    )
