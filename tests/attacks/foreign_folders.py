"""Folders of other users above the person's own, links that lead out of a project, and other ports of a host."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.attacks.local_tools import open_desk
from tests.attacks.reach import make_victim, opened
from tests.attacks.table import Attack, Tally, Victim

from mooring.actions.deadline import Deadline
from mooring.actions.mentions import expand_mentions
from mooring.core.content import Text
from mooring.core.verdict import Rule
from mooring.errors import MooringError

OTHER: Final = 65534
SECRET: Final = "canary-credentials"


def plant(folder: Path, *, folder_owner: int, git_owner: int, git: str = "folder") -> Victim:
    """A repository above the folder that the victim works in, with a server and instructions of whoever made it."""
    victim = Victim(folder)
    above = folder / "shared"
    victim.project = above / "work"
    victim.project.mkdir(parents=True)
    victim.write(above / ".mcp.json", {"mcpServers": {"planted": {"command": "true"}}})
    victim.write(above / "AGENTS.md", "planted-instructions")
    if git == "folder":
        (above / ".git").mkdir()
    elif git == "file":
        (above / ".git").write_text("gitdir: /nowhere")
    else:
        (above / ".git").symlink_to("/nowhere")
    os.lchown(above / ".git", git_owner, git_owner)
    os.chown(above, folder_owner, folder_owner)
    return victim


def become_project(folder: Path, tally: Tally) -> None:
    """A repository of another user above makes their files the project's."""
    own = os.geteuid()
    assert own == 0, "only root can give a file to another user"
    cases = [(OTHER, OTHER, "folder"), (OTHER, own, "folder"), (own, OTHER, "folder")]
    cases += [(own, OTHER, "file"), (own, OTHER, "link"), (OTHER, OTHER, "file")]
    for number, (above, below, git) in enumerate(cases):
        victim = plant(folder / str(number), folder_owner=above, git_owner=below, git=git)
        shown = victim.run("mcp", "list", "--json").stdout
        tally.count(f"a folder of {above} with a .git {git} of {below}", "planted" in shown)
    control = plant(folder / "own", folder_owner=own, git_owner=own)
    assert "planted" in control.run("mcp", "list", "--json").stdout, "a repository of the person's own is the project"


def become_trusted(folder: Path, tally: Tally) -> None:
    """A repository of another user has itself named as trusted, or takes the place of one that is."""
    own = ".config/mooring/settings.json"
    above = "shared"

    def write(file: str, *named: str) -> Callable[[Victim, Path], object]:
        def plant_settings(victim: Victim, shared: Path) -> None:
            place = victim.home / file if file == own else shared / file
            victim.write(place, {"trustedFolders": [name.format(above=shared) for name in named]})

        return plant_settings

    def take_place(victim: Victim, shared: Path) -> None:
        (shared.parent / "good").symlink_to(shared)
        victim.write(victim.home / own, {"trustedFolders": [str(shared.parent / "good")]})

    ways = {
        "the repository's settings": write(".mooring/settings.json", "{above}"),
        "the settings of the folder": write("work/.mooring/settings.json", "{above}"),
        "a glob": write(own, "*", "/*", "{above}/*", "/**"),
        "the folder above is trusted": write(own, "{above}/.."),
        "the folder below is trusted": write(own, "{above}/work"),
        "a name that begins like it": write(own, "{above}x", "{above}/../shar"),
        "a relative name": write(own, above, "./shared", ".."),
        "a link in the place of a trusted one": take_place,
    }
    for number, (way, set_up) in enumerate(ways.items()):
        victim = plant(folder / str(number), folder_owner=OTHER, git_owner=OTHER)
        set_up(victim, folder / str(number) / above)
        tally.count(way, "planted" in victim.run("mcp", "list", "--json").stdout)
    control = plant(folder / "named", folder_owner=OTHER, git_owner=OTHER)
    added = control.run("settings", "trustedFolders", "--add", str(folder / "named" / above))
    assert added.returncode == 0, added.stderr
    assert "planted" in control.run("mcp", "list", "--json").stdout, "what the person names is the project"


def attach_by_link(folder: Path, tally: Tally) -> None:
    """The person names a file of the project that is a link to one of their secrets."""
    victim = make_victim(folder / "victim")
    secret = victim.write(victim.home / ".aws/credentials", SECRET)
    note = victim.write(folder / "outside" / "note.txt", SECRET)
    (victim.project / "README.md").symlink_to(secret)
    (victim.project / "docs").symlink_to(note.parent)
    (victim.project / "twice.md").symlink_to("README.md")
    for named in ("README.md", "./README.md", "docs/note.txt", "twice.md"):
        tally.count(f"@{named}", SECRET in asyncio.run(attach(victim, f"look at @{named}")))
    assert SECRET in asyncio.run(attach(victim, f"look at @{note}")), "what the person names by its path is attached"


async def attach(victim: Victim, words: str) -> str:
    async with opened(victim) as host:
        try:
            said = await expand_mentions(host, words, (), Deadline(None))
        except MooringError:
            return ""
    return "\n".join(part.text for part in said.attachments if isinstance(part, Text))


def reach_another_port(folder: Path, tally: Tally) -> None:
    """An agreement about a host is used for another program on it: on another port, or by another scheme."""
    victim = make_victim(folder / "victim")
    asyncio.run(_judge_pages(victim, tally))


async def _judge_pages(victim: Victim, tally: Tally) -> None:
    async with open_desk(victim, Rule("WebFetch", "allow", "domain:example.com")) as registry:
        for place in ("https://example.com:8443", "http://example.com:6379", "https://example.com:80"):
            tally.count(place, registry.may("WebFetch", {"url": f"{place}/"}).action == "allow")
        usual = registry.may("WebFetch", {"url": "https://example.com/"})
        assert usual.action == "allow", "the rule is in force"


ATTACKS = (
    Attack("A39", "an agreement about a host reaches another port", reach_another_port),
    Attack("A36", "a repository of another user becomes the project", become_project),
    Attack("A36", "a repository of another user is trusted without being named", become_trusted),
    Attack("A37", "a link in the project is attached when it is named", attach_by_link),
)
