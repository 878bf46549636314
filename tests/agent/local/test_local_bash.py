"""Bash: what a command gets and prints, when it ends, and that nothing of it is left."""

import asyncio
import random
import re
import time
import uuid

import pytest
from desk import Reader, allow, deny, desk_in, desk_with, host_in, read_file, until

import mooring
from mooring.core.conversation.question import Allow, No
from mooring.core.conversation.verdict import LocalAccess
from mooring.permissions.argument_match import AccessPattern
from support import Cli, Home, running

BASH = allow("Bash")


async def test_a_command_runs_in_the_working_folder_and_both_outputs_come_in_order(home: Home) -> None:
    async with desk_in(home, BASH) as desk:
        told = await desk.text("Bash", command="pwd; echo oops >&2; echo done")
        assert told == f"{home.project.resolve()}\noops\ndone"
        assert await desk.text("Bash", command="true") == "[It printed nothing.]"
        assert await desk.failure("Bash", command="echo no; exit 3") == "Error: no\n[Exit code 3]"
        assert "syntax error" in await desk.failure("Bash", command="if (")


async def test_a_command_is_asked_about_and_the_question_shows_all_of_it(home: Home) -> None:
    async with desk_in(home) as desk:
        await desk.failure("Bash", command="touch here\ntouch there", run_in_background=True)
        assert "  touch here\n  touch there" in desk.person.last.preview
        assert "in the background" in desk.person.last.preview
        # A line break could begin another command, so that a yes is for this very text.
        assert desk.person.last.scopes == ("once", "session")
        assert desk.person.last.rule == ""
        assert "could run a second command" in desk.person.last.limit
    assert not (home.project / "here").exists()


async def test_a_compound_command_is_allowed_for_the_session_to_the_letter_and_in_this_folder(home: Home) -> None:
    home.write("project/box/x", "")
    command = "cd box && ls"
    async with desk_in(home, answer=Allow("session")) as desk:
        assert await desk.text("Bash", command=command) == "x"
        assert await desk.text("Bash", command=command) == "x"
        assert len(desk.person.asked) == 1
        desk.person.answer = No()
        for other in (f"{command}; touch y", f"{command} ", f" {command}", "cd  box && ls", "cd box && ls\n", "ls"):
            await desk.failure("Bash", command=other)
        assert len(desk.person.asked) == 7
    async with desk_in(home, answer=No()) as beside:
        await beside.failure("Bash", command=command)


async def test_a_yes_to_a_compound_command_gives_way_to_denies_and_to_the_machine(home: Home) -> None:
    home.write("system/etc/mooring/settings.json", {"permissions": [{"tool": "Bash", "action": "ask"}]})
    async with desk_in(home, answer=Allow("session")) as desk:
        for _ in range(2):
            await desk.text("Bash", command="true && true")
        assert desk.person.last.scopes == ("once",)
        assert desk.person.last.limit == "the machine's settings ask about it each time"
        assert len(desk.person.asked) == 2
    home.write("system/etc/mooring/settings.json", {})
    async with desk_in(home, deny("Bash(rm *)"), answer=Allow("session")) as desk:
        assert "deny" in await desk.failure("Bash", command="true && rm x")
        await desk.text("Bash", command="mooring settings permissions; true")
        assert desk.person.last.scopes == ("once",)
        assert desk.person.last.limit == "this is asked about each time, whatever rules say"


async def test_a_lasting_yes_is_for_this_command_and_no_other(home: Home) -> None:
    async with desk_in(home, answer=Allow("session")) as desk:
        await desk.text("Bash", command="echo [a] *")
        await desk.text("Bash", command="echo [a] *")
        assert len(desk.person.asked) == 1
        desk.person.answer = No()
        await desk.failure("Bash", command="echo a b")
        await desk.failure("Bash", command="echo [a] *; touch x")
        assert len(desk.person.asked) == 3


async def test_a_saved_yes_is_a_rule_with_the_command_in_it(home: Home) -> None:
    async with desk_in(home, answer=Allow("always")) as desk:
        await desk.text("Bash", command="echo saved")
    text = (home.home / ".config/mooring/settings.json").read_text()
    assert '"pattern": "echo saved"' in text
    async with desk_in(home) as desk:
        await desk.text("Bash", command="echo saved")
        await desk.failure("Bash", command="echo other")


async def test_a_saved_yes_can_be_withdrawn(home: Home, cli: Cli) -> None:
    async with desk_in(home, answer=Allow("always")) as desk:
        await desk.text("Bash", command="echo one.two")
        await desk.text("Bash", command="echo three")
    rules = cli("settings", "permissions").out
    assert "echo one.two" in rules
    assert cli("mcp", "reset", "Bash(echo one.two)").code == 0
    assert "echo one.two" not in cli("settings", "permissions").out
    assert "echo three" in cli("settings", "permissions").out
    assert cli("mcp", "reset", "Bash").code == 0
    assert "echo" not in cli("settings", "permissions").out
    assert cli("mcp", "reset", "Bash(echo three)").code == 2


@pytest.mark.parametrize(
    "rule", [allow("Bash(git *)"), allow("Bash", "git *"), allow("Bash(git:*)"), allow("Bash", "command=git *")]
)
async def test_an_allow_covers_what_it_names_and_no_second_command(home: Home, rule: mooring.Rule) -> None:
    async with desk_in(home, rule) as desk:
        assert "version" in await desk.text("Bash", command="git --version")
        for command in (
            "git --version; id",
            "git --version && id",
            "git --version | cat",
            "git --version > x",
            "git $(id)",
            "git `id`",
            "git --version\nid",
            "gitk",
            "id",
            "git ${x@P}",
        ):
            assert "nobody" not in await desk.failure("Bash", command=command)
        assert len(desk.person.asked) == 10


OPERATORS = (";", "&", "|", "<", ">", "`", "$(", "\n", "&&", "||", ">>", "<(", "\r\n", "|&", ">&2")


def test_no_allow_covers_any_of_many_commands_that_carry_an_operator() -> None:
    chance = random.Random(20_000)
    patterns = [AccessPattern(text) for text in ("git *", "git:*", "git*", "*git*", "git ?*")]
    letters = "abz -_./='\"\\{}[]()~#!%^+,:?*@0\t\u00e9\u200b"
    covered = 0
    for _ in range(20_000):
        words = "".join(chance.choice(letters) for _ in range(chance.randrange(30)))
        at = chance.randrange(len(words) + 1)
        operator = chance.choice(OPERATORS)
        command = f"git {words[:at]}{operator}{words[at:]}"
        covered += any(pattern.covers(LocalAccess(kind="command", subject=command)) for pattern in patterns)
    assert covered == 0
    plain = LocalAccess(kind="command", subject="git log --oneline -3 'a b'")
    assert all(pattern.covers(plain) for pattern in patterns)


@pytest.mark.parametrize(
    "command",
    ["rm -rf x", "cd a && rm -rf x", "echo $(rm -rf x)", "r''m -rf x", "RM  -rf x", "true\nrm -rf x", "(rm -rf x)"],
)
async def test_a_deny_finds_its_command_inside_others(home: Home, command: str) -> None:
    async with desk_in(home, deny("Bash(rm *)"), BASH) as desk:
        assert "denied" in await desk.failure("Bash", command=command) or "rule" in await desk.failure(
            "Bash", command=command
        )
        assert await desk.text("Bash", command="echo form") == "form"


async def test_a_command_gets_the_environment_without_secrets(home: Home) -> None:
    home.write(
        "home/.config/mooring/settings.json", {"env": {"FROM_SETTINGS": "yes", "API_TOKEN": "canary-settings-7f3a9c"}}
    )
    async with desk_in(home, BASH) as desk:
        told = await desk.text("Bash", command="env")
    assert f"HOME={home.home}" in told
    assert "FROM_SETTINGS=yes" in told
    # The person's token is not passed on; one that they gave to programs is, but never shown.
    assert "GITHUB_TOKEN" not in told
    assert "API_TOKEN=" in told
    assert "canary" not in told


async def test_a_command_has_nothing_to_wait_for(home: Home) -> None:
    async with desk_in(home, BASH) as desk:
        assert await desk.text("Bash", command="cat; read -r x || echo end") == "end"
        assert "tty" in await desk.failure("Bash", command="tty")


async def test_a_command_that_takes_too_long_is_ended_and_what_it_printed_is_told(home: Home) -> None:
    async with desk_in(home, BASH) as desk:
        began = time.monotonic()
        told = await desk.failure("Bash", command="echo first; sleep 100", timeout=300)
        assert told == "Error: first\n[It was ended after 0.3 s.]"
        assert time.monotonic() - began < 15
        assert "600,000 at most" in str(desk.registry.find("Bash").schema)  # type: ignore[union-attr]


async def test_of_a_long_output_both_ends_are_given_and_the_whole_is_kept(home: Home) -> None:
    async with desk_in(home, BASH) as desk:
        outcome = await desk.call("Bash", command="seq 1 100000")
        assert len(outcome.text) < 31_000
        assert outcome.text.startswith("1\n2\n")
        assert "100000" in outcome.text
        assert outcome.file is not None
        assert read_file(outcome.file).split("\n") == [str(number) for number in range(1, 100_001)]


async def test_an_output_without_end_takes_bounded_memory(home: Home) -> None:
    async with desk_in(home, BASH) as desk:
        outcome = await desk.call("Bash", command="head -c 60000000 /dev/zero | tr '\\0' 'x'; echo; echo end")
        assert outcome.file is not None
        text = read_file(outcome.file)
        assert len(text) < 17 * 1024 * 1024
        assert re.search(r"\[[\d,]+ bytes were dropped here\]", text)
        assert text.rstrip().endswith("end")


@pytest.mark.processes
async def test_nothing_that_a_command_started_is_left_when_its_call_ends(home: Home) -> None:
    nonce = uuid.uuid4().hex
    start = f"export NONCE={nonce}; (setsid sleep 300 &) ; sleep 300 & disown; yes > /dev/null & "
    async with desk_in(home, BASH) as desk:
        await desk.text("Bash", command=f"{start} echo started")
        assert running(nonce) == []
        await desk.failure("Bash", command=f"{start} sleep 300", timeout=300)
        assert running(nonce) == []
        calling = asyncio.ensure_future(desk.call("Bash", command=f"{start} touch {home.project}/up; sleep 300"))
        await until((home.project / "up").exists)
        assert running(nonce)
        calling.cancel()
        await asyncio.wait([calling])
        await until(lambda: not running(nonce))


@pytest.mark.processes
async def test_a_command_in_the_background_is_read_and_ended_and_ends_with_its_conversation(home: Home) -> None:
    nonce = uuid.uuid4().hex
    async with host_in(home) as host:
        async with desk_with(host, home, Reader(), BASH) as desk, desk_with(host, home, Reader(), BASH) as other:
            command = f"export NONCE={nonce}; echo ready; sleep 300"
            assert "bash_1" in await desk.text("Bash", command=command, run_in_background=True)
            assert "bash_2" in await desk.text("Bash", command=command, run_in_background=True)
            told = ""
            while "ready" not in told:
                told = await desk.text("BashOutput", bash_id="bash_1")
            assert "still running" in told
            # Another conversation has no such command.
            assert "there are: none" in await other.failure("BashOutput", bash_id="bash_1")
            assert "there are: none" in await other.failure("KillShell", shell_id="bash_1")
            assert await desk.text("BashOutput", bash_id="bash_1") == "[It is still running.]"
            await desk.text("KillShell", shell_id="bash_1")
            assert "bash_2" in await desk.failure("BashOutput", bash_id="bash_1")
            await until(lambda: running(nonce))  # the other one, as soon as its shell has got that far
        assert running(nonce) == []
