"""Write the sources of the documentation's site into build/docs-source: what is in docs/, and more.

README and the other pages of the root become pages of the site, a page lists the public names from their docstrings,
and files that pages link to are copied. Then `make docs-site` builds the site from them.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import ragstone

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "build" / "docs-source"
PAGES: Mapping[str, str] = {
    "README.md": "index.md",
    "docs/README.md": "pages.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""Pages that stand elsewhere in the repository, and their names in the site."""
LINK = re.compile(r"(?P<before>\]\()(?P<to>(?![a-z]+:|#|/)[^)\s#]+)")


def write_sources(folder: Path) -> None:
    """Write all sources into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.md"))
    pages = [*PAGES, *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md") if page.name != "README.md")]
    for path in pages:
        text = (ROOT / path).read_text(encoding="utf-8")
        (folder / in_site(path)).write_text(with_links(text, path), encoding="utf-8")
        for target in linked(text, path):
            to = folder / in_site(target)
            if (ROOT / target).is_file() and target not in pages and not to.exists():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / target, to)
    (folder / "api.md").write_text(api_page(), encoding="utf-8")


def with_links(text: str, source: str) -> str:
    """Return the text of a page of the repository with links to where their targets are in the site."""
    folder = posixpath.dirname(source)

    def moved(found: re.Match[str]) -> str:
        return found["before"] + in_site(posixpath.normpath(posixpath.join(folder, found["to"])))

    return LINK.sub(moved, text)


def in_site(path: str) -> str:
    """Return the name in the site of a file of the repository."""
    if path in PAGES:
        return PAGES[path]
    # A suffix of its own, because a generator would make a page of a text in Markdown.
    return path.removeprefix("docs/") if path.startswith("docs/") else f"files/{path}".replace(".md", ".md.txt")


def linked(text: str, source: str) -> Iterator[str]:
    """Yield the paths in the repository that a page links to."""
    folder = posixpath.dirname(source)
    return (posixpath.normpath(posixpath.join(folder, found["to"])) for found in LINK.finditer(text))


def api_page() -> str:
    """Return a page of all public names, which mkdocstrings fills in from the code."""
    names = "\n\n".join(f"::: ragstone.{name}" for name in ragstone.__all__)
    return f"# Python API\n\n[From Python](python.md) shows how these are used.\n\n{names}\n"


if __name__ == "__main__":
    write_sources(SOURCE)
    print(f"wrote {SOURCE}")
