"""What another user of the machine could have written is not believed, and each refusal says how to fix it."""

import os
import re
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from chat.terminal import Person
from chat.test_plain import READY, leave
from mooring import files
from mooring.core.definitions.config import ServerConfig
from mooring.errors import FileError
from mooring.inventory.approval import decide, list_questions
from mooring.inventory.load import load
from mooring.permissions import trust
from mooring.settings import find_project_folders
from support import DEMO, Cli, Home, umask

OTHER = 65534
STATE, CONFIG = "home/.local/state/mooring", "home/.config/mooring"
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def refusal(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        files.read_own(str(path))
    return str(caught.value)


def run_fix(text: str) -> None:
    """Run the command that a message ends with."""
    command = re.search(r"(?:to fix it|if it is yours): (?:sudo )?(ch.*)", text)
    assert command is not None, text
    subprocess.run(["sh", "-c", command[1]], check=True)


def approve_theirs(home: Home) -> Path:
    """A project's server that the person approved; the record of it."""
    home.write("project/.mcp.json", {"mcpServers": {"theirs": DEMO}})
    found = home.inventory()
    config = found.find("theirs").definition.config
    assert isinstance(config, ServerConfig)
    trust.record(home.where, [trust.Decision(found.root, "theirs", trust.digest(config), "approved")])
    assert is_approved(home)
    return home.folder / STATE / "approvals.json"


def is_approved(home: Home) -> bool:
    return home.inventory().find("theirs").approved


# --- what we make -------------------------------------------------------------------------------------------


def test_every_folder_and_file_that_a_call_leaves_is_its_owners_alone_whatever_the_umask(home: Home, cli: Cli) -> None:
    home.configure(demo=DEMO)
    before = set(home.home.rglob("*"))
    with umask(0):
        assert cli("call", "--allow", "demo.*", "demo.echo", "text=hello").code == 0
    made = [path for path in home.home.rglob("*") if path not in before]
    assert {path.name for path in made} >= {".local", "state", "mooring", ".cache", "catalog.key"}
    assert {path.name: oct(mode(path)) for path in made if path.is_dir() and mode(path) != 0o700} == {}
    assert {path.name: oct(mode(path)) for path in made if path.is_file() and mode(path) != 0o600} == {}


def test_folders_that_were_there_before_keep_their_mode(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o755)
    files.write(str(tmp_path / "a" / "b" / "c" / "f"), b"x")
    assert [mode(tmp_path / path) for path in ("a", "a/b", "a/b/c")] == [0o755, 0o700, 0o700]


def test_a_umask_that_takes_everything_away_leaves_folders_that_can_be_used(tmp_path: Path) -> None:
    with umask(0o777):
        files.write(str(tmp_path / "a" / "b" / "f"), b"x")
    assert [mode(tmp_path / path) for path in ("a", "a/b")] == [0o700, 0o700]


# --- what we believe ----------------------------------------------------------------------------------------


@needs_root
def test_another_users_approvals_are_not_believed_until_they_are_ones_own(home: Home, cli: Cli) -> None:
    record = approve_theirs(home)
    os.chown(record, OTHER, OTHER)
    assert not is_approved(home)
    refused = cli("call", "--allow", "theirs.*", "theirs.echo", "text=x")
    assert refused.code == 4
    listed = cli("mcp", "list")
    assert "The record of approvals is not trusted, because it belongs to another user (nobody)" in listed.err
    run_fix(listed.err)
    assert is_approved(home)


@pytest.mark.parametrize("bits", [0o666, 0o602, 0o622])
def test_approvals_that_others_may_write_are_not_believed_until_that_is_fixed(bits: int, home: Home, cli: Cli) -> None:
    record = approve_theirs(home)
    record.chmod(bits)
    assert not is_approved(home)
    listed = cli("mcp", "list")
    assert "is not trusted, because others can write to it" in listed.err
    run_fix(listed.err)
    assert is_approved(home)


def test_a_group_of_ones_own_may_write_and_any_other_may_not(home: Home) -> None:
    record = approve_theirs(home)
    record.chmod(0o664)
    assert is_approved(home)
    if os.getuid() == 0:
        os.chown(record, -1, OTHER)
        assert not is_approved(home)


@pytest.mark.parametrize("folder", [STATE, "home/.local/state", "home/.local", "home"])
def test_no_state_is_kept_or_believed_in_a_folder_that_others_may_write_to(folder: str, home: Home, cli: Cli) -> None:
    approve_theirs(home)
    (home.folder / folder).chmod(0o777)
    assert not is_approved(home)
    listed = cli("mcp", "list")
    assert f"{home.folder / folder} is a folder that others can write to" in listed.err
    with pytest.raises(FileError, match="others can write to"):
        trust.record(home.where, [])
    run_fix(listed.err)
    assert is_approved(home)


def test_a_sticky_folder_such_as_that_of_temporary_files_is_no_danger(home: Home) -> None:
    approve_theirs(home)
    (home.folder / "home").chmod(0o1777)
    assert is_approved(home)


DENY = {"permissions": [{"tool": "mcp__demo__echo", "action": "deny"}]}
ALLOW = {"permissions": [{"tool": "mcp__demo__*", "action": "allow"}]}


def test_settings_that_others_may_write_allow_nothing(home: Home, cli: Cli) -> None:
    home.configure(demo=DEMO)
    path = home.write(f"{CONFIG}/settings.json", ALLOW)
    assert cli("call", "demo.echo", "text=hello").code == 0
    path.chmod(0o666)
    refused = cli("call", "demo.echo", "text=hello")
    assert (refused.code, "settings.json" in refused.err) == (4, True)
    assert f"fix: chmod go-w {home.shorten(path)}\n" in cli("mcp", "doctor").out


def test_denies_that_somebody_removed_from_a_folder_open_to_all_leave_a_doubt(home: Home, cli: Cli) -> None:
    home.configure(demo=DEMO)
    path = home.write(f"{CONFIG}/settings.json", DENY)
    path.parent.chmod(0o777)
    path.unlink()
    assert home.inventory().settings.doubts == (str(path),)
    assert cli("call", "--allow", "demo.*", "demo.echo", "text=hello").code in (0, 4)


@pytest.mark.parametrize("name", ["rules.json", "pins"])
def test_rules_and_pins_that_others_may_write_are_not_believed(name: str, home: Home, cli: Cli) -> None:
    home.configure(demo=DEMO)
    assert cli("call", "--allow", "demo.*", "demo.echo", "text=hello").code == 0
    state = home.folder / STATE
    record = home.write(f"{STATE}/rules.json", {"version": 1, "projects": {str(home.project): []}})
    if name == "pins":
        (record,) = (state / "pins").glob("*.json")
    record.chmod(0o666)
    told = cli("mcp", "doctor").out + cli("mcp", "list").err + cli("mcp", "test", "demo").err
    assert f"chmod go-w {home.shorten(record)}" in told


def test_our_own_definitions_that_others_may_write_start_nothing(home: Home, cli: Cli) -> None:
    path = home.write(f"{CONFIG}/mcp.json", {"mcpServers": {"mine": DEMO}})
    assert "mine" in cli("mcp", "list").out
    path.chmod(0o666)
    listed = cli("mcp", "list")
    assert "mine" not in listed.out
    assert f"chmod go-w {path}" in listed.err


@needs_root
def test_what_the_administrator_wrote_is_believed_and_an_intruders_folder_is_not(tmp_path: Path) -> None:
    code = """
import os, sys, pwd, shlex
from mooring import files
from mooring.errors import FileError
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for path in sys.argv[1:]:
    try:
        print(files.read_own(path))
    except FileError as error:
        print(error)
"""
    folder = Path("/var/tmp") / f"mooring-owner-{os.getpid()}"
    inner = folder / "theirs" / "mooring"
    inner.mkdir(parents=True)
    try:
        for path in (folder / "root", folder / "foreign", inner / "f"):
            path.write_text("x")
        os.chown(folder / "foreign", 1234, 1234)
        os.chown(folder, OTHER, OTHER)
        os.chown(folder / "theirs", 1234, 1234)
        os.chown(inner, OTHER, OTHER)
        asked = [str(folder / "root"), str(folder / "foreign"), str(inner / "f")]
        done = subprocess.run([sys.executable, "-c", code, *asked], capture_output=True, text=True, check=True)
        said = done.stdout.splitlines()
        assert said[0] == "b'x'"
        assert "is not trusted, because it belongs to another user (1234); if it is yours: sudo chown " in said[1]
        assert "theirs is a folder that belongs to another user (1234)" in said[2]
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_a_path_in_a_command_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a b; touch x"
    path.write_text("x")
    path.chmod(0o666)
    assert f"chmod go-w '{path}'" in refusal(path)


# --- a repository above ------------------------------------------------------------------------------------------------


def put_repository_above(home: Home) -> tuple[Path, Path]:
    """A repository with a server, and the folder of the person in it."""
    above, work = home.folder / "shared", home.folder / "shared/work"
    (above / ".git").mkdir(parents=True)
    work.mkdir()
    home.write("shared/.mcp.json", {"mcpServers": {"planted": DEMO}})
    return above, work


@needs_root
def test_a_repository_of_another_user_above_is_not_the_project_and_is_named(home: Home) -> None:
    above, work = put_repository_above(home)
    workspace = home.request(cwd=str(work))
    found = load(workspace)
    assert (found.root, [choice.name for choice in found.choices]) == (str(above), ["planted"])
    decide(found, list_questions(found, ["planted"], home.where), home.where, True)
    os.chown(above / ".git", OTHER, OTHER)
    found = load(workspace)
    assert (found.root, found.choices) == (str(work), ())
    (problem,) = [problem for problem in found.problems if problem.path == str(above)]
    assert "nobody" in problem.message
    assert "what you decided there about planted" in problem.message
    assert problem.hint.endswith(f"mooring settings trustedFolders --add {above}")
    # Whoever goes there has chosen it.
    assert load(home.request(cwd=str(above))).root == str(above)


@needs_root
def test_for_root_a_repository_of_the_user_who_ran_sudo_is_the_project(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    above, work = put_repository_above(home)
    os.chown(above, OTHER, OTHER)
    assert find_project_folders(home.where, str(work)) == [str(work)]
    monkeypatch.setenv("SUDO_UID", str(OTHER))
    assert find_project_folders(home.where, str(work)) == [str(work), str(above)]
    monkeypatch.setenv("SUDO_UID", "1")
    assert find_project_folders(home.where, str(work)) == [str(work)]


@needs_root
@pytest.mark.processes
def test_the_command_in_the_message_makes_the_repository_of_another_user_the_project(cli: Cli, home: Home) -> None:
    above, work = put_repository_above(home)
    home.write("home/.config/mooring/settings.json", '{\n  // mine\n  "maxTurns": 7\n}\n')
    found = load(home.request(cwd=str(work)))
    decide(found, list_questions(found, ["planted"], home.where), home.where, True)
    os.chown(above, OTHER, OTHER)
    listed = cli("--cwd", str(work), "mcp", "list")
    assert "planted" not in listed.out
    assert listed.err.count("belongs to another user (nobody)") == 1
    assert "what you decided there about planted is not used here" in listed.err
    doctor = cli("--cwd", str(work), "mcp", "doctor")
    command = f"mooring settings trustedFolders --add {above}"
    assert f"fix: {command}  (if you trust who owns it)" in doctor.out
    assert command in listed.err
    assert cli(*command.split()[1:]).code == 0
    # Every byte that the change is not about stays, and the approval that was kept under the repository holds again.
    assert "// mine" in (home.home / ".config/mooring/settings.json").read_text()
    again = cli("--cwd", str(work), "mcp", "list")
    assert "planted" in again.out
    assert "unapproved" not in again.out
    assert "another user" not in again.err


@needs_root
@pytest.mark.processes
def test_the_chat_names_a_repository_of_another_user_once_when_it_starts(home: Home) -> None:
    home.configure(demo=DEMO)
    (home.project / "sub").mkdir()
    os.chown(home.project / ".git", OTHER, OTHER)
    command = f"mooring settings trustedFolders --add {home.project}"
    with Person(home, "chat", "-b", "manual") as person:
        person.sees(command)
        person.sees(READY)
        leave(person)
        assert person.shown.count(command) == 1


@needs_root
def test_a_repository_of_another_user_is_trusted_by_its_own_name_in_the_persons_settings_alone(
    cli: Cli, home: Home
) -> None:
    above, work = put_repository_above(home)
    os.chown(above, OTHER, OTHER)
    (home.folder / "alias").symlink_to(above)
    own = "home/.config/mooring/settings.json"
    alone = [str(work)]
    untrusted: list[tuple[str, list[str]]] = [
        (own, [str(work)]), (own, [str(above.parent)]), (own, ["*"]), (own, ["/*"]), (own, [f"{above}/*"]),
        (own, [f"{above}x"]), (own, ["shared"]), (own, [str(home.folder / "alias")]),
        ("shared/.mooring/settings.json", [str(above)]), ("shared/work/.mooring/settings.json", [str(above)]),
    ]  # fmt: skip
    for path, named in untrusted:
        written = home.write(path, {"trustedFolders": named})
        assert find_project_folders(home.where, str(work)) == alone, (path, named)
        written.unlink()
    for path in (own, "system/etc/mooring/settings.json"):
        for named in ([str(above)], [f"{above}/"], [f"~/../{above.name}"]):
            written = home.write(path, {"trustedFolders": named})
            assert find_project_folders(home.where, str(work)) == [str(work), str(above)], (path, named)
            written.unlink()
    for bad in ("*", "shared", "~nobody/shared", ""):
        assert "cannot be added to trustedFolders" in cli("settings", "trustedFolders", "--add", bad).err
    assert not (home.folder / own).exists()


@needs_root
def test_a_user_does_not_share_a_project_with_another_and_does_with_root() -> None:
    # Not in the folder of the tests, which is closed to other users.
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        shared, work = Path(made) / "shared", Path(made) / "shared/work"
        (shared / ".git").mkdir(parents=True)
        work.mkdir()
        os.chmod(made, 0o755)
        find = f"find_project_folders(Paths('/nowhere'), {str(work)!r})"
        names = "from mooring.core.definitions.paths import Paths; from mooring.settings import find_project_folders"
        code = f"{names}; print(len({find}))"
        words = ["setpriv", "--reuid", str(OTHER), "--regid", str(OTHER), "--clear-groups", sys.executable, "-c", code]

        def count(owner: int) -> str:
            os.chown(shared, owner, owner)
            return subprocess.run(words, capture_output=True, text=True, check=True, env={"SUDO_UID": "1"}).stdout

        assert [count(owner).strip() for owner in (OTHER, 0, 1)] == ["2", "2", "1"]
