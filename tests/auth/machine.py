"""Runs `mooring` as a person's process, on a machine with one of the keyrings of `keyrings.py`."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from support import NO_KEYRING, Home, Result
from warm import KEYRINGS, WarmProcess, run_mooring, start_python


class Machine:
    """A person's home, and the keyring that their system has."""

    def __init__(self, home: Home, keyring: str = NO_KEYRING, *, shared: "Machine | None" = None) -> None:
        self.home = home
        self.keyring = keyring
        self._kept: Path = shared._kept if shared else home.folder / "keyring.json"

    @property
    def env(self) -> dict[str, str]:
        return {
            **self.home.env,
            "PYTHONPATH": KEYRINGS,
            "PYTHON_KEYRING_BACKEND": self.keyring if "." in self.keyring else f"keyrings.{self.keyring}",
            "TEST_KEYRING": str(self._kept),
        }

    @property
    def secrets(self) -> Path:
        return self.home.home / ".local/state/mooring/secrets"

    @property
    def kept(self) -> list[str]:
        """The values in the keyring."""
        return list(json.loads(self._kept.read_text()).values()) if self._kept.exists() else []

    def files_with(self, text: str) -> list[str]:
        """The files of the home that hold a text."""
        found = [path for path in self.home.home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
        return sorted(path.name for path in found)

    def run(self, *words: str, given: str = "", more: Mapping[str, str] | None = None) -> Result:
        """Run a command with this on its stdin, and with more in its environment."""
        env = {**self.env, **(more or {})}
        done = run_mooring(*words, cwd=self.home.cwd, env=env, input=given.encode(), timeout=120)
        return Result(done.returncode, done.stdout, done.stderr)

    def python(self, code: str, *words: str) -> "WarmProcess | subprocess.Popen[bytes]":
        """A program that uses the store directly, as a login does."""
        words, pipe = (str(self.home.home), *words), subprocess.PIPE
        return start_python(code, *words, cwd=self.home.cwd, env=self.env, stdin=pipe, stdout=pipe, stderr=pipe)
