"""A repository that plants code where the launchers of a person's own servers look first: npx, Python, make and others.

Every try starts a server that the person configured and asks it where it is. A server that does not answer counts as
an attack that could not be made: one that never starts would hold against anything.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from tests.attacks.registry import NPM_SERVER, Registry, pack
from tests.attacks.table import Attack, Tally, Victim

from mooring.servers.launch.runners import FOLDER_PROGRAMS

AT_ONCE = 2
SHADOWS = ("time_server", "runpy", "json", "sitecustomize", "codecs")

SERVER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, result = asked["method"], {}
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": os.getcwd()}]}
    elif method != "ping":
        answer = {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "unknown"}}
        print(json.dumps(answer), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
"""A server with one tool, `where`, which answers with the folder it is in."""


class Scene(Struct, frozen=True):
    """One person, one clone, and one server of theirs."""

    victim: Victim
    env: Mapping[str, str] = {}

    def configure(self, command: Sequence[str], **more: Any) -> None:
        entry = {"command": command[0], "args": list(command[1:]), **more}
        self.victim.write(self.victim.home / ".cursor/mcp.json", {"mcpServers": {"own": entry}})

    def ask(self, *expected: Path) -> None:
        """Ask the server where it is. Raises: AssertionError if it is elsewhere, unless the attack got through."""
        done = self.victim.run("call", "own.where", env=self.env, seconds=60)
        if not self.victim.marker.exists():
            assert done.returncode == 0, f"{done.stdout} {done.stderr}"
            assert not expected or Path(done.stdout.strip()) in expected, done.stdout


# --- Python -----------------------------------------------------------------------------------------------------------


def attack_modules(folder: Path, tally: Tally) -> None:
    """`python -m time_server` beside the clone's time_server, or beside that and modules that every program imports."""
    tries = [(names, *each) for names in (SHADOWS[:1], SHADOWS) for each in _pythons(folder)]
    _try_all(folder, tries, lambda scene, each: _try_module(scene, folder, *each), tally)


def _pythons(folder: Path) -> Iterator[tuple[str, list[str], dict[str, str]]]:
    shim = folder / "bin/python-shim"
    if not shim.exists():
        shim.parent.mkdir()
        shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        shim.chmod(0o755)
        (shim.parent / "python3").symlink_to(shim)
    named = {"PATH": f"{shim.parent}:{os.environ['PATH']}"}
    yield "-m", [sys.executable, "-m", "time_server"], {}
    yield "-m behind a shim", ["python3", "-m", "time_server"], named
    yield "-um behind env", ["env", "A=b", "python3", "-um", "time_server"], named
    yield "-c", [sys.executable, "-c", "import time_server"], {}
    yield "in a shell", ["sh", "-c", f"exec {sys.executable} -m time_server"], {}
    yield "with a relative PATH", ["python3", "-m", "time_server"], {"PATH": f"bin:./bin:{named['PATH']}"}


def _try_module(
    scene: Scene, folder: Path, shadows: Sequence[str], what: str, command: list[str], env: Mapping[str, str]
) -> tuple[str, bool]:
    victim = scene.victim
    victim.write(folder / "site/time_server.py", SERVER)
    for name in shadows:
        victim.write(victim.project / f"{name}.py", _python_trap(victim))
    trap = victim.write(victim.project / "bin/python3", f"#!/bin/sh\n: > '{victim.marker}'\n")
    trap.chmod(0o755)
    scene.configure(command)
    # The words inside a shell's line stay as they are, so that this server starts in a folder of its own.
    expected = () if what == "in a shell" else (victim.project,)
    Scene(victim, {**env, "PYTHONPATH": f"{folder}/site"}).ask(*expected)
    return f"python {what}, beside {', '.join(shadows)}", victim.was_hit()


def _python_trap(victim: Victim) -> str:
    return f"open({str(victim.marker)!r}, 'w').close()\n"


# --- npm --------------------------------------------------------------------------------------------------------------


def attack_packages(folder: Path, tally: Tally) -> None:
    """The same package in the clone's `node_modules`, or from the registry that its `.npmrc` names."""
    npx = shutil.which("npx")
    assert npx, "npx is missing: install Node.js 20 or newer"
    commands = {
        "npx": ["npx", "-y", "own-server"],
        "npx of a scope": ["npx", "-y", "@acme/own-server"],
        "npm exec": ["npm", "exec", "--yes", "--", "own-server"],
        "npx by its path behind env": ["env", "A=b", npx, "-y", "-p", "own-server", "own-server"],
        "npx of node": ["node", os.path.realpath(npx), "-y", "own-server@1.0.0"],
        "npx in a shell": ["sh", "-c", "exec npx -y own-server"],
    }
    kits = {"a package": [_plant_package], "an .npmrc": [_plant_npmrc], "a script-shell": [_plant_script_shell]}
    tries = [(f"npx, with {kit}", commands["npx"], plants) for kit, plants in kits.items()]
    everything = [_plant_package, _plant_npmrc]
    tries += [(f"{name}, with both", command, everything) for name, command in commands.items()]
    _try_all(folder, tries, lambda scene, each: _try_package(scene, *each), tally)
    _try_all(folder, [()], lambda scene, _: _try_unfetched(scene), tally)


def _try_package(
    scene: Scene, what: str, command: list[str], plants: Sequence[Callable[[Victim, Registry], None]]
) -> tuple[str, bool]:
    victim = scene.victim
    scene.configure(command)
    with _registries(victim) as (good, evil):
        for plant in plants:
            plant(victim, evil)
        scene.ask(victim.project)
        got_through = victim.was_hit() or bool(evil.asked)
        assert good.asked or got_through, "the registry of the person's own .npmrc was not asked"
        return what, got_through


def _try_unfetched(scene: Scene) -> tuple[str, bool]:
    """A name that only the clone has must not be downloaded from a registry where anyone may register it."""
    victim = scene.victim
    scene.configure(["npx", "own-server"])
    with _registries(victim) as (good, evil):
        _plant_package(victim, evil)
        done = victim.run("call", "own.where", seconds=60)
        got_through = victim.was_hit() or bool(good.asked or evil.asked)
        assert "add -y" in done.stderr or got_through, done.stderr
        return "npx without -y, with a package", got_through


@contextmanager
def _registries(victim: Victim) -> Iterator[tuple[Registry, Registry]]:
    with Registry(pack(NPM_SERVER)) as good, Registry(pack(_node_trap(victim) + NPM_SERVER)) as evil:
        victim.write(victim.home / ".npmrc", f"registry={good.url}\nupdate-notifier=false\n")
        yield good, evil


def _node_trap(victim: Victim) -> str:
    return f"require('fs').writeFileSync({json.dumps(str(victim.marker))}, '');\n"


def _plant_package(victim: Victim, evil: Registry) -> None:
    modules = victim.project / "node_modules"
    victim.write(victim.project / "package.json", {"dependencies": {"own-server": "1", "@acme/own-server": "1"}})
    for name in ("own-server", "@acme/own-server"):
        manifest = {"name": name, "version": "1.0.0", "bin": {"own-server": "server.js"}}
        victim.write(modules / name / "package.json", manifest)
        server = victim.write(modules / name / "server.js", f"#!/usr/bin/env node\n{_node_trap(victim)}{NPM_SERVER}")
        server.chmod(0o755)
    victim.write(modules / ".bin/node", f"#!/bin/sh\n: > '{victim.marker}'\n").chmod(0o755)
    (modules / ".bin/own-server").symlink_to("../own-server/server.js")


def _plant_npmrc(victim: Victim, evil: Registry) -> None:
    victim.write(victim.project / "package.json", {})
    victim.write(victim.project / ".npmrc", f"registry={evil.url}\n@acme:registry={evil.url}\nalways-auth=true\n")


def _plant_script_shell(victim: Victim, evil: Registry) -> None:
    trap = victim.write(victim.project / "trap.sh", f'#!/bin/sh\n: > "{victim.marker}"\nexec /bin/sh "$@"\n')
    trap.chmod(0o755)
    victim.write(victim.project / "trap.js", _node_trap(victim))
    victim.write(victim.project / "package.json", {})
    victim.write(victim.project / ".npmrc", f"script-shell={trap}\nnode-options=--require {victim.project}/trap.js\n")


# --- every other program ----------------------------------------------------------------------------------------------


def attack_folders(folder: Path, tally: Tally) -> None:
    """Programs that take code from their folder: make itself, and one in the place of each other that is known."""
    victim = Victim(folder)
    commands = {name: [name, "thing"] for name in FOLDER_PROGRAMS - {"make"}}
    commands |= {"uv-run": ["uv", "run", "thing"], "npm-start": ["npm", "start"], "bun-x": ["bun", "x", "thing"]}
    commands |= {"env": ["env", "A=b", "bunx", "thing"], "bash": ["bash", "-c", "A=b exec bunx thing"]}
    commands |= {"npx-tsx": ["env", "npx", "tsx", "/x.ts"], "proxy": ["uvx", "proxy", "npx", "-y", "thing"]}
    servers = {name: _make_program(folder, name, command) for name, command in commands.items()}
    servers["below"] = {**servers["bunx"], "cwd": "sub", "env": {"NAME": "below"}}
    victim.write(victim.home / ".cursor/mcp.json", {"mcpServers": servers})
    for place in (victim.project, victim.project / "sub"):
        victim.write(place / "settings", f": > {folder}/marks/$NAME\n")
    marks = folder / "marks"
    marks.mkdir()
    env = {"PATH": f"{folder}/programs:{os.environ['PATH']}"}
    done = victim.run("tools", "--json", env=env, seconds=60)
    for name in servers:
        assert f'"{name}"' in done.stdout, f"{name} did not start: {done.stderr}"
        tally.count(name, (marks / name).exists())
    _attack_make(victim, tally)


def _make_program(folder: Path, name: str, command: list[str]) -> dict[str, Any]:
    """A server that is started by a program which first does what a file in its folder says.

    As bun does with bunfig.toml, pnpm with .pnpmfile.cjs and Rscript with .Rprofile.
    """
    server = folder / "server.py"
    server.write_text(SERVER)
    for word in command:
        program = folder / "programs" / word
        if word in FOLDER_PROGRAMS or word in ("uv", "npm", "npx", "uvx"):
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\n[ -e settings ] && . ./settings\nexec {sys.executable} -I {server}\n")
            program.chmod(0o755)
    return {"command": command[0], "args": command[1:], "env": {"NAME": name}}


def _attack_make(victim: Victim, tally: Tally) -> None:
    victim.write(victim.project / "Makefile", f"all:\n\t: > '{victim.marker}'\n")
    Scene(victim).configure(["make"])
    done = victim.run("call", "own.where")
    hit = victim.was_hit()
    assert "make" in done.stderr or hit, done.stderr
    tally.count("make", hit)


# --- all of them ------------------------------------------------------------------------------------------------------


def _try_all(
    folder: Path, tries: Sequence[Any], attempt: Callable[[Scene, Any], tuple[str, bool]], tally: Tally
) -> None:
    """Make every try with a person of its own, two at a time."""
    with ThreadPoolExecutor(AT_ONCE) as workers:
        made = [
            workers.submit(attempt, Scene(Victim(folder / f"person {tally.tries + number}")), each)
            for number, each in enumerate(tries)
        ]
        for each in made:
            tally.count(*each.result())


ATTACKS = (
    Attack("A21", "a clone's modules shadow those of own servers", attack_modules),
    Attack("A21", "a clone's packages and .npmrc reach own servers", attack_packages),
    Attack("A21", "a clone's settings reach the programs of own servers", attack_folders),
)
