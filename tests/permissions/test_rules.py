"""Rules on disk: those in force, and one more when a person says always."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mooring
from mooring.core.conversation.verdict import Action, Mode, ProposedCall
from mooring.errors import ConfigError, FileError, ParseError
from mooring.permissions.policy import Policy
from mooring.permissions.rules import load_policy, save_allow
from mooring.settings import load
from mooring.syntax.edit import insert_element, remove_value
from mooring.syntax.parse import parse
from support import Home

USER = "home/.config/mooring/settings.json"
LOCAL = "home/.local/state/mooring/rules.json"
RULE = {"tool": "mcp__x__y", "action": "allow"}


def in_force(home: Home, wanted: Mode | None = None) -> Policy:
    return load_policy(load(home.where, str(home.project)), home.where, str(home.project), wanted)


def verdict(home: Home, server: str, tool: str, **arguments: Any) -> Action:
    return in_force(home).decide(ProposedCall(server, tool, arguments)).action


def test_rules_of_the_machine_the_person_and_the_project_are_all_in_force(home: Home) -> None:
    home.write("system/etc/mooring/settings.json", {"permissions": [{"tool": "a.*", "action": "deny"}]})
    home.write(USER, {"permissions": [{"tool": "*", "action": "allow"}]})
    home.write("project/.mooring/settings.json", {"permissions": [{"tool": "b.*", "action": "deny"}, RULE]})
    assert [verdict(home, name, "t") for name in "abc"] == ["deny", "deny", "allow"]


def test_a_project_alone_can_let_nothing_through(home: Home) -> None:
    home.write("project/.mooring/settings.json", {"permissions": [{"tool": "*", "action": "allow"}]})
    assert verdict(home, "x", "y") == "ask"


@pytest.mark.parametrize(
    ("managed", "user", "wanted", "mode"),
    [
        (None, None, None, "ask"),
        (None, "accept-reads", None, "accept-reads"),
        (None, "accept-reads", "bypass", "bypass"),
        (None, "bypass", "plan", "plan"),
        ("ask", "bypass", None, "ask"),
        ("ask", None, "bypass", "ask"),
        ("accept-reads", None, "plan", "plan"),
        ("bypass", None, "ask", "ask"),
        (None, "edits", None, "edits"),
        ("ask", None, "edits", "ask"),
        ("edits", None, "ask", "ask"),
        ("edits", None, "accept-reads", "accept-reads"),
        ("accept-reads", None, "edits", "accept-reads"),
    ],
)
def test_the_machines_mode_can_be_made_stricter_but_not_looser(
    managed: str | None, user: str | None, wanted: Mode | None, mode: Mode, home: Home
) -> None:
    home.write("system/etc/mooring/settings.json", {"permissionMode": managed} if managed else {})
    home.write(USER, {"permissionMode": user} if user else {})
    assert in_force(home, wanted).mode == mode


async def test_a_mode_that_is_switched_in_an_open_host_cannot_be_looser_than_the_machines_either(home: Home) -> None:
    home.write("system/etc/mooring/settings.json", {"permissionMode": "accept-reads"})
    async with mooring.open(request=home.request()) as host:
        conversation = host.conversation()
        modes = []
        wanted: tuple[Mode | None, ...] = ("plan", "bypass", None)
        for mode in wanted:
            host.change_mode(mode)
            modes.append((host.call_policy().mode, host.call_policy(conversation).mode))
        assert modes == [("plan", "plan"), ("accept-reads", "accept-reads"), ("accept-reads", "accept-reads")]


def test_a_tool_allowed_for_good_is_allowed_everywhere(home: Home) -> None:
    save_allow(home.where, str(home.project), "x", "y", "user")
    assert json.loads((home.folder / USER).read_text()) == {"permissions": [RULE]}
    assert (verdict(home, "x", "y"), verdict(home, "x", "z")) == ("allow", "ask")
    save_allow(home.where, None, "x", "y", "user")
    assert json.loads((home.folder / USER).read_text()) == {"permissions": [RULE]}


def test_a_tool_allowed_in_a_project_is_allowed_there_alone_and_nothing_is_written_into_it(home: Home) -> None:
    before = sorted(home.project.rglob("*"))
    save_allow(home.where, str(home.project), "x", "y", "project-local")
    assert verdict(home, "x", "y") == "allow"
    other = str(home.folder / "other")
    assert load_policy(load(home.where, other), home.where, other).decide(ProposedCall("x", "y")).action == "ask"
    assert sorted(home.project.rglob("*")) == before
    assert not (home.folder / USER).exists()
    assert (home.folder / LOCAL).stat().st_mode & 0o777 == 0o600


def test_without_a_project_nothing_is_kept_for_one(home: Home) -> None:
    with pytest.raises(ConfigError, match="no project"):
        save_allow(home.where, None, "x", "y", "project-local")
    assert not (home.folder / USER).exists()


def test_a_deny_in_the_settings_holds_against_what_was_allowed_in_the_project(home: Home) -> None:
    save_allow(home.where, str(home.project), "x", "y", "project-local")
    home.write(USER, {"permissions": [{"tool": "x.*", "action": "deny"}]})
    assert verdict(home, "x", "y") == "deny"


def test_a_rule_for_good_stands_before_asks_and_behind_denies_that_could_be_meant(home: Home) -> None:
    asks = [{"tool": "mcp__sh__*", "action": "ask"}]
    denies = [{"tool": "mcp__SH__run", "pattern": "rm *", "action": "deny"}]
    home.write(USER, {"permissions": [*denies, *asks]})
    save_allow(home.where, None, "sh", "run", "user")
    assert (verdict(home, "sh", "run", command="ls"), verdict(home, "sh", "run", command="rm x")) == ("allow", "deny")


COMMENTED = """\
// my settings
{
  "model": "m", // the big one
  /* what may run */
  "permissions": [ // in this order
    // never this
    {"tool": "x.*", "pattern": "rm *", "action": "deny"}, // really
    {"tool": "*", "action": "ask"} // the rest
  ],
}
"""


def test_comments_order_and_everything_else_stay_when_a_rule_is_added(home: Home) -> None:
    path = home.write(USER, COMMENTED)
    save_allow(home.where, None, "x", "y", "user")
    lines = path.read_text().splitlines()
    assert lines.pop(7) == '    {"tool": "mcp__x__y", "action": "allow"},'
    assert lines == COMMENTED.splitlines()


def test_a_byte_order_mark_the_mode_and_a_link_stay(home: Home) -> None:
    target = home.write("home/dotfiles/settings.json", b"\xef\xbb\xbf{}")
    target.chmod(0o640)
    link = home.folder / USER
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    save_allow(home.where, None, "x", "y", "user")
    assert link.is_symlink()
    assert target.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert target.stat().st_mode & 0o777 == 0o640
    assert verdict(home, "x", "y") == "allow"


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        b'\xff{}',
        '{"permissions": {}}',
        '{"permissions": [1]}',
        '{"permissions": [{"tool": "a"}]}',
        '{"permissions": [], "permissions": []}',
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_changed_safely_is_left_alone_and_the_rule_is_shown(
    content: str | bytes, home: Home
) -> None:
    path = home.write(USER, content)
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=re.escape('by hand: {"tool": "mcp__x__y", "action": "allow"}')):
        save_allow(home.where, None, "x", "y", "user")
    assert path.read_bytes() == before


def test_a_damaged_record_lets_nothing_through_unasked_and_is_not_overwritten(home: Home) -> None:
    path = home.write(LOCAL, "{")
    home.write(USER, {"permissions": [RULE]})
    assert verdict(home, "x", "y") == "ask"
    with pytest.raises(FileError, match="damaged"):
        save_allow(home.where, str(home.project), "x", "z", "project-local")
    assert path.read_text() == "{"


SPACE = st.sampled_from(["", " ", "\n", "\r\n\t", " // c, [\n", '/* { " */', "\n  "])
RULES = st.fixed_dictionaries({"tool": st.sampled_from(["a", 'q"]', "b//", "/*"]), "action": st.just("deny")})


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, int]:
    """A settings file with odd spacing and comments, and how many rules it has."""
    rules = draw(st.lists(RULES, max_size=3))
    space = lambda: draw(SPACE)  # noqa: E731  # drawn anew each time
    inner = ",".join(f"{space()}{json.dumps(rule)}{space()}" for rule in rules) or space()
    keys = draw(st.permutations(["model", "env", *(["permissions"] if draw(st.booleans()) or rules else [])]))
    values = {"model": '"m, [{"', "env": '{"permissions": "[]"}', "permissions": f"[{inner}]"}
    body = ",".join(f'{space()}"{key}"{space()}:{space()}{values[key]}{space()}' for key in keys)
    return f"{space()}{{{body}}}{space()}", len(rules)


@settings(max_examples=300)
@given(made=texts(), data=st.data())
def test_an_insertion_changes_nothing_else_in_any_text_or_is_refused(
    made: tuple[str, int], data: st.DataObject
) -> None:
    text, count = made
    before = parse(text.encode(), "json").data
    at = data.draw(st.integers(0, count))
    try:
        after = insert_element(text, ("permissions", at), RULE)
    except ParseError as error:
        assert "safely" in error.reason  # noqa: PT017  # either outcome is right, but no third
        return
    rules = list(before.get("permissions", []))
    rules.insert(at, RULE)
    assert parse(after.encode(), "json").data == {**before, "permissions": rules}
    kept = iter(after)
    assert all(character in kept for character in text), "something of the text was lost"


@settings(max_examples=300)
@given(made=texts(), data=st.data())
def test_a_removal_changes_no_other_rule_and_no_comment_in_any_text_or_is_refused(
    made: tuple[str, int], data: st.DataObject
) -> None:
    text, count = made
    if not count:
        return
    before = parse(text.encode(), "json").data
    at = data.draw(st.integers(0, count - 1))
    try:
        after = remove_value(text, "json", ("permissions", at))
    except ParseError as error:
        assert "safely" in error.reason  # noqa: PT017  # either outcome is right, but no third
        return
    rules = list(before["permissions"])
    del rules[at]
    assert parse(after.encode(), "json").data == {**before, "permissions": rules}
    left = iter(text)
    assert all(character in left for character in after), "something was added"
