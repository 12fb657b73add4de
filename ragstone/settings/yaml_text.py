"""Parse YAML with the C library if it is there. Without it, the word lists of all languages take 0.3 s to load.

The parser is imported when something is parsed, because most questions need no YAML.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

_BOOL = "tag:yaml.org,2002:bool"


class NotYaml(ValueError):
    """A text is not YAML."""


def read_yaml(text: str) -> Any:
    """Return the plain values in a YAML text. Tags that create objects are refused.

    Raises:
        NotYaml: the text is not YAML.
    """
    return _read(text, _loader())


def read_words(text: str) -> Any:
    """Return the values in a YAML text of words: "on" and "no" are words there, and never true or false.

    Raises:
        NotYaml: the text is not YAML.
    """
    return _read(text, _word_loader())


def read_word_file(file: Path) -> Any:
    """Return the values in a YAML file of words, as `read_words` does.

    Parsing the files of all languages takes a tenth of the processor time of ``ragstone ask``. The values are therefore
    kept as JSON, where Python keeps the bytecode of modules and under the same conditions.

    Raises:
        NotYaml: the text is not YAML.
    """
    kept = Path(cache_from_source(str(file))).with_suffix(".json")
    stamp = [[about.st_size, about.st_mtime_ns] for about in (file.stat(), Path(__file__).stat())]
    with suppress(OSError, ValueError, TypeError):
        of, values = json.loads(kept.read_bytes())
        if of == stamp:
            return values
    values = read_words(file.read_text(encoding="utf-8"))
    if not sys.dont_write_bytecode:
        _keep(kept, [stamp, values])
    return values


def _keep(kept: Path, values: Any) -> None:
    """Write a file of values if JSON returns them as they are; not where the folder cannot be written.

    Other processes see the old file or the new one, never a part.
    """
    from tempfile import NamedTemporaryFile

    text = json.dumps(values)
    if json.loads(text) != values:
        return
    with suppress(OSError):
        kept.parent.mkdir(exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=kept.parent, prefix=f"{kept.name}.", delete=False) as part:
            part.write(text)
        Path(part.name).replace(kept)


def _read(text: str, loader: Any) -> Any:
    import yaml

    try:
        return yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        raise NotYaml(str(error)) from error


@cache
def _loader() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _word_loader() -> Any:
    """Return a loader without truth values, because "on", "no" and "yes" are words of languages."""
    loader = _loader()
    resolvers = {
        first: [(tag, pattern) for tag, pattern in some if tag != _BOOL]
        for first, some in loader.yaml_implicit_resolvers.items()
    }
    return type("WordLoader", (loader,), {"yaml_implicit_resolvers": resolvers})
