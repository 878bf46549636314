"""`make conformance`: the official suite against our client; writes docs/results/conformance.md, fails if a scenario does."""

import hashlib
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".cache" / "conformance"
SUITE = CACHE / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
PAGE = ROOT / "docs" / "results" / "conformance.md"
VERSION = "0.2.0-alpha.12"
REVISIONS = ("2025-11-25", "2026-07-28")
EXTENSION = "extension"
"""In the place of a revision, for scenarios of logins that no revision requires."""
SECONDS = 60


class Scenario(NamedTuple):
    revision: str
    name: str


class Outcome(NamedTuple):
    scenario: Scenario
    passed: bool
    checks: str
    words: str


def main() -> int:
    install()
    wanted = [Scenario(revision, name) for revision in REVISIONS for name in required(revision)]
    wanted += [Scenario(EXTENSION, name) for name in extensions()]
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(attempt, wanted))
    for outcome in outcomes:
        tell(outcome)
    PAGE.write_text(page(outcomes))
    failed = sum(not outcome.passed for outcome in outcomes)
    say(f"{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed or not outcomes else 0


def install() -> None:
    """Bring the suite and the Node it needs into the project's own folder, exactly as locked."""
    lock = (HERE / "package-lock.json").read_bytes()
    mark = CACHE / f"{platform.machine()}-{hashlib.sha256(lock).hexdigest()[:16]}"
    if mark.exists():
        return
    shutil.rmtree(CACHE, ignore_errors=True)
    CACHE.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, CACHE)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=CACHE, check=True, timeout=600)
    node()
    mark.touch()


def required(revision: str) -> list[str]:
    """The client scenarios that a revision requires, by the suite's own list."""
    listed = suite("list", "--requirements", revision).stdout
    section = listed.partition("Client scenarios")[2].partition("Run and reported")[0]
    return re.findall(r"^\s+- (\S+)$", section, re.M)


def extensions() -> list[str]:
    """The client scenarios about logging in that belong to extensions of the protocol."""
    section = suite("list").stdout.partition("Client scenarios")[2]
    return re.findall(r"^\s+- (auth/\S+) \[extension\]$", section, re.M)


def attempt(scenario: Scenario) -> Outcome:
    client = f"{sys.executable} {HERE / 'client.py'}"
    revision = () if scenario.revision == EXTENSION else ("--spec-version", scenario.revision)
    done = suite(
        "client", "--command", client, "--scenario", scenario.name, *revision, "--timeout", str(SECONDS * 1000)
    )
    words = done.stdout + done.stderr
    counted = re.search(r"Passed: (\d+)/(\d+)", words)
    return Outcome(scenario, done.returncode == 0, f"{counted[1]} of {counted[2]}" if counted else "–", words)


def suite(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [str(node()), str(SUITE), *words]
    return subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=2 * SECONDS)


def node() -> Path:
    """The Node for this machine: of the packages in the lock, npm installs the one that fits, and tolerates having none."""
    fitting = next(CACHE.glob("node_modules/node-linux-*/bin/node"), None)
    if fitting is None:
        sys.exit(f"npm installed no Node for {platform.system()} on {platform.machine()}.")
    return fitting


def tell(outcome: Outcome) -> None:
    mark = "✓" if outcome.passed else "✗"
    say(f"{mark} {outcome.scenario.revision}  {outcome.scenario.name}  {outcome.checks}")
    if not outcome.passed:
        say(outcome.words)


def page(outcomes: list[Outcome]) -> str:
    rows = [
        f"| {scenario.revision} | `{scenario.name}` | {'passes' if passed else '**fails**'} | {checks} |"
        for scenario, passed, checks, _ in outcomes
    ]
    return "\n".join(
        [
            "# Conformance",
            "",
            "Made by `make conformance`, which runs the official suite",
            f"(`@modelcontextprotocol/conformance` {VERSION}) in client mode against",
            "[tests/conformance/client.py](../../tests/conformance/client.py), a thin program around the library:",
            "`mooring.connect`, and for logins `host.login` of `mooring.open`.",
            "The table has every scenario that a revision requires of a client, and those of the extensions about",
            "logging in.",
            "",
            "| revision | scenario | outcome | checks |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")


if __name__ == "__main__":
    sys.exit(main())
