"""A clone that has programs in folders of the person's search path that are relative to where they work.

Every way runs a program of the person's own, `helper`, which leaves a mark: a way that doesn't run it at all would hold
against anything. The clone has a `helper` in each folder that the search path could mean.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from tests.attacks.approvals import approve_server
from tests.attacks.launchers import SERVER
from tests.attacks.table import MOORING, Attack, Tally, Victim

FOLDERS = ("bin", "./bin", ".", "", "../project/bin", "node_modules/.bin", "bin/")
"""What the search path begins with."""
PAGE = "https://server.example/"


class Scene:
    """One person with a helper of their own, in a clone that has one, too."""

    def __init__(self, folder: Path, relative: str) -> None:
        self.victim = Victim(folder)
        self.used = folder / "used"
        """A file that the person's own helper leaves."""
        self.tools = folder / "tools"
        self._write_program(self.tools / "helper", self.used)
        self._write_program(self.tools / "planted/helper", self.victim.marker)
        for place in ("bin", ".", "node_modules/.bin"):
            self._write_program(self.victim.project / place / "helper", self.victim.marker)
        self.env = {"PATH": f"{relative}:{self.tools}:{os.environ['PATH']}"}

    def _write_program(self, path: Path, mark: Path) -> None:
        line = f': > {mark}; [ "$1" = edit ] || printf "{{}}"'
        self.victim.write(path, f"#!/bin/sh\n{line}\n").chmod(0o755)

    def define(self, entry: dict[str, object], *, own: bool = True) -> None:
        folder = self.victim.home / ".config/mooring" if own else self.victim.project / ".mooring"
        self.victim.write(folder / "mcp.json", {"mcpServers": {"x": entry}})
        if not own:
            approve_server(self.victim, **self.env)

    def use(self) -> None:
        self.victim.run("tools", "x", env=self.env)

    def run_python(self, *lines: str) -> None:
        """Code of ours, in the clone."""
        code = "; ".join(lines)
        env = {**self.victim.env, **self.env, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", code], cwd=self.victim.project, env=env, timeout=30, check=True)

    def edit(self) -> None:
        """Edit a server in an editor, as at a terminal."""
        self.define({"command": "true"})
        master, slave = os.openpty()
        env = {**self.victim.env, **self.env, "EDITOR": "helper edit"}
        words = [MOORING, "mcp", "edit", "x"]
        with subprocess.Popen(words, cwd=self.victim.project, env=env, stdin=slave, stdout=slave, stderr=slave) as run:
            os.close(slave)
            threading.Thread(target=_read_all, args=(master,), daemon=True).start()
            run.wait(30)


def _read_all(descriptor: int) -> None:
    try:
        while os.read(descriptor, 65536):
            pass
    except OSError:
        pass  # nobody is at the other end any more


def plant_programs(folder: Path, tally: Tally) -> None:
    for number, (what, use) in enumerate(_list_ways()):
        for index, relative in enumerate(FOLDERS):
            scene = Scene(folder / f"{number}-{index}", relative)
            use(scene)
            if not scene.victim.marker.exists():
                assert scene.used.exists(), f"{what} runs no helper at all"
            tally.count(f"{what}, with {relative!r} in PATH", scene.victim.was_hit())
        _see_that_it_would_show(folder / f"{number}-control", what, use)


def _see_that_it_would_show(folder: Path, what: str, use: Callable[[Scene], None]) -> None:
    """A folder of the person's own, before the others, is used: so a planted program would have been seen."""
    scene = Scene(folder, f"{folder}/tools/planted")
    use(scene)
    assert scene.victim.was_hit(), f"{what} would not show what was planted"


def _list_ways() -> Iterator[tuple[str, Callable[[Scene], None]]]:
    def start(*, own: bool) -> Callable[[Scene], None]:
        def run(scene: Scene) -> None:
            entry = {"command": sys.executable, "args": ["-c", SERVER], "env": {"TOKEN": "!helper token"}}
            scene.define(entry, own=own)
            scene.use()

        return run

    def connect(*, own: bool) -> Callable[[Scene], None]:
        def run(scene: Scene) -> None:
            server = HTTPServer(("127.0.0.1", 0), _Refusal)
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
            try:
                url = f"http://127.0.0.1:{server.server_port}/mcp"
                entry = {"type": "http", "url": url, "headersHelper": "helper headers"}
                scene.define(entry, own=own)
                scene.use()
            finally:
                server.shutdown()
                server.server_close()

        return run

    yield "a secret's command of the person's own server", start(own=True)
    yield "a secret's command of an approved server", start(own=False)
    yield "a headers helper of the person's own server", connect(own=True)
    yield "a headers helper of an approved server", connect(own=False)
    yield "an editor", Scene.edit
    yield "a browser", _open_browser


def _open_browser(scene: Scene) -> None:
    wait = "[time.sleep(0.02) for _ in range(250) if not any(map(os.path.exists, marks))]"
    scene.run_python(
        "import os, time",
        "from mooring.auth.browser import open_page",
        f"marks = {[str(scene.used), str(scene.victim.marker)]!r}",
        f"open_page({PAGE!r}, {{**os.environ, 'BROWSER': 'helper'}})",
        wait,
    )


class _Refusal(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_error(403)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_: object) -> None:
        pass


# --- a clone's settings and code for commands of the person's own -----------------------------------------------------

COMMANDS = {
    "git, by its settings": "printf 'url=https://git.example\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill",
    "git, by a program that watches files": "git status",
    "python, by a module": f"{sys.executable} -m keeper",
    "a file of the folder": "test -e keeper.py && : > MARK",
}
"""Commands that a person may have for a secret, and that take something from the folder they run in."""


def use_a_clones_folder(folder: Path, tally: Tally) -> None:
    """Definitions that are the person's own, but are kept for one project, or in a file that one command names."""
    victim = Victim(folder)
    _plant_settings(victim)
    for what, line in COMMANDS.items():
        command = line.replace("MARK", str(victim.marker))
        entry = {"command": sys.executable, "args": ["-c", SERVER], "env": {"TOKEN": f"!{command}"}}
        servers = {"mcpServers": {"x": entry}}
        # Claude Code knows no commands in values, but a helper that prints headers.
        helped = {"mcpServers": {"x": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headersHelper": command}}}
        local = {"projects": {str(victim.project): helped}}
        for kind, path, content, options in (
            ("Claude Code's local scope", victim.home / ".claude.json", local, ()),
            ("a file named with --config", folder / "named.json", servers, ("--config", str(folder / "named.json"))),
            ("the person's own file", victim.home / ".config/mooring/mcp.json", servers, ()),
        ):
            written = victim.write(path, content)
            victim.run(*options, "tools", "x")
            written.unlink()
            tally.count(f"{what}, of {kind}", victim.was_hit())
        for approved in (servers, helped):
            project_file = victim.write(victim.project / ".mooring/mcp.json", approved)
            approve_server(victim)
            victim.run("tools", "x")
            assert victim.was_hit(), f"{what} does not show that it ran in the clone"
            project_file.unlink()


def _plant_settings(victim: Victim) -> None:
    subprocess.run(["git", "init", "-q", victim.project], env=victim.env, timeout=30, check=True)
    helper = f"!touch {victim.marker}; false"
    for name, value in (("credential.helper", helper), ("core.fsmonitor", f"touch {victim.marker}; false")):
        words = ["git", "-C", victim.project, "config", name, value]
        subprocess.run(words, env=victim.env, timeout=30, check=True)
    victim.write(victim.project / "keeper.py", f"open({str(victim.marker)!r}, 'w')")


# --- a clone's programs and variables for other agents' programs ------------------------------------------------------

AGENTS = ("claude", "copilot", "opencode")
LIBRARIES = ("claude_agent_sdk", "copilot")
"""What has to be installed for Mooring to start a program; only looked for here."""
PLANTED = "--require=./planted.js"
VARIABLE_FILES = {
    ".env": f"NODE_OPTIONS={PLANTED}\n",
    ".envrc": f"export NODE_OPTIONS={PLANTED}\n",
    ".mooring/settings.json": {"env": {"NODE_OPTIONS": PLANTED, "PATH": "bin"}},
    ".mooring/settings.local.json": {"env": {"NODE_OPTIONS": PLANTED}},
    ".claude/settings.json": {"env": {"NODE_OPTIONS": PLANTED}},
    ".npmrc": f"node-options={PLANTED}\n",
}
ASKING = (
    ("a conversation with OpenCode", ("chat", "-b", "opencode", "-p", "hi")),
    ("a list of backends", ("backends",)),
)


class ProgramScene:
    """A person with the programs of other agents, which are scripts for `node`, in a clone that has some as well."""

    def __init__(self, folder: Path, before: str) -> None:
        self.victim = Victim(folder)
        self.used = folder / "used"
        tools = folder / "tools"
        for name in AGENTS:
            self._write(tools / name, "#!/usr/bin/env node\n")
        seen = f"env | grep -q -e {PLANTED} && : > {self.victim.marker}"
        self._write(tools / "node", f"#!/bin/sh\n{seen}\necho $1 >> {self.used}\ngit --version\nexit 3\n")
        for place in ("bin", ".", "node_modules/.bin"):
            for name in (*AGENTS, "node", "git"):
                self._write(self.victim.project / place / name, f"#!/bin/sh\n: > {self.victim.marker}\n")
        for name in LIBRARIES:
            self.victim.write(folder / "libraries" / name / "__init__.py", "")
        self.env = {"PATH": f"{before}{tools}:{os.environ['PATH']}", "PYTHONPATH": str(folder / "libraries")}

    def _write(self, path: Path, text: str) -> None:
        self.victim.write(path, text).chmod(0o755)

    def ask(self, what: str, words: tuple[str, ...]) -> bool:
        """Whether something of the clone was run or used."""
        self.used.unlink(missing_ok=True)
        self.victim.run(*words, env=self.env, seconds=100)
        was_hit = self.victim.was_hit()
        started = self.used.read_text() if self.used.exists() else ""
        names = AGENTS if words == ("backends",) else ("opencode",)
        assert was_hit or all(f"/{name}\n" in started for name in names), f"{what} starts not every program"
        return was_hit


def plant_beside_agents(folder: Path, tally: Tally) -> None:
    for what, words in ASKING:
        for index, relative in enumerate(FOLDERS if words == ("backends",) else FOLDERS[:3]):
            scene = ProgramScene(folder / f"{words[0]}-{index}", f"{relative}:")
            tally.count(f"{what}, with {relative!r} in PATH", scene.ask(what, words))
        scene = ProgramScene(folder / f"{words[0]}-files", "")
        for name, content in VARIABLE_FILES.items():
            planted = scene.victim.write(scene.victim.project / name, content)
            tally.count(f"{what}, with variables in {name}", scene.ask(what, words))
            planted.unlink()
        scene.env["NODE_OPTIONS"] = PLANTED
        assert scene.ask(what, words), f"{what} would not show a variable"
        scene = ProgramScene(folder / f"{words[0]}-control", f"{folder}/{words[0]}-control/project/bin:")
        assert scene.ask(what, words), f"{what} would not show what was planted"


ATTACKS = (
    Attack("A41", "a clone's programs in a relative folder of PATH", plant_programs),
    Attack("A41", "a clone's programs and variables for other agents' programs", plant_beside_agents),
    Attack("A41", "a clone's settings and code for commands of the person's own", use_a_clones_folder),
)
