"""A Dockerfile read and run without an engine: its steps, in folders that stand for the file systems of its stages.

What belongs to the system (packages of Debian, its users) needs a root of its own and is run by ``make images-check``;
here everything else is, with each absolute path below the stage's folder and with no variable but the file's own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import string
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

OF_THE_SYSTEM = ("apt-get ", "groupadd ")
"""What the steps begin with that are left to ``make images-check``."""
PLACES = ("/opt/ragstone", "/src", "/data")
"""What the file makes; any other absolute path is the system's."""
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One instruction: its name, its options, and the rest of it."""

    name: str
    options: Mapping[str, str]
    rest: str

    @property
    def words(self) -> list[str]:
        return json.loads(self.rest) if self.rest.startswith("[") else shlex.split(self.rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    name: str
    base: str
    steps: tuple[Step, ...]


def parse(text: str) -> tuple[dict[str, str], list[Stage]]:
    """The arguments that stand before the first stage, and the stages."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    arguments: dict[str, str] = {}
    stages: list[tuple[str, str, list[Step]]] = []
    for line in whole.splitlines():
        name, _, rest = line.partition(" ")
        options = {}
        while found := re.match(r"--([a-z-]+)=(\S+)\s+", rest):
            options[found[1]], rest = found[2], rest[found.end() :]
        if name == "FROM":
            base, _, stage = rest.partition(" AS ")
            stages.append((stage, base, []))
        elif stages:
            stages[-1][2].append(Step(name=name, options=options, rest=rest))
        else:
            arguments |= dict([rest.split("=", 1)])
    return arguments, [Stage(name=name, base=base, steps=tuple(steps)) for name, base, steps in stages]


@dataclass(slots=True, kw_only=True)
class Built:
    """A stage that was run: its folder, and what its image says of itself."""

    root: Path
    environment: dict[str, str]
    arguments: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    said: dict[str, str] = field(default_factory=dict)

    def placed(self, text: str) -> str:
        """The same with the places of the file below this stage's folder."""
        return re.sub(rf"(?<![\w./-])({'|'.join(PLACES)})(?=[/:\s\"']|$)", lambda at: f"{self.root}{at[1]}", text)

    def path(self, text: str) -> Path:
        """A path of the image, as a path here."""
        return self.root / os.path.normpath(f"{self.workdir}/{text}" if text[0] != "/" else text).lstrip("/")

    def variables(self) -> dict[str, str]:
        """The environment of a process in it."""
        return {name: self.placed(value) for name, value in self.environment.items()}


class Builder:
    """Runs the stages of a file, each when one that builds on it is asked for.

    ``environment`` is lent to the steps that run; ``path`` is where they find the programs of the system. ``rewritten``
    has texts for files of the context, by their names.
    """

    def __init__(
        self,
        file: Path,
        context: Path,
        folder: Path,
        *,
        environment: Mapping[str, str],
        rewritten: Mapping[str, str],
        path: str = SYSTEM_PATH,
    ) -> None:
        self._arguments, stages = parse(file.read_text(encoding="utf-8"))
        self._stages = {stage.name: stage for stage in stages}
        self._context, self._folder, self._lent, self._path = context, folder, environment, path
        self._built: dict[str, Built] = {}
        self._rewritten = rewritten
        self.left_out: list[str] = []
        """Commands of the system, which were not run."""

    def build(self, name: str) -> Built:
        if name not in self._built:
            self._built[name] = self._run(self._stages[name])
        return self._built[name]

    def _run(self, stage: Stage) -> Built:
        built = Built(root=self._folder / stage.name, environment={"PATH": self._path})
        built.root.mkdir(parents=True)
        if stage.base in self._stages:
            base = self.build(stage.base)
            shutil.copytree(base.root, built.root, symlinks=True, dirs_exist_ok=True)
            built.environment, built.workdir = dict(base.environment), base.workdir
            _move(base.root, built.root)
        for step in stage.steps:
            self._step(built, step)
        return built

    def _step(self, built: Built, step: Step) -> None:
        values = {**built.arguments, **built.environment}
        match step.name:
            case "ARG":
                name, _, value = step.rest.partition("=")
                built.arguments[name] = value or self._arguments.get(name, "")
            case "ENV":
                for pair in shlex.split(string.Template(step.rest).safe_substitute(values)):
                    name, _, value = pair.partition("=")
                    built.environment[name] = value
            case "WORKDIR":
                built.workdir = step.rest
                built.path(".").mkdir(parents=True, exist_ok=True)
            case "COPY":
                *sources, target = string.Template(step.rest).substitute(values).split()
                origin = self.build(step.options["from"]).root if "from" in step.options else self._context
                for source in sources:
                    self._copy(origin, source.lstrip("/"), target, built, step.options.get("chmod"))
                if "from" in step.options:
                    _move(origin, built.root)
            case "RUN" if step.rest.startswith(OF_THE_SYSTEM):
                self.left_out.append(step.rest)
            case "RUN":
                environment = built.arguments | built.variables() | dict(self._lent)
                command = ["sh", "-c", built.placed(step.rest)]
                done = subprocess.run(
                    command, cwd=built.path("."), env=environment, capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, f"{step.rest}\n{done.stdout}\n{done.stderr}"
            case _:
                built.said[step.name] = step.rest

    def _copy(self, origin: Path, source: str, target: str, built: Built, mode: str | None) -> None:
        place, found = built.path(target), origin / source
        if found.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(found, place, symlinks=True, dirs_exist_ok=True, ignore=ignored)
            for name, text in self._rewritten.items():
                if name.startswith(f"{source.rstrip('/')}/"):
                    (place / Path(name).relative_to(source)).write_text(text)
            return
        place = place / found.name if target.endswith("/") else place
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(found, place)
        if mode:
            place.chmod(int(mode, 8))


def _move(old: Path, new: Path) -> None:
    """Let the scripts of a copied environment name the folder that they are in now, as they do in an image."""
    for script in new.glob("opt/*/bin/*"):
        if not script.is_symlink() and (text := script.read_bytes()).startswith(b"#!"):
            script.write_bytes(text.replace(bytes(old), bytes(new)))
