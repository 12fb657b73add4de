"""The command that adds an extra to this installation, wherever it came from."""

from __future__ import annotations

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

NAME = "ragstone"


def install_command(extra: str) -> str:
    """Return the command that installs an extra: from the same source tree, file or repository as this package."""
    tree = Path(__file__).parents[2]
    if (tree / "pyproject.toml").is_file():
        return f"pip install -e {_quoted(str(tree), extra)}"
    return f"pip install {_quoted(NAME, extra)[:-1]}{_origin()}'"


def _quoted(what: str, extra: str) -> str:
    """Return a requirement in quotes, because brackets mean something to a shell."""
    given = f"{what}[{extra}]"
    return shlex.quote(given) if "'" in given else f"'{given}'"


def _origin() -> str:
    """Return the address this package was installed from, as a requirement has it; empty for a package index.

    PEP 610 says where pip notes it.
    """
    try:
        noted = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return ""
    if not noted:
        return ""
    origin = json.loads(noted)
    vcs = origin.get("vcs_info")
    if vcs is None:
        return f" @ {origin['url']}"
    return f" @ {vcs['vcs']}+{origin['url']}@{vcs.get('requested_revision') or vcs['commit_id']}"
