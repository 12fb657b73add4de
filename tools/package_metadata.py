"""What the package says of itself besides pyproject.toml: where its repository is, and its README with links that work.

The address is that of the repository that builds it: the release workflow knows it, and RAGSTONE_REPOSITORY can name
it. Without one, the package has no addresses, and links in its README stay relative.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\[\]]*)\]\((?P<to>(?![a-z]+:|#)[^)\s]+)\)")


class Metadata(MetadataHookInterface):
    """Fills in README and addresses when the package is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to the metadata."""
        root, home = Path(self.root), repository()
        readme = (root / "README.md").read_text(encoding="utf-8")
        found = re.search(r'__version__ = "(.+)"', (root / "ragstone" / "__init__.py").read_text(encoding="utf-8"))
        tag = f"v{found[1]}" if found else "main"
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(readme, home, tag)}
        if home:
            metadata["urls"] = {
                "Source": home,
                "Documentation": f"{home}/blob/{tag}/docs/python.md",
                "Changelog": f"{home}/blob/{tag}/CHANGELOG.md",
                "Issues": f"{home}/issues",
            }


def repository() -> str:
    """Return the address of the repository; empty if it is unknown."""
    server, name = os.environ.get("GITHUB_SERVER_URL", ""), os.environ.get("GITHUB_REPOSITORY", "")
    return os.environ.get("RAGSTONE_REPOSITORY", f"{server}/{name}" if server and name else "").rstrip("/")


def absolute(readme: str, home: str, tag: str) -> str:
    """Return Markdown whose relative links and pictures lead to a tag of the repository; as it is without one."""

    def link(found: re.Match[str]) -> str:
        kind = "raw" if found["image"] else "blob"
        return f"{found['image']}[{found['text']}]({home}/{kind}/{tag}/{found['to']})"

    return _LINK.sub(link, readme) if home else readme
