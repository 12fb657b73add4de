"""A feature of a preset, the room it is tried in, and what was seen."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common import COMMAND, ROOT
from benchmarks.serving import serve_process

SECONDS = 600
"""After this long a command is stopped, and its feature has failed."""
KEPT = ("HOME", "PATH", "LANG", "TMPDIR", "SSL_CERT_FILE", "LD_LIBRARY_PATH")
"""The variables of the caller that commands see. Keys and settings are not among them."""
SHOWN = 400
"""The most characters of a failed command's output that are shown."""


class Failed(Exception):
    """The feature does not work; the message says what was seen."""


class Unavailable(Exception):
    """The feature cannot be tried on this machine; the message says why."""


def expect(holds: object, otherwise: str) -> None:
    """Fail the feature with the message unless the condition holds.

    Raises:
        Failed: it does not.
    """
    if not holds:
        raise Failed(otherwise)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def all(self) -> str:
        return f"{self.out}\n{self.err}"

    def json(self) -> Any:
        """Return standard output as JSON.

        Raises:
            Failed: it is something else.
        """
        try:
            return json.loads(self.out)
        except json.JSONDecodeError as error:
            raise Failed(f"no JSON but: {short(self.all)}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The status and body of an HTTP answer."""

    status: int
    body: str

    def json(self) -> Any:
        """Return the body as JSON.

        Raises:
            Failed: it is something else.
        """
        try:
            return json.loads(self.body)
        except json.JSONDecodeError as error:
            raise Failed(f"status {self.status}, no JSON but: {short(self.body)}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A running `ragstone serve`, as an HTTP client sees it."""

    url: str
    key: str = ""

    def get(self, path: str) -> Reply:
        return self._send(path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Reply:
        return self._send(path, json.dumps(body).encode())

    def _send(self, path: str, data: bytes | None) -> Reply:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        request = urllib.request.Request(self.url + path, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return Reply(status=answer.status, body=answer.read().decode())
        except urllib.error.HTTPError as refused:
            with refused:
                return Reply(status=refused.code, body=refused.read().decode())


@dataclass(slots=True, kw_only=True)
class Room:
    """Where the features of one preset are tried.

    Attributes:
        preset: the preset that ``added`` and ``serving`` use.
        folder: the working folder of every command.
        data: the folder of data sets.
        quick: whether to measure on less.
    """

    preset: str
    folder: Path
    data: Path
    quick: bool = False
    _made: dict[str, Path] = field(default_factory=dict[str, Path])

    def run(self, *words: str | Path, stdin: str = "", **variables: str) -> Output:
        """Run ``ragstone`` with these words, and with these environment variables beside `KEPT`.

        Raises:
            Failed: it does not end in time.
        """
        try:
            ended = subprocess.run(
                [*COMMAND, *map(str, words)],
                input=stdin,
                capture_output=True,
                text=True,
                check=False,
                cwd=self.folder,
                env=self._environment(variables),
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"ragstone {words[0]} did not end in {SECONDS} s") from error
        return Output(status=ended.returncode, out=ended.stdout, err=ended.stderr)

    def ok(self, *words: str | Path, stdin: str = "", **variables: str) -> Output:
        """Run ``ragstone`` and return its output.

        Raises:
            Failed: the exit status is not 0.
        """
        output = self.run(*words, stdin=stdin, **variables)
        expect(output.status == 0, f"ragstone {words[0]} ended with {output.status}: {short(output.all)}")
        return output

    def json(self, *words: str | Path, **variables: str) -> Any:
        """Run ``ragstone`` and return its standard output as JSON.

        Raises:
            Failed: the exit status is not 0, or the output is not JSON.
        """
        return self.ok(*words, **variables).json()

    def added(self, name: str, *words: str | Path, **variables: str) -> Path:
        """Return a knowledge base of the preset, made by the first feature that needs it.

        Args:
            name: its folder.
            words: what ``ragstone add`` adds, and options.
            variables: environment variables.

        Raises:
            Failed: it cannot be made.
        """
        if name not in self._made:
            kb = self.folder / name
            self.ok("add", "--kb", kb, "--preset", self.preset, *words, **variables)
            self._made[name] = kb
        return self._made[name]

    @contextmanager
    def serving(self, kb: Path, *words: str, key: str = "", **variables: str) -> Generator[Site]:
        """Serve a knowledge base with the preset until the block ends."""
        with serve_process(["--kb", str(kb), "--preset", self.preset, *words], self._environment(variables)) as server:
            yield Site(url=f"http://{server.host}:{server.port}", key=key)

    def _environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return kept | {"PYTHONPATH": str(ROOT), **variables}


Try = Callable[[Room], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A feature, the command that shows it, and how to try it."""

    name: str
    command: str
    run: Try


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of a feature: whether it works (None: it cannot be tried here), and what was seen."""

    feature: Feature
    works: bool | None
    seen: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A preset, the data sets it is tried on, and its features in order."""

    preset: str
    data: tuple[str, ...]
    features: list[Feature] = field(default_factory=list[Feature])

    def feature(self, name: str, command: str) -> Callable[[Try], Try]:
        """Register a function as the trial of a feature.

        Args:
            name: what a user would call it, in lower case; unique within the preset.
            command: what a user types, for the table.

        Raises:
            ValueError: there is one of that name.
        """

        def register(run: Try) -> Try:
            if any(one.name == name for one in self.features):
                raise ValueError(f"{self.preset} has two features named {name}")
            self.features.append(Feature(name=name, command=command, run=run))
            return run

        return register

    def tried(self, room: Room, only: str = "") -> Generator[Seen]:
        """Try the features whose names contain ``only``, one after another."""
        for feature in self.features:
            if only in feature.name:
                yield tried(feature, room)


def tried(feature: Feature, room: Room) -> Seen:
    """Try a feature. Whatever it raises becomes what was seen."""
    began = time.monotonic()
    works: bool | None
    try:
        works, seen = True, feature.run(room)
    except Unavailable as error:
        works, seen = None, str(error)
    except Failed as error:
        works, seen = False, str(error)
    except Exception as error:  # a trial that stumbles has not shown the feature
        works, seen = False, f"{type(error).__name__}: {short(str(error))}"
    return Seen(feature=feature, works=works, seen=seen, seconds=time.monotonic() - began)


def short(text: str) -> str:
    """Return the end of a text on one line."""
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= SHOWN else f"... {line[-SHOWN:]}"
