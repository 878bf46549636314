"""Settings: each value with its origin; a repository may propose but not grant."""

from typing import Any

import pytest

from mooring.core.protocol.limits import MOST_REQUESTS
from mooring.settings import MAX_RULE_TEXT, MAX_RULES, SETTINGS, Settings, load
from support import Home


def settings(home: Home) -> Settings:
    return load(home.where, str(home.project))


def test_without_files_everything_is_at_its_default(home: Home) -> None:
    found = settings(home)
    assert {key: value.value for key, value in found.values.items()} == {k: s.default for k, s in SETTINGS.items()}
    assert {value.level for value in found.values.values()} == {"default"}


def test_the_most_requests_of_a_turn_are_the_same_with_and_without_settings() -> None:
    assert SETTINGS["maxTurns"].default == MOST_REQUESTS


def test_managed_counts_before_user_before_project(home: Home) -> None:
    files = {
        "project": "project/.mooring/settings.json",
        "user": "home/.config/mooring/settings.json",
        "managed": "system/etc/mooring/settings.json",
    }
    for level, path in files.items():
        written = home.write(path, {"alwaysLoad": [level]})
        value = settings(home).values["alwaysLoad"]
        assert (value.value, value.level, value.path) == ([level], level, str(written))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sources", {}),
        ("env", {"ANTHROPIC_BASE_URL": "https://elsewhere"}),
        ("network", {}),
        ("permissionMode", "bypass"),
        ("trustedServers", ["x"]),
        ("model", "dear"),
        ("backend", "theirs"),
        ("serverWait", 1e9),
        ("mcpRemote", "keep"),
        ("resultTokens", 1e9),
        ("backgroundAfter", 1e9),
        ("maxTurns", 10**6),
        ("maxCost", 1e6),
        ("tokenBudget", 10**9),
    ],
)
def test_a_project_cannot_set_what_would_hide_servers_change_the_environment_or_grant(
    key: str, value: object, home: Home
) -> None:
    home.write("project/.mooring/settings.json", {key: value})
    found = settings(home)
    assert found.values[key].level == "default"
    assert "cannot be set by a project" in found.problems[0].message


def test_the_key_of_an_earlier_version_has_no_effect_and_the_warning_names_its_successor(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"startWindow": 15_000, "sessionDays": 1})
    found = settings(home)
    assert (found["serverWait"], found["sessionDays"]) == (10, 1)
    [problem] = found.problems
    assert (problem.level, problem.line) == ("warning", 1)
    assert problem.message == "`startWindow` has no effect any more"
    assert problem.hint == "remove it, or write `serverWait`: it counts seconds, and 10 is the default"


def test_a_projects_file_may_only_deny_ask_and_say_how_tools_are_shown() -> None:
    allowed = {key for key, setting in SETTINGS.items() if setting.project}
    assert allowed == {"permissions", "toolNames", "toolBudget", "alwaysLoad", "searchByMeaning"}


@pytest.mark.parametrize("content", ['{"permissions": [' + "1," * 20_000 + "1]}", "{" + '"a":1,' * 30_000 + '"a":1}'])
def test_a_projects_file_of_endless_values_is_left_out_at_once(content: str, home: Home) -> None:
    home.write("project/.mooring/settings.json", content)
    assert "holds more than 10000 values" in settings(home).problems[0].message
    home.write("home/.config/mooring/settings.json", content)
    assert not any("values" in problem.message for problem in settings(home).problems[1:])


def test_a_projects_permissions_can_only_deny_or_ask(home: Home) -> None:
    path = "project/.mooring/settings.json"
    home.write(path, {"permissions": [{"tool": "*", "action": "deny"}]})
    assert settings(home)["permissions"] == [{"tool": "*", "action": "deny"}]
    home.write(path, {"permissions": [{"tool": "*", "action": "deny"}, {"tool": "mcp__x__*", "action": "allow"}]})
    assert settings(home)["permissions"] == [{"tool": "*", "action": "deny"}]
    assert "can only deny or ask" in settings(home).problems[0].message


def test_rules_of_every_level_are_kept_with_their_file(home: Home) -> None:
    files = {
        "managed": "system/etc/mooring/settings.json",
        "user": "home/.config/mooring/settings.json",
        "project": "project/.mooring/settings.json",
    }
    written = [
        str(home.write(path, {"permissions": [{"tool": level, "action": "deny"}]})) for level, path in files.items()
    ]
    every = settings(home).every("permissions")
    assert [(value.level, value.path, value.value[0]["tool"]) for value in every] == [
        (level, path, level) for level, path in zip(files, written, strict=True)
    ]
    assert settings(home).doubts == ()


@pytest.mark.parametrize(
    "content",
    [
        "{",
        '{"permissions": {}}',
        '{"permissions": [{"tool": "a", "action": "deny"}, {"tool": "b", "action": "dney"}]}',
        '{"permissions": [{"tool": "a", "action": "deny"}, {"tool": "b", "actoin": "deny", "action": "ask"}]}',
        '{"permissions": [{"tool": "b", "action": "deny"}], "permissions": []}',
    ],
)
def test_rules_that_cannot_be_read_in_full_cast_a_doubt_and_the_others_count(content: str, home: Home) -> None:
    path = home.write("home/.config/mooring/settings.json", content)
    found = settings(home)
    assert found.doubts == (str(path),)
    assert found["permissions"] == ([{"tool": "a", "action": "deny"}] if '"a"' in content else [])


def test_a_projects_faulty_rules_cast_no_doubt_on_the_persons_own(home: Home) -> None:
    home.write("project/.mooring/settings.json", "{")
    assert settings(home).doubts == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sources", {"codex": "no"}),
        ("permissions", {"tool": "x"}),
        ("model", 3),
        ("toolNames", "camelCase"),
        ("env", {"A": 1}),
    ],
)
def test_a_value_that_does_not_fit_is_a_problem_and_the_default_stays(key: str, value: object, home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {key: value})
    found = settings(home)
    assert found.values[key].level == "default"
    assert f"`{key}` should be" in found.problems[0].message


@pytest.mark.parametrize("content", ["{", "[]", "nonsense", b"\xff\xfe\xff"])
def test_a_broken_file_is_a_problem_and_counts_as_none(content: str | bytes, home: Home) -> None:
    home.write("home/.config/mooring/settings.json", content)
    found = settings(home)
    assert len(found.problems) == 1
    assert {value.level for value in found.values.values()} == {"default"}


def test_an_unknown_key_is_named_with_its_line_and_the_known_ones(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", '{\n  "$schema": "x",\n  "modle": "y"\n}')
    [problem] = settings(home).problems
    assert (problem.line, "modle" in problem.message, "model" in problem.hint) == (3, True, True)


def test_a_source_switched_off_is_not_read(home: Home) -> None:
    home.write("home/.codex/config.toml", '[mcp_servers.x]\ncommand = "x"\n')
    home.write("home/.config/mooring/settings.json", {"sources": {"codex": False}})
    inventory = home.inventory()
    assert inventory.choices == ()
    assert inventory.files == ()


@pytest.mark.parametrize(
    "rules",
    [
        [{"tool": f"mcp__x__{number}", "action": "deny"} for number in range(MAX_RULES + 1)],
        [{"tool": "x" * 900, "action": "deny", "pattern": str(number)} for number in range(MAX_RULE_TEXT // 900 + 1)],
    ],
    ids=["many", "long"],
)
def test_more_rules_than_are_kept_make_a_file_doubtful_and_the_first_stay_in_force(
    home: Home, rules: list[Any]
) -> None:
    path = home.write("home/.config/mooring/settings.json", {"permissions": rules})
    found = settings(home)
    assert found["permissions"] == rules[: len(found["permissions"])]
    assert len(rules) - len(found["permissions"]) in (1, 2)
    assert found.doubts == (str(path),)
    assert "are ignored" in found.problems[0].message
    home.write("home/.config/mooring/settings.json", {"permissions": rules[: len(found["permissions"])]})
    assert (settings(home).doubts, settings(home).problems) == ((), ())
