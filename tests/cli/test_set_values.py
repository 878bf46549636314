"""`mooring settings KEY VALUE`: a value is set and removed where it belongs, and never by what Mooring started."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mooring.core.definitions.paths import Workspace
from mooring.process.programs import Guard
from mooring.verbs.config.settings import run_settings
from mooring.verbs.verb import VerbResult
from support import Cli, Home

OWN = ".config/mooring/settings.json"
PROJECT = ".mooring/settings.json"


def read(path: Path) -> Any:
    return json.loads(path.read_text())


UNSHARE = ("unshare", "--user", "--map-root-user", "--pid", "--fork")


def may_unshare() -> bool:
    """Whether a program may make namespaces of its own here."""
    words = [*UNSHARE, "--mount-proc", "true"]
    return bool(shutil.which("unshare")) and subprocess.run(words, capture_output=True, check=False).returncode == 0


def own(home: Home) -> Path:
    return home.home / OWN


# --- what is written ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("model", "anthropic:claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"),
        ("model", '"quoted"', "quoted"),
        # A text that is also JSON stays a text where a text is wanted.
        ("model", "123", "123"),
        ("toolBudget", "20", 20),
        ("searchByMeaning", "false", False),
        ("trustedServers", '["a", "b"]', ["a", "b"]),
        ("sources", '{"cursor": false}', {"cursor": False}),
        ("permissionMode", "plan", "plan"),
    ],
)
def test_a_value_is_json_or_a_text_and_in_force_from_then_on(cli: Cli, key: str, typed: str, value: object) -> None:
    done = cli("settings", key, typed, "--json")
    assert done.code == 0
    assert done.data[key] == {"value": value, "origin": "user", "path": str(own(cli.home))}
    assert read(own(cli.home)) == {key: value}


def test_everything_else_in_the_file_stays_as_it_is(cli: Cli) -> None:
    text = '{\n  // mine\n  "model": "a", // why\n  "env": {"A": "b"}\n}\n'
    own(cli.home).parent.mkdir(parents=True)
    own(cli.home).write_text(text)
    assert cli("settings", "model", "b").code == 0
    assert own(cli.home).read_text() == text.replace('"a"', '"b"')
    assert cli("settings", "model", "--unset").code == 0
    assert "// mine" in own(cli.home).read_text()
    assert '"env": {"A": "b"}' in own(cli.home).read_text()
    assert cli("settings", "model", "--json").data["model"]["origin"] == "default"


def test_with_project_it_goes_into_the_projects_own_file(cli: Cli) -> None:
    assert cli("settings", "toolBudget", "20", "--project").code == 0
    assert read(cli.home.project / PROJECT) == {"toolBudget": 20}
    assert not own(cli.home).exists()
    assert cli("settings", "toolBudget", "--unset", "--project").code == 0
    assert read(cli.home.project / PROJECT) == {}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("toolBudget", "120"), "toolBudget should be a number from 0 to 100, not '120'."),
        (("model", "x", "--project"), "`model` cannot be set by a project."),
        (("permissions", "[]"), "Rules have commands of their own: mooring allow, deny and ask"),
        (("permissions", "--unset", "--project"), "Rules have commands of their own"),
        (("trustedServers", "--add", "x", "--demo"), "--demo leaves all files out"),
        (("model", "--unset"), "~/.config/mooring/settings.json does not set model."),
        (("model", "x", "--unset"), "Give a value, --add or --unset: they cannot be combined."),
        (("model", "x", "--user", "--project"), "--user and --project cannot be combined."),
        (("model", "--project"), "--user and --project say where to write a value"),
        (("--unset",), "Which setting? Write: mooring settings KEY VALUE"),
        (("modle", "x"), "Did you mean model?"),
        (("trustedServers", "--add", "a", "--project"), "--add is for your own settings"),
        (("toolBudget", "20", "--project", "--no-project"), "--no-project leaves the project's files out"),
        (("toolBudget", "20", "--demo"), "--demo leaves all files out"),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_nothing_is_written(cli: Cli, words: tuple[str, ...], says: str) -> None:
    done = cli("settings", *words)
    assert done.code == 2
    assert says in done.err
    assert done.err.count("\n") == 1
    assert not own(cli.home).exists()
    assert not (cli.home.project / PROJECT).exists()


def test_a_file_that_is_not_understood_stays_as_it_is(cli: Cli) -> None:
    own(cli.home).parent.mkdir(parents=True)
    own(cli.home).write_text('{"model": ')
    done = cli("settings", "model", "x")
    assert done.code == 2
    assert "so it was left as it is" in done.err
    assert own(cli.home).read_text() == '{"model": '


def test_a_link_of_the_project_does_not_lead_the_write_out_of_it(cli: Cli) -> None:
    outside = cli.home.write("home/other.json", {})
    (cli.home.project / ".mooring").mkdir(parents=True)
    (cli.home.project / PROJECT).symlink_to(outside)
    done = cli("settings", "toolBudget", "20", "--project")
    assert (done.code, read(outside)) == (2, {})
    assert "leads out of the project" in done.err


def test_a_value_that_another_file_overrides_is_written_and_the_other_is_named(cli: Cli) -> None:
    system = cli.home.write("system/etc/mooring/settings.json", {"model": "theirs"})
    # The machine's own file is at a fixed place, so the action is asked for it beside another root.
    workspace = Workspace(cli.home.where, str(cli.home.cwd))
    done = run_settings(workspace, "model", "mine", None, False, False, False)
    assert isinstance(done, VerbResult)
    assert done.data["model"]["value"] == "theirs"
    assert done.notes == [f"The machine's settings win: {system} sets model."]
    assert read(own(cli.home)) == {"model": "mine"}
    cli("settings", "toolBudget", "20")
    beside = cli("settings", "toolBudget", "30", "--project")
    assert beside.err == "Your own settings win: ~/.config/mooring/settings.json sets toolBudget.\n"


# --- who may write ------------------------------------------------------------------------------------------------------


@pytest.mark.processes
@pytest.mark.parametrize("portable", [False, True], ids=["linux", "portable"])
@pytest.mark.parametrize("how", ["directly", "through a shell that left its session", "with an empty environment"])
def test_what_mooring_started_can_set_nothing(home: Home, portable: bool, how: str) -> None:
    """An agent's command, a server, a hook: each of them is below the guard."""
    mooring = [sys.executable, "-m", "mooring", "settings"]
    shell = " ".join(mooring)
    begin = {
        "directly": mooring,
        "through a shell that left its session": ["setsid", "-w", "sh", "-c", f'{shell} "$@"', "sh"],
        "with an empty environment": ["env", "-i", f"HOME={home.home}", *mooring],
    }[how]

    printed = home.folder / "printed"

    async def run(*words: str) -> tuple[int, str]:
        async with Guard(portable=portable) as guard:
            to_file = ["sh", "-c", '"$@" >"$0" 2>&1', str(printed)]
            child = await guard.spawn([*to_file, *begin, *words], env=home.env, cwd=str(home.cwd))
            child.close_stdin()
            return await child.exited, printed.read_text()

    for words in (("permissionMode", "bypass"), ("model", "--unset"), ("trustedServers", "--add", "evil")):
        code, said = asyncio.run(run(*words))
        assert code == 4
        assert "must not change its own rights. Run it in another terminal." in said
    assert not own(home).exists()
    code, said = asyncio.run(run("model"))
    assert code == 0


HIDINGS = {
    "with numbers of its own for processes": UNSHARE,
    "as the first process there is": (*UNSHARE, "--mount-proc"),
    "with a lower limit": ("sh", "-c", 'ulimit -x 1; exec "$@"', "sh", *UNSHARE, "--mount-proc"),
    "without /proc": (*UNSHARE, "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"),
}


@pytest.mark.processes
@pytest.mark.skipif(not may_unshare(), reason="this system lets nobody make namespaces")
@pytest.mark.parametrize("hiding", HIDINGS)
def test_what_mooring_started_can_set_nothing_from_a_namespace_of_its_own(home: Home, hiding: str) -> None:
    printed = home.folder / "printed"

    async def run() -> int:
        async with Guard() as guard:
            to_file = ["sh", "-c", '"$@" >"$0" 2>&1', str(printed)]
            mooring = [sys.executable, "-m", "mooring", "settings", "permissionMode", "bypass"]
            child = await guard.spawn([*to_file, *HIDINGS[hiding], *mooring], env=home.env, cwd=str(home.cwd))
            child.close_stdin()
            return await child.exited

    assert asyncio.run(run()) == 4, printed.read_text()
    assert "must not change its own rights. Run it in another terminal." in printed.read_text()
    assert not own(home).exists()
