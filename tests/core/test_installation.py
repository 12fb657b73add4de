"""The command that installs what is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ragstone.core import installation


def test_uvx_repeats_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    monkeypatch.setattr(installation, "_origin", str)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "archive-v0" / "x"))
    monkeypatch.setattr(sys, "argv", ["/cache/bin/ragstone", "serve", "--kb", "my base"])
    assert installation.install_command("serve") == "uvx --from 'ragstone[serve]' ragstone serve --kb 'my base'"
    monkeypatch.setattr(sys, "argv", ["program.py", "secret"])
    assert installation.install_command("serve") == "uvx --from 'ragstone[serve]' ragstone"
