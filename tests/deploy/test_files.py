"""The files for Docker, Compose, Kubernetes, systemd and GitHub, each checked by its own tools."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dockerfile import Stage, parse

import ragstone
from ragstone.settings import Settings
from ragstone.settings.load import PREFIX, leaves, parse_overrides
from ragstone.settings.substitutes import ENGINES

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COMPOSES = sorted(DEPLOY.glob("compose*.yaml"))
BIN = Path(sys.executable).parent


def ran(*command: str | Path) -> str:
    """Run a tool that has to succeed, and return its output."""
    done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def loaded(file: Path) -> list[dict[str, Any]]:
    return [part for part in yaml.safe_load_all(file.read_text("utf-8")) if part]


# ---------------------------------------------------------------- Docker


@pytest.fixture(scope="module")
def stages() -> list[Stage]:
    return parse((DEPLOY / "Dockerfile").read_text("utf-8"))[1]


def test_hadolint_accepts_the_dockerfile() -> None:
    # Debian keeps one version of a package in a release; one that is named is gone with the next security fix.
    ran(BIN / "hadolint", "--no-color", "--ignore", "DL3008", DEPLOY / "Dockerfile")


def test_base_image_is_pinned(stages: list[Stage]) -> None:
    arguments, _ = parse((DEPLOY / "Dockerfile").read_text("utf-8"))
    assert re.fullmatch(r"debian:\d+\.\d+-slim", arguments["BASE"])
    own = {stage.name for stage in stages}
    assert {stage.base for stage in stages} - own == {"${BASE}"}


def test_dockerfile_has_no_secrets_or_downloads(stages: list[Stage]) -> None:
    for stage in stages:
        for step in stage.steps:
            assert step.name != "ADD"
            assert not re.search(r"\b(curl|wget)\b", step.rest)
            if step.name in ("ARG", "ENV"):
                assert not re.search(r"(?i)(secret|password|token|api_?key)", step.rest), step.rest
            if "apt-get install" in step.rest:
                assert "--no-install-recommends" in step.rest
                assert step.rest.endswith("rm -rf /var/lib/apt/lists/*")


def test_build_context_has_only_copied_files(stages: list[Stage]) -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert ignored[1] == "*"
    sent = {line[1:].removesuffix("/**") for line in ignored if line.startswith("!")}
    copied = {
        source
        for stage in stages
        for step in stage.steps
        if step.name == "COPY" and "from" not in step.options
        for source in step.rest.split()[:-1]
    }
    assert all(source in sent or source.partition("/")[0] in sent for source in copied)
    assert not sent & {".env", ".git", ".ragstone", "tests"}
    assert all((ROOT / source.replace("${VARIANT}", "cpu")).exists() for source in copied)


def test_variants_use_known_extras_and_pins() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    pinned = _pins(ROOT / "constraints.txt")
    named = {}
    for variant in ("cpu", "cuda"):
        file = DEPLOY / "variants" / f"{variant}.txt"
        named[variant] = {
            name for names in re.findall(r"^\.\[(.*)\]$", file.read_text(), re.M) for name in names.split(",")
        }
        assert named[variant] <= set(extras)
        twice = {name: version for name, version in _pins(file).items() if pinned.get(name, version) != version}
        assert not twice, "pip would find no version that both allow"
    assert named["cpu"] >= {"serve", "lab", "mcp", "openai", "multilingual", *ENGINES}
    assert (DEPLOY / "variants" / "cuda.txt").read_text("utf-8").count("\n-r cpu.txt\n") == 1
    assert named["cuda"] == {"transformers", "sentence-transformers"}
    pinned |= _pins(DEPLOY / "variants" / "cpu.txt")
    cuda = _pins(DEPLOY / "variants" / "cuda.txt")
    assert {"torch", "transformers", "sentence-transformers"} <= set(cuda)
    wanted = {re.match(r"[\w.-]+", one)[0].lower() for name in named["cpu"] for one in extras[name]}  # pyright: ignore
    assert wanted <= set(pinned)


def _pins(file: Path) -> dict[str, str]:
    lines = [line for line in file.read_text("utf-8").splitlines() if re.match(r"[\w.-]+==", line)]
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in (line.split("==") for line in lines)}


def test_scripts_are_plain_shell() -> None:
    for script in [DEPLOY / "entrypoint.sh", *sorted((ROOT / "tools").glob("*.sh"))]:
        ran("sh", "-n", script)
        assert "set -eu" in script.read_text("utf-8")
    assert (DEPLOY / "entrypoint.sh").stat().st_mode & 0o111


# ---------------------------------------------------------------- Compose


def test_compose_files_match_the_specification() -> None:
    assert len(COMPOSES) == 3
    ran(BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", *COMPOSES)


@pytest.mark.parametrize("file", COMPOSES, ids=lambda file: file.name)
def test_compose_reads_the_files(file: Path) -> None:
    command = ["docker", "compose", "-f", str(file), "--profile", "*", "config", "--format", "json"]
    if not shutil.which("docker") or "unknown command" in _said("docker", "compose", "version"):
        pytest.skip("Docker's compose is not installed; the files were checked against its schema")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "level=warning" not in done.stderr, done.stderr
    for service in json.loads(done.stdout)["services"].values():
        build = service.get("build")
        assert not build or Path(build["context"], build["dockerfile"]) == DEPLOY / "Dockerfile"


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_production_services_are_hardened() -> None:
    own = [
        (file.name, name, service)
        for file in COMPOSES
        if file.name != "compose.dev.yaml"
        for name, service in loaded(file)[0]["services"].items()
        if str(service["image"]).startswith("${IMAGE")
    ]
    assert len(own) == 5
    for file, name, service in own:
        where = f"{file}: {name}"
        assert service["read_only"] is True, where
        assert service["cap_drop"] == ["ALL"], where
        assert "no-new-privileges:true" in service["security_opt"], where
        assert "privileged" not in service, where
        assert "data:/data" in service["volumes"], where
        assert any(volume.endswith(":/data/documents:ro") for volume in service["volumes"]), where
        assert any(mount.startswith("/tmp") for mount in service["tmpfs"]), where


def test_third_party_images_are_pinned() -> None:
    images = [
        service["image"] for file in COMPOSES for service in loaded(file)[0]["services"].values() if "image" in service
    ]
    for image in images:
        if image.startswith("${IMAGE"):
            assert re.search(rf":-ragstone:{re.escape(ragstone.__version__)}(-cuda)?}}$", image), image
        else:
            assert re.search(r":v?\d+\.\d+\.\d+[\w.-]*$", image), image


# ---------------------------------------------------------------- Kubernetes


@pytest.fixture(scope="module")
def manifests() -> list[dict[str, Any]]:
    folder = DEPLOY / "kubernetes"
    listed = loaded(folder / "kustomization.yaml")[0]["resources"]
    assert sorted(listed) == sorted(file.name for file in folder.glob("*.yaml") if file.name != "kustomization.yaml")
    return [manifest for name in listed for manifest in loaded(folder / name)]


def test_manifests_match_kubernetes_schemas(manifests: list[dict[str, Any]]) -> None:
    import kubernetes_validate

    for manifest in manifests:
        for version in ("1.30", "1.37"):
            kubernetes_validate.validate(manifest, version, strict=True)
    assert {manifest["kind"] for manifest in manifests} == {
        "Namespace", "PersistentVolumeClaim", "StatefulSet", "Service", "CronJob", "NetworkPolicy",
    }  # fmt: skip


def pods(manifests: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for manifest in manifests:
        match manifest:
            case {"kind": "StatefulSet", "spec": {"template": {"spec": pod}}}:
                yield pod
            case {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": pod}}}}}:
                yield pod


def test_pods_meet_the_restricted_standard(manifests: list[dict[str, Any]]) -> None:
    assert len(list(pods(manifests))) == 2
    for pod in pods(manifests):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False, "RAGSTONE_SERVICE_HOST would be an unknown setting"
        for container in pod["containers"]:
            allowed = container["securityContext"]
            assert allowed["allowPrivilegeEscalation"] is False
            assert allowed["readOnlyRootFilesystem"] is True
            assert allowed["capabilities"] == {"drop": ["ALL"]}
            assert "memory" in container["resources"]["limits"]
            claims = {volume["name"] for volume in pod["volumes"]}
            assert {mount["name"] for mount in container["volumeMounts"]} == claims


def test_selectors_match_the_pods(manifests: list[dict[str, Any]]) -> None:
    one = {manifest["kind"]: manifest for manifest in manifests}
    labels = one["StatefulSet"]["spec"]["template"]["metadata"]["labels"]
    assert one["StatefulSet"]["spec"]["selector"]["matchLabels"] == labels == one["Service"]["spec"]["selector"]
    assert one["StatefulSet"]["spec"]["serviceName"] == one["Service"]["metadata"]["name"]
    job = one["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]
    (near,) = job["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert near["labelSelector"]["matchLabels"] == labels
    (chosen,) = one["NetworkPolicy"]["spec"]["podSelector"]["matchExpressions"]
    assert set(chosen["values"]) == {*labels.values(), *job["metadata"]["labels"].values()}
    (container,) = one["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    ports = {port["name"] for port in container["ports"]}
    assert {container[f"{kind}Probe"]["httpGet"]["port"] for kind in ("startup", "liveness", "readiness")} <= ports
    assert container["livenessProbe"]["httpGet"]["path"] == "/health"
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"


def test_commands_of_manifests_exist(manifests: list[dict[str, Any]]) -> None:
    given = [container["args"] for pod in pods(manifests) for container in pod["containers"] if "args" in container]
    given += [
        [str(word) for word in service["command"]]
        for file in COMPOSES
        for service in loaded(file)[0]["services"].values()
        if ("command" in service and "build" in service)
        or (service.get("image", "").startswith("${IMAGE") and "command" in service)
    ]
    assert len(given) >= 4
    for words in given:
        _parsed([re.sub(r"\$\{\w+:-(.*)\}", r"\1", word) for word in words])


def _parsed(words: list[str]) -> None:
    """Read a command line of ragstone as the program would; nothing is run."""
    import typer

    from ragstone.serve.cli.app import app
    from ragstone.serve.cli.options import spelled_out

    group: Any = typer.main.get_command(app)
    with group.make_context("ragstone", spelled_out(words)) as context:
        name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        command.make_context(name, rest, parent=context).close()


# ---------------------------------------------------------------- settings

NO_SETTINGS = {"RAGSTONE_TEST_DATA", "RAGSTONE_TEST_FULL", "RAGSTONE_SLOW", "RAGSTONE_SHOP_KEY"}
"""Variables that tests read, and one of an example's own program."""
DESCRIBED = [
    *(path for folder in ("deploy", "docs", "examples") for path in sorted((ROOT / folder).rglob("*"))),
    *(ROOT / name for name in ("README.md", "Makefile")),
]


@pytest.mark.parametrize(
    "file",
    [
        path
        for path in DESCRIBED
        if path.is_file() and "alderwren" not in path.parts and path.suffix not in (".png", ".webp", ".pyc")
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_variables_in_files_are_settings(file: Path) -> None:
    known = {PREFIX + path.upper().replace(".", "__") for path, _, _ in leaves(Settings())} | NO_SETTINGS
    parts = {"__".join(name.split("__")[:count]) for name in known for count in (1, 2, 3)}
    named = set(re.findall(r"\bRAGSTONE_[A-Z0-9_]*[A-Z0-9]", file.read_text("utf-8")))
    own = {name for name in named if re.match(r"RAGSTONE_(SERVICES__SERVERS|QUERY__TOOLS|ACQUIRE__SITES)__", name)}
    assert named - own <= known | parts
    for name in own:  # sections that users name; only their last part is a setting
        parse_overrides([f"{name.removeprefix('RAGSTONE_').lower().replace('__', '.')}=x"])


# ---------------------------------------------------------------- systemd


def test_units_are_well_formed(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    program = tmp_path / "ragstone"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    units = []
    for unit in sorted((DEPLOY / "systemd").iterdir()):
        copy = tmp_path / unit.name
        copy.write_text(unit.read_text("utf-8").replace("/opt/ragstone/bin/ragstone", str(program)), encoding="utf-8")
        units.append(copy)
    assert [unit.name for unit in units] == ["ragstone-sync.service", "ragstone-sync.timer", "ragstone.service"]
    ran("systemd-analyze", "verify", "--man=no", *units)
    told = ran(
        "systemd-analyze", "security", "--offline=true", "--threshold=25", DEPLOY / "systemd" / "ragstone.service"
    )
    assert "Overall exposure level" in told


# ---------------------------------------------------------------- workflows and commands


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


def steps(workflow: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in loaded(workflow)[0]["jobs"].items():
        for step in job["steps"]:
            yield name, step


def test_workflows_match_githubs_schema() -> None:
    ran(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)


def test_workflows_leak_nothing() -> None:
    ran(BIN / "zizmor", "--offline", "--no-progress", "--config", ".github/zizmor.yml", ".github/workflows")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_call_developers_commands(workflow: Path) -> None:
    document = loaded(workflow)[0]
    assert document["permissions"] == {}, "each job asks for what it needs"
    for job in document["jobs"].values():
        assert job["permissions"]
        assert job["timeout-minutes"]
        assert re.search(r"-\d", job["runs-on"]), "a named version"
    for _, step in steps(workflow):
        if "uses" in step:
            assert re.fullmatch(r"[\w./-]+@v\d+", step["uses"])
        else:
            command, target, *_ = step["run"].split()
            assert command == "make"
            assert target in targets()


def test_page_is_published_after_all_checks() -> None:
    jobs = loaded(ROOT / ".github" / "workflows" / "checks.yml")[0]["jobs"]
    assert set(jobs["page"]["needs"]) == set(jobs) - {"page"}
    assert jobs["python"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert {"make test-python"} == {
        step["run"] for name, step in steps(WORKFLOWS[0]) if name == "python" and "run" in step
    }


def test_described_make_targets_exist() -> None:
    shown = ran("make", "help")
    described = set(re.findall(r"^  make ([a-z-]+)", shown, re.M))
    assert described <= targets()
    wanted = {"serve", "ui", "web", "web-dev", "ingest", "rebuild", "clean", "test", "images", "demo", "ask"}
    assert wanted <= described
    for target in sorted(described - {"help"}):
        asked = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        missing = not (ROOT / "web").exists() and target in ("web", "web-dev", "page")
        assert missing or asked.returncode == 0, asked.stderr


def test_ci_runs_make_test() -> None:
    assert (ROOT / ".ci" / "run").read_text("utf-8").rstrip().endswith("exec make test")


def test_releases_wait_for_all_tests() -> None:
    jobs = loaded(ROOT / ".github" / "workflows" / "release.yml")[0]["jobs"]
    called = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    tested = {name for name, runs in called.items() if any(run.startswith("make test-") for run in runs)}
    assert {run for name in tested for run in called[name]} == {"make test-python", "make test-web"}
    assert set(jobs["release"]["needs"]) == tested
    assert jobs["images"]["needs"] == "release"
