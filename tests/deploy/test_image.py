"""The image's own steps, and what a container of it does: started, asked, stopped, started again.

The steps are run from the Dockerfile itself, and the process as in a container: its user, its variables, a root that it
cannot write to. ``make images-check`` does the same on a whole Debian.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from dockerfile import Builder, Built

import ragstone
from servers.openai_server import KEY, OpenAIServer

SLOW = 90
"""Seconds after which what was waited for counts as never coming."""
USER = 10001
DEPLOY = Path(__file__).parent.parent.parent / "deploy"
QUESTION = "What is room 7 called?"


@dataclass(slots=True, kw_only=True)
class Container:
    """A process of the image under way."""

    process: subprocess.Popen[str]
    port: int
    data: Path
    log: list[str]

    def healthy(self) -> Container:
        """Itself, once it answers."""
        self.until(self._answers)
        return self

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until the condition holds, as long as the process runs."""
        end = time.monotonic() + SLOW
        while not holds():
            assert self.process.poll() is None, "".join(self.log)
            assert time.monotonic() < end, "".join(self.log)
            time.sleep(0.05)

    def _answers(self) -> bool:
        with suppress(OSError):
            return self.get("/health")[0] == 200
        return False

    def get(
        self, path: str, body: object = None, *, key: str = "", accept: str = "application/json"
    ) -> tuple[int, str]:
        """Status and text of an answer; a question where there is a body."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=SLOW, context=_trusting())
        headers = {"Accept": accept, "Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {key}"} if key else {}
        try:
            connection.request("GET" if body is None else "POST", path, body and json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def ask(self, key: str) -> Any:
        status, text = self.get("/query", {"question": QUESTION}, key=key)
        assert status == 200, text
        return json.loads(text)

    @property
    def key(self) -> str:
        return (self.data / "admin-key").read_text().strip()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SLOW)


@cache
def _trusting() -> ssl.SSLContext:
    """Return a context that takes any certificate; made once, as making one reads those of all authorities."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return trusting


def as_user(command: list[str]) -> list[str]:
    """The command as the image's user, where the tests are root's; it may read what it needs of the tests' Python."""
    if os.geteuid():
        return command
    only = [
        "--inh-caps=-all,+dac_read_search",
        "--ambient-caps=+dac_read_search",
        "--bounding-set=-all,+dac_read_search",
    ]
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs", *only, *command]


def variables(image: Built, data: Path, **more: str) -> dict[str, str]:
    return image.variables() | {"HOME": str(data), "HF_HOME": str(data / "models"), **more}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@contextmanager
def started(image: Built, data: Path, *command: str, **environment: str) -> Iterator[Container]:
    """The entry point, as a container runs it; ``data`` is its volume."""
    port = free_port()
    environment = variables(image, data, RAGSTONE_SERVE__PORT=str(port), TLS="yes") | environment
    entry = [image.placed(word) for word in json.loads(image.said["ENTRYPOINT"])]
    with subprocess.Popen(
        as_user([*entry, *command]),
        cwd=data,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        log: list[str] = []
        reading = threading.Thread(target=log.extend, args=(process.stdout,), daemon=True)
        reading.start()
        try:
            yield Container(process=process, port=port, data=data, log=log)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            reading.join()


@pytest.fixture
def data(image: Built) -> Iterator[Path]:
    """A fresh volume with a document, which only the image's user may enter."""
    folder = image.root.parent / f"data-{time.monotonic_ns()}"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "a.txt").write_text("Room 7 is called Marie Curie. It has twelve seats.")
    if not os.geteuid():
        os.chown(folder, USER, USER)
    folder.chmod(0o750)
    yield folder
    shutil.rmtree(folder)


def state(root: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in root.rglob("*")}


# ---------------------------------------------------------------- the image


def test_ran_every_step_of_the_dockerfile(image: Built, builder: Builder) -> None:
    assert [command.split()[0] for command in builder.left_out] == ["apt-get", "groupadd", "apt-get"]
    done = subprocess.run(["ragstone", "--version"], env=image.variables(), capture_output=True, text=True, check=True)
    assert done.stdout == f"ragstone {ragstone.__version__}\n"
    installed = next((image.root / "opt/ragstone/lib").glob("python3*/site-packages"))
    assert (installed / "ragstone" / "serve").is_dir()
    assert not (installed / "pip").exists()
    assert not (image.root / "src").exists()


def test_image_declares_how_to_run(image: Built) -> None:
    assert image.said["USER"] == f"{USER}:{USER}"
    assert json.loads(image.said["VOLUME"]) == ["/data"]
    assert image.workdir == "/data"
    assert image.said["STOPSIGNAL"] == "SIGTERM"
    assert image.said["EXPOSE"] == image.environment["RAGSTONE_SERVE__PORT"]
    assert image.arguments["VERSION"] == ragstone.__version__
    for name in ("title", "description", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{name}=" in image.said["LABEL"]


# ---------------------------------------------------------------- a container


def test_first_and_second_start(image: Built, data: Path) -> None:
    root = image.root / "opt"
    before = state(root)
    with started(image, data) as first:
        first.healthy()
        key, key_file = first.key, data / "admin-key"
        assert key_file.stat().st_mode & 0o777 == 0o600
        assert first.get("/query", {"question": QUESTION})[0] == 401
        assert "Marie Curie" in first.ask(key)["answer"]
        health = [image.placed(word) for word in json.loads(image.said["HEALTHCHECK"].removeprefix("CMD "))]
        environment = variables(image, data, RAGSTONE_SERVE__PORT=str(first.port), TLS="yes")
        health[0] = shutil.which(health[0], path=environment["PATH"]) or ""
        assert subprocess.run(as_user(health), env=environment, check=False).returncode == 0
        other = environment | {"TLS": "no"}
        assert subprocess.run(as_user(health), env=other, check=False, capture_output=True).returncode == 1
        certificate = ssl.get_server_certificate(("127.0.0.1", first.port))
        assert first.stop() == 0
    assert key not in "".join(first.log)
    assert key.split("_", 2)[2] not in "".join(first.log)
    assert state(root) == before

    (data / "documents" / "a.txt").unlink()
    with started(image, data) as second:
        second.healthy()
        assert "serving the stored ones" in "".join(second.log)
        assert second.key == key
        assert "Marie Curie" in second.ask(key)["answer"]
        assert ssl.get_server_certificate(("127.0.0.1", second.port)) == certificate
        key_file.unlink()
        assert second.stop() == 0

    with started(image, data, DOCUMENTS="") as third:
        third.healthy()
        assert not key_file.exists(), "a key that was taken away is not made again"
        assert third.get("/query", {"question": QUESTION}, key=key)[0] == 200
        assert third.stop() == 0


def test_answers_finish_when_the_container_stops(image: Built, data: Path) -> None:
    said = "Room 7 is called Marie Curie. It has twelve seats."
    with OpenAIServer(lambda _: said, pause=0.3) as model:
        environment = {
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": KEY,
            "RAGSTONE_RESPOND__MODEL__NAME": "openai:slow",
        }
        with started(image, data, **environment) as container:
            container.healthy()
            answers: list[tuple[int, str]] = []

            def ask() -> None:
                events = {"accept": "text/event-stream", "key": container.key}
                answers.append(container.get("/query", {"question": QUESTION}, **events))

            asking = threading.Thread(target=ask)
            asking.start()
            end = time.monotonic() + SLOW
            while not model.asked and time.monotonic() < end:
                time.sleep(0.02)
            assert container.stop() == 0
            asking.join(SLOW)
    (answer,) = answers
    assert answer[0] == 200
    assert "event: answer" in answer[1]
    assert "twelve seats" in answer[1]
    assert KEY not in "".join(container.log)


def test_stops_while_reading_documents(image: Built, data: Path) -> None:
    """The shell is process 1 then, to which a signal does nothing unless it is handed on."""
    for number in range(3000):
        (data / "documents" / f"{number}.txt").write_text(f"Note {number} is about the number {number * 7919}.")
    with started(image, data) as container:
        end = time.monotonic() + SLOW
        while not (data / ".ragstone" / "lock").exists() and time.monotonic() < end:
            time.sleep(0.02)
        assert container.stop() == 143
        assert not (data / "admin-key").exists()


def test_wrong_settings_end_the_container(image: Built, data: Path) -> None:
    with started(image, data, RAGSTONE_CHUNK__SISE="1") as container:
        assert container.process.wait(SLOW) == 2
    assert "RAGSTONE_CHUNK__SISE" in "".join(container.log)


COMPOSED = [
    (file.name, name)
    for file in sorted(DEPLOY.glob("compose*.yaml"))
    for name, service in yaml.safe_load(file.read_text("utf-8"))["services"].items()
    if "build" in service or str(service["image"]).startswith("${IMAGE")
]


@pytest.mark.parametrize(("file", "name"), COMPOSED)
def test_starts_as_compose_starts_it(file: str, name: str, image: Built, data: Path) -> None:
    given = {"MODEL": "extractive", "EVERY": "0.2s"}
    text = (DEPLOY / file).read_text("utf-8")
    service = yaml.safe_load(re.sub(r"\$\{(\w+):-([^}]*)\}", lambda at: given.get(at[1], at[2]), text))["services"][
        name
    ]
    environment = {key: str(value) for key, value in service.get("environment", {}).items()}
    words, port = [str(word) for word in service.get("command", [])], free_port()
    if "--port" in words or words[:1] == ["lab"]:
        words += ["--port", str(port)]
    if words[:1] == ["lab"]:  # it compares settings of what is stored
        with started(image, data, "sync", "documents", **environment) as first:
            assert first.process.wait(SLOW) == 0, "".join(first.log)
    with started(image, data, *words, **environment) as container:
        if words[:1] == ["worker"]:
            container.until(lambda: any(" documents: 1 added" in line for line in container.log))
        else:
            container.until(lambda: answers(port if "--port" in words else container.port))


def answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_runs_other_commands(image: Built, data: Path) -> None:
    with started(image, data, "worker", "documents", "--every", "0.2s") as worker:
        worker.until(lambda: any(" documents: 1 added" in line for line in worker.log))
        assert worker.stop() == 0
