"""Build the image of deploy/Dockerfile on a fresh Debian, start it, ask it, stop it. ``make images-check`` runs it.

It needs no Docker: debootstrap makes the Debian, buildah runs every step of the file in it, and the result runs as a
container does, with its own user and variables, a read-only root, a volume, and a /tmp in memory. It must run as root
on Debian or Ubuntu. It takes some minutes and 3 GB under /var/tmp, which it removes at the end.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

ROOT = Path(__file__).parent.parent
SUITE = "trixie"
PORT = 18443
WAIT = 180


def main() -> int:
    if os.geteuid() or not shutil.which("apt-get"):
        print("run this as root on Debian or Ubuntu: it makes a root folder and enters it", file=sys.stderr)
        return 1
    missing = [tool for tool in ("buildah", "debootstrap") if not shutil.which(tool)]
    if missing:
        _run("apt-get", "update", "-qq")
        _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing)
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ragstone-image-") as folder:
        builder = Builder(Path(folder))
        base = builder.base()
        print(f"a fresh Debian {base}", flush=True)
        for variant in sys.argv[1:] or ["cpu"]:
            started = time.monotonic()
            name = builder.build(base, variant)
            print(f"{variant}: all steps ran in {time.monotonic() - started:.0f} s", flush=True)
            with builder.mounted(name) as (root, config):
                size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())
                print(f"{variant}: {size / 1e6:,.0f} MB unpacked, user {config['User']}", flush=True)
                _try_out(root, config, Path(folder))
            print(f"{variant}: started, answered, stopped, started again with the same key", flush=True)
    return 0


class Builder:
    """Runs buildah with its storage in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._storage = ["--storage-driver", "vfs", "--root", f"{folder}/storage", "--runroot", f"{folder}/run"]

    def _buildah(self, *words: str | Path) -> str:
        return _run("buildah", *self._storage, *words)

    def base(self) -> str:
        """Make an image of a fresh Debian under the name in the Dockerfile; return its version."""
        debian = self._folder / "debian"
        _run("debootstrap", "--variant=minbase", SUITE, debian)
        version = (debian / "etc" / "debian_version").read_text().strip()
        container = self._buildah("from", "scratch").strip()
        self._buildah("add", "--quiet", container, debian, "/")
        self._buildah("commit", "--quiet", "--rm", container, f"docker.io/library/debian:{version}-slim")
        shutil.rmtree(debian)
        return version

    def build(self, base: str, variant: str) -> str:
        """Run every step of the Dockerfile; return the name of the image."""
        name = f"ragstone:{variant}"
        lent: list[str] = []
        if bundle := os.environ.get("SSL_CERT_FILE"):  # a proxy has a certificate of its own
            conf = self._folder / "pip.conf"
            conf.write_text("[global]\ncert = /run/bundle.pem\n")
            lent = ["-v", f"{bundle}:/run/bundle.pem:ro", "-v", f"{conf}:/etc/pip.conf:ro"]
        arguments = ["--build-arg", f"BASE=debian:{base}-slim", "--build-arg", f"VARIANT={variant}"]
        file = ROOT / "deploy" / "Dockerfile"
        options = ["--isolation", "chroot", "--pull-never", "--format", "docker", "-f", str(file), "-t", name]
        self._buildah("bud", *options, *arguments, *lent, ROOT)
        return name

    @contextmanager
    def mounted(self, name: str) -> Generator[tuple[Path, dict[str, Any]]]:
        """Mount an image; yield its root and its configuration."""
        container = self._buildah("from", "--pull-never", name).strip()
        try:
            root = Path(self._buildah("mount", container).strip())
            yield root, json.loads(self._buildah("inspect", "--type", "image", name))["Docker"]["config"]
        finally:
            self._buildah("umount", container)
            self._buildah("rm", container)


def _try_out(root: Path, config: Mapping[str, Any], folder: Path) -> None:
    data = folder / f"data-{root.name}"
    (data / "documents").mkdir(parents=True)
    (data / "documents" / "a.txt").write_text("Room 7 is called Marie Curie. It has twelve seats.")
    os.chown(data, 10001, 10001)
    with _entered(root, config, data) as address:
        key = (data / "admin-key").read_text().strip()
        answer = _ask(address, key)
        assert "Marie Curie" in answer, answer
        assert (data / "admin-key").stat().st_mode & 0o777 == 0o600
    with _entered(root, config, data) as address:
        assert _ask(address, key) == answer
    shutil.rmtree(data)


@contextmanager
def _entered(root: Path, config: Mapping[str, Any], data: Path) -> Generator[str]:
    """Run the entry point in a namespace of its own, with a read-only root, and end it with SIGTERM."""
    inside = (
        'set -e; mount --bind "$0" "$0"; mount --bind "$1" "$0/data"; mount -o remount,bind,ro "$0";'
        ' mount -t tmpfs tmp "$0/tmp"; mount -t proc proc "$0/proc"; root=$0; shift;'
        ' if touch "$root/x" 2>/dev/null; then echo "the root can be written"; exit 1; fi;'
        ' exec chroot --userspec="$USER_IDS" "$root" "$@"'
    )
    environment: dict[str, str] = dict(pair.split("=", 1) for pair in config["Env"])
    environment |= {"TLS": "yes", "RAGSTONE_SERVE__PORT": str(PORT), "USER_IDS": config["User"]}
    start: list[str] = ["sh", "-c", f'cd {config["WorkingDir"]} && exec "$@"', "-", *config["Entrypoint"]]
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inside, root, data, *start]
    with subprocess.Popen([*map(str, command)], env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = f"https://127.0.0.1:{PORT}"
            end = time.monotonic() + WAIT
            while not _alive(address):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < end, "the server did not answer /health in time"
                time.sleep(0.2)
            yield address
            (server,) = _children(process.pid)
            os.kill(server, 15)
            assert process.wait(60) == 0, process.returncode
        finally:
            process.kill()


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _alive(address: str) -> bool:
    with suppress(OSError), urlopen(f"{address}/health", context=_trusting(), timeout=5) as response:
        return response.status == 200
    return False


def _ask(address: str, key: str) -> str:
    body = json.dumps({"question": "What is room 7 called?"}).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urlopen(Request(f"{address}/query", body, headers), context=_trusting(), timeout=60) as response:
        return json.load(response)["answer"]


def _trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _run(*command: str | Path) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
