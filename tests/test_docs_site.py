"""The documentation as a site: it is built without a network or a broken link, and fetches nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

import ragstone
from tools.docs_site import ROOT, write_sources

pytest.importorskip("zensical", reason="the extra docs is not installed")
pytest.importorskip("mkdocstrings_handlers.python")

PYDANTIC = set(dir(BaseModel))
"""What a class of settings has of its base, which is not documented."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs-site` builds it."""
    folder = tmp_path_factory.mktemp("site")
    write_sources(folder / "build" / "docs-source")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in ("paths: [.]", "extensions: [tools/docs_examples.py]"):
        assert path in config
        config = config.replace(path, re.sub(r"\[(.*)\]", lambda found: f"[{ROOT / found[1]}]", path))
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    program = Path(sys.executable).with_name("zensical")
    command = [str(program), "build", "--strict", "--config-file", "mkdocs.yml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build" / "docs-site"


def members(cls: type) -> set[str]:
    """The public names that a class has of Ragstone, with the fields of its instances."""
    bases = [one for one in cls.__mro__ if one.__module__.startswith("ragstone.")]
    names = {name for one in bases for name in {*vars(one), *one.__annotations__}}
    return {name for name in names if not name.startswith("_") and name not in PYDANTIC}


def test_site_has_all_pages_and_names(site: Path) -> None:
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"]:
        name = {"README": "pages"}.get(page.stem, page.stem.lower() if page.stem.isupper() else page.stem)
        assert (site / f"{name}.html").is_file(), page.name
    assert "shows the exact words" in (site / "index.html").read_text(encoding="utf-8")
    api = (site / "api.html").read_text(encoding="utf-8")
    shown = set(re.findall(r'id="(ragstone[\w.]*)"', api))
    for name in ragstone.__all__:
        assert f"ragstone.{name}" in shown
        assert not members(getattr(ragstone, name)) - {one.rpartition(".")[2] for one in shown if f".{name}." in one}
    assert "Make the knowledge base match the sources" in api, "docstrings of methods"
    assert "&gt;&gt;&gt;" in api, "examples"


def test_records_show_their_parameters() -> None:
    griffe = pytest.importorskip("griffe")
    extensions = griffe.load_extensions(str(ROOT / "tools/docs_examples.py"))
    answer = griffe.load("ragstone.core.answers", search_paths=[ROOT], extensions=extensions)["Answer"]
    assert {"response_id", "question", "citations"} <= {one.name for one in answer.parameters}


def test_every_page_is_in_the_navigation() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    listed = set(re.findall(r"[\w-]+\.md", config))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"} <= listed


def test_pages_fetch_nothing(site: Path) -> None:
    for page in site.glob("*.html"):
        fetched = re.findall(
            r"<(?:script|img|iframe)[^>]*\ssrc=\"?(https?:[^\s\">]*)|<link[^>]*rel=\"?(?:stylesheet|preconnect|icon)\"?[^>]*"
            r"href=\"?(https?:[^\s\">]*)",
            page.read_text(encoding="utf-8"),
        )
        assert not fetched, page.name


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Here\n\nSee [there](there.md).\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: Test\n")
    program = Path(sys.executable).with_name("zensical")
    command = [str(program), "build", "--strict", "--config-file", "mkdocs.yml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode != 0
    assert "page does not exist" in done.stdout + done.stderr
