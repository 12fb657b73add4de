"""Files that only LibreOffice reads, such as those of WordPerfect, if it is installed.

It makes a file of a kind that there is a reader for. It runs with a profile of its own, without macros, without links
to other files, and without a network; it shares the limits of the process that parses files and ends with it.
"""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone.acquire.readers import programs
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office import word
from ragstone.acquire.readers.parsed import File, Parsed

_ALONE = ("--map-root-user", "--net")
"""Arguments of ``unshare`` for a process without a network."""
_ITEM = (
    '<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
)
_PROFILE = (
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("Office.Writer/Content/Update", "Link", "0"),
    ("Office.Calc/Content/Update", "Link", "2"),
    # A proxy that nobody answers for: where the system cannot take the network away.
    ("Inet/Settings", "ooInetProxyType", "1"),
    *(
        setting
        for scheme in ("HTTP", "HTTPS", "FTP")
        for setting in (
            ("Inet/Settings", f"ooInet{scheme}ProxyName", "127.0.0.1"),
            ("Inet/Settings", f"ooInet{scheme}ProxyPort", "9"),
        )
    ),
)


def parse(file: File) -> Parsed:
    """Return the text of a document.

    Raises:
        Unreadable: LibreOffice is not installed, or cannot read it.
    """
    with converted(file) as made:
        parsed = word.parse(replace(file, path=made))
    return replace(parsed, facts={**parsed.facts, "kind": file.suffix.removeprefix(".")})


@contextmanager
def converted(file: File) -> Generator[Path]:
    """Make a docx of a file, which is deleted afterwards.

    Raises:
        Unreadable: LibreOffice is not installed, or cannot read the file.
    """
    if not (program := programs.office()):
        raise Unreadable("only LibreOffice reads it; install LibreOffice, or save it as .docx")
    with TemporaryDirectory(prefix="ragstone-") as folder:
        home = Path(folder)
        given, made = home / f"given{file.suffix}", home / "made" / "given.docx"
        shutil.copyfile(file.path, given)
        (home / "user").mkdir()
        items = "".join(_ITEM.format(path=path, name=name, value=value) for path, name, value in _PROFILE)
        (home / "user" / "registrymodifications.xcu").write_text(
            '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">'
            f"{items}</oor:items>",
            encoding="utf-8",
        )
        command = [program[0], f"-env:UserInstallation={home.as_uri()}", "--headless", "--norestore", "--nologo"]
        command += ["--nolockcheck", "--convert-to", "docx", "--outdir", str(made.parent), str(given)]
        alone = [program[1], *_ALONE, "--"] if len(program) > 1 else []
        # A trial of its own: a file that fails to convert must not be tried again with a network.
        if alone and programs.run([*alone, "true"], home)[0] == 0:
            command = [*alone, *command]
        programs.run(command, home)
        if not made.is_file():
            raise Unreadable("LibreOffice cannot read it; save it as .docx")
        yield made
