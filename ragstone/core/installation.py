"""The commands that add an extra or a package to this installation, wherever it came from."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

NAME = "ragstone"


def install_command(extra: str) -> str:
    """Return the command that installs an extra: from the same source tree, file or repository as this package."""
    tree = Path(__file__).parents[2]
    if (tree / "pyproject.toml").is_file():
        return f"{installer()} -e {_quoted(str(tree), extra)}"
    requirement, home = f"{_quoted(NAME, extra)[:-1]}{_origin()}'", Path(sys.prefix)
    if (home / "pipx_metadata.json").is_file():
        return f"pipx install --force {requirement}"
    if (home / "uv-receipt.toml").is_file():
        return f"uv tool install --force {requirement}"
    if home.parent.name.startswith("archive-v"):  # in the cache of uv, where uvx runs it
        words = sys.argv[1:] if Path(sys.argv[0]).stem == NAME else []  # it installs and runs in one command
        return f"uvx --from {requirement} {shlex.join([NAME, *words])}"
    return f"{installer()} {requirement}"


def installer() -> str:
    """Return the beginning of a command that installs into this environment, from whatever shell the user types it."""
    if find_spec("pip") is None:  # as in environments that uv made
        return f"uv pip install --python {shlex.quote(sys.executable)}"
    pip = shutil.which("pip")
    if pip and Path(pip).parent == Path(sys.executable).parent:
        return "pip install"
    return f"{shlex.quote(sys.executable)} -m pip install"


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
