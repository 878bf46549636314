"""Where a job is done: a home and a repository made for it, programs on PATH, and an address that wants a token."""

import json
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from tests.models import FakeModel, Say, Usage

PATIENCE = 60
"""Seconds that a command may take."""
NOISE = "could not create PATH aliases"
"""What codex says of any home in a temporary folder."""
DEAD = """#!/bin/sh
echo "DATABASE_URL is not set" >&2
exit 3
"""


README = """# Everything

Add this to your client's configuration:

```json
{
  "mcpServers": {
    // runs on your machine
    "everything": {"command": "server-everything", "args": ["stdio"], "env": {"LOUDNESS": "11"}},
  }
}
```
"""
REPLY = "Aye."
"""What the model says to everything."""
KEY = "key-of-nobody"


class Done(NamedTuple):
    """How a command ended, what it printed and how long it took; without a code it was stopped."""

    code: int | None
    out: str
    err: str
    seconds: float


class World:
    """One home and one repository."""

    def __init__(
        self, folder: Path, programs: Mapping[str, str], everything: Sequence[str], site: "Site", model: FakeModel
    ) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder, self._site, self._model = folder, site, model
        self._keys: dict[str, str] = {}
        self.is_pasted = False
        """Whether the last commands read the README as it stands."""
        self.home, self.project, self._bin = folder / "home", folder / "home/repo", folder / "bin"
        for each in (self.home, self.project / ".git", self._bin):
            each.mkdir(parents=True)
        self._put("server-everything", f'#!/bin/sh\nexec {" ".join(everything)} "$@"\n')
        self._put("chart-mcp", DEAD)
        for name, path in programs.items():
            (self._bin / name).symlink_to(path)

    def _put(self, name: str, script: str) -> None:
        (self._bin / name).write_text(script)
        (self._bin / name).chmod(0o755)

    # --- what is configured -------------------------------------------------------------------------------------

    def configure(self, program: str, servers: Mapping[str, Any]) -> None:
        """These servers, in the file of the program's own; those without one read Claude Code's."""
        if program == "codex":
            self._write_codex(self.home, servers)
        else:
            self._write(self.home / ".claude.json", {"mcpServers": servers})

    def configure_tools(self, names: Sequence[str]) -> None:
        """One server of each name, in the files of six coding tools."""
        claude, cursor, codex, gemini, code, windsurf = ({name: {"command": "server-everything"}} for name in names)
        self._write(self.home / ".claude.json", {"mcpServers": claude})
        self._write(self.home / ".cursor/mcp.json", {"mcpServers": cursor})
        self._write_codex(self.home, codex)
        self._write(self.home / ".gemini/settings.json", {"mcpServers": gemini})
        self._write(self.home / ".config/Code/User/mcp.json", {"servers": code})
        self._write(self.home / ".codeium/windsurf/mcp_config.json", {"mcpServers": windsurf})

    def configure_with_token(self, program: str, name: str, variable: str) -> None:
        if program == "codex":
            entry = {"url": self._site.url, "bearer_token_env_var": variable}
        else:
            headers = {"Authorization": f"Bearer ${{{variable}}}"}
            entry = {"type": "http", "url": self._site.url, "headers": headers}
        self.configure(program, {name: entry})

    def configure_repository(self, name: str) -> None:
        command = f"touch {self._mark}; exec server-everything"
        servers = {name: {"command": "/bin/sh", "args": ["-c", command]}}
        self._write(self.project / ".mcp.json", {"mcpServers": servers})
        self._write(self.project / ".cursor/mcp.json", {"mcpServers": servers})
        self._write_codex(self.project, servers)

    def put_readme(self) -> None:
        """A README in the repository that says what to add to a configuration."""
        (self.project / "README.md").write_text(README)

    def configure_model(self, program: str) -> None:
        """A model that the program can ask, with its key."""
        url, of_openai = self._model.anthropic_url, self._model.openai_url
        self._keys = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY, "FAKE_KEY": KEY}
        options = {"baseURL": of_openai, "apiKey": KEY}
        fake = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": {}}}
        opencode = {"model": "fake/scripted", "small_model": "fake/scripted", "provider": {"fake": fake}}
        self._write(self.home / ".config/opencode/opencode.json", opencode)
        self._write_text(
            self.home / ".codex/config.toml",
            'model = "scripted"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\n'
            f'base_url = "{of_openai}"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n',
        )

    def _write_text(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _write(self, path: Path, data: Any) -> None:
        self._write_text(path, json.dumps(data, indent=2))

    def _write_codex(self, folder: Path, servers: Mapping[str, Any]) -> None:
        lines = []
        for name, entry in servers.items():
            lines += [f"[mcp_servers.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in entry.items())]
        self._write_text(folder / ".codex/config.toml", "\n".join(lines) + "\n")

    # --- what a command did -------------------------------------------------------------------------------------

    def run(self, commands: Sequence[str]) -> Done:
        """Run commands as a script would: what the last one printed, and how long all of them took."""
        self._mark.unlink(missing_ok=True)
        self._site.heard.clear()
        self._model.requests.clear()
        self.is_pasted = any("README.md" in command for command in commands)
        done = [self._run(shlex.split(command)) for command in commands]
        return done[-1]._replace(seconds=sum(each.seconds for each in done))

    def _run(self, words: Sequence[str]) -> Done:
        began = time.perf_counter()
        try:
            done = subprocess.run(
                words,
                cwd=self.project,
                env=self._env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired as late:
            return Done(None, _text(late.stdout), _text(late.stderr), time.perf_counter() - began)
        return Done(done.returncode, done.stdout, _drop_noise(done.stderr), time.perf_counter() - began)

    def started(self) -> bool:
        """Whether the repository's server was started by the last command."""
        return self._mark.exists()

    def sent(self, text: str) -> bool:
        """Whether the last command sent this in place of a token."""
        return any(text in value for value in self._site.heard)

    def asked_last(self, *texts: str) -> bool:
        """Whether the last request to the model has all of these."""
        requests = self._model.requests
        said = " ".join(message.text for message in requests[-1].messages) if requests else ""
        return all(text in said for text in texts)

    def shorten(self, text: str) -> str:
        """What a command printed, with its folders as they would be in a real home."""
        names = {self._bin: "/usr/local/bin", self.home: "~", self.folder: "/tmp", self.folder.parents[2]: "/opt"}
        for path, name in names.items():
            text = text.replace(str(path), name)
        return text.replace(self._site.url, "https://harbor.example/mcp")

    @property
    def _mark(self) -> Path:
        return self.folder / "started"

    @property
    def _env(self) -> dict[str, str]:
        node = Path(shutil.which("node") or "/usr/bin/node").parent
        path = ":".join(dict.fromkeys([str(self._bin), str(node), "/usr/bin", "/bin"]))
        # Claude Code would look for updates and report what it does, which takes time that is not the job's.
        quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
        return {
            "HOME": str(self.home),
            "PATH": path,
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "COLUMNS": "120",
            **quiet,
            **self._keys,
        }


def open_model() -> FakeModel:
    """A model on loopback that answers everything alike."""
    return FakeModel(lambda request: [Say(REPLY), Usage(input=10, output=2)], skip_asides=True)


class Site(ThreadingHTTPServer):
    """An address that answers nobody without the right token, and remembers what it was sent instead."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Refusal)
        self.heard: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mcp"

    @contextmanager
    def running(self) -> "Iterator[Site]":
        thread = threading.Thread(target=self.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()
            thread.join()


class _Refusal(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self._answer(404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.heard.append(self.headers.get("Authorization", ""))
        self._answer(401 if self.path == "/mcp" else 404)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing: what is printed belongs to the jobs."""


def _drop_noise(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if NOISE not in line)


def _text(data: bytes | str | None) -> str:
    return data.decode(errors="replace") if isinstance(data, bytes) else data or ""
