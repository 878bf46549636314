"""Links of a project that lead out of it: named and asked about wherever they are met, and never followed in passing."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from desk import ONCE, Reader, allow, deny, desk_in, desk_with, host_in

from mooring.core.conversation.question import Allow, Answer, Question
from mooring.files import find_exit
from support import Home

MODES = ["plan", "ask", "accept-reads", "bypass"]


def lay_links(home: Home) -> Path:
    """A project with every kind of link to one file outside of it; the file."""
    secret = home.write("home/.aws/credentials.txt", "canary\n")
    project = home.project
    for folder in ("deep/er", "notes"):
        (project / folder).mkdir(parents=True)
    (project / "file.txt").symlink_to(secret)
    (project / "relative.txt").symlink_to("../home/.aws/credentials.txt")
    (project / "chain.txt").symlink_to("notes/second.txt")
    (project / "notes/second.txt").symlink_to("../file.txt")
    (project / "folder").symlink_to(secret.parent)
    (project / "deep/er/up").symlink_to("../../folder")
    (project / "home").symlink_to(home.home)
    (home.folder / "alias").symlink_to(project)
    return secret


LEAVING = {
    "file.txt": "file.txt",
    "./notes/../file.txt": "file.txt",
    "relative.txt": "relative.txt",
    "chain.txt": "file.txt",
    "folder/credentials.txt": "folder",
    "deep/er/up/credentials.txt": "folder",
    "deep/er/up/../.aws/credentials.txt": "folder",
    "folder/../.aws/credentials.txt": "folder",
    "home/.aws/credentials.txt": "home",
    "{alias}/file.txt": "file.txt",
    "/proc/self/cwd/../../../../../../../../..{alias}/folder/credentials.txt": "folder",
}
"""Ways to name the file, and the link by which each leaves the project."""


@pytest.mark.parametrize("mode", MODES)
async def test_reading_by_a_link_out_of_the_project_asks_in_every_mode_and_names_it(home: Home, mode: str) -> None:
    secret = lay_links(home)
    home.write("home/.config/mooring/settings.json", {"permissionMode": mode})
    async with desk_in(home, allow("Read"), allow("Read(**)"), allow("Read(./**)")) as desk:
        for way, link in LEAVING.items():
            asked = len(desk.person.asked)
            written = way.format(alias=home.folder / "alias")
            assert "canary" not in await desk.failure("Read", file_path=written)
            if mode == "plan":
                assert desk.person.asked == []
                continue
            assert len(desk.person.asked) == asked + 1, way
            question = desk.person.last
            assert question.why == f"the link {link} leads out of the project, to {secret}", way
            assert question.preview == f"Path: {secret}\nLink: {home.project / link}"


@pytest.mark.parametrize("mode", ["ask", "bypass"])
async def test_a_rule_or_an_answer_that_names_the_target_allows_it(home: Home, mode: str) -> None:
    secret = lay_links(home)
    home.write("home/.config/mooring/settings.json", {"permissionMode": mode})
    async with host_in(home) as host:
        named = desk_with(host, home, Reader(), allow(f"Read({secret.parent}/**)"))
        async with named as desk:
            assert "canary" in await desk.text("Read", file_path="chain.txt")
            assert desk.person.asked == []
        async with desk_with(host, home, Reader(), deny("Read(file.txt)"), allow(f"Read({secret})")) as desk:
            # The way there can still be denied.
            assert "canary" not in await desk.failure("Read", file_path="file.txt")
        async with desk_with(host, home, Reader(Allow("session"))) as desk:
            assert "canary" in await desk.text("Read", file_path="file.txt")
            assert "canary" in await desk.text("Read", file_path="folder/credentials.txt")
            assert len(desk.person.asked) == 1


async def test_a_link_that_stays_inside_and_a_path_outside_without_one_are_as_ever(home: Home) -> None:
    secret = lay_links(home)
    home.write("project/a.txt", "inside\n")
    (home.project / "inner").symlink_to("notes/../a.txt")
    home.write("home/.config/mooring/settings.json", {"permissionMode": "bypass"})
    async with desk_in(home) as desk:
        assert "inside" in await desk.text("Read", file_path="inner")
        assert "canary" in await desk.text("Read", file_path=str(secret))
        assert "canary" in await desk.text("Read", file_path="../home/.aws/credentials.txt")
        assert desk.person.asked == []


@pytest.mark.parametrize("mode", ["ask", "edits", "accept-reads", "bypass"])
async def test_changing_a_file_by_a_link_asks_even_where_files_may_be_written(home: Home, mode: str) -> None:
    drafts = home.write("home/drafts/a.txt", "before\n")
    (home.project / "a.txt").symlink_to(drafts)
    (home.project / "drafts").symlink_to(drafts.parent)
    settings = {"permissionMode": mode, "writableFolders": ["~/drafts"]}
    home.write("home/.config/mooring/settings.json", settings)
    everything = (allow("Read"), allow("Edit"), allow("Write"))
    async with desk_in(home, *everything, allow(f"Read({drafts})")) as desk:
        await desk.text("Read", file_path=str(drafts))
        edit = {"old_string": "before", "new_string": "after"}
        await desk.failure("Edit", file_path="a.txt", **edit)
        assert desk.person.last.why == f"it changes a file, and the link a.txt leads out of the project, to {drafts}"
        await desk.failure("Write", file_path="drafts/new.txt", content="x")
        assert "the link drafts leads out of the project" in desk.person.last.why
        assert len(desk.person.asked) == 2
        assert drafts.read_text() == "before\n"
        # The same file by its own path is where the person lets files be written.
        await desk.text("Edit", file_path=str(drafts), **edit)
        assert len(desk.person.asked) == 2


@pytest.mark.processes
async def test_searches_don_t_follow_links_and_name_those_that_lead_out(home: Home) -> None:
    lay_links(home)
    home.write("project/notes/own.txt", "canary of the project\n")
    (home.project / "notes/inner.txt").symlink_to("own.txt")
    leaving = {"file.txt", "relative.txt", "chain.txt", "folder", "home", "notes/second.txt", "deep/er/up"}
    home.write("home/.config/mooring/settings.json", {"permissionMode": "bypass"})
    async with desk_in(home) as desk:
        searched = await desk.text("Grep", pattern="canary", output_mode="content", **{"-n": False})
        found, note = searched.rsplit("\n", 1)
        assert found == "notes/own.txt:canary of the project"
        globbed = await desk.text("Glob", pattern="**/*.txt")
        assert "credentials" not in globbed
        for said in (note, globbed.splitlines()[-1]):
            assert said.startswith("[Links that lead out of the project are not followed")
            assert set(said.rpartition(": ")[2].rstrip("]").split(", ")) == leaving
        listed = await desk.text("LS", path="notes")
        assert listed.splitlines()[:3] == ["inner.txt@", "own.txt", "second.txt@"]
        assert listed.endswith("reading one is asked about: notes/second.txt]")
        assert desk.person.asked == []
        # To begin at such a link is to read by it.
        for tool, more in (("Grep", {"pattern": "canary"}), ("Glob", {"pattern": "**"}), ("LS", {})):
            assert "credentials" not in await desk.failure(tool, path="folder", **more)
            assert "the link folder leads out of the project" in desk.person.last.why
        assert len(desk.person.asked) == 3


async def test_a_link_to_what_a_rule_denies_is_neither_named_nor_noted(home: Home) -> None:
    secret = lay_links(home)
    async with desk_in(home, deny(f"Read({secret.parent}/**)")) as desk:
        listed = await desk.text("LS")
        assert "file.txt" not in listed
        assert "home@" in listed
        assert "left out: denied by rules" in listed


class Flipper(Reader):
    """A person who says yes, while somebody changes what they are asked about."""

    def __init__(self, flip: Callable[[], None]) -> None:
        super().__init__(ONCE)
        self._flip = flip

    async def __call__(self, question: Question) -> Answer:
        self._flip()
        return await super().__call__(question)


def relink(link: Path, target: Path) -> None:
    spare = link.with_name("spare")
    spare.symlink_to(target)
    os.replace(spare, link)


async def test_what_was_asked_about_is_what_is_opened_whatever_the_link_says_by_then(home: Home) -> None:
    harmless = home.write("home/harmless/a.txt", "harmless\n")
    lay_links(home)
    link, folder = home.project / "file.txt", home.project / "folder"
    relink(link, harmless)
    relink(folder, harmless.parent)

    def flip() -> None:
        relink(link, home.home / ".aws/credentials.txt")
        relink(folder, home.home / ".aws")

    async with host_in(home) as host, desk_with(host, home, Flipper(flip)) as desk:
        assert "harmless" in await desk.text("Read", file_path="file.txt")
        relink(folder, harmless.parent)
        assert "harmless" in await desk.text("Grep", pattern=".", path="folder", output_mode="content")
        relink(link, harmless)
        await desk.text("Edit", file_path="file.txt", old_string="harmless", new_string="changed")
    assert harmless.read_text() == "changed\n"
    assert (home.home / ".aws/credentials.txt").read_text() == "canary\n"


async def test_a_target_that_becomes_a_link_while_it_is_asked_about_is_not_opened(home: Home) -> None:
    harmless = home.write("home/harmless/a.txt", "harmless\n")
    secret = lay_links(home)
    relink(home.project / "file.txt", harmless)
    async with host_in(home) as host, desk_with(host, home, Flipper(lambda: relink(harmless, secret))) as desk:
        failure = await desk.failure("Read", file_path="file.txt")
        assert "canary" not in failure
        assert "a link was put on the way to it" in failure


def test_a_link_that_changes_while_it_is_followed_counts_as_one_that_leads_out(home: Home) -> None:
    secret = lay_links(home)
    (home.project / "a.txt").write_text("inside")
    path, project = str(home.project / "file.txt"), str(home.project)
    assert find_exit(path, str(secret), project) == path
    assert find_exit(path, str(home.project / "a.txt"), project) == ""
    # It was found to lead out, and leads inside by now.
    relink(home.project / "file.txt", home.project / "a.txt")
    assert find_exit(path, str(secret), project) == path
    # A loop leads nowhere, and is not followed for ever.
    relink(home.project / "file.txt", home.project / "file.txt")
    assert find_exit(path, os.path.realpath(path), project) == ""
    assert find_exit(path, str(secret), project) == path
