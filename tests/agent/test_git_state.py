"""What an agent is told of the repository that it works in, and that nothing in the repository is run for that."""

import os
import subprocess
from pathlib import Path

import pytest
from scripted import ScriptedModel

import mooring
from mooring.agents.git_state import MOST_BYTES, describe_git
from mooring.agents.model import ModelRequest
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.turn import open_agent
from support import Home


def git(folder: Path, *words: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, *words], cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture
def repository(home: Home) -> Path:
    project = home.project
    (project / ".git").rmdir()
    git(project, "init", "-q", "-b", "harbor")
    home.write("project/kept.txt", "one\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "Add a file")
    return project


async def describe(home: Home) -> str:
    async with mooring.open(request=home.request(), servers={}) as host:
        return await describe_git(host.workspace, host.guard)


async def test_branch_status_and_last_commits_are_told(home: Home, repository: Path) -> None:
    assert "Branch: harbor\nStatus: clean\n" in await describe(home)
    home.write("project/kept.txt", "two\n")
    home.write("project/new \x1b[2J.txt", "")
    git(repository, "pack-refs", "--all")
    told = await describe(home)
    assert "   M kept.txt" in told
    assert "  ?? " in told
    assert told.rstrip().endswith("Add a file")
    assert "\x1b" not in told


async def test_a_linked_working_tree_is_read_and_a_file_that_names_another_repository_is_not(
    home: Home, repository: Path
) -> None:
    linked = repository / "linked"
    git(repository, "worktree", "add", "-q", "-b", "pier", str(linked))
    request = home.request(cwd=str(linked))
    async with mooring.open(request=request, servers={}) as host:
        assert "Branch: pier\nStatus: clean" in await describe_git(host.workspace, host.guard)
        (linked / ".git").write_text(f"gitdir: {repository}/.git\n")
        assert await describe_git(host.workspace, host.guard) == ""


async def test_there_is_nothing_to_tell_without_a_repository_and_little_of_an_empty_one(home: Home) -> None:
    assert await describe(home) == ""  # a folder of that name is no repository
    (home.project / ".git").rmdir()
    assert await describe(home) == ""
    git(home.project, "init", "-q", "-b", "harbor")
    assert (await describe(home)).endswith("Branch: harbor\nStatus: clean")


async def test_two_conversations_are_told_once_each_what_was_there_when_they_began(
    home: Home, repository: Path
) -> None:
    prompts: list[str] = []

    def note(request: ModelRequest) -> list[str]:
        prompts.append(request.system)
        return ["Done."]

    async with mooring.open(request=home.request(), servers={}) as host:
        options = ConversationOptions(local=True)
        async with open_agent(host, ScriptedModel(note, note), options) as first:
            await first.run("One.")
            home.write("project/new.txt", "")
            await first.run("Two.")
            async with open_agent(host, ScriptedModel(note), options) as beside:
                await beside.run("Three.")
    told = ["?? new.txt" in prompt for prompt in prompts]
    assert told == [False, False, True]
    assert all("Branch: harbor" in prompt and "own checks" in prompt for prompt in prompts)


async def test_what_is_told_of_a_large_repository_is_bounded(home: Home, repository: Path) -> None:
    for number in range(300):
        home.write(f"project/{'x' * 150}{number}", "")
    git(repository, "commit", "--allow-empty", "-q", "-m", "y" * 10_000)
    assert len((await describe(home)).encode()) <= MOST_BYTES


async def test_nothing_that_a_hostile_repository_configures_is_run(home: Home, repository: Path) -> None:
    canary = home.folder / "canary"
    program = home.write("project/run.sh", f"#!/bin/sh\necho $0 $@ >> {canary}\ncat\n")
    program.chmod(0o755)
    hooks = repository / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "core.gitProxy", "diff.external",
        "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
        "gpg.program", "pager.status", "pager.log", "credential.helper", "alias.status", "alias.log",
        "interactive.diffFilter", "trailer.x.command", "merge.evil.driver",
    ):  # fmt: skip
        git(repository, "config", key, str(program))
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "status.submoduleSummary", "true")
    home.write("project/.gitattributes", "* filter=evil diff=evil merge=evil\n")
    home.write("project/.git/info/attributes", "* filter=evil diff=evil\n")
    # The same size, and a time that git cannot rely on: it has to look at the contents, through the filter.
    home.write("project/kept.txt", "two\n")
    os.utime(repository / ".git/index", (1, 1))
    canary.unlink(missing_ok=True)
    told = await describe(home)
    assert "Branch: harbor" in told
    assert "   M kept.txt" in told
    assert not canary.exists(), canary.read_text()
    # The same repository with git as it is: the attack works where nothing is done about it.
    git(repository, "status")
    assert canary.exists()
