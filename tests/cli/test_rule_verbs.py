"""`mooring allow|deny|ask RULE` and `mooring rules`: what is typed decides the next call, and nothing more than that."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mooring.process.programs import Guard
from support import DEMO, Cli, Home, run_beside

OWN = "home/.config/mooring/settings.json"
LOCAL = "home/.local/state/mooring/rules.json"


def read_rules(home: Home) -> list[Any]:
    path = home.folder / OWN
    rules: list[Any] = json.loads(path.read_text())["permissions"] if path.exists() else []
    return rules


def read_local(home: Home) -> list[Any]:
    [rules] = json.loads((home.folder / LOCAL).read_text())["projects"].values()
    return list(rules)


def spell(rules: list[Any]) -> list[str]:
    return [" ".join((rule["action"], rule["tool"], rule.get("pattern", ""))).strip() for rule in rules]


# --- what is written ----------------------------------------------------------------------------------------------------


def test_a_rule_goes_into_ones_own_settings_whose_comments_stay(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    cli.home.write(OWN, '{\n  // mine\n  "permissions": []\n}\n')
    done = cli("allow", "demo.echo")
    assert (done.code, done.err) == (0, "")
    assert done.out == "Added to ~/.config/mooring/settings.json: allow demo.echo\n"
    assert "// mine" in (cli.home.folder / OWN).read_text()
    assert cli("allow", "demo.echo", "--json").data["added"] == {
        "tool": "demo.echo", "action": "allow", "level": "user", "path": str(cli.home.folder / OWN),
    }  # fmt: skip
    assert cli("settings", "permissions", "--json").data["permissions"]["value"][0]["tool"] == "demo.echo"


def test_with_project_it_stays_with_the_person_and_is_for_this_project_alone(cli: Cli) -> None:
    assert cli("deny", "demo.*", "--project").code == 0
    assert spell(read_local(cli.home)) == ["deny demo.*"]
    assert not (cli.home.project / ".mooring").exists()
    assert cli("rules", "demo.echo", "--json").data["action"] == "deny"
    assert cli("rules", "demo.echo", "--no-project", "--json").data["action"] == "ask"


@pytest.mark.parametrize("where", [(), ("--project",)], ids=["user", "project"])
def test_denies_come_first_and_narrow_rules_before_wide_ones_in_whichever_order_they_are_typed(
    cli: Cli, where: tuple[str, ...]
) -> None:
    for action, rule in (
        ("allow", "demo.*"),
        ("ask", "demo.create_*"),
        ("allow", "demo.create_note"),
        ("deny", "demo.delete_*"),
        ("ask", "other.x"),
    ):
        assert cli(action, rule, *where).code == 0
    rules = spell(read_local(cli.home) if where else read_rules(cli.home))
    order = ["deny demo.delete_*", "allow demo.create_note", "ask demo.create_*", "allow demo.*"]
    assert [rule for rule in rules if "demo" in rule] == order
    verdicts = {
        name: cli("rules", f"demo.{name}", "--json").data["action"] for name in ("x", "create_y", "create_note")
    }
    assert verdicts == {"x": "allow", "create_y": "ask", "create_note": "allow"}
    assert cli("rules", "demo.delete_all", "--json").data["action"] == "deny"


def test_the_other_answer_about_the_same_tools_is_replaced_but_a_deny_is_not(cli: Cli) -> None:
    cli("allow", "demo.echo")
    cli("ask", "demo.echo")
    assert spell(read_rules(cli.home)) == ["ask demo.echo"]
    cli("deny", "demo.echo")
    refused = cli("allow", "demo.echo")
    assert refused.code == 2
    assert refused.err.strip().endswith("To remove that rule: mooring rules --remove 'deny demo.echo'")
    assert "`deny demo.echo` wins over it, so nothing was added." in refused.err
    assert spell(read_rules(cli.home)) == ["deny demo.echo", "ask demo.echo"]


def test_what_still_wins_over_a_new_rule_is_named(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    cli("deny", "demo.note", "--project")
    done = cli("allow", "demo.*")
    assert done.err == "Where both match, it has no effect: `deny demo.note` wins, by your rules for this project.\n"
    done = cli("allow", "demo.note")
    assert done.err == "It has no effect: your answer for this project: deny demo.note.\n"


def test_a_server_that_nobody_knows_and_a_projects_server_are_mentioned(cli: Cli) -> None:
    assert cli("allow", "gihtub.x").err == "No known server is called gihtub.\n"
    cli.home.write("project/.mcp.json", {"mcpServers": {"shop": {"command": "sh"}}})
    assert cli("mcp", "approve", "shop", "--yes").code == 0
    said = cli("allow", "shop.*").err
    assert "shop came with this project. For those: mooring allow --project 'shop.*'" in said
    assert cli("rules", "shop.x", "--json").data["action"] == "ask"
    assert cli("allow", "shop.*", "--project").err == ""
    assert cli("rules", "shop.x", "--json").data["action"] == "allow"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("allow", "echo"), "'echo' does not say which server"),
        (("allow", "mcp_demo_echo"), "does not say which server"),
        (("deny", ""), "is not a rule"),
        (("deny", "demo.[x"), "has a [ without its ]"),
        (("allow", "demo.echo", "--demo"), "--demo leaves all files out"),
        (("allow", "demo.echo", "--project", "--no-project"), "--no-project leaves the project out"),
        (("rules", "echo"), "echo does not say which server: write SERVER.TOOL."),
        (("rules", "--remove", "demo.x"), "None of your rules is 'demo.x'."),
        (("rules", "demo.*"), "demo.* is not the name of one tool"),
        (("rules", "demo.x", "--remove", "demo.x"), "the two cannot be combined"),
    ],
)
def test_what_is_no_rule_is_refused_in_a_sentence_and_nothing_is_written(
    cli: Cli, words: tuple[str, ...], says: str
) -> None:
    done = cli(*words)
    assert done.code == 2
    assert says in done.err
    assert done.err.count("\n") == 1
    assert not (cli.home.folder / OWN).exists()


def test_rules_are_listed_with_what_wins_and_removed_by_their_text(cli: Cli) -> None:
    cli("allow", "demo.get_*")
    cli("deny", "demo.get_secret")
    cli("allow", "Bash(git log *)", "--project")
    listed = cli("rules").out
    assert listed.startswith("Permission rules, highest level first:\n")
    assert "the first rule that matches wins" in listed
    assert [rule["tool"] for rule in cli("rules", "--json").data["rules"]] == ["Bash", "demo.get_secret", "demo.get_*"]
    told = cli("rules", "demo.get_secret").out.splitlines()
    assert told[0] == "demo.get_secret is not called: your settings say: deny demo.get_secret."
    assert [line.split()[:2] for line in told[1:]] == [["deny", "demo.get_secret"], ["allow", "demo.get_*"]]
    assert cli("rules", "Bash").out.splitlines()[0] == "Rules about Bash:"
    removed = cli("rules", "--remove", "Bash(git log *)")
    assert removed.out == "Removed from ~/.local/state/mooring/rules.json: allow Bash(git log *)\n"
    assert "Did you mean demo.get_*?" in cli("rules", "--remove", "demo.get").err
    assert cli("rules", "--remove", "demo.get_secret").code == 0
    assert spell(read_rules(cli.home)) == ["allow demo.get_*"]


# --- through the doors --------------------------------------------------------------------------------------------------


def test_the_command_that_a_refusal_names_is_the_one_that_helps(home: Home) -> None:
    home.configure(demo=DEMO)
    serve = [sys.executable, "-m", "mooring", "serve"]
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "mcp__demo__echo", "arguments": {"text": "hello"}}},
    ]  # fmt: skip

    log = home.folder / "serve.log"

    def call() -> dict[str, Any]:
        with (
            log.open("w") as told,
            subprocess.Popen(
                serve, cwd=home.cwd, env=home.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, text=True
            ) as program,
        ):
            assert program.stdin is not None
            assert program.stdout is not None
            for message in messages:
                program.stdin.write(json.dumps(message) + "\n")
            program.stdin.flush()
            for line in program.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    program.stdin.close()
                    result: dict[str, Any] = answer["result"]
                    return result
        raise AssertionError("no answer came")

    refused = call()
    assert refused["isError"] is True
    # The model can't run it: the person reads it.
    assert "mooring allow" not in refused["content"][0]["text"]
    assert "mooring allow demo.echo" in log.read_text()
    assert run_beside(home, "allow", "demo.echo").code == 0
    assert call()["content"][0]["text"] == "hello"


def test_rules_that_are_added_at_the_same_time_are_all_kept(home: Home) -> None:
    async def add() -> list[int]:
        words = [("allow", f"s{number}.x") for number in range(12)] + [("deny", f"d{number}.x") for number in range(12)]
        adding = [asyncio.to_thread(run_beside, home, *each) for each in words]
        return [done.code for done in await asyncio.gather(*adding)]

    assert asyncio.run(add()) == [0] * 24
    rules = spell(read_rules(home))
    assert sorted(rules) == sorted([f"allow s{n}.x" for n in range(12)] + [f"deny d{n}.x" for n in range(12)])


# --- who may add one ----------------------------------------------------------------------------------------------------


@pytest.mark.processes
def test_what_mooring_started_can_add_a_deny_and_nothing_that_lets_more_through(home: Home) -> None:
    home.write(OWN, {"permissions": [{"tool": "demo.x", "action": "deny"}]})

    async def run(*words: str) -> int:
        async with Guard() as guard:
            child = await guard.spawn([sys.executable, "-m", "mooring", *words], env=home.env, cwd=str(home.cwd))
            child.close_stdin()
            return await child.exited

    for words in (
        ("allow", "demo.y"),
        ("allow", "demo.y", "--project"),
        ("ask", "demo.x"),
        ("rules", "--remove", "demo.x"),
    ):
        assert asyncio.run(run(*words)) == 4
    assert spell(read_rules(home)) == ["deny demo.x"]
    assert not (Path(home.folder) / LOCAL).exists()
    assert asyncio.run(run("rules")) == 0
    assert asyncio.run(run("deny", "demo.z")) == 0
    assert spell(read_rules(home)) == ["deny demo.z", "deny demo.x"]


# --- what was found by trying -------------------------------------------------------------------------------------------


def test_only_the_rule_that_is_named_is_removed(cli: Cli) -> None:
    cli("deny", "demo.echo(*rm -rf*)")
    cli("allow", "demo.echo")
    assert cli("rules", "--remove", "demo.echo").code == 0
    assert spell(read_rules(cli.home)) == ["deny demo.echo *rm -rf*"]
    cli("allow", "demo.add")
    cli("deny", "demo.add")
    refused = cli("rules", "--remove", "demo.add")
    assert refused.code == 2
    assert "Write 'deny demo.add' or 'allow demo.add'." in refused.err
    assert cli("rules", "--remove", "deny demo.add").code == 0
    assert "allow demo.add" in spell(read_rules(cli.home))


@pytest.mark.parametrize("asked", ["*.add", "Demo.add", "add", "demo.add"])
def test_an_allow_goes_behind_every_ask_that_may_be_about_its_tools(cli: Cli, asked: str) -> None:
    cli("ask", asked)
    said = cli("allow", "demo.*").err
    assert cli("rules", "demo.add", "--json").data["action"] == "ask"
    assert cli("rules", "demo.x", "--json").data["action"] == "allow"
    assert "ask" in said or asked == "Demo.add"


def test_a_deny_by_another_spelling_is_named_when_an_allow_has_no_effect(cli: Cli) -> None:
    for denied in ("add", "Demo.add"):
        cli("deny", denied)
        assert "It has no effect: your settings say: deny" in cli("allow", "demo.add").err
        cli("rules", "--remove", f"deny {denied}")
    cli("deny", "*")
    assert "mooring rules --remove 'deny *'" in cli("allow", "Bash(git *)").err


def test_a_rule_that_was_behind_a_wider_one_is_moved_before_it(cli: Cli) -> None:
    rules = [{"tool": "demo.*", "action": "ask"}, {"tool": "demo.echo", "action": "allow"}]
    cli.home.write(OWN, {"permissions": rules})
    assert cli("allow", "demo.echo").code == 0
    assert spell(read_rules(cli.home)) == ["allow demo.echo", "ask demo.*"]


def test_no_rule_is_added_beyond_those_that_are_read(cli: Cli) -> None:
    long = [{"tool": f"s{number:03}.{'x' * 950}", "action": "deny"} for number in range(274)]
    cli.home.write(OWN, {"permissions": [*long, {"tool": "demo.echo", "action": "deny"}]})
    for action in ("deny", "allow"):
        refused = cli(action, f"demo.{'y' * 900}")
        assert refused.code == 2
        assert "more rules than are read, so nothing was added" in refused.err
    assert cli("call", "demo.echo", "text=x").code != 0


def test_what_decides_otherwise_is_mentioned(cli: Cli) -> None:
    cli("deny", "demo.echo(*rm -rf*)")
    cli("allow", "demo.echo")
    assert "Rules with a pattern may decide otherwise, by its arguments." in cli("rules", "demo.echo").out
    cli("settings", "trustedServers", '["demo"]')
    cli("settings", "permissionMode", "plan")
    assert "One that says that it only reads is called." in cli("rules", "demo.time").out
