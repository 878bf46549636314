"""Which paths local tools may touch: what is inside the project, what asks, what is refused, however it is written."""

import os
import threading
from pathlib import Path

import pytest
from desk import ONCE, Desk, Reader, allow, deny, desk_in, desk_with, host_in

from mooring.core.conversation.question import Allow
from mooring.core.conversation.verdict import Rule
from mooring.errors import FileError
from support import Home

ANYTHING = (allow("Read"), allow("Write"), allow("Edit"), allow("NotebookEdit"))


def put_secret(home: Home) -> Path:
    return home.write("home/.ssh/id_ed25519", "canary-key\n")


HOSTILE_PATHS = (
    "../home/.ssh/id_ed25519",
    "sub/../../home/.ssh/id_ed25519",
    "~/.ssh/id_ed25519",
    "./link",
    "folder-link/id_ed25519",
    "folder-link/../.ssh/id_ed25519",
    "chain",
    "/proc/self/root{home}/.ssh/id_ed25519",
    "/proc/self/cwd{up}{home}/.ssh/id_ed25519",
    "/proc/thread-self/root{home}/.ssh/id_ed25519",
    "//{home}/.ssh/id_ed25519",
    "{home}/.ssh/../.ssh/./id_ed25519",
)


@pytest.mark.parametrize("path", HOSTILE_PATHS)
async def test_no_way_to_write_a_path_leads_out_of_the_project_unasked(home: Home, path: str) -> None:
    secret = put_secret(home)
    (home.project / "link").symlink_to(secret)
    (home.project / "folder-link").symlink_to(secret.parent)
    (home.project / "chain").symlink_to("link")
    written = path.format(home=home.home, up="/.." * 30)
    async with desk_in(home) as desk:
        for tool, arguments in (
            ("Read", {"file_path": written}),
            ("Grep", {"path": written, "pattern": "."}),
            ("NotebookRead", {"notebook_path": written}),
            ("LS", {"path": os.path.dirname(written) if "link" not in written.rpartition("/")[2] else written}),
        ):
            assert "canary" not in await desk.failure(tool, **arguments) or tool == "LS"
        assert len(desk.person.asked) >= 3
        assert desk.person.asked[0].preview.startswith(f"Path: {secret.resolve()}")  # type: ignore[union-attr]


async def test_a_link_inside_the_project_that_stays_inside_is_read_unasked(home: Home) -> None:
    home.write("project/a.txt", "inside\n")
    (home.project / "link").symlink_to("a.txt")
    async with desk_in(home) as desk:
        assert "inside" in await desk.text("Read", file_path="link")
        assert desk.person.asked == []


async def test_a_link_to_nowhere_is_no_way_to_make_a_file_outside(home: Home) -> None:
    (home.project / "link").symlink_to(home.home / "made")
    async with desk_in(home, allow("Write(./**)")) as desk:
        await desk.failure("Write", file_path="link", content="x")
        assert "the link link leads out of the project" in desk.person.last.why
    assert not (home.home / "made").exists()


async def test_a_path_that_becomes_a_link_after_it_was_checked_is_not_followed(home: Home) -> None:
    secret = put_secret(home)
    target = home.write("project/part/a.txt", "a\n")
    async with desk_in(home) as desk:
        tool = desk.registry._tools.find("Read")  # type: ignore[attr-defined]
        access = tool.assess(tool.parse({"file_path": "part/a.txt"}))
        target.unlink()
        target.symlink_to(secret)
        with pytest.raises(FileError, match="link was put on the way"):
            tool._read(access.subject, tool.parse({"file_path": "part/a.txt"}))
        target.unlink()
        target.parent.rmdir()
        target.parent.symlink_to(secret.parent)
        with pytest.raises(FileError, match="link was put on the way"):
            tool._read(access.subject, tool.parse({"file_path": "part/a.txt"}))


async def test_a_folder_that_flips_between_itself_and_a_link_gives_nothing_away(home: Home) -> None:
    secret = put_secret(home)
    home.write("project/part/id_ed25519", "harmless\n")
    real, spare = home.project / "part", home.project / "spare"
    spare.symlink_to(secret.parent)
    ended = threading.Event()

    def flip() -> None:
        aside = home.project / "aside"
        while not ended.is_set():
            real.rename(aside)
            spare.rename(real)
            real.rename(spare)
            aside.rename(real)

    flipping = threading.Thread(target=flip)
    flipping.start()
    try:
        async with desk_in(home) as desk:
            told = [(await desk.call("Read", file_path="part/id_ed25519")).text for _ in range(300)]
        assert any("harmless" in text for text in told)
        assert not any("canary" in text for text in told)
    finally:
        ended.set()
        flipping.join()


@pytest.mark.parametrize(
    "path", ["fifo", "/dev/zero", "/dev/tty", "/dev/stdin", "/proc/self/mem", "/proc/kmsg", "socket"]
)
async def test_nothing_that_is_no_file_is_waited_for(home: Home, path: str) -> None:
    import socket

    os.mkfifo(home.project / "fifo")
    here = os.getcwd()
    os.chdir(home.project)  # a socket's path has to be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        os.chdir(here)
        async with desk_in(home, *ANYTHING, answer=ONCE) as desk:
            await desk.failure("Read", file_path=path)
            await desk.failure("Edit", file_path=path, old_string="a", new_string="b")
            await desk.failure("Write", file_path=path, content="b")


@pytest.mark.parametrize("path", ["", " ", "a\0b", "x" * 5_000, "x" * 300, "\ud800"])
async def test_what_is_no_path_is_refused_in_a_sentence(home: Home, path: str) -> None:
    async with desk_in(home, *ANYTHING, answer=ONCE) as desk:
        assert (await desk.failure("Read", file_path=path)).startswith("Error:")
        assert (await desk.failure("Write", file_path=path, content="b")).startswith("Error:")


# --- what is refused, and what asks whatever rules say ------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "{home}/.config/mooring/settings.json",
        "{home}/.CONFIG/Mooring/new.json",
        "{home}/.local/state/mooring/rules.json",
        "{home}/.cache/mooring/x",
        "{project}/.mooring/settings.json",
        "{project}/.Mooring/mcp.json",
        "{project}/link/settings.json",
        "/proc/self/root{home}/.config/mooring/settings.json",
    ],
)
async def test_moorings_own_files_are_never_written_whatever_the_rules_say(home: Home, path: str) -> None:
    own = home.write("home/.config/mooring/settings.json", {"permissions": [], "permissionMode": "bypass"})
    before = own.read_bytes()
    (home.project / "link").symlink_to(own.parent)
    written = path.format(home=home.home, project=home.project)
    async with desk_in(home, *ANYTHING, answer=ONCE) as desk:
        for tool, arguments in (
            ("Write", {"file_path": written, "content": "{}"}),
            ("Edit", {"file_path": written, "old_string": "", "new_string": "{}"}),
            ("Edit", {"file_path": written, "old_string": "bypass", "new_string": "ask"}),
            ("NotebookEdit", {"notebook_path": written, "new_source": "x"}),
        ):
            told = await desk.failure(tool, **arguments)
            assert "Mooring's own settings and records" in told
        assert desk.person.asked == []
    assert own.read_bytes() == before


GUARDED = (
    ".mcp.json", "CLAUDE.md", "docs/AGENTS.md", "agents.md", ".git/hooks/pre-commit", ".git/config", ".cursor/mcp.json", ".vscode/mcp.json",
    "~/.bashrc", "~/.zshenv", "~/.claude.json", "~/.codex/config.toml", "~/.config/goose/config.yaml", "~/.ssh/authorized_keys",
    "~/.config/fish/config.fish", ".claude./x", "~/.config/Code/User/mcp.json", "opencode.json", "~/.gitconfig",
)  # fmt: skip


@pytest.mark.parametrize("mode", ["ask", "bypass"])
@pytest.mark.parametrize("path", GUARDED)
async def test_files_that_programs_act_on_are_asked_about_whatever_rules_and_modes_allow(
    home: Home, path: str, mode: str
) -> None:
    home.write("home/.config/mooring/settings.json", {"permissionMode": mode})
    async with desk_in(home, *ANYTHING) as desk:
        await desk.failure("Write", file_path=path, content="x")
        await desk.failure("Edit", file_path=path, old_string="", new_string="x")
        assert len(desk.person.asked) == 2
        assert desk.person.last.scopes == ("once",)
        desk.person.answer = ONCE
        await desk.text("Write", file_path=path, content="x")


async def test_other_files_are_written_by_a_rule_or_a_mode_unasked(home: Home) -> None:
    async with desk_in(home, allow("Write(./src/**)"), allow("Edit(*.md)")) as desk:
        await desk.text("Write", file_path="src/deep/a.py", content="x")
        await desk.text("Edit", file_path="notes.md", old_string="", new_string="x")
        await desk.text("Edit", file_path="deep/notes.md", old_string="", new_string="x")
        assert desk.person.asked == []
        await desk.failure("Write", file_path="other.py", content="x")
        await desk.failure("Write", file_path="src/../other.py", content="x")
        await desk.failure("Write", file_path="~/x.md", content="x")
        assert len(desk.person.asked) == 3
    home.write("home/.config/mooring/settings.json", {"permissionMode": "bypass"})
    async with desk_in(home) as desk:
        await desk.text("Write", file_path="anywhere.md", content="x")
        assert desk.person.asked == []


@pytest.mark.parametrize("mode", ["ask", "edits", "accept-reads", "bypass"])
async def test_outside_of_the_project_nothing_is_written_unasked_unless_a_rule_or_a_setting_names_it(
    home: Home, mode: str
) -> None:
    folders = {"writableFolders": ["~/drafts", "relative", str(home.home.parent)]}
    home.write("home/.config/mooring/settings.json", {"permissionMode": mode, **folders})
    env = {**home.env, "TMPDIR": str(home.folder / "temporary")}
    home.__class__ = type("WithTemporary", (Home,), {"env": env})
    (home.project / "up").symlink_to(home.home)
    outside = ("~/.local/bin/git", "~/notes.md", "up/notes.md", "../other/Makefile", "/etc/x", "~/drafts/../x")
    async with host_in(home) as host:
        wide = desk_with(host, home, Reader(), *ANYTHING)
        named = desk_with(host, home, Reader(), allow("Write(~/notes/**)"))
        async with wide as one, named as two:
            for number, path in enumerate(outside):
                await one.failure("Write", file_path=path, content="x")
                assert len(one.person.asked) == number + 1
                assert "out of the project" in one.person.last.why.replace("outside of", "out of")
            await one.text("Write", file_path="~/drafts/deep/a.md", content="x")
            await one.text("Write", file_path=f"{home.folder}/temporary/a.md", content="x")
            await two.text("Write", file_path="~/notes/a.md", content="x")
            assert len(one.person.asked) == len(outside)
            assert two.person.asked == []
            one.person.answer = Allow("session")
            for text in ("x", "y"):
                await one.text("Write", file_path="~/notes.md", content=text)
            assert len(one.person.asked) == len(outside) + 1


EXECUTED = (
    ".githooks/pre-commit", ".husky/pre-push", ".Husky/x", ".pre-commit-config.yaml", ".devcontainer/devcontainer.json",
    ".vscode/tasks.json", ".envrc", "sub/.envrc",
)  # fmt: skip


@pytest.mark.parametrize("mode", ["ask", "bypass"])
@pytest.mark.parametrize("path", EXECUTED)
async def test_what_other_programs_run_asks_unless_a_rule_names_it(home: Home, path: str, mode: str) -> None:
    home.write("home/.config/mooring/settings.json", {"permissionMode": mode})
    whole = (*ANYTHING, allow("Write(./**)"), allow(f"Edit({home.project}/**)"))
    async with host_in(home) as host:
        wide = desk_with(host, home, Reader(), *whole)
        named = desk_with(host, home, Reader(), allow(f"Write(./{path})"))
        async with wide as one, named as two:
            await one.failure("Write", file_path=path, content="x")
            await one.failure("Edit", file_path=path, old_string="", new_string="x")
            assert len(one.person.asked) == 2
            await two.text("Write", file_path=path, content="x")
            assert two.person.asked == []


async def test_a_package_asks_only_if_what_its_installation_runs_changes(home: Home) -> None:
    home.write("project/package.json", '{"name": "a", "scripts": {"test": "x", "prepare": "y"}}')
    async with desk_in(home, *ANYTHING, policy="bypass") as desk:
        await desk.text("Edit", file_path="package.json", old_string='"x"', new_string='"z"')
        assert desk.person.asked == []
        await desk.failure("Edit", file_path="package.json", old_string='"y"', new_string='"z"')
        await desk.failure("Edit", file_path="package.json", old_string='"name"', new_string="broken")
        await desk.failure("Write", file_path="new/package.json", content='{"scripts": {"postinstall": "x"}}')
        await desk.text("Write", file_path="other/package.json", content='{"scripts": {"test": "x"}}')
        assert len(desk.person.asked) == 3
        assert "would run its scripts" in desk.person.last.why


async def test_a_folder_that_would_become_a_repository_asks(home: Home) -> None:
    async with desk_in(home, *ANYTHING, policy="bypass") as desk:
        await desk.text("Write", file_path="docs/refs/heads/x", content="x")
        await desk.text("Write", file_path="docs/HEAD", content="ref: refs/heads/x")
        await desk.text("Write", file_path="docs/config", content="x")
        assert desk.person.asked == []
        await desk.failure("Write", file_path="docs/objects/info/x", content="x")
        (home.project / "docs/objects").mkdir()
        await desk.failure("Write", file_path="docs/hooks/pre-commit", content="x")
        assert "take its folder for a repository" in desk.person.last.why


# --- modes, levels and denies -----------------------------------------------------------------------------------


async def test_plan_mode_only_reads_and_only_inside(home: Home) -> None:
    home.write("project/a.txt", "a\n")
    home.write("home/.config/mooring/settings.json", {"permissionMode": "plan"})
    async with desk_in(home, *ANYTHING, allow("Bash"), allow("WebFetch"), answer=ONCE) as desk:
        await desk.text("Read", file_path="a.txt")
        await desk.text("Glob", pattern="**")
        await desk.text("Grep", pattern="a")
        await desk.text("LS")
        await desk.text("TodoWrite", todos=[{"content": "x"}])
        for tool, arguments in (
            ("Read", {"file_path": "~/x"}),
            ("Write", {"file_path": "b.txt", "content": "x"}),
            ("Edit", {"file_path": "a.txt", "old_string": "a", "new_string": "b"}),
            ("Bash", {"command": "true"}),
            ("WebFetch", {"url": "https://example.com"}),
        ):
            assert "plan mode" in await desk.failure(tool, **arguments)
        assert desk.person.asked == []


@pytest.mark.parametrize(
    "rule",
    [
        deny("Read(.env)"),
        deny("Read", "./.env"),
        deny("Read(**/.env)"),
        deny("Read(/.ENV)"),
        deny("Read", "path=*.env"),
    ],
)
async def test_a_denied_file_is_read_by_no_tool(home: Home, rule: Rule) -> None:
    home.write("project/.env", "TOKEN=canary\n")
    home.write("project/a.txt", "TOKEN\n")
    (home.project / "link").symlink_to(".env")
    async with desk_in(home, rule, *ANYTHING) as desk:
        assert "canary" not in await desk.failure("Read", file_path=".env")
        assert "canary" not in await desk.failure("Read", file_path="link")
        assert "canary" not in await desk.failure("Grep", pattern="TOKEN", path=".env")
        found = await desk.text("Grep", pattern="TOKEN", output_mode="content")
        assert found == "a.txt:1:TOKEN\n[1 name left out: denied by rules, or asked about.]"


async def test_what_is_in_a_file_that_may_not_be_read_is_not_told_by_a_failed_edit(home: Home) -> None:
    put_secret(home)
    home.write("project/.env", "TOKEN=canary\n")
    async with desk_in(home, deny("Read(.env)")) as desk:
        for path, right in (("~/.ssh/id_ed25519", "canary"), (".env", "canary")):
            wrong = await desk.failure("Edit", file_path=path, old_string="no such text", new_string="x")
            guessed = await desk.failure("Edit", file_path=path, old_string=right, new_string="x")
            missing = await desk.failure("Edit", file_path=f"{path}-missing", old_string="x", new_string="y")
            assert wrong == guessed
            assert path == ".env" or missing == guessed


@pytest.mark.parametrize("tool", ["Edit", "Write", "NotebookEdit"])
async def test_a_rule_about_reading_a_file_holds_for_changing_it(home: Home, tool: str) -> None:
    home.write("project/secret/a.ipynb", {"cells": [{"cell_type": "code", "id": "canary", "source": []}]})
    home.write("project/a.ipynb", {"cells": [{"cell_type": "code", "id": "canary", "source": []}]})
    uses = {
        "Edit": {"old_string": "canary", "new_string": "x"},
        "Write": {"content": "x"},
        "NotebookEdit": {"new_source": "x", "cell_id": "canary"},
    }

    async def use(desk: Desk, folder: str) -> bool:
        path = f"{folder}a.ipynb"
        key = "notebook_path" if tool == "NotebookEdit" else "file_path"
        await desk.call("NotebookRead", notebook_path=path)
        return not (await desk.call(tool, **{key: path}, **uses[tool])).is_error

    async with host_in(home) as host:
        denied = desk_with(host, home, Reader(), deny("Read(secret/**)"), *ANYTHING, policy="bypass")
        asked = desk_with(host, home, Reader(), Rule("Read", "ask", "secret/**"), *ANYTHING)
        async with denied as one, asked as two:
            assert not await use(one, "secret/")
            assert one.person.asked == []
            assert not await use(two, "secret/")
            assert two.person.asked != []
            assert "canary" in (home.project / "secret/a.ipynb").read_text()
            assert await use(one, "")


@pytest.mark.parametrize("mode", ["ask", "edits", "accept-reads", "bypass"])
async def test_a_search_above_mooring_s_own_folders_leaves_them_out_and_says_so(home: Home, mode: str) -> None:
    home.write("home/.local/state/mooring/secrets.json", "canary\n")
    home.write("home/.local/state/tool/a.txt", "canary-of-another\n")
    (home.home / "again").symlink_to(home.home / ".local/state/mooring")
    note = "[1 name left out: denied by rules, or asked about.]"
    allowed = [allow(tool, "~/**") for tool in ("Read", "Grep", "Glob", "LS")]
    async with desk_in(home, *allowed, policy=mode) as desk:
        lines = await desk.text("Grep", pattern="canary", path="~", output_mode="content")
        assert lines == f"{home.home}/.local/state/tool/a.txt:1:canary-of-another\n{note}"
        assert await desk.text("LS", path="~/.local/state") == f"tool/\n{note}"
        assert await desk.text("LS", path="~") == f".local/\n{note}"
        assert "secrets.json" not in await desk.text("Glob", pattern="**", path="~/.local")
        assert desk.person.asked == []
        # Whoever asks for the folder itself is asked about, and a yes covers what is in it.
        assert "canary" not in await desk.failure("Grep", pattern="canary", path="~/.local/state/mooring")
        desk.person.answer = ONCE
        assert "secrets.json" in await desk.text("Grep", pattern="canary", path="~/.local/state/mooring")


async def test_a_listing_leaves_out_what_may_not_be_read_and_says_how_much(home: Home) -> None:
    for name in ("a.txt", "b.env", "C.ENV", "keys/x"):
        home.write(f"project/{name}", "x")
    (home.project / "link").symlink_to("b.env")
    note = "left out: denied by rules, or asked about.]"
    async with desk_in(home, deny("Read(*.env)"), Rule("Read", "ask", "keys/**")) as desk:
        assert await desk.text("LS") == f".git/\na.txt\n[4 names {note}"
        assert await desk.text("Glob", pattern="**") == f"a.txt\n[4 names {note}"
        assert await desk.text("Glob", pattern="*.txt") == "a.txt"


@pytest.mark.parametrize("path", ["/dev/shm/made", "/dev/null", "/proc/self/comm", "/sys/made", "shm/made"])
async def test_nothing_is_written_into_the_systems_own_folders(home: Home, path: str) -> None:
    (home.project / "shm").symlink_to("/dev/shm")
    async with desk_in(home, *ANYTHING, policy="bypass", answer=ONCE) as desk:
        assert "not a file on a disk" in await desk.failure("Write", file_path=path, content="x")
        assert desk.person.asked == []


async def test_a_deny_of_edit_covers_write_and_notebooks(home: Home) -> None:
    home.write("project/generated/a.ipynb", {"cells": [{"cell_type": "code", "source": []}]})
    async with desk_in(home, deny("Edit(./generated/**)"), *ANYTHING) as desk:
        for tool, arguments in (
            ("Write", {"file_path": "generated/a", "content": "x"}),
            ("Edit", {"file_path": "generated/a", "old_string": "", "new_string": "x"}),
            ("NotebookEdit", {"notebook_path": "generated/a.ipynb", "new_source": "x", "cell_id": "cell-0"}),
        ):
            assert "was not called" in await desk.failure(tool, **arguments)
    assert os.listdir(home.project / "generated") == ["a.ipynb"]


async def test_a_projects_own_rules_can_deny_and_grant_nothing(home: Home) -> None:
    rules = [{"tool": "Bash(git *)", "action": "allow"}, {"tool": "Read(./secret/**)", "action": "deny"}]
    home.write("project/.mooring/settings.json", {"permissions": rules})
    home.write("project/secret/a.txt", "canary\n")
    async with desk_in(home) as desk:
        await desk.failure("Bash", command="git --version")
        assert len(desk.person.asked) == 1
        assert "canary" not in await desk.failure("Read", file_path="secret/a.txt")
        assert await desk.failure("LS", path="secret")


async def test_a_project_that_is_the_home_folder_is_asked_about(home: Home) -> None:
    home.write("home/notes.txt", "a\n")
    at_home = Home(home.folder)
    at_home.__class__ = type("AtHome", (Home,), {"cwd": property(lambda self: self.home)})
    async with desk_in(at_home) as desk:
        await desk.failure("Read", file_path="notes.txt")
        await desk.failure("LS")
        assert len(desk.person.asked) == 2


async def test_a_lasting_yes_to_an_edit_is_for_the_project_and_not_beyond(home: Home) -> None:
    async with desk_in(home, answer=Allow("session")) as desk:
        await desk.text("Write", file_path="a.txt", content="x")
        await desk.text("Write", file_path="b.txt", content="x")
        assert len(desk.person.asked) == 1
        await desk.text("Write", file_path="CLAUDE.md", content="x")
        await desk.text("Write", file_path="~/c.txt", content="x")
        await desk.text("Edit", file_path="a.txt", old_string="x", new_string="y")
        assert len(desk.person.asked) == 4


async def test_what_would_become_of_a_call_is_told_without_making_it(home: Home) -> None:
    async with desk_in(home, allow("Bash(git *)")) as desk:
        assert _judge(desk, "Bash", command="git log") == "allow"
        assert _judge(desk, "Bash", command="git log; id") == "ask"
        assert _judge(desk, "Read", file_path="a") == "allow"
        assert _judge(desk, "Read", file_path="/etc/hostname") == "ask"
        assert _judge(desk, "Write", file_path=".mooring/x", content="") == "deny"
        assert desk.person.asked == []


def _judge(desk: Desk, tool: str, **arguments: str) -> str:
    return desk.registry.may(tool, arguments).action
