"""The Model Context Protocol's own conformance suite against `ragstone mcp --http`.

The suite is TypeScript; its packages are fetched from npm into a temporary folder. Run are its scenarios for a server
that need no tool, resource or prompt of the suite's own test server, for both revisions of the protocol.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import ROOT, Options, Result, Table, main, skipped, told

SUITE = Path("peer_suites") / "mcp_conformance"
HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
EACH = ("tools-list", "resources-list", "prompts-list", "completion-complete", "dns-rebinding-protection")
SCENARIOS = {
    HANDSHAKE: ("server-initialize", "ping", *EACH),
    STATELESS: (
        "server-stateless",
        *EACH,
        "caching",
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "http-header-validation",
        "input-required-result-unsupported-methods",
    ),
}
"""By revision. The others ask for what only the suite's own server has, such as a tool that gives a picture."""
UNTESTABLE = "Not testable"
"""How the suite says that a check needs a tool of its own server."""
LEFT_OUT = ("@octokit/rest",)
"""A package of the suite that only its parts for other work need."""
NOTES = "# Rooms\n\nRoom 7 is called Marie Curie. It has twelve seats and a projector.\n"
RUNNER = """\
import { runServerConformanceTest } from './src/runner/server.ts';
const [url, ...jobs] = process.argv.slice(2);
const results = [];
console.log = () => {};
for (const job of jobs) {
  const [scenario, version] = job.split('@');
  try {
    const { checks } = await runServerConformanceTest(url, scenario, undefined, version);
    results.push(checks.map(({ id, status, errorMessage }) => ({ id, status, message: errorMessage ?? '' })));
  } catch (error) {
    results.push([{ id: scenario, status: 'FAILURE', message: String(error) }]);
  }
}
process.stdout.write(JSON.stringify(results), () => process.exit(0));
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a scenario: its checks by how they ended; ``failed`` says why."""

    scenario: str
    version: str
    passed: int
    untestable: int
    failed: tuple[str, ...]


async def measure(options: Options) -> Result:
    if options.data is None or not (options.data / SUITE).is_dir():
        return skipped("the conformance suite of the Model Context Protocol is not there")
    if shutil.which("npm") is None:
        return Result(figures={"skipped": True}, notes=["SKIPPED: the suite needs Node.js and npm."])
    suite = options.keep / "mcp_conformance"
    prepare(options.data / SUITE, suite)
    kb = options.keep / "mcp_conformance_kb"
    with served(kb) as address:
        return summary(run(suite, address))


def prepare(source: Path, suite: Path) -> None:
    """A folder with the suite's sources, the packages they need, and what runs them."""
    suite.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source / "src", suite / "src", dirs_exist_ok=True)
    described = json.loads((source / "package.json").read_text(encoding="utf-8"))
    needed = {name: version for name, version in described["dependencies"].items() if name not in LEFT_OUT}
    needed["tsx"] = described["devDependencies"]["tsx"]
    package = {"type": "module", "private": True, "dependencies": needed}
    (suite / "package.json").write_text(json.dumps(package), encoding="utf-8")
    (suite / "run.mjs").write_text(RUNNER, encoding="utf-8")
    told("mcp_conformance: npm fetches the suite's packages")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=suite, check=True)


@contextmanager
def served(kb: Path) -> Iterator[str]:
    """A knowledge base behind the command itself; gives the address."""
    notes = kb.with_suffix(".md")
    notes.write_text(NOTES, encoding="utf-8")
    command = [sys.executable, "-c", "from ragstone.serve.cli import main; main()"]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([*command, "add", str(notes), "--kb", str(kb)], check=True, env=own, stdout=subprocess.DEVNULL)
    with subprocess.Popen(
        [*command, "mcp", "--http", "--port", "0", "--kb", str(kb)], stderr=subprocess.PIPE, text=True, env=own
    ) as process:
        assert process.stderr is not None
        try:
            yield next(word for word in process.stderr.readline().split() if word.startswith("http")).rstrip(";")
        finally:
            process.terminate()


def run(suite: Path, address: str) -> list[Outcome]:
    jobs = [(scenario, version) for version, names in SCENARIOS.items() for scenario in names]
    done = subprocess.run(
        ["npx", "tsx", "run.mjs", address, *(f"{scenario}@{version}" for scenario, version in jobs)],
        cwd=suite,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return [outcome(*job, checks) for job, checks in zip(jobs, json.loads(done.stdout), strict=True)]


def outcome(scenario: str, version: str, checks: Sequence[dict[str, str]]) -> Outcome:
    bad = [one for one in checks if one["status"] in ("FAILURE", "WARNING")]
    failed = [f"{one['id']}: {one['message']}" for one in bad if not one["message"].startswith(UNTESTABLE)]
    passed = sum(one["status"] == "SUCCESS" for one in checks)
    if not passed and not failed:
        failed = ["nothing was checked"]
    return Outcome(
        scenario=scenario,
        version=version,
        passed=passed,
        untestable=sum(one["message"].startswith(UNTESTABLE) for one in bad),
        failed=tuple(failed),
    )


def summary(outcomes: Sequence[Outcome]) -> Result:
    rows = [
        (one.version, one.scenario, str(one.passed), str(one.untestable), "; ".join(one.failed) or "none")
        for one in outcomes
    ]
    failed = [f"{one.scenario} ({one.version})" for one in outcomes if one.failed]
    return Result(
        figures={
            "scenarios": len(outcomes),
            "passed": len(outcomes) - len(failed),
            "checks": sum(one.passed for one in outcomes),
            "failed": failed,
        },
        tables=[
            Table(
                title="Scenarios of the conformance suite of the Model Context Protocol",
                columns=["revision", "scenario", "checks passed", "need the suite's server", "failed"],
                rows=rows,
            )
        ],
    )


if __name__ == "__main__":
    main({"mcp_conformance": measure}, "mcp_conformance")
