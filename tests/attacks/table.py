"""What an attack is, how its tries are counted, and the person it is made against."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

MOORING = str(Path(sys.executable).with_name("mooring"))


class Tally:
    """How often an attack was tried, and which tries got through."""

    def __init__(self) -> None:
        self.tries = 0
        self.through: list[str] = []

    def count(self, what: str, got_through: bool) -> None:
        """Count one try; `what` names it in the table if it got through."""
        self.tries += 1
        if got_through:
            self.through.append(what)


class Attack(Struct, frozen=True):
    """One kind of attack: the row of docs/how-it-works/security.md that it belongs to, and the function that tries it.

    The function gets an empty folder of its own and counts every try. If it raises, the attack could not be made, and
    that fails the suite too.
    """

    id: str
    name: str
    run: Callable[[Path, Tally], None]


class Victim:
    """A person with a home, a project that they cloned, and the `mooring` command."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.system = folder / "system"
        self.marker = folder / "marker"
        """A file that nothing but a successful attack creates."""
        for made in (self.home, self.project / ".git", self.system):
            made.mkdir(parents=True, exist_ok=True)

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "dumb", "LANG": "C.UTF-8"}

    def write(self, path: Path, content: str | bytes | Any) -> Path:
        """Write a file: text and bytes as they are, anything else as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def run(
        self, *words: str, env: Mapping[str, str] | None = None, typed: str = "", seconds: float = 30
    ) -> "subprocess.CompletedProcess[str]":
        """Run `mooring` in the project, without a terminal."""
        return subprocess.run(
            [MOORING, *words],
            cwd=self.project,
            env={**self.env, **(env or {})},
            input=typed,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def was_hit(self) -> bool:
        """Whether the marker exists; it is removed, so that the next try starts afresh."""
        hit = self.marker.exists()
        self.marker.unlink(missing_ok=True)
        return hit
