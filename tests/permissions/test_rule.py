"""Rules and the real pair: no spelling reaches past a deny, and no allow reaches another tool."""

import itertools
import random
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import ValidationError, convert
from msgspec.structs import force_setattr, replace

import mooring
from mooring.core.conversation.verdict import Action, ProposedCall, Rule
from mooring.core.text.glob import literal
from mooring.errors import ConfigError
from mooring.permissions.policy import Policy, RuleLevel
from mooring.permissions.rule import parse_pair, parse_rule, spell_exactly
from mooring.tools.catalog.names import Scheme, name_tools

SCHEMES: list[Scheme] = ["mcp__server__tool", "mcp_server_tool", "mcp.server.tool"]


def decide(rule: str, action: Action, server: str | None, tool: str) -> Action:
    return Policy([RuleLevel("user", (Rule(rule, action),))]).decide(ProposedCall(server, tool)).action


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("mcp__github__create_issue", ("github", "create_issue")),
        ("mcp__github__*", ("github", "*")),
        ("mcp__github", ("github", "*")),
        ("mcp__git*", ("git*", "*")),
        ("mcp__a__b__c", ("a", "b__c")),
        ("mcp__a[_]_b__c", ("a[_]_b", "c")),
        ("mcp.github.*", ("github", "*")),
        ("mcp.github", ("github", "*")),
        ("github.create_*", ("github", "create_*")),
        ("my.server/create_*", ("my.server", "create_*")),
        ("a[/]b/c", ("a[/]b", "c")),
        ("*", ("*", "*")),
        ("mcp__*", ("*", "*")),
        ("mcp_*", ("*", "*")),
        ("mcp.*", ("*", "*")),
        ("mcp__*_read", None),
        ("mcp_github_*", None),
        ("ListMcpResources", None),
    ],
)
def test_a_rule_is_read_as_a_server_and_a_tool(written: str, read: tuple[str, str] | None) -> None:
    assert parse_pair(written) == read


RAW = st.text(alphabet="abAB_-. /*[é", min_size=1, max_size=6) | st.text(min_size=1, max_size=12)
LONG = st.text(alphabet="ab_1", min_size=20, max_size=80)
PLAIN = st.from_regex(r"\A[a-z][a-z0-9-]{0,8}\Z")


@settings(max_examples=150)
@given(
    server=RAW | LONG, tool=RAW | LONG, scheme=st.sampled_from(SCHEMES), crowd=st.lists(st.tuples(RAW, RAW), max_size=3)
)
def test_a_deny_of_any_shown_name_covers_its_tool(
    server: str, tool: str, scheme: Scheme, crowd: list[tuple[str, str]]
) -> None:
    shown = name_tools({(server, tool), *crowd}, scheme)[server, tool]
    for name in (shown, shown.upper(), shown.lower(), shown.title()):
        assert decide(literal(name), "deny", server, tool) == "deny"


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


SPELLINGS = [str.upper, str.title, wide, "\u200b".join, lambda text: unicodedata.normalize("NFD", text),
             lambda text: f"\ufeff{text}", lambda text: text + "\u00ad"]  # fmt: skip
WRITTEN = ["mcp__{}__{}", "mcp.{}.{}", "mcp_{}_{}", "{}.{}", "{}/{}", "MCP__{}__{}"]


@settings(max_examples=150)
@given(
    server=PLAIN,
    tool=PLAIN,
    spell=st.lists(st.sampled_from(SPELLINGS), max_size=2),
    whose=st.sampled_from(["rule", "server", "tool", "both"]),
    written=st.sampled_from(WRITTEN),
    star=st.booleans(),
)
def test_no_spelling_reaches_a_tool_that_a_deny_covers(
    server: str, tool: str, spell: list[object], whose: str, written: str, star: bool
) -> None:
    def spelled(text: str, who: str) -> str:
        for way in spell if whose in (who, "both") else ():
            text = way(text)  # type: ignore[operator]
        return text

    rule = written.format(spelled(server, "rule"), "*" if star else spelled(tool, "rule"))
    assert decide(rule, "deny", spelled(server, "server"), spelled(tool, "tool")) == "deny"


@settings(max_examples=150)
@given(words=st.lists(PLAIN, min_size=2, max_size=3), mark=st.sampled_from(list(" ._/:+!")))
def test_a_deny_in_the_clean_form_covers_a_tool_with_odd_characters(words: list[str], mark: str) -> None:
    assert decide(f"mcp__x__{'_'.join(words)}", "deny", "x", mark.join(words)) == "deny"
    assert decide(f"mcp__{'_'.join(words)}__*", "deny", mark.join(words), "x") == "deny"


@pytest.mark.parametrize("rule", ["create_issue", "github", "mcp_github", "mcp_github_create_*", "GitHub.Create_Issue"])
def test_a_deny_covers_whatever_could_be_meant(rule: str) -> None:
    assert decide(rule, "deny", "github", "create_issue") == "deny"


@pytest.mark.parametrize("rule", ["mcp__db__*", "db.*", "mcp__db", "mcp.db.*", "db"])
def test_a_deny_of_one_server_leaves_others_with_a_longer_name_alone(rule: str) -> None:
    assert decide(rule, "deny", "db2", "query") == "ask"
    assert decide(rule, "deny", "mydb", "query") == "ask"


@settings(max_examples=200)
@given(server=RAW | PLAIN, tool=RAW | PLAIN, other=st.tuples(RAW | PLAIN, RAW | PLAIN))
def test_an_allow_written_for_a_pair_matches_that_pair_and_no_other(
    server: str, tool: str, other: tuple[str, str]
) -> None:
    rule = spell_exactly(server, tool)
    assert decide(rule, "allow", server, tool) == "allow"
    near = [
        other,
        (server, other[1]),
        (other[0], tool),
        (tool, server),
        (server.swapcase(), tool),
        (server, tool + "_"),
    ]
    near += [
        (f"{server}__{tool}", tool),
        (server[:1], f"{server[1:]}__{tool}"),
        (wide(server), tool),
        (server, wide(tool)),
    ]
    assert [it for it in near if it != (server, tool) and decide(rule, "allow", *it) != "ask"] == []


@settings(max_examples=150)
@given(server=RAW, tool=RAW, scheme=st.sampled_from(SCHEMES), other=st.tuples(RAW, RAW))
def test_an_allow_of_a_shown_name_never_reaches_a_tool_that_is_shown_otherwise(
    server: str, tool: str, scheme: Scheme, other: tuple[str, str]
) -> None:
    assume(other != (server, tool))
    shown = name_tools([(server, tool), other], scheme)
    assert decide(literal(shown[server, tool]), "allow", *other) == "ask"


def test_an_allow_of_a_tool_of_moorings_own_is_by_name_and_no_servers_tool_profits() -> None:
    assert spell_exactly(None, "ReadMcpResource") == "ReadMcpResource"
    assert decide("ReadMcpResource", "allow", "evil", "ReadMcpResource") == "ask"
    assert decide("create_issue", "allow", "github", "create_issue") == "ask"


def test_a_hundred_thousand_pairs_never_share_a_name() -> None:
    chance = random.Random(5)
    parts = ["a", "b", "A", "_", "__", "-", ".", "1", "é", "\u200b", "ａ", " ", "mcp", "___0123456789abcdef"]
    texts = {"".join(chance.choices(parts, k=chance.randint(1, 6))) for _ in range(1_000)}
    pairs = list(itertools.islice(itertools.product(texts, texts), 100_000))
    assert len(set(name_tools(pairs).values())) == len(pairs) == 100_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("github.get_*", Rule("github.get_*", "allow")),
        (" mcp__github__get_x ", Rule("mcp__github__get_x", "allow")),
        ("shell.run(git *)", Rule("shell.run", "allow", "git *")),
        ("shell.run(f(x))", Rule("shell.run", "allow", "f(x)")),
        ("*", Rule("*", "allow")),
    ],
)
def test_a_rule_can_be_typed(text: str, expected: Rule) -> None:
    assert parse_rule(text, "allow") == expected


@pytest.mark.parametrize(
    "text", ["", "  ", "()", "(x)", "a.b(", "a.b()", "github", "mcp_github_get", "x." + "y" * 2000]
)
def test_a_rule_that_would_allow_nothing_is_refused_when_it_is_typed(text: str) -> None:
    with pytest.raises(ConfigError, match=r"server\.tool"):
        parse_rule(text, "allow")


@pytest.mark.parametrize(
    ("rule", "server", "tool"),
    [
        ("mcp__my_server__*", "my-server", "run"),
        ("mcp__my-server__*", "my_server", "run"),
        ("my_server.run", "my-server", "run"),
        ("my-server/get-it", "my_server", "get_it"),
        ("mcp__x__get-[a-z]*", "x", "get_it"),
        ("mcp__github__*", "g\u0456thub", "run"),
        ("github.create_issue", "github", "cre\u0430te_issue"),
        ("mcp__github__*", "git\ufff9hub", "run"),
        ("mcp__github__*", "github\0", "run"),
        ("mcp__github__*", " github ", "run"),
        ("mcp__github__create_issue", "github", "create_issue "),
        ("mcp__github__create_issue", "github", "cre\0ate_issue"),
        ("mcp__g\u0456thub__*", "g\u0456thub", "run"),
    ],
)
def test_no_name_evades_a_deny_and_no_allow_follows_it(rule: str, server: str, tool: str) -> None:
    assert decide(rule, "deny", server, tool) == "deny"
    assert decide(rule, "allow", server, tool) == ("allow" if rule == f"mcp__{server}__*" else "ask")


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (("demo.add", "denied"), "its action has to be allow, deny or ask, not 'denied'"),
        (("demo.add", None), "its action has to be allow, deny or ask, not None"),
        (("", "deny"), "its tool has to be a text such as server.tool"),
        ((3, "deny"), "its tool has to be a text such as server.tool"),
        (("demo.add", "deny", None), "its pattern has to be a text, not None"),
        (("demo.[ad", "deny"), "a literal bracket is written [[]"),
        (("demo.[!]", "deny"), "a literal bracket is written [[]"),
        (("demo.[z-a]*", "deny"), "the range [z-a], which runs backward"),
        (("demo.add", "deny", "*secret[*"), "a literal bracket is written [[]"),
    ],
)
def test_what_is_not_understood_is_no_rule_when_a_program_makes_it_nor_later(rule: tuple[Any, ...], fault: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(fault)):
        Rule(*rule)
    fields = dict(zip(("tool", "action", "pattern"), rule, strict=False))
    with pytest.raises((ConfigError, ValidationError)):
        convert(fields, Rule)
    sound = Rule("demo.add", "deny")
    with pytest.raises(ConfigError, match=re.escape(fault)):
        replace(sound, **fields)
    # Even a rule that was changed behind its back is not skipped in silence.
    for field, value in fields.items():
        force_setattr(sound, field, value)
    with pytest.raises(ConfigError, match=re.escape(fault)):
        Policy([RuleLevel("session", (sound,))])
    with pytest.raises(ConfigError, match=re.escape(fault)):
        mooring.open(rules=[sound])


def test_a_rule_that_is_changed_after_it_came_into_force_stays_in_force_as_it_was() -> None:
    rule = Rule("demo.add", "deny")
    policy = Policy([RuleLevel("session", (rule,))])
    force_setattr(rule, "action", "denied")
    assert policy.decide(ProposedCall("demo", "add")).action == "deny"


def test_rules_of_an_unknown_level_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"The level of rules is one of managed, session, .*, not 'users'"):
        RuleLevel("users", ())  # type: ignore[arg-type]  # as a program without types would write it


@pytest.mark.parametrize("name", ["a[b", "a]b", "[x]", "a*b?c", "[", "[!", "x[]"])
def test_a_rule_about_one_tool_is_sound_whatever_the_tool_is_called(name: str) -> None:
    rule = Rule(spell_exactly(name, name), "deny", literal(name))
    assert Policy([RuleLevel("session", (Rule(rule.tool, "deny"),))]).decide(ProposedCall(name, name)).action == "deny"
