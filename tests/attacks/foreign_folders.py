"""Folders of other users above the person's own, links that lead out of a project, and other ports of a host."""

import asyncio
import os
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

from tests.attacks.local_tools import open_desk
from tests.attacks.reach import make_victim, opened
from tests.attacks.table import Attack, Tally, Victim
from tests.attacks.words import MODEL, make_model_env
from tests.models import FakeModel, Say

from mooring.core.conversation.verdict import Rule
from mooring.core.protocol.content import Text
from mooring.errors import MooringError
from mooring.verbs.agent.mentions import expand_mentions
from mooring.verbs.use.deadline import Deadline

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
    (victim.project / "up").mkdir()
    (victim.project / "up/docs").symlink_to("../docs")
    (folder / "alias").symlink_to(victim.project)
    ways = ("README.md", "./README.md", "docs/note.txt", "twice.md", "up/docs/note.txt", "docs/../outside/note.txt")
    for named in (*ways, f"{folder}/alias/twice.md"):
        tally.count(f"@{named}", SECRET in asyncio.run(attach(victim, f"look at @{named}")))
    assert SECRET in asyncio.run(attach(victim, f"look at @{note}")), "what the person names by its path is attached"


def plant_links(victim: Victim) -> Path:
    """Every kind of link of a project to a file of the person; the file."""
    secret = victim.write(victim.home / ".aws/credentials", SECRET)
    project = victim.project
    (project / "deep/er").mkdir(parents=True)
    (project / "file.md").symlink_to(secret)
    (project / "relative.md").symlink_to(os.path.relpath(secret, project))
    (project / "chain.md").symlink_to("deep/second.md")
    (project / "deep/second.md").symlink_to("../file.md")
    (project / "folder").symlink_to(secret.parent)
    (project / "deep/er/up").symlink_to("../../folder")
    (victim.project.parent / "alias").symlink_to(project)
    return secret


LEAVING: Final = (
    "file.md", "relative.md", "chain.md", "folder/credentials", "deep/er/up/credentials",
    "folder/../.aws/credentials", "../alias/chain.md",
)  # fmt: skip
EVERYTHING: Final = tuple(Rule(tool, "allow") for tool in ("Read", "Grep", "NotebookRead", "Edit", "Write"))


def leave_by_link(folder: Path, tally: Tally) -> None:
    """A model whose tools may do everything is led to files by links of the project."""
    victim = make_victim(folder / "victim")
    asyncio.run(_leave_by_link(victim, plant_links(victim), tally))


async def _leave_by_link(victim: Victim, secret: Path, tally: Tally) -> None:
    for policy in ("ask", "edits", "accept-reads", "bypass"):
        async with open_desk(victim, *EVERYTHING, policy=policy) as registry:
            for way in LEAVING:
                for tool, arguments in _list_uses(way):
                    outcome = await registry.call(tool, arguments)
                    got_through = SECRET in outcome.text or _is_changed(secret)
                    tally.count(f"{tool} {way} in {policy} mode", got_through)
            for arguments in ({"pattern": "canary", "output_mode": "content"}, {"pattern": ".", "path": "deep"}):
                tally.count(f"a search: {arguments}", SECRET in (await registry.call("Grep", arguments)).text)
        named = Rule("Read", "allow", str(secret))
        async with open_desk(victim, named, policy=policy) as registry:
            told = await registry.call("Read", {"file_path": "chain.md"})
            assert SECRET in told.text, "a rule that names the file allows it"


def _is_changed(secret: Path) -> bool:
    return secret.read_text() != SECRET


def _list_uses(path: str) -> list[tuple[str, dict[str, str]]]:
    return [
        ("Read", {"file_path": path}),
        ("Grep", {"path": path, "pattern": "canary", "output_mode": "content"}),
        ("Edit", {"file_path": path, "old_string": SECRET, "new_string": "changed"}),
        ("Write", {"file_path": path, "content": "changed"}),
    ]


def flip_links(folder: Path, tally: Tally) -> None:
    """A link leads now inside, now outside, while it is read by tools that may do everything."""
    victim = make_victim(folder / "victim")
    asyncio.run(_flip_links(victim, tally))


async def _flip_links(victim: Victim, tally: Tally) -> None:
    secret = plant_links(victim)
    inner = victim.write(victim.project / "inner/credentials", "inside")
    targets = {"file.md": (inner, secret), "folder": (inner.parent, secret.parent)}
    stop = threading.Event()

    def flip() -> None:
        for number in count():
            if stop.is_set():
                return
            for name, both in targets.items():
                spare = victim.project / f"{name}.spare"
                spare.symlink_to(both[number % 2])
                os.replace(spare, victim.project / name)

    flipper = threading.Thread(target=flip)
    flipper.start()
    inside = 0
    try:
        async with open_desk(victim, *EVERYTHING, policy="bypass") as registry:
            for path in ("file.md", "folder/credentials", "deep/er/up/credentials", "../alias/chain.md") * 100:
                text = (await registry.call("Read", {"file_path": path})).text
                inside += "inside" in text
                tally.count(f"Read {path} while it flips", SECRET in text)
    finally:
        stop.set()
        flipper.join()
    assert inside, "a link that stays inside is read"


def import_by_link(folder: Path, tally: Tally) -> None:
    """Instruction files that are links out of the project, or import by them, where everything is allowed."""
    for number, way in enumerate(("AGENTS.md", "@chain.md", "@deep/er/up/credentials", "@../alias/chain.md")):
        victim = make_victim(folder / str(number))
        secret = plant_links(victim)
        victim.write(victim.home / ".config/mooring/settings.json", {"permissionMode": "bypass"})
        if way.startswith("@"):
            victim.write(victim.project / "AGENTS.md", f"See {way} for more.")
        else:
            (victim.project / way).symlink_to("chain.md")
        tally.count(f"{way} is imported", SECRET in _ask(victim, "--allow", "Read"))
    assert SECRET in _ask(victim, "--allow", f"Read({secret})"), "a rule that names the file allows it"


def _ask(victim: Victim, *words: str) -> str:
    """All that a model is sent."""
    with FakeModel(lambda request: Say("Done.")) as fake:
        done = victim.run("chat", "-m", MODEL, "-p", "Go", *words, env=make_model_env(fake), seconds=120)
        assert fake.requests, done.stderr
        return str([request.body for request in fake.requests])


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
    Attack("A37", "a link out of the project is read, searched or written by", leave_by_link),
    Attack("A37", "a link leads out of the project now and then", flip_links),
    Attack("A37", "a link out of the project is imported", import_by_link),
)
