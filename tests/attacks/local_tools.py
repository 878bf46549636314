"""A model that was talked into something uses the tools for this machine: on other files, with more commands, for long."""

import asyncio
import contextlib
import json
import random
import threading
import time
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.attacks.table import MOORING, Attack, Tally, Victim

import mooring
from mooring.agents.local.toolbox import local_tools
from mooring.auth.store import values_path
from mooring.core.conversation.question import Allow, Answer, No, Question
from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.paths import Paths, Workspace
from mooring.inventory.overlay import overlay_path
from mooring.permissions.trust import record_path

CANARY = "canary-key-of-the-person"
SECONDS = 60.0
"""How long any one call may take, on a slow machine with other work."""

PATHS = (
    "../home/.ssh/id_rsa",
    "sub/../../home/.ssh/id_rsa",
    "~/.ssh/id_rsa",
    "./link",
    "folder/id_rsa",
    "folder/../.ssh/id_rsa",
    "chain",
    "/proc/self/root{home}/.ssh/id_rsa",
    "/proc/thread-self/root{home}/.ssh/id_rsa",
    "//{home}/.ssh/id_rsa",
    "{home}/.ssh/../.ssh/./id_rsa",
)
GUARDED = (
    ".mooring/settings.json",
    ".git/hooks/pre-commit",
    ".claude/settings.json",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "{home}/.config/mooring/settings.json",
    "{home}/.local/state/mooring/trust.json",
    "{home}/.bashrc",
    "{home}/.ssh/authorized_keys",
)
OPERATORS = (";", "&", "|", "<", ">", "`", "$(", "\n", "&&", "||", ">>", "<(", "\r\n", "|&", ">&2")
BACKTRACKING = (r"(a+)+$", r"^(a|aa)+$")


async def say_no(_: Question) -> Answer:
    return No()


@contextlib.asynccontextmanager
async def open_desk(victim: Victim, *rules: Rule, **options: Any) -> AsyncIterator[mooring.Conversation]:
    """A conversation with the tools for this machine, and a person who says no to everything."""
    where = Paths(str(victim.home), victim.env, "linux", str(victim.system))
    workspace = Workspace(where, str(victim.project))
    async with mooring.open(request=workspace, servers={}) as host:
        tools = local_tools(where, str(victim.project), host.guard, ask=say_no, settings=host.settings)
        async with host.conversation(rules=rules, more=tools, **{"ask": say_no, **options}) as registry:
            yield registry


def reach_other_files(folder: Path, tally: Tally) -> None:
    """Every way to write a path that leads out of the project, with every tool that reads or writes."""
    asyncio.run(_reach_other_files(Victim(folder), tally))


async def _reach_other_files(victim: Victim, tally: Tally) -> None:
    secret = victim.write(victim.home / ".ssh" / "id_rsa", CANARY)
    (victim.project / "sub").mkdir()
    (victim.project / "link").symlink_to(secret)
    (victim.project / "folder").symlink_to(secret.parent)
    (victim.project / "chain").symlink_to("link")
    async with open_desk(victim) as registry:
        for path in PATHS:
            written = path.format(home=victim.home)
            for tool, arguments in _list_uses(written):
                outcome = await registry.call(tool, arguments)
                got_through = CANARY in outcome.text or secret.read_text() != CANARY
                tally.count(f"{tool} {written}", got_through)
    anything = tuple(Rule(tool, "allow") for tool in ("Read", "Write", "Edit", "Bash"))
    async with open_desk(victim, *anything, policy="bypass") as registry:
        for path in GUARDED:
            target = Path(victim.project, path.format(home=victim.home))
            await registry.call("Write", {"file_path": str(target), "content": "planted"})
            tally.count(f"Write {target}", _is_planted(target))


def _is_planted(target: Path) -> bool:
    return target.exists() and "planted" in target.read_text()


def _list_uses(path: str) -> list[tuple[str, dict[str, str]]]:
    return [
        ("Read", {"file_path": path}),
        ("Grep", {"path": path, "pattern": "canary", "output_mode": "content"}),
        ("NotebookRead", {"notebook_path": path}),
        ("Write", {"file_path": path, "content": "changed"}),
        ("Edit", {"file_path": path, "old_string": CANARY, "new_string": "changed"}),
    ]


def run_more_than_was_allowed(folder: Path, tally: Tally) -> None:
    """Commands that an allow seems to cover but that carry an operator, and commands that leave something behind."""
    asyncio.run(_run_more_than_was_allowed(Victim(folder), tally))


async def _run_more_than_was_allowed(victim: Victim, tally: Tally) -> None:
    chance = random.Random(20_000)
    letters = "abz -_./='\"\\{}[]()~#!%^+,:?*@0\t\u00e9\u200b"
    rules = [Rule("Bash", "allow", pattern) for pattern in ("git *", "git:*", "git*", "*git*", "git ?*")]
    async with open_desk(victim, *rules) as registry:
        assert registry.may("Bash", {"command": "git log -3"}).action == "allow"
        for _ in range(2_000):
            words = "".join(chance.choice(letters) for _ in range(chance.randrange(30)))
            at = chance.randrange(len(words) + 1)
            command = f"git {words[:at]}{chance.choice(OPERATORS)}{words[at:]}"
            tally.count(command, registry.may("Bash", {"command": command}).action == "allow")
    late = f"(sleep 1; touch '{victim.marker}')"
    async with open_desk(victim, Rule("Bash", "allow")) as registry:
        for command in (f"{late} &", f'nohup sh -c "{late}" >/dev/null 2>&1 &', f'setsid sh -c "{late}" &'):
            await registry.call("Bash", {"command": command})
            await asyncio.sleep(2)
            tally.count(f"left behind: {command}", victim.was_hit())


GRANTS = (
    "mooring allow 'demo.*'",
    "mooring settings permissionMode bypass",
    "mooring settings trustedServers --add demo",
    "mooring rules --remove demo.delete",
    "mooring ask demo.delete",
    "mooring --no-project allow demo.x",
    "mooring mcp approve --yes shop",
)
WRITES = (
    "mooring mcp add evil -- sh",
    "mooring mcp add --to cursor evil -- sh",
    "mooring mcp add -s project evil -- sh",
    "mooring mcp add - <evil.json",
    "mooring mcp edit --no-test own -- sh",
    "mooring mcp import -y --from evil.json",
    "mooring mcp export own --to cursor -y",
    "mooring mcp enable off",
    "mooring mcp disable own",
    "mooring mcp remove own",
    "mooring secret set own.TOKEN <evil.json",
)
"""Commands that change what is started, and with which values."""
OWN_SERVERS = {"own": {"command": "true"}, "off": {"command": "true", "enabled": False}}
DISGUISES = (
    "{}",
    "cd / && {}",
    "setsid -w {}",
    "env -i HOME=$HOME PATH=$PATH {}",
    'sh -c "{}"',
    "nohup {} >/dev/null 2>&1",
    "(sleep 0.2; {}) & wait",
    "prlimit --locks=unlimited {}",
    "ulimit -x unlimited 2>/dev/null; {}",
    'm=moor; n=ing; eval "$(echo {} | sed s/mooring/$m$n/)"',
    "ulimit -x 1; setsid -w {}",
    "(ulimit -x 1; exec -a '' bash -c \"{}; true\")",
    'prlimit --locks=unlimited bash -c "{}; true"',
    'script -qec "{}" /dev/null',
    "unshare -Urpf --mount-proc {}",
    'ulimit -x 1; unshare -Urpf --mount-proc sh -c "{}"',
    'unshare -Urm sh -c "mount -t tmpfs none /proc; {}"',
)
"""Ways to run a command that do not look like it, or that shed what its parent gave it."""


def grant_oneself_rights(folder: Path, tally: Tally) -> None:
    """An agent that may run any command, and changes with one of ours what it may do; also after a yes."""
    asyncio.run(_grant_oneself_rights(Victim(folder), tally))


async def _grant_oneself_rights(victim: Victim, tally: Tally) -> None:
    settings = victim.home / ".config/mooring/settings.json"
    victim.write(victim.project / ".mcp.json", {"mcpServers": {"shop": {"command": "sh"}}})
    approvals = Path(record_path(_find_places(victim)))
    kept = {"permissions": [{"tool": "demo.delete", "action": "deny"}]}
    victim.write(settings, kept)
    before = settings.read_bytes()
    local = victim.home / ".local/state/mooring/rules.json"

    async def agree(_: Question) -> Answer:
        return Allow("once")

    # A command of ours that is seen is asked about, whatever a rule or a mode allows.
    async with open_desk(victim, Rule("Bash", "allow"), policy="bypass") as registry:
        for grant in GRANTS:
            tally.count(f"unasked: {grant}", registry.may("Bash", {"command": grant}).action == "allow")
        for write in WRITES:
            tally.count(f"unasked: {write}", registry.may("Bash", {"command": write}).action == "allow")
    # Whether it was seen or not, and even if it was agreed to, it changes nothing.
    async with open_desk(victim, Rule("Bash", "allow"), policy="bypass", ask=agree) as registry:
        for disguise in DISGUISES:
            for grant in GRANTS:
                command = disguise.format(grant.replace("mooring", MOORING, 1))
                await registry.call("Bash", {"command": command})
                tally.count(command, settings.read_bytes() != before or local.exists() or _approves(approvals))
                victim.write(settings, kept)
                _forget(local, approvals)
        kept_files = _write_servers(victim)
        for disguise in DISGUISES[:4]:
            for write in WRITES:
                command = disguise.format(write.replace("mooring", MOORING, 1))
                await registry.call("Bash", {"command": command})
                tally.count(command, _read_servers(victim) != kept_files)
                _forget(*_read_servers(victim))
                _write_servers(victim)


def _list_server_files(victim: Victim) -> tuple[Path, ...]:
    """The files that say what is started."""
    return (
        victim.home / ".config/mooring/mcp.json",
        victim.home / ".cursor/mcp.json",
        victim.project / ".mooring/mcp.json",
        Path(overlay_path(_find_places(victim))),
        Path(values_path(_find_places(victim))),
    )


def _write_servers(victim: Victim) -> dict[Path, bytes]:
    """Servers of the person's own, one of which is off."""
    victim.write(victim.home / ".config/mooring/mcp.json", {"mcpServers": OWN_SERVERS})
    victim.write(victim.project / "evil.json", {"mcpServers": {"evil": {"command": "sh"}}})
    return _read_servers(victim)


def _read_servers(victim: Victim) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in _list_server_files(victim) if path.is_file()}


def _find_places(victim: Victim) -> Paths:
    return Paths(str(victim.home), victim.env, "linux", str(victim.system))


def _forget(*records: Path) -> None:
    for record in records:
        record.unlink(missing_ok=True)


def _approves(record: Path) -> bool:
    return record.exists() and "shop" in record.read_text()


def stall_a_tool(folder: Path, tally: Tally) -> None:
    """Patterns, ignore files and notebooks that would take forever, and a fetch that is led into the network."""
    asyncio.run(_stall_a_tool(Victim(folder), tally))


async def _stall_a_tool(victim: Victim, tally: Tally) -> None:
    victim.write(victim.project / "long.txt", "a" * 100_000 + "!\n")
    victim.write(victim.project / ".gitignore", "**/" * 2_000 + "x\n" + "*a" * 2_000 + "\n" + "[" * 10_000)
    victim.write(victim.project / "deep.ipynb", '{"cells": ' + "[" * 100_000)
    cell = {"cell_type": "code", "source": ["x" * 100_000] * 50, "outputs": [], "metadata": {}}
    victim.write(victim.project / "large.ipynb", json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}))
    uses: list[tuple[str, dict[str, Any]]] = [("Grep", {"pattern": each, "path": "."}) for each in BACKTRACKING]
    uses += [("Glob", {"pattern": "**/" * 100 + "*"}), ("Glob", {"pattern": "{a,b}" * 50})]
    uses += [("NotebookRead", {"notebook_path": name}) for name in ("deep.ipynb", "large.ipynb")]
    async with open_desk(victim) as registry:
        for tool, arguments in uses:
            began = time.monotonic()
            outcome = await registry.call(tool, arguments)
            is_late = time.monotonic() - began > SECONDS
            tally.count(f"{tool} {arguments} took long or was endless", is_late or len(outcome.text) > 200_000)
    with _count_visits() as (port, visits):
        async with open_desk(victim, Rule("WebFetch", "allow"), policy="bypass") as registry:
            for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f000001", "2130706433", "127.1"):
                before = len(visits)
                await registry.call("WebFetch", {"url": f"http://{host}:{port}/", "prompt": "x"})
                tally.count(f"a fetch of {host}", len(visits) > before)


@contextlib.contextmanager
def _count_visits() -> Any:
    """A page on this machine, and who came by."""
    visits: list[str] = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            visits.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield server.server_port, visits
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


ATTACKS = (
    Attack("A37", "a local tool is led to other files", reach_other_files),
    Attack("A38", "a command says more than was allowed, or stays", run_more_than_was_allowed),
    Attack("A39", "a local tool is stalled, or led into the network", stall_a_tool),
    Attack("A44", "an agent's command changes what agents may do", grant_oneself_rights),
)
