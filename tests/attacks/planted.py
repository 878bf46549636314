"""A file is planted where another program acts on it, or a repository's text brings along what programs keep secret."""

import asyncio
import itertools
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.attacks.local_tools import CANARY, open_desk
from tests.attacks.table import Attack, Tally, Victim
from tests.attacks.words import MODEL, make_model_env
from tests.models import FakeModel, Say

import mooring
from mooring.agents.commands.find import CommandFiles
from mooring.agents.files.find import find_agents
from mooring.agents.instructions import collect_instructions
from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.paths import Paths, Workspace
from mooring.errors import MooringError

ANYTHING = tuple(Rule(tool, "allow") for tool in ("Write", "Edit", "NotebookEdit", "Read"))
OUTSIDE = (
    ".local/bin/git", "bin/ls", ".bashrc.d/x.sh", ".config/nvim/init.lua", ".config/systemd/user/x.service",
    ".config/autostart/x.desktop", ".emacs.d/init.el", ".cargo/config.toml", ".pip/pip.conf", ".config/pip/pip.conf",
    ".gradle/init.gradle", ".m2/settings.xml", ".config/fish/conf.d/x.fish", ".zshrc.local", ".vim/plugin/x.vim",
    ".ipython/profile_default/startup/x.py", ".jupyter/jupyter_notebook_config.py", ".config/direnv/direnvrc",
    "Library/LaunchAgents/x.plist", ".yarnrc.yml", ".bunfig.toml", ".config/git/hooks/x", "other-project/Makefile",
)  # fmt: skip
EXECUTED = (
    ".githooks/pre-commit", ".husky/pre-push", ".husky/_/husky.sh", ".pre-commit-config.yaml", ".envrc",
    ".devcontainer/devcontainer.json", ".devcontainer/a/devcontainer.json", ".vscode/tasks.json", ".vscode/launch.json",
    "sub/.envrc", "sub/.husky/pre-commit", "packages/a/.vscode/tasks.json",
)  # fmt: skip
OBEYED = (
    ".github/agents/general-purpose.md", ".github/skills/x/SKILL.md", ".github/prompts/x.prompt.md",
    ".github/instructions/x.instructions.md", ".github/hooks/x.json", ".kilocode/rules/x.md", ".kilocodemodes",
    ".roomodes", "CRUSH.md", "CRUSH.local.md", "WARP.md", "GROK.md", ".agent.md", ".rules", ".zed/tasks.json",
    ".goose/recipes/x.yaml", ".amp/plugins/x.js", ".crush/commands/x.md", ".rovodev/subagents/x.md",
    ".cline/hooks/x", ".grok/hooks/x", ".continuerules", ".warp/workflows/x.yaml", ".kimi-code/skills/x/SKILL.md",
)  # fmt: skip
HIDDEN = (
    ".claude/settings.local.json", ".claude/settings.json", ".claude/.credentials.json", ".codex/auth.json",
    ".codex/config.toml", ".cursor/mcp.json", ".opencode/auth.json", ".opencode/opencode.json", ".agents/history.jsonl",
    ".github/copilot/token", ".mooring/settings.json", ".mcp.json", "opencode.json",
)  # fmt: skip


# --- outside of the project -----------------------------------------------------------------------------------------


def write_outside_of_the_project(folder: Path, tally: Tally) -> None:
    """Start files, programs and hooks of the person's, in bypass mode and with rules that allow the tools."""
    asyncio.run(_write_outside(Victim(folder), tally))


async def _write_outside(victim: Victim, tally: Tally) -> None:
    chance = random.Random(2)
    (victim.project / "up").symlink_to(victim.home)
    for options in ({"policy": "bypass"}, {}):
        async with open_desk(victim, *ANYTHING, **options) as registry:
            for path in OUTSIDE:
                target = victim.home / path
                for written in (str(target), f"~/{path}", f"up/{path}", f"../home/{_vary_case(path, chance)}"):
                    tally.count(f"Write {written}", await _plants(registry, victim, written))
            assert await _plants(registry, victim, f"src/{len(options)}.py"), "nothing is written at all"


async def _plants(registry: mooring.Conversation, victim: Victim, written: str) -> bool:
    """Whether a file is written by one of the tools."""
    wrote = await registry.call("Write", {"file_path": written, "content": "planted"})
    made = await registry.call("Edit", {"file_path": written, "old_string": "", "new_string": "planted"})
    return not wrote.is_error or not made.is_error


def _vary_case(path: str, chance: random.Random) -> str:
    return "".join(chance.choice((letter.lower(), letter.upper())) for letter in path)


# --- what other programs run inside the project ---------------------------------------------------------------------


def plant_what_is_run(folder: Path, tally: Tally) -> None:
    """Hooks, tasks, scripts of packages, and folders that become repositories, under rules for the whole project."""
    asyncio.run(_plant_what_is_run(Victim(folder), tally))


async def _plant_what_is_run(victim: Victim, tally: Tally) -> None:
    chance = random.Random(3)
    wide = (*ANYTHING, Rule("Write", "allow", "./**"), Rule("Edit", "allow", f"{victim.project}/**"))
    for options in ({"policy": "bypass"}, {}):
        async with open_desk(victim, *wide, **options) as registry:
            for path in EXECUTED:
                for written in (path, f"./{path}", f"x/../{path}", _vary_case(path, chance)):
                    tally.count(f"Write {written}", await _plants(registry, victim, written))
            for path in OBEYED:
                for written in (path, f"sub/{path}", _vary_case(path, chance), f"other/./{path}"):
                    tally.count(f"Write {written}", await _plants(registry, victim, written))
            for number, text in enumerate(_list_packages()):
                path = f"packages/{'bypass' if options else 'rules'}{number}/package.json"
                victim.write(victim.project / path, json.dumps({"name": "a", "scripts": {"test": "x"}}))
                await registry.call("Read", {"file_path": path})
                outcome = await registry.call("Write", {"file_path": path, "content": text})
                tally.count(f"{path} with {text[:60]}", not outcome.is_error)
            for number, order in enumerate(itertools.permutations(("HEAD", "objects/info/x", "refs/heads/x"))):
                folder = f"docs/{'bypass' if options else 'rules'}{number}"
                made = [await _plants(registry, victim, f"{folder}/{each}") for each in order]
                tally.count(f"a repository in {folder}", all(made))
                assert made[0], "no file of that name is written at all"
            victim.write(victim.project / "package.json", json.dumps({"name": "a", "scripts": {"test": "x"}}))
            await registry.call("Read", {"file_path": "package.json"})
            version = await registry.call("Edit", {"file_path": "package.json", "old_string": "x", "new_string": "y"})
            assert not version.is_error, version.text


def _list_packages() -> Iterator[str]:
    for script in ("preinstall", "install", "postinstall", "prepare"):
        yield json.dumps({"scripts": {script: "id"}})
        yield json.dumps({"scripts": {"test": "x", script: "id"}}, indent=4)
        yield '{"scripts": {"test": "x"}, "scripts": {"' + script + '": "id"}}'
        yield '{"scripts": {"\\u00' + f"{ord(script[0]):02x}{script[1:]}" + '": "id"}}'


# --- what a text brings along ---------------------------------------------------------------------------------------


def import_configuration(folder: Path, tally: Tally) -> None:
    """Imports of settings, logins and histories that lie beside the texts for agents."""
    victim = Victim(folder)
    for path in HIDDEN:
        victim.write(victim.project / path, CANARY)
    (victim.project / "notes.md").symlink_to(".codex/auth.json")
    victim.write(victim.project / ".claude" / "rules.md", "harmless-rules")
    spellings = [form for path in HIDDEN for form in (path, f"./{path}", f"docs/../{path}", f'"{path}"')]
    for named in (*spellings, "notes.md"):
        victim.write(victim.project / "AGENTS.md", f"See @{named}")
        tally.count(f"@{named}", CANARY in _collect(victim))
    victim.write(victim.project / "AGENTS.md", "See @.claude/rules.md")
    assert "harmless-rules" in _collect(victim), "nothing is imported at all"
    _import_in_chats(victim, spellings, tally)


def _import_in_chats(victim: Victim, spellings: list[str], tally: Tally) -> None:
    """All of it at once, in texts that a chat reads by itself and in texts that the person sends by name."""
    named = "\n".join(f"See @{each}" for each in (*spellings, "notes.md", ".claude/rules.md"))
    victim.write(victim.project / "AGENTS.md", named)
    victim.write(victim.project / "sub" / "CLAUDE.md", named)
    victim.write(victim.project / ".claude" / "commands" / "bring.md", named)
    victim.write(victim.project / ".agents" / "skills" / "carry" / "SKILL.md", named)
    for prompt in ("Go", "/bring", "/carry", "/bring @.claude/rules.md"):
        sent = _send_in_chat(victim, prompt)
        assert "harmless-rules" in sent, "nothing is imported at all"
        tally.count(f"a chat that is told {prompt}", CANARY in sent)


def _send_in_chat(victim: Victim, prompt: str) -> str:
    """Everything that a model is sent for a prompt."""
    with FakeModel(lambda _: Say("Done.")) as fake:
        done = victim.run("chat", "-m", MODEL, "-p", prompt, env=make_model_env(fake), seconds=120)
        assert fake.requests, done.stderr
        return "\n".join(json.dumps(request.body) for request in fake.requests)


def _collect(victim: Victim) -> str:
    where = Paths(str(victim.home), victim.env, "linux", str(victim.system))
    found: Any = collect_instructions(Workspace(where, str(victim.project)))
    return "\n".join(file.text for file in found.files)


# --- names that say whose something is -------------------------------------------------------------------------------


def take_a_name_of_somebody_else(folder: Path, tally: Tally) -> None:
    """A project's agents and commands under the names by which the person's own, or Mooring's, are reached."""
    victim = Victim(folder)
    victim.write(victim.home / ".claude" / "commands" / "review.md", "of-person")
    victim.write(victim.home / ".claude" / "agents" / "explore.md", "---\nname: explore\n---\nof-person")
    victim.write(victim.project / ".claude" / "agents" / "explore.md", "---\nname: explore\n---\nof-project")
    workspace = Workspace(Paths(str(victim.home), victim.env, "linux", str(victim.system)), str(victim.project))
    for path in (
        ".claude/commands/user/review.md",
        ".opencode/command/user:review.md",
        ".opencode/commands/user:new.md",
    ):
        victim.write(victim.project / path, "of-project")
        commands = CommandFiles(workspace).find().by_name
        for name in ("user:review", "user:new"):
            tally.count(f"/{name} by {path}", name in commands and commands[name].body == "of-project")
        assert commands["project:user:review"].body == "of-project", "no command is found at all"
    for name in ("user:explore", "builtin:explore", "builtin:general-purpose", "user:new"):
        victim.write(victim.project / ".claude" / "agents" / "taken.md", f'---\nname: "{name}"\n---\nof-project')
        found = find_agents(workspace)
        assert found.find("explore").prompt.strip() == "of-project", "no agent is found at all"
        try:
            prompt = found.find(name).prompt
        except MooringError:
            prompt = ""
        tally.count(f"the agent {name}", "of-project" in prompt)


# --- names of somebody else's ---------------------------------------------------------------------------------------

TAKEN = {
    "agent": (".claude/agents/explore.md", "explore"),
    "command": (".claude/commands/review.md", "review"),
    "skill": (".agents/skills/tides/SKILL.md", "tides"),
}
PLANTED = "---\nname: {}\ndescription: x\n---\nof-project"


def pass_for_somebody_else(folder: Path, tally: Tally) -> None:
    """A project's agent, command and skill are used by names of the person's own and of Mooring's, without a word.

    As they are; changed after an approval; in another project after an approval in this one; behind a link.
    """
    for kind, (path, name) in TAKEN.items():
        victim = Victim(folder / kind)
        victim.write(victim.home / path, PLANTED.format(name).replace("of-project", "of-person"))
        planted = victim.write(victim.project / path, PLANTED.format(name))
        tally.count(f"the {kind} as it is", not _tells(victim, kind, name))
        assert victim.run("agents", "approve", name).returncode == 0
        assert not _tells(victim, kind, name), "an approval has no effect"
        for ending in (" ", "\nwhatever"):
            planted.write_text(PLANTED.format(name) + ending)
            tally.count(f"the {kind} with {ending!r} behind it", not _tells(victim, kind, name))
        _pass_by_a_link(victim, planted, kind, name, tally)
        other = Victim(folder / f"other-{kind}")
        other.write(other.project / path, PLANTED.format(name))
        shutil.rmtree(other.home)
        shutil.copytree(victim.home, other.home)
        tally.count(f"the {kind} in another project", not _tells(other, kind, name))
        planted.unlink()
        assert not _tells(victim, kind, name), "the person's own is taken for the project's"


def _pass_by_a_link(victim: Victim, planted: Path, kind: str, name: str, tally: Tally) -> None:
    """What was approved becomes a link to another file of the project, and that file changes."""
    planted.unlink()
    target = victim.write(victim.project / "docs" / f"{kind}.md", PLANTED.format(name))
    planted.symlink_to(target)
    assert not _tells(victim, kind, name), "the same text behind a link is not what was approved"
    target.write_text(PLANTED.format(name).replace("of-project", "of-somebody"))
    tally.count(f"the {kind} behind a link", not _tells(victim, kind, name))


def _tells(victim: Victim, kind: str, name: str) -> bool:
    """Whether the use of a name says that it is the project's."""
    words = ("--agent", name, "-p", "Go") if kind == "agent" else ("-p", f"/{name}")
    with FakeModel(lambda _: Say("Done.")) as fake:
        done = victim.run("chat", "-m", MODEL, *words, env=make_model_env(fake), seconds=120)
        assert fake.requests, done.stderr
    return f"{name} is this project's {kind} (" in done.stderr and f"mooring agents approve {name}" in done.stderr


ATTACKS = (
    Attack("A37", "a file is planted outside of the project", write_outside_of_the_project),
    Attack("A37", "a file is planted that other programs run", plant_what_is_run),
    Attack("A40", "a text imports settings and logins", import_configuration),
    Attack("A40", "a project's file passes for somebody else's", pass_for_somebody_else),
    Attack("A40", "a project takes a name that says it is somebody else's", take_a_name_of_somebody_else),
)
