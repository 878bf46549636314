"""A search, a listing, an edit or an attachment reaches a file that reading was never allowed for."""

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.attacks.local_tools import CANARY, open_desk
from tests.attacks.table import Attack, Tally, Victim

import mooring
from mooring.agents.commands.find import CommandFiles, find_used_command
from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.protocol.content import Text
from mooring.errors import MooringError
from mooring.verbs.agent.mentions import expand_mentions
from mooring.verbs.agent.used_texts import make_command_turn
from mooring.verbs.use.deadline import Deadline

HARMLESS = "harmless-text-beside-it"
ALL_OF_HOME = tuple(Rule(tool, "allow", "~/**") for tool in ("Read", "Grep", "Glob", "LS"))
TERMS: tuple[tuple[tuple[Rule, ...], dict[str, Any]], ...] = (
    (ALL_OF_HOME, {}),
    (ALL_OF_HOME, {"policy": "accept-reads"}),
    ((), {"policy": "bypass"}),
)
"""The rules and the mode under which a search above the store asks nobody."""
CHANGES = ("Edit", "Write", "NotebookEdit")
DENIED = (".env", "secrets/key.txt", "notes/*.pem", "**/.env", "./secrets/**")
SYSTEM = ("/dev/shm/{name}", "/dev/{name}", "/dev/./shm/../shm/{name}", "{project}/shm/{name}", "/proc/self/{name}")


# --- searches above what always asks --------------------------------------------------------------------------------


def search_above_the_store(folder: Path, tally: Tally) -> None:
    """Every tool that looks through folders, from every folder above the store, however its path is written."""
    asyncio.run(_search_above_the_store(Victim(folder), tally))


async def _search_above_the_store(victim: Victim, tally: Tally) -> None:
    chance = random.Random(1)
    state = victim.home / ".local" / "state"
    victim.write(state / "mooring" / "secrets.json", {"key": CANARY})
    victim.write(state / "mooring" / "deep" / "er" / "audit.log", CANARY)
    victim.write(victim.home / ".config" / "mooring" / "settings.json", {"env": {"TOKEN": CANARY}})
    victim.write(state / "other" / "notes.txt", HARMLESS)
    (victim.project / "up").symlink_to(victim.home)
    (victim.home / "again").symlink_to(state / "mooring")
    roots = [victim.home, victim.home / ".local", state, victim.project / "up", victim.home.parent]
    for rules, options in TERMS:
        async with open_desk(victim, *rules, **options) as registry:
            for _ in range(60):
                root = _vary_path(str(chance.choice(roots)), chance)
                tool, arguments = _choose_search(root, chance)
                outcome = await registry.call(tool, arguments)
                tally.count(f"{tool} {arguments}", CANARY in outcome.text or "secrets.json" in outcome.text)
            found = await registry.call("Grep", {"path": str(state), "pattern": "harmless", "output_mode": "content"})
            assert HARMLESS in found.text, "a search there finds nothing at all"


def _choose_search(root: str, chance: random.Random) -> tuple[str, dict[str, Any]]:
    glob = chance.choice(["", "**/*", "*.json", "**/{secrets,audit}.*", "**/mooring/*", "*"])
    mode = chance.choice(["content", "files_with_matches", "count"])
    searches: list[tuple[str, dict[str, Any]]] = [
        (
            "Grep",
            {"path": root, "pattern": chance.choice(["canary", "(?s).*", "key"]), "output_mode": mode, "-i": True},
        ),
        ("Grep", {"path": root, "pattern": ".", "output_mode": mode, "glob": glob, "multiline": True}),
        ("Glob", {"path": root, "pattern": f"**/{glob or '*'}"}),
        ("LS", {"path": f"{root}/.local/state"}),
        ("LS", {"path": root}),
    ]
    return chance.choice(searches)


def _vary_path(path: str, chance: random.Random) -> str:
    """The same folder, written in another way."""
    endings = ("", "/", "/.", "//", "/./", "/x/..")
    path = path.replace("/home", chance.choice(["/home", "//home", "/./home", "/home/../home"]), 1)
    return path + chance.choice(endings[:5])


# --- files that a rule keeps from being read ------------------------------------------------------------------------


def learn_what_may_not_be_read(folder: Path, tally: Tally) -> None:
    """Edits as guesses, listings, attachments, skills: each on files that a rule denies to `Read`."""
    victim = Victim(folder)
    asyncio.run(_guess_by_edits(victim, tally))
    asyncio.run(_guess_outside(victim, tally))
    asyncio.run(_list_denied_names(victim, tally))
    asyncio.run(_attach_denied_files(victim, tally))


async def _guess_by_edits(victim: Victim, tally: Tally) -> None:
    for number, pattern in enumerate(DENIED):
        rules = (Rule("Read", "deny", pattern), *(Rule(tool, "allow") for tool in CHANGES))
        for options in ({}, {"policy": "bypass"}):
            _write_secrets(victim)
            async with open_desk(victim, *rules, **options) as registry:
                for path in _list_spellings(pattern):
                    tally.count(f"a guess at {path} by {options}", await _can_tell(registry, path))
                right = await registry.call("Edit", _edit("open.txt", HARMLESS))
                assert not right.is_error, f"no edit works at all ({number}): {right.text}"


async def _guess_outside(victim: Victim, tally: Tally) -> None:
    """The same outside of the project, where reading is asked about: by no rule, by wide ones, and in every mode."""
    victim.write(victim.home / ".ssh" / "id_rsa", CANARY)
    victim.write(victim.home / "notes" / "a.txt", HARMLESS)
    (victim.project / "out").symlink_to(victim.home)
    wide = tuple(Rule(tool, "allow") for tool in (*CHANGES, "Read"))
    for rules in ((), wide, (Rule("Edit", "allow", "./**"), Rule("Edit", "allow", "~/notes/**"))):
        for options in ({}, {"policy": "accept-reads"}, {"policy": "bypass"}, {"policy": "plan"}):
            async with open_desk(victim, *rules, **options) as registry:
                for path in ("~/.ssh/id_rsa", "../home/.ssh/id_rsa", "out/.ssh/id_rsa", f"{victim.home}/.ssh/id_rsa"):
                    missing = await registry.call("Edit", _edit(f"{path}.old", CANARY))
                    wrong = await registry.call("Edit", _edit(path, "no-such-text"))
                    exists = missing.text.replace("id_rsa.old", "id_rsa") != wrong.text
                    tally.count(f"a guess at {path} by {options}", exists or await _can_tell(registry, path))
    async with open_desk(victim, Rule("Edit", "allow", "~/notes/**")) as registry:
        right = await registry.call("Edit", _edit("~/notes/a.txt", HARMLESS))
        assert not right.is_error, f"no edit works at all: {right.text}"


def _write_secrets(victim: Victim) -> None:
    for name in (".env", "secrets/key.txt", "notes/a.pem", "sub/.env"):
        victim.write(victim.project / name, f"TOKEN={CANARY}\n")
        notebook = {"cells": [{"cell_type": "code", "id": CANARY, "source": []}], "metadata": {}, "nbformat": 4}
        victim.write(victim.project / f"{name}.ipynb", json.dumps(notebook))
    victim.write(victim.project / "open.txt", HARMLESS)
    link = victim.project / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(".env")


def _list_spellings(pattern: str) -> Iterator[str]:
    names = {".env": ".env", "**/.env": "sub/.env", "notes/*.pem": "notes/a.pem"}
    name = names.get(pattern, "secrets/key.txt")
    yield from (name, f"./{name}", f"sub/../{name}", f"sub/..//{name}")
    if pattern == ".env":
        yield "link"


async def _can_tell(registry: mooring.Conversation, path: str) -> bool:
    """Whether a right guess is answered in another way than a wrong one, or changes the file."""
    wrong = await registry.call("Edit", _edit(path, "no-such-text"))
    right = await registry.call("Edit", _edit(path, CANARY))
    return wrong.text != right.text or not right.is_error


def _edit(path: str, old: str) -> dict[str, Any]:
    return {"file_path": path, "old_string": old, "new_string": f"{old} changed"}


async def _list_denied_names(victim: Victim, tally: Tally) -> None:
    _write_secrets(victim)
    name = f"{CANARY}.txt"
    victim.write(victim.project / "secrets" / name, "x")
    (victim.project / f"{CANARY}-link").symlink_to(f"secrets/{name}")
    looks: tuple[tuple[str, dict[str, Any]], ...] = (
        ("Glob", {"pattern": "**"}),
        ("Glob", {"pattern": "secrets/*"}),
        ("Glob", {"pattern": f"**/{CANARY[:6]}*"}),
        ("Glob", {"pattern": "{sub,secrets}/**", "path": "."}),
        ("LS", {"path": "."}),
        ("LS", {"path": "secrets/../"}),
    )
    for pattern in ("./secrets/**", "secrets/*", f"*{CANARY}*", f"**/{CANARY.upper()}*"):
        for options in ({}, {"policy": "bypass"}):
            async with open_desk(victim, Rule("Read", "deny", pattern), **options) as registry:
                for tool, arguments in looks:
                    outcome = await registry.call(tool, arguments)
                    tally.count(f"{tool} {arguments} despite {pattern}", CANARY in outcome.text)
                listed = await registry.call("Glob", {"pattern": "*.txt"})
                assert "open.txt" in listed.text, "nothing is listed at all"


async def _attach_denied_files(victim: Victim, tally: Tally) -> None:
    _write_secrets(victim)
    victim.write(victim.home / ".claude" / "skills" / "leak" / "SKILL.md", f"---\ndescription: x\n---\n{CANARY}")
    victim.write(victim.home / ".claude" / "skills" / "fine" / "SKILL.md", f"---\ndescription: x\n---\n{HARMLESS}")
    rules = [Rule("Read", "deny", pattern) for pattern in (*DENIED, "~/.claude/skills/leak/**")]
    where = Paths(str(victim.home), victim.env, "linux", str(victim.system))
    workspace = Workspace(where, str(victim.project))
    async with mooring.open(request=workspace, servers={}, rules=rules) as host, host.conversation() as registry:
        for typed in ("@.env", '@"./.env"', "@sub/../.env", "@link", "@secrets/key.txt", "@secrets", "/leak"):
            got = await _send(host, registry, typed)
            tally.count(f"{typed} is sent", CANARY in got or "key.txt" in got)
        assert HARMLESS in await _send(host, registry, "@open.txt"), "nothing is attached at all"
        assert HARMLESS in await _send(host, registry, "/fine"), "no skill is sent at all"


async def _send(host: mooring.Host, registry: mooring.Conversation, typed: str) -> str:
    """All that a model would be given for a line."""
    used = await find_used_command(CommandFiles(host.workspace), typed)
    try:
        if used is not None:
            said = (await make_command_turn(host, registry, used, (), Deadline(None))).said
        else:
            said = await expand_mentions(host, typed, (), Deadline(None))
    except MooringError:
        return ""
    texts = [part.text for part in said.attachments if isinstance(part, Text)]
    return "\n".join([said.text, *texts])


# --- the system's own folders ---------------------------------------------------------------------------------------


def write_into_the_system(folder: Path, tally: Tally) -> None:
    """Files below `/dev` and `/proc`, under every rule and in every mode, also by a link of the project."""
    asyncio.run(_write_into_the_system(Victim(folder), tally))


async def _write_into_the_system(victim: Victim, tally: Tally) -> None:
    (victim.project / "shm").symlink_to("/dev/shm")
    name = f"mooring-attack-{random.randrange(10**9)}"
    left = Path("/dev/shm", name)
    anything = tuple(Rule(tool, "allow") for tool in CHANGES)
    try:
        async with open_desk(victim, *anything, policy="bypass") as registry:
            for path in SYSTEM:
                written = path.format(name=name, project=victim.project)
                for tool, arguments in (("Write", {"content": "x"}), ("Edit", {"old_string": "", "new_string": "x"})):
                    outcome = await registry.call(tool, {"file_path": written, **arguments})
                    is_refused = "not a file on a disk" in outcome.text
                    tally.count(f"{tool} {written}", _remove(left) or not is_refused)
            made = await registry.call("Write", {"file_path": "new.txt", "content": "x"})
            assert not made.is_error, "nothing is written at all"
    finally:
        _remove(left)


def _remove(path: Path) -> bool:
    """Remove a file; whether there was one."""
    exists = path.exists()
    path.unlink(missing_ok=True)
    return exists


ATTACKS = (
    Attack("A37", "a search above the store prints it", search_above_the_store),
    Attack("A37", "another tool than Read tells what Read is denied", learn_what_may_not_be_read),
    Attack("A37", "a file tool writes into /dev or /proc", write_into_the_system),
)
