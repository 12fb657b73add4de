"""What is published: a wheel that works alone, and metadata that an index accepts."""

from __future__ import annotations

import email
import email.message
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from ragstone.core import installation
from ragstone.core.installation import install_command, installer

ROOT = Path(__file__).parent.parent
HOME = "https://git.example/team/ragstone"
LARGEST = 25_000_000
"""Bytes of a wheel."""
USE = """
import ragstone
from pathlib import Path
from ragstone import Document, Ragstone
assert not (Path(ragstone.__file__).parents[1] / "pyproject.toml").exists(), ragstone.__file__
with Ragstone("kb") as kb:
    kb.add(Document(id="pump.md", text="The pump in hall three is blue. It was built in 1987."))
    print(kb.ask("When was the pump in hall three built?"))
"""
pytestmark = pytest.mark.skipif(find_spec("hatchling") is None, reason="needs hatchling")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    environment = {**os.environ, "RAGSTONE_REPOSITORY": HOME}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT, env=environment, check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def wheel(built: Path) -> Path:
    [path] = built.glob("*.whl")
    return path


def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return email.message_from_string(archive.read(name).decode())


def test_wheel_has_the_package_alone(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"ragstone"}
    for name in ("py.typed", "testing/__init__.py", "serve/page/index.html"):
        assert any(one.startswith(f"ragstone/{name}") for one in names), name
    assert not [name for name in names if "/tests/" in name or "__pycache__" in name or name.endswith(".pyc")]


def test_source_can_be_tested(built: Path) -> None:
    [path] = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "tests/conftest.py", "tools/package_metadata.py", "LICENSE", "NOTICE"} <= names
    assert not [name for name in names if "node_modules/" in name]


def test_metadata_leads_to_the_repository(wheel: Path) -> None:
    told = metadata(wheel)
    assert told["License-Expression"] == "Apache-2.0"
    addresses = dict(one.split(", ") for one in told.get_all("Project-URL", []))
    assert addresses.keys() == {"Source", "Documentation", "Changelog", "Issues"}
    assert all(address.startswith(HOME) for address in addresses.values())
    assert "Typing :: Typed" in told.get_all("Classifier", [])
    assert told["Description-Content-Type"] == "text/markdown"
    text = str(told.get_payload())
    assert "![" in text
    assert f"{HOME}/raw/v" in text
    assert "](docs/" not in text


def test_index_accepts_the_files(built: Path) -> None:
    if find_spec("twine") is None:
        pytest.skip("needs twine")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, built.iterdir())], check=True)


def test_wheel_answers_without_the_repository(wheel: Path, tmp_path: Path) -> None:
    """The files of the wheel alone, with the dependencies of this environment."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run([sys.executable, "-P", "-c", USE], cwd=work, env=environment, capture_output=True, text=True)
    assert "1987" in done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("RAGSTONE_SLOW"), reason="RAGSTONE_SLOW is not set; it needs a package index")
@pytest.mark.parametrize("ending", [".whl", ".tar.gz"])
def test_installs_into_an_empty_environment(built: Path, ending: str, tmp_path: Path) -> None:
    """As pipx and uvx do: a fresh environment, whose program is called without activating it."""
    [package] = built.glob(f"*{ending}")
    venv.create(tmp_path / "venv", with_pip=True)
    program = tmp_path / "venv" / "bin"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    requirement = [str(package), "-c", str(ROOT / "constraints.txt")]
    subprocess.run([program / "python", "-m", "pip", "install", "-q", *requirement], check=True, env=environment)
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run([program / "python", "-c", USE], cwd=work, env=environment, capture_output=True, text=True)
    assert "1987" in done.stdout, done.stderr
    (work / "a.md").write_text("The mill in Klaipeda was built in 1820.", encoding="utf-8")
    for words, written in (
        (["add", "a.md"], "1 added"),
        (["ask", "When was the mill in Klaipeda built?"], "built in 1820. [1]"),
        (["--version"], "."),
    ):
        done = subprocess.run([program / "ragstone", *words], cwd=work, env=environment, capture_output=True, text=True)
        assert written in done.stdout, done.stderr
    done = subprocess.run([program / "ragstone", "serve"], cwd=work, env=environment, capture_output=True, text=True)
    assert f"pip install 'ragstone[serve] @ {package.as_uri()}'" in done.stderr
    checked = subprocess.run(
        [program / "python", "-m", "pip", "check"], env=environment, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout


# ---------------------------------------------------------------- extras


@pytest.mark.parametrize(
    ("noted", "requirement"),
    [
        (None, "'ragstone[qdrant]'"),
        ('{"url": "file:///a/ragstone-1.whl"}', "'ragstone[qdrant] @ file:///a/ragstone-1.whl'"),
        (
            '{"url": "https://git.example/r", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
            "'ragstone[qdrant] @ git+https://git.example/r@abc'",
        ),
    ],
)
def test_extra_is_installed_from_the_same_place(
    noted: str | None, requirement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            return noted if name == "direct_url.json" else None

    monkeypatch.setattr(installation, "__file__", str(tmp_path / "site" / "ragstone" / "core" / "installation.py"))
    monkeypatch.setattr(installation, "distribution", lambda _: Installed())
    assert install_command("qdrant") == f"{installer()} {requirement}"


@pytest.mark.parametrize(
    ("home", "mark", "command"),
    [
        ("venvs/ragstone", "pipx_metadata.json", "pipx install --force 'ragstone[qdrant]'"),
        ("tools/ragstone", "uv-receipt.toml", "uv tool install --force 'ragstone[qdrant]'"),
        ("archive-v0/x7", "pyvenv.cfg", "uvx --from 'ragstone[qdrant]' ragstone"),
    ],
)
def test_extra_is_installed_by_the_program_that_installed(
    home: str, mark: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / home).mkdir(parents=True)
    (tmp_path / home / mark).touch()
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "site" / "ragstone" / "core" / "installation.py"))
    monkeypatch.setattr(installation, "_origin", str)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / home))
    assert install_command("qdrant") == command


def test_extra_is_installed_into_a_source_tree() -> None:
    assert install_command("qdrant") == f"{installer()} -e '{ROOT}[qdrant]'"


def test_installs_into_the_environment_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    pip = tmp_path / "pip"
    pip.write_text("#!/bin/sh\n", encoding="utf-8")
    pip.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installer() == "pip install"
    monkeypatch.setenv("PATH", "/nowhere")
    assert installer() == f"{tmp_path / 'python'} -m pip install"
    monkeypatch.setattr(installation, "find_spec", lambda _: None)
    assert installer() == f"uv pip install --python {tmp_path / 'python'}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completes_commands(shell: str) -> None:
    asked = {
        "_RAGSTONE_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "ragstone re",
        "COMP_WORDS": "ragstone re",
    }
    asked |= {"COMP_CWORD": "1", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    program = "from ragstone.serve.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **asked}, capture_output=True, text=True, cwd=ROOT
    )
    assert {"rebuild", "remove", "restore"} <= set(done.stdout.replace('"', " ").replace(":", " ").split()), done
