"""Made-up patches and commands with the real OpenCode and Copilot: `python -m tests.backends.patches --patches N`.

Each is made in a scratch folder by a model that was talked into something, for a person who lets the agent change one
folder and says no to everything else. What changed on disk, and where commands ran, is compared with that: nothing else
may have. Fails if something did, or if hardly anything was changed at all.
"""

import argparse
import asyncio
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.attacks.programs import make_patch
from tests.models import Call, FakeModel, ModelRequest, Reply, Say
from tests.peers import install
from tests.support import Home

import mooring
from mooring.backends.bridge.bridge import open_bridge
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.bridge.reporter import AgentReporter
from mooring.backends.own_tools import OWN_TOOLS
from mooring.conversation.events import EventStream
from mooring.core.conversation.backend_name import ProgramName
from mooring.core.conversation.question import Answer, No, Question
from mooring.core.conversation.turn import TurnInput
from mooring.core.conversation.verdict import Rule
from mooring.process.programs import Guard

ROOT: Final = Path(__file__).parents[2]
PROGRAMS: Final = ("opencode", "copilot")
IN_ONE_TURN: Final = 75
"""More would be a long conversation to send with every call."""
PATIENCE: Final = 600.0
"""Seconds for one turn."""
MODELS: Final = {"opencode": "gpt-5", "copilot": "gpt-5.1-codex"}
"""Models that both programs give their tool for patches."""
INSIDE: Final = ("ok/a.txt", "ok/b/c.txt", "ok/d e.txt", "ok/new.txt")
OUTSIDE: Final = ("../out/x.txt", "other/x.txt", "ok/../other/x.txt", "{out}/x.txt", "../out/new.txt", "link/x.txt")
FOLDERS: Final = ("ok", ".", "../out", "{out}", "ok/../../out", "link")
RULES: Final = (Rule("Edit", "allow", "./ok/**"), Rule("Bash", "allow", "pwd"))

Files = Mapping[str, bytes]


class Scratch:
    """A project, a folder beside it, and what has become of them."""

    def __init__(self, home: Home, seed: int) -> None:
        self.project, self.out = home.project, home.folder / "out"
        self.tries = self.changes = self.commands = 0
        self.problems: list[str] = []
        self._chance = random.Random(seed)
        self._before: Files = {}
        self._last: Call | None = None

    def prepare(self) -> None:
        """Put every file back."""
        for folder in (self.project / "ok", self.project / "other", self.out):
            shutil.rmtree(folder, ignore_errors=True)
        link = self.project / "link"
        link.unlink(missing_ok=True)
        for path in ("ok/a.txt", "ok/b/c.txt", "ok/d e.txt", "other/x.txt", "../out/x.txt"):
            file = self.project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x\nz\n")
        link.symlink_to(self.out)
        self._before = self._read()

    def check(self, result: str) -> None:
        """Compare what the last call did with what was permitted."""
        if self._last is None:
            return
        after = self._read()
        changed = {path for path in (*self._before, *after) if self._before.get(path) != after.get(path)}
        allowed = f"{self.project}/ok/"
        wrong = sorted(path for path in changed if not path.startswith(allowed))
        self.changes += bool(changed)
        if wrong:
            self.problems.append(f"{self._last.arguments!r} changed {wrong}")
        if self._last.tool == "bash":
            ran_in = next((line for line in result.splitlines() if line.startswith("/")), "")
            self.commands += bool(ran_in)
            if ran_in and not f"{ran_in}/".startswith(f"{self.project}/"):
                self.problems.append(f"{self._last.arguments!r} ran in {ran_in}")

    def make_call(self, program: str) -> Call:
        """The next call."""
        self.tries += 1
        self.prepare()
        if self._chance.random() < 0.1:
            self._last = self._make_command(program)
        else:
            outside = [path.format(out=self.out) for path in OUTSIDE]
            name = "patchText" if program == "opencode" else "input"
            self._last = Call("apply_patch", {name: make_patch(self._chance, INSIDE, outside)}, id=f"call_{self.tries}")
        return self._last

    def _make_command(self, program: str) -> Call:
        folder = self._chance.choice(FOLDERS).format(out=self.out)
        arguments: dict[str, Any] = {"command": "pwd"}
        if program == "copilot":
            arguments["description"] = "Says where it is"
        if program == "opencode" or self._chance.random() < 0.3:
            arguments["workdir"] = folder
        return Call("bash", arguments, id=f"call_{self.tries}")

    def _read(self) -> Files:
        found = (path for folder in (self.project, self.out) for path in folder.rglob("*"))
        return {str(path): path.read_bytes() for path in found if path.is_file() and ".git" not in path.parts}


async def play(program: str, patches: int, seed: int) -> Scratch:
    """One conversation with a program, of so many calls."""
    with TemporaryDirectory() as folder:
        home = _make_home(folder)
        scratch = Scratch(home, seed)
        left = [0]

        def reply(request: ModelRequest) -> Reply:
            scratch.check(request.results[-1].text if request.results else "")
            scratch._last = None
            if not left[0]:
                return [Say("Done.")]
            left[0] -= 1
            return [scratch.make_call(program)]

        async with FakeModel(reply, skip_asides=True) as model, _OPENERS[program](home, model) as backend:
            while scratch.tries < patches:
                left[0] = min(IN_ONE_TURN, patches - scratch.tries)
                async with asyncio.timeout(PATIENCE):
                    await backend.turn(TurnInput(f"Go on from {scratch.tries}."))
                if left[0]:
                    raise AssertionError(f"{program} stopped after {scratch.tries} calls")
        return scratch


def _make_home(folder: str) -> Home:
    home = Home(Path(folder).resolve())
    home.write("project/.git/HEAD", "ref: refs/heads/main\n")
    return home


async def _say_no(_: Question) -> Answer:
    return No("Not that.")


class _Conversation:
    """A conversation with one of the programs."""

    def __init__(self, program: ProgramName, home: Home, env: Mapping[str, str]) -> None:
        self._program, self._home, self._env = program, home, env
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Any:
        enter = self._stack.enter_async_context
        guard = await enter(Guard())
        host = await enter(mooring.open(request=self._home.request(), guard=guard))
        reporter = AgentReporter(EventStream("s1"), self._program)
        opening = open_bridge(host, reporter, ask=_say_no, rules=RULES, program=OWN_TOOLS[self._program], way="shared")
        bridge = await enter(opening)
        options = BackendOptions(cwd=str(self._home.project), env=self._env, guard=guard)
        if self._program == "opencode":
            from mooring.backends.opencode.backend import open_opencode as open_backend
        else:
            from mooring.backends.copilot.backend import open_copilot as open_backend  # type: ignore[assignment]
        backend = await open_backend(bridge, options)
        self._stack.push_async_callback(backend.close)
        return backend

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()


def _open_opencode(home: Home, model: FakeModel) -> _Conversation:
    name = MODELS["opencode"]
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": model.openai_url, "apiKey": "key-of-nobody"},
        "models": {name: {"limit": {"context": 2_000_000, "output": 8_000}}},
    }
    config = {"model": f"fake/{name}", "small_model": f"fake/{name}", "provider": {"fake": provider}}
    home.write("home/.config/opencode/opencode.json", config)
    env = {
        **home.env,
        "PATH": os.pathsep.join((install.backend_programs(), "/usr/bin", "/bin")),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }
    return _Conversation("opencode", home, env)


def _open_copilot(home: Home, model: FakeModel) -> _Conversation:
    unpacked = install.CACHE / "unpacked" / "copilot"
    unpacked.mkdir(parents=True, exist_ok=True)
    (home.home / ".cache").mkdir(parents=True, exist_ok=True)
    (home.home / ".cache" / "copilot").symlink_to(unpacked)
    env = {
        **home.env,
        "PATH": os.pathsep.join((install.backend_programs(), "/usr/bin", "/bin")),
        "COPILOT_CLI_PATH": str(install.CACHE / "programs" / "node_modules" / ".bin" / "copilot"),
        "COPILOT_MODEL": MODELS["copilot"],
        "COPILOT_PROVIDER_API_KEY": "key-of-nobody",
        "COPILOT_PROVIDER_BASE_URL": model.openai_url,
    }
    return _Conversation("copilot", home, env)


_OPENERS: Final = {"opencode": _open_opencode, "copilot": _open_copilot}


def run(program: str, patches: int, seed: int) -> int:
    began = time.monotonic()
    scratch = asyncio.run(play(program, patches, seed))
    for problem in scratch.problems:
        _print(f"- {program}: {problem}")
    if not scratch.changes or not scratch.commands:
        _print(f"- {program}: nothing was changed, or no command was run")
    seconds = time.monotonic() - began
    made = f"{scratch.changes} changed files, {scratch.commands} commands were run"
    _print(
        f"{program}: {scratch.tries} calls, {made}, {len(scratch.problems)} beyond what was permitted, {seconds:.0f} s"
    )
    return 0 if scratch.changes and scratch.commands and not scratch.problems else 1


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--patches", type=int, default=300)
    parser.add_argument("--program", choices=PROGRAMS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(words)
    if given.program:
        return run(given.program, given.patches, given.seed)
    install.install_backends(_print)
    each = max(1, given.patches // len(PROGRAMS))
    command = [install.python("backends"), "-m", "tests.backends.patches", "--patches", str(each)]
    started = [
        subprocess.Popen([*command, "--program", program, "--seed", str(given.seed)], cwd=ROOT) for program in PROGRAMS
    ]
    return max(process.wait() for process in started)


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
