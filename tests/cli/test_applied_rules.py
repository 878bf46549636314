"""A person's allow rules and a project's server that they approved: the approval names them, and only a yes applies them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from chat.terminal import Person
from support import Actor, Home, Result, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

START, APPLY = "Let it be started? [y/N]: ", "Apply it to this server? [y/N]: "
ALLOW = {"tool": "github.*", "action": "allow"}
SENTENCE = "Your rule `allow github.*` would let its tools run without asking."


@pytest.fixture
def actor(home: Home, tmp_path: Path) -> Actor:
    """A server of the project, under a name that a rule of the person allows."""
    acting = Actor(tmp_path / "actor.json")
    define(home, github=acting.entry)
    allow(home, ALLOW)
    return acting


def define(home: Home, **servers: Any) -> None:
    home.write("project/.mcp.json", {"mcpServers": servers})


def allow(home: Home, *rules: dict[str, str]) -> None:
    home.write("home/.config/mooring/settings.json", {"permissions": list(rules)})


def find_digest(home: Home, *words: str) -> str:
    [question] = run_beside(home, *words, "mcp", "approve", "github", "--json").data["waiting"]
    digest: str = question["digest"]
    return digest


def approve(home: Home, *words: str, at: tuple[str, ...] = ()) -> Result:
    return run_beside(home, *at, "mcp", "approve", "github", "--digest", find_digest(home, *at), *words)


def call(home: Home, *at: str, tool: str = "count") -> Result:
    """A call that is asked about unless a rule allows it, where nobody can be asked."""
    return run_beside(home, *at, "call", "--permission-mode", "ask", f"github.{tool}")


def is_allowed(home: Home, *at: str) -> bool:
    result = call(home, *at)
    assert result.code in (0, 4), result.err
    return result.code == 0


# --- at a terminal ------------------------------------------------------------------------------------------------


def test_a_second_question_names_the_rule_and_a_yes_applies_it(home: Home, actor: Actor) -> None:
    with Person(home, "mcp", "approve", "github") as person:
        assert "your rules for github that do not apply to it unless you say so: allow github.*" in person.sees(START)
        person.types("y")
        assert SENTENCE in person.sees(APPLY)
        person.types("y")
        person.sees("approved: github")
        person.sees("applied to github: allow github.*")
        assert person.ended() == 0
    assert is_allowed(home)
    assert len(actor.done("counts")) == 1


@pytest.mark.parametrize(("keys", "code"), [("n\r", 0), ("\r", 0), ("\x04", 0), ("sure\r", 0), ("\x03", 130)])
def test_nothing_but_a_yes_applies_it_and_the_server_is_approved_all_the_same(
    home: Home, actor: Actor, keys: str, code: int
) -> None:
    with Person(home, "mcp", "approve", "github") as person:
        person.answers((START, "y"))
        person.sees(APPLY)
        person.presses(keys)
        assert person.ended() == code
        assert ("Approved before you stopped: github." in person.shown) == (code == 130)
        assert "applied" not in person.shown
    refused = call(home)
    assert (refused.code, actor.done("counts")) == (4, [])
    assert "is for your own servers, and github comes from this project; approve it again to apply" in refused.err
    assert run_beside(home, "call", "github.count").code == 0, "the server was not approved"


def test_a_no_to_the_server_asks_nothing_more_and_what_was_typed_ahead_applies_nothing(
    home: Home, actor: Actor
) -> None:
    with Person(home, "mcp", "approve", "github") as person:
        person.answers((START, "n"))
        person.sees("Not approved: github.")
        assert person.ended() == 4
        assert "Apply" not in person.shown
    with Person(home, "mcp", "approve", "github") as person:
        person.sees(START)
        person.presses("y\ry\ry\r")
        person.sees(APPLY)
        person.types("n")
        assert person.ended() == 0
    assert not is_allowed(home)


def test_several_rules_are_listed_with_their_patterns_and_without_one_nothing_is_asked(
    home: Home, actor: Actor
) -> None:
    allow(home, {"tool": "github.nap", "action": "deny"}, {"tool": "github.count", "action": "allow", "pattern": "n=*"},
          {"tool": "other.*", "action": "allow"}, {"tool": "*", "action": "allow"})  # fmt: skip
    with Person(home, "mcp", "approve", "github") as person:
        person.answers((START, "y"))
        question = person.sees("Apply them to this server? [y/N]: ")
        assert "run without asking:\n  allow github.count with n=*\n  allow *\n" in question
        assert "other" not in question
        assert "nap" not in question
        person.types("y")
        assert person.ended() == 0
    assert is_allowed(home)
    assert call(home, tool="nap").code == 4, "a deny holds"
    allow(home)
    with Person(home, "mcp", "approve", "github") as person:
        person.answers((START, "y"))
        person.sees("approved: github")
        assert person.ended() == 0
        assert "Apply" not in person.shown


def test_approving_again_shows_what_applies_and_a_no_then_withdraws_it(home: Home, actor: Actor) -> None:
    assert approve(home, "--apply-rules").code == 0
    with Person(home, "mcp", "approve", "github") as person:
        assert "your rules for github that you applied to it: allow github.*" in person.sees(START)
        person.answers(("", "y"), (APPLY, "n"))
        assert person.ended() == 0
    assert not is_allowed(home)


# --- without a terminal -------------------------------------------------------------------------------------------


def test_an_option_applies_it_with_the_digest_and_json_says_what_matches_and_what_applies(
    home: Home, actor: Actor
) -> None:
    printed = run_beside(home, "mcp", "approve", "github", "--json")
    [question] = printed.data["waiting"]
    assert question["rules"] == [{"tool": "github.*"}]
    assert question["appliedRules"] == []
    assert "With --apply-rules, your rules that are named above apply to it, too." in printed.err
    answered = ("mcp", "approve", "github", "--digest", question["digest"], "--json")
    assert run_beside(home, *answered).data == {
        "approved": ["github"],
        "rules": {"github": {"matching": [{"tool": "github.*"}], "applied": []}},
    }
    assert not is_allowed(home)
    applied = {"matching": [{"tool": "github.*"}], "applied": [{"tool": "github.*"}]}
    assert run_beside(home, *answered, "--apply-rules").data["rules"]["github"] == applied
    assert is_allowed(home)
    # A step of a build that approves again takes nothing away.
    assert run_beside(home, *answered).data["rules"]["github"] == applied
    assert is_allowed(home)


def test_without_a_matching_rule_the_option_says_so_and_approves(home: Home, actor: Actor) -> None:
    allow(home, {"tool": "other.*", "action": "allow"}, {"tool": "github.*", "action": "ask"})
    done = approve(home, "--apply-rules")
    assert (done.code, done.out) == (0, "approved: github\n")
    assert "No rule in your settings allows tools of github, so none is applied.\n" in done.err
    assert "rules" not in approve(home, "--json", "--apply-rules").data


def test_a_digest_is_of_the_rules_too_with_their_patterns(home: Home, actor: Actor) -> None:
    allow(home, {**ALLOW, "pattern": "n=1"})
    digest = find_digest(home)
    for rules in ([], [ALLOW], [{**ALLOW, "pattern": "n=*"}], [{**ALLOW, "pattern": "n=1"}, {**ALLOW, "tool": "*"}]):
        allow(home, *rules)
        refused = run_beside(home, "mcp", "approve", "github", "--digest", digest, "--apply-rules")
        assert (refused.code, refused.out) == (4, "")
        assert "is not what that digest was printed for, so nothing was approved" in refused.err
    allow(home, {**ALLOW, "pattern": "n=1"})
    assert run_beside(home, "mcp", "approve", "github", "--digest", digest, "--apply-rules").code == 0


# --- how far it reaches -------------------------------------------------------------------------------------------


def test_a_changed_definition_and_a_rule_that_was_not_named_get_nothing(home: Home, actor: Actor) -> None:
    assert approve(home, "--apply-rules").code == 0
    assert is_allowed(home)
    for rules in ([{"tool": "github.count", "action": "allow"}], [{"tool": "mcp__github", "action": "allow"}],
                  [{**ALLOW, "pattern": "*x*"}], [{"tool": "*", "action": "allow"}]):  # fmt: skip
        allow(home, *rules)
        assert not is_allowed(home), rules
    allow(home, ALLOW)
    assert is_allowed(home), "the rule that was named is back"
    define(home, github={**actor.entry, "env": {"A": "b"}})
    assert approve(home).code == 0
    assert not is_allowed(home), "another definition"
    define(home, github=actor.entry)
    assert is_allowed(home), "the definition that it was applied to"


@pytest.mark.parametrize("verb", ["reject", "reset"])
def test_withdrawing_the_approval_withdraws_the_rules(home: Home, actor: Actor, verb: str) -> None:
    assert approve(home, "--apply-rules").code == 0
    assert run_beside(home, "mcp", verb, "github").code == 0
    assert call(home).code == 4
    assert run_beside(home, "mcp", "approve", "github", "--yes").code == 0
    assert not is_allowed(home)


def test_a_field_that_the_person_edits_keeps_the_approval_but_not_the_rules(home: Home, actor: Actor) -> None:
    assert approve(home, "--apply-rules").code == 0
    assert run_beside(home, "mcp", "edit", "github", "--in", "claude-code", "-e", "LOG=debug").code == 0
    assert run_beside(home, "call", "github.count").code == 0
    assert not is_allowed(home)


def test_each_project_has_its_own_yes_and_so_has_a_project_inside_another(home: Home, actor: Actor) -> None:
    places = {name: home.folder / name for name in ("project", "second", "project/inner")}
    for place in places.values():
        (place / ".git").mkdir(parents=True, exist_ok=True)
        (place / ".mcp.json").write_text((home.project / ".mcp.json").read_text())
    assert approve(home, "--apply-rules").code == 0
    for name, place in places.items():
        at = ("--cwd", str(place))
        assert is_allowed(home, *at) == (name == "project"), name
        if name != "project":
            assert approve(home, at=at).code == 0
            assert not is_allowed(home, *at), name
    # A folder of the project that is none of its own has the project's yes.
    (home.project / "docs").mkdir()
    assert is_allowed(home, "--cwd", str(home.project / "docs"))
    inner = ("--cwd", str(places["project/inner"]))
    assert approve(home, "--apply-rules", at=inner).code == 0
    assert run_beside(home, "mcp", "reset", "github").code == 0
    assert is_allowed(home, *inner)


@pytest.mark.parametrize("action", ["ask", "deny"])
def test_an_ask_and_a_deny_hold_over_an_applied_rule(home: Home, actor: Actor, action: str) -> None:
    assert approve(home, "--apply-rules").code == 0
    stricter = {"tool": "github.count", "action": action}
    allow(home, stricter, ALLOW)
    assert not is_allowed(home)
    allow(home, ALLOW)
    assert is_allowed(home)
    home.write("project/.mooring/settings.json", {"permissions": [stricter]})
    # As for a server of the person's own: a project's deny holds, its ask is below their settings.
    assert is_allowed(home) == (action == "ask")


def test_a_record_from_before_rules_were_applied_is_read(home: Home, actor: Actor) -> None:
    assert approve(home).code == 0
    record = home.home / ".local/state/mooring/approvals.json"
    data = json.loads(record.read_text())
    del data["checksum"], data["decisions"][0]["rules"]
    record.write_text(json.dumps(data))
    assert run_beside(home, "call", "github.count").code == 0
    assert not is_allowed(home)


# --- where it is shown --------------------------------------------------------------------------------------------


def test_lists_and_reasons_say_that_it_was_applied(home: Home, actor: Actor) -> None:
    assert approve(home).code == 0
    assert "applied" not in run_beside(home, "mcp", "list").err
    assert approve(home, "--apply-rules").code == 0
    told = "github is approved, and you applied to it: allow github.*. To withdraw both: mooring mcp reset github"
    assert told in run_beside(home, "mcp", "list").err
    [row] = run_beside(home, "mcp", "list", "--json").data["servers"]
    assert row["appliedRules"] == [{"tool": "github.*"}]
    assert (
        "allow github.*, which you applied to it when you approved it" in run_beside(home, "mcp", "get", "github").out
    )
    assert "also for this project's github" in run_beside(home, "settings", "permissions").out
    [rule] = run_beside(home, "settings", "permissions", "--json").data["permissions"]["value"]
    assert rule["servers"] == ["github"]
    assert is_allowed(home)
    [entry] = run_beside(home, "history", "--json").data["calls"]
    assert (entry["verdict"], entry["level"], entry["rule"]) == ("allow", "user", "github.*")
    allow(home, {"tool": "github.count", "action": "allow"})
    for words in (["mcp", "list"], ["mcp", "get", "github"], ["settings", "permissions"]):
        result = run_beside(home, *words)
        printed = result.out + result.err
        assert "applied" not in printed
        assert "this project's github" not in printed
