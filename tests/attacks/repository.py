"""A clone that was never approved: whatever its files say, no command starts anything of it."""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from tests.attacks.table import Attack, Tally, Victim

HOMES = Path(__file__).parents[1] / "homes"

READING = (
    ("mcp", "list"),
    ("mcp", "list", "--all", "--json"),
    ("mcp", "list", "--check"),
    ("mcp", "doctor"),
    ("mcp", "reload"),
    ("tools",),
    ("resources",),
    ("prompts",),
    (),
)
"""What a person types before they have looked at a clone; the last one opens the chat, or lists without a terminal."""

COMPLETION = {"_MOORING_COMPLETE": "bash_complete", "COMP_WORDS": "mooring mcp get ", "COMP_CWORD": "3"}


def start_a_clone(folder: Path, tally: Tally) -> None:
    """The project files of every tool's sample home at once, with programs of all the names that they use."""
    victim = Victim(folder)
    names = _copy_project_files(victim)
    _plant(victim, names)
    path = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    found = json.loads(victim.run("mcp", "list", "--all", "--json", env=path).stdout)
    waiting = [server["name"] for server in found["servers"] if server["status"] == "unapproved"]
    assert len(waiting) >= 40, f"only {len(waiting)} definitions of a project were found"
    for words in (*READING, *_about_each(waiting)):
        victim.run(*words, env=path)
        _count_each(victim, tally, waiting, words)
    victim.run(env={**path, **COMPLETION})
    _count_each(victim, tally, waiting, ("completion",))
    _check_trap(victim, min(names), path)


def _check_trap(victim: Victim, name: str, path: dict[str, str]) -> None:
    """The programs would have been noticed: one of them, as the person's own server, is."""
    victim.write(victim.home / ".mcp.json", {"mcpServers": {"own": {"command": name}}})
    victim.run("tools", "own", env=path)
    assert victim.was_hit(), "a started program left no mark"


def _about_each(names: list[str]) -> Iterator[tuple[str, ...]]:
    """What a person types about one server; a few servers stand for all."""
    for name in names[::12]:
        yield "call", f"{name}.anything"
        yield "mcp", "test", name
        yield "mcp", "why", name


def _count_each(victim: Victim, tally: Tally, names: list[str], words: tuple[str, ...]) -> None:
    """A command is a try of every definition; a hit names the command, since the marker cannot tell the definition."""
    hit = victim.was_hit()
    for number, name in enumerate(names):
        tally.count(f"{' '.join(words) or 'mooring'} started one of {name}, …", hit and number == 0)


def _copy_project_files(victim: Victim) -> set[str]:
    """Give the clone the files of all samples; the names of the programs in them."""
    for sample in sorted(HOMES.iterdir()):
        if (sample / "project").is_dir():
            shutil.copytree(sample / "project", victim.project, dirs_exist_ok=True)
    touch = f"touch '{victim.marker}'"
    for path, content in _files_that_run_in_values(touch).items():
        victim.write(victim.project / path, content)
    listed = json.loads(victim.run("mcp", "list", "--all", "--json").stdout)["servers"]
    commands = {server.get("command", "") for server in listed}
    return {os.path.basename(command.split()[0]) for command in commands if command}


def _files_that_run_in_values(touch: str) -> dict[str, object]:
    """Definitions whose values are commands, in the dialects that have them."""
    url = "http://127.0.0.1:9/mcp"
    return {
        ".crush.json": {
            "mcp": {
                "crush-url": {"type": "http", "url": f"{url}?k=$({touch})"},
                "crush-env": {"type": "stdio", "command": "true", "env": {"K": f"$({touch})"}},
                "crush-header": {"type": "http", "url": url, "headers": {"K": f"$({touch})"}},
            }
        },
        ".pi/mcp.json": {"mcpServers": {"pi-env": {"command": "true", "env": {"K": f"!{touch}"}}}},
        ".mooring/mcp.json": {
            "mcpServers": {
                "own-env": {"command": "true", "env": {"K": f"!{touch}"}},
                "own-header": {"url": url, "headers": {"K": f"!{touch}"}},
                "own-helper": {"url": url, "headersHelper": touch},
            }
        },
    }


def _plant(victim: Victim, names: set[str]) -> None:
    folder = victim.home.parent / "bin"
    folder.mkdir()
    for name in names:
        planted = victim.write(folder / name, f"#!/bin/sh\n: > '{victim.marker}'\n")
        planted.chmod(planted.stat().st_mode | stat.S_IXUSR)


ATTACKS = (Attack("A1", "a fresh clone with the project files of every tool", start_a_clone),)
