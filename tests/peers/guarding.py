"""A login as people meet it: an authorization server of others, a server behind it, and `mooring` in a home."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from install import CACHE, mooring, python

from support import Home

HERE = Path(__file__).parent
BROWSER = f"{sys.executable} {HERE / 'browser.py'}"
STARTING = 60.0
SLOWEST = 120.0
LONG = 600


class Provider:
    """`oidc-provider` on a port of this machine."""

    def __init__(self, port: int, secret: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.secret = secret

    def hold(self, seconds: int) -> None:
        """Let the tokens that are given from now on hold so long."""
        self._control(f"hold?seconds={seconds}")

    def delay(self, seconds: float) -> None:
        """Let the answers with tokens take so long."""
        self._control(f"delay?seconds={seconds}")

    def withdraw(self) -> None:
        """Take back everything that was allowed so far, as a person can on the pages of their account."""
        self._control("withdraw")

    def heard(self) -> list[str]:
        """What it was asked, in order, with the status of its answer; and `family revoked` whenever that happened."""
        return self._control("heard")

    def count(self, text: str) -> int:
        return sum(line.startswith(text) for line in self.heard())

    def _control(self, words: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/control/{words}", timeout=30) as answer:
            return json.load(answer)


@contextmanager
def run_provider(*, seconds: int = LONG, host: str = "127.0.0.1", pkce: bool = True) -> Iterator[Provider]:
    """An authorization server; `host` is the one in its own name, which may differ from where it is."""
    port, secret = find_port(), secrets.token_urlsafe(16)
    options = {"port": port, "issuer": f"http://{host}:{port}", "secret": secret, "seconds": seconds, "pkce": pkce}
    script = [str(HERE / "issuer" / "provider.mjs"), str(CACHE / "issuer"), json.dumps(options)]
    with run_listening(["node", *script], port):
        yield Provider(port, secret)


@contextmanager
def run_guarded(
    provider: Provider, *, host: str = "127.0.0.1", path: str = "/mcp", port: int | None = None
) -> Iterator[str]:
    """A server that takes the provider's tokens alone; host and path are those that it says it has."""
    port = port or find_port()
    resource = f"http://{host}:{port}{path}"
    script = [str(HERE / "servers" / "guarded.py"), str(port), provider.url, resource, provider.secret]
    with run_listening([python("mcp-2.3"), *script], port):
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def run_listening(command: list[str], port: int) -> Iterator[None]:
    """A program that listens on a port, until the block is left."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **quiet)  # type: ignore[call-overload] # all three are numbers
    try:
        until = time.monotonic() + STARTING
        while not _listens(port):
            assert process.poll() is None, "it ended"
            assert time.monotonic() < until, "it does not listen"
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


def find_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Person:
    """Somebody with a home, a browser and the `mooring` command."""

    def __init__(self, home: Home, url: str, name: str = "anna") -> None:
        self.home = home
        self.name = name
        home.configure(web={"type": "http", "url": url})

    @property
    def env(self) -> dict[str, str]:
        marks = {"MOORING_TEST": os.environ["MOORING_TEST"], "PATH": os.environ["PATH"]}
        return {**self.home.env, **marks, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}

    def run(self, *words: str, browser: str = "") -> tuple[int, str, str]:
        """How a command ended, and what it printed; with more words for the browser, it is one that deceives."""
        env = {**self.env, "BROWSER": f"{BROWSER} --name {self.name} {browser}"}
        done = subprocess.run(
            [mooring(), *words],
            cwd=self.home.cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SLOWEST,
        )
        return done.returncode, done.stdout, done.stderr

    def log_in(self) -> None:
        code, out, err = self.run("mcp", "login", "web")
        assert code == 0, out + err

    def echo(self) -> tuple[int, str, str]:
        return self.run("call", "web.echo", "text=hi")

    def stored(self) -> str:
        """Everything that the store of secrets holds."""
        path = self.home.home / ".local/state/mooring/secrets/values.json"
        return path.read_text() if path.exists() else ""
