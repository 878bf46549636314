"""`make conformance`, second half: the official suite against `mooring serve`; adds its part to docs/results/conformance.md.

Behind `mooring serve` is `everything.py`, on the official SDK, over stdio.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from run import HERE, PAGE, REVISIONS, ROOT, VERSION, install, say, suite

sys.path.insert(0, str(ROOT / "tests" / "peers"))

from install import install as install_peers
from install import python as find_python

SDK = "mcp-2.3"
HEADING = "## As a server"


class Outcome(NamedTuple):
    revision: str
    name: str
    passed: bool
    checks: str


def main() -> int:
    install()
    install_peers(say, [SDK])
    outcomes: list[Outcome] = []
    with serving() as url:
        for revision in REVISIONS:
            outcomes += attempt(url, revision)
    for outcome in outcomes:
        say(f"{'✓' if outcome.passed else '✗'} {outcome.revision}  {outcome.name}  {outcome.checks}")
    client_part = PAGE.read_text().partition(HEADING)[0].rstrip()
    PAGE.write_text(f"{client_part}\n\n{section(outcomes)}")
    failed = sum(not outcome.passed for outcome in outcomes)
    say(f"{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed or not outcomes else 0


@contextmanager
def serving() -> Iterator[str]:
    """`mooring serve` in front of the server that the suite expects; its address."""
    command = f"{find_python(SDK)} {HERE / 'everything.py'}"
    words = ["serve", "--no-project", "--server", command, "--names", "raw", "--permission-mode", "bypass"]
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [sys.executable, "-m", "mooring", *words, "--http", "127.0.0.1:0", "--no-token"],
            env={"HOME": home, "PATH": os.environ["PATH"]},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        first = process.stderr.readline()
        try:
            yield first.split()[-1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            process.stderr.close()


def attempt(url: str, revision: str) -> list[Outcome]:
    """Run every server scenario that a revision requires."""
    wanted = required(revision)
    with tempfile.TemporaryDirectory() as folder:
        words = suite("server", "--url", url, "--requirements", revision, "-o", folder).stdout
    found = {
        name: (mark == "✓", f"{passed} of {int(passed) + int(failed)}")
        for mark, name, passed, failed in re.findall(r"^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed$", words, re.M)
    }
    missing = (False, "–")
    return [Outcome(revision, name, *found.get(name, missing)) for name in wanted]


def required(revision: str) -> list[str]:
    """The server scenarios that a revision requires, by the suite's own list."""
    listed = suite("list", "--requirements", revision).stdout
    return re.findall(r"^\s+- (\S+)$", listed.partition("Server scenarios")[2].partition("Client scenarios")[0], re.M)


def section(outcomes: Sequence[Outcome]) -> str:
    rows = [
        f"| {revision} | `{name}` | {'passes' if passed else '**fails**'} | {checks} |"
        for revision, name, passed, checks in outcomes
    ]
    return "\n".join(
        [
            HEADING,
            "",
            f"The same suite ({VERSION}) in server mode against `mooring serve --http`. Behind it is",
            "[tests/conformance/everything.py](../../tests/conformance/everything.py), a server on the official SDK 2.3 that has",
            "everything the scenarios ask for. The table has every scenario that a revision requires of a server.",
            "",
            "| revision | scenario | outcome | checks |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
