"""What may be called: the matrix of levels, actions, modes, hints and trust, as tables."""

import itertools
import time
import timeit

import pytest

from mooring.core.conversation.verdict import Action, Level, Mode, ProposedCall, Rule
from mooring.core.definitions.approved import AllowRule
from mooring.core.protocol.tool import Hints
from mooring.core.text.glob import Glob
from mooring.permissions.policy import LEVELS, Policy, RuleLevel
from mooring.settings import MODES
from support import is_within

READS = Hints(read_only_hint=True)


def rule(text: str) -> Rule:
    """`deny mcp__x__* rm *` as a rule."""
    action, tool, *pattern = text.split(" ", 2)
    return Rule(tool, action, *pattern)  # type: ignore[arg-type]  # a wrong one would match nothing here


def layer(level: Level, *rules: str) -> RuleLevel:
    return RuleLevel(level, tuple(map(rule, rules)))


def verdict(call: ProposedCall, *layers: RuleLevel, mode: Mode = "ask", trusted: tuple[str, ...] = ()) -> Action:
    return Policy(layers, mode, trusted).decide(call).action


CALL = ProposedCall("github", "create_issue")

# What a higher and a lower level say, and what comes of it; `None` is silence.
TWO: dict[tuple[Action | None, Action | None], Action | None] = {
    ("allow", "allow"): "allow", ("allow", "ask"): "allow", ("allow", "deny"): "deny", ("allow", None): "allow",
    ("ask", "allow"): "ask", ("ask", "ask"): "ask", ("ask", "deny"): "deny", ("ask", None): "ask",
    ("deny", "allow"): "deny", ("deny", "ask"): "deny", ("deny", "deny"): "deny", ("deny", None): "deny",
    (None, "allow"): "allow", (None, "ask"): "ask", (None, "deny"): "deny", (None, None): None,
}  # fmt: skip

# By mode, what becomes of what the rules say: for a tool that only reads of a trusted server, and for any other.
BY_MODE: dict[Mode, tuple[dict[Action | None, Action], dict[Action | None, Action]]] = {
    "plan": (
        {"allow": "allow", "ask": "ask", "deny": "deny", None: "allow"},
        {"allow": "deny", "ask": "deny", "deny": "deny", None: "deny"},
    ),
    "ask": (
        {"allow": "allow", "ask": "ask", "deny": "deny", None: "allow"},
        {"allow": "allow", "ask": "ask", "deny": "deny", None: "ask"},
    ),
    "edits": (
        {"allow": "allow", "ask": "ask", "deny": "deny", None: "allow"},
        {"allow": "allow", "ask": "ask", "deny": "deny", None: "ask"},
    ),
    "accept-reads": (
        {"allow": "allow", "ask": "ask", "deny": "deny", None: "allow"},
        {"allow": "allow", "ask": "ask", "deny": "deny", None: "ask"},
    ),
    "bypass": (
        {"allow": "allow", "ask": "allow", "deny": "deny", None: "allow"},
        {"allow": "allow", "ask": "allow", "deny": "deny", None: "allow"},
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("high", "low"), list(itertools.combinations(LEVELS, 2)))
def test_a_deny_beats_all_and_else_the_highest_level_decides(high: Level, low: Level, mode: Mode) -> None:
    for above, below in TWO:
        said = TWO[above, None if low == "project" and below == "allow" else below]  # a project cannot grant
        layers = [layer(level, f"{a} mcp__github__*") for level, a in ((high, above), (low, below)) if a]
        for hints, trust in itertools.product((None, Hints(), READS), ((), ("github",), ("GitHub", "other"))):
            reads = hints is READS and trust == ("github",)
            call = ProposedCall("github", "create_issue", {}, hints)
            expected = BY_MODE[mode][0 if reads else 1][said]
            if mode == "bypass" and (high, above, said) == ("managed", "ask", "ask"):
                expected = "ask"  # no mode silences what the machine's settings ask about
            assert verdict(call, *layers, mode=mode, trusted=trust) == expected, (above, below, hints, trust)


@pytest.mark.parametrize(
    ("rules", "action"),
    [
        (("allow mcp__github__create_issue", "deny mcp__github__*"), "allow"),
        (("deny mcp__github__*", "allow mcp__github__create_issue"), "deny"),
        (("ask mcp__github__create_*", "allow mcp__github__*"), "ask"),
        (("allow mcp__github__*", "ask mcp__*"), "allow"),
        (("allow mcp__gitlab__*",), "ask"),
        (("ask mcp__GitHub__Create_Issue", "allow mcp__github__*"), "ask"),
        (("ask mcp__GitHub__*", "deny mcp__github__*"), "deny"),
        (("ask mcp__github__*", "deny mcp__github__*"), "ask"),
    ],
)
def test_within_a_level_the_first_match_wins(rules: tuple[str, ...], action: Action) -> None:
    assert verdict(CALL, layer("user", *rules)) == action


@pytest.mark.parametrize(
    ("pattern", "arguments", "action"),
    [
        ("rm *", {"command": "rm -rf /"}, "deny"),
        ("rm *", {"command": "ls", "more": {"deep": [1, "RM -rf /"]}}, "deny"),
        ("command=rm *", {"command": "rm x"}, "deny"),
        ("command=rm *", {"options": {"command": "rm x"}}, "deny"),
        ("force=true", {"force": True}, "deny"),
        ("n=null", {"n": None}, "deny"),
        ("*drop table*", {"sql": "select 1; ＤＲＯＰ\u00a0TABLE x"}, "deny"),
        ("rm *", {"command": "ls"}, "ask"),
        ("rm *", {}, "ask"),
    ],
)
def test_a_pattern_denies_where_any_value_matches(pattern: str, arguments: dict[str, object], action: Action) -> None:
    assert verdict(ProposedCall("sh", "run", arguments), layer("user", f"deny mcp__sh__run {pattern}")) == action


@pytest.mark.parametrize(
    ("pattern", "arguments", "action"),
    [
        ("git *", {"command": "git status"}, "allow"),
        ("git *", {"command": "git status", "also": "git log"}, "allow"),
        ("git *", {"command": "git status", "shell": "/tmp/evil"}, "ask"),
        ("git *", {"command": "GIT status"}, "ask"),
        ("command=git *", {"command": "git status"}, "allow"),
        ("command=git *", {"command=git x": "rm"}, "ask"),
        ("options.command=git *", {"options": {"command": "git status"}}, "allow"),
        ("options.command=git *", {"options.command": "git status"}, "ask"),
        ("command=git *", {"options": {"command": "git status"}}, "ask"),
        ("git *", {}, "ask"),
        ("*", {}, "allow"),
        ("git *", {"command": "git x", "n": [[]]}, "ask"),
    ],
)
def test_a_pattern_allows_only_where_every_value_matches(
    pattern: str, arguments: dict[str, object], action: Action
) -> None:
    assert verdict(ProposedCall("sh", "run", arguments), layer("user", f"allow mcp__sh__run {pattern}")) == action


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": "a" * 1_000_000},
        {"x": "世" * 100_000},
        {"x": list(range(1_000))},
        {"x": 10**5_000},
        {"x" * 5_000: 1},
    ],
    ids=["long", "long and foreign", "many", "a number without end", "a long key"],
)
def test_what_is_too_much_to_look_through_is_denied_by_a_deny_and_not_allowed_by_an_allow(
    arguments: dict[str, object],
) -> None:
    assert verdict(ProposedCall("sh", "run", arguments), layer("user", "deny mcp__sh__run *rm*rf*")) == "deny"
    assert verdict(ProposedCall("sh", "run", arguments), layer("user", "allow mcp__sh__run *a*a*")) == "ask"


def test_the_ends_of_a_long_text_are_enough_for_a_pattern_that_looks_no_further() -> None:
    rules = layer("user", "deny mcp__fs__write /etc/*")
    assert verdict(ProposedCall("fs", "write", {"path": "/tmp/x", "content": "a" * 1_000_000}), rules) == "ask"
    assert verdict(ProposedCall("fs", "write", {"path": "/ETC/x", "content": "a" * 1_000_000}), rules) == "deny"
    assert verdict(ProposedCall("fs", "write", {"path": "/etc/" + "a" * 1_000_000}), rules) == "deny"


def test_mooring_own_tools_need_no_permission_unless_a_rule_speaks_of_them() -> None:
    own = ProposedCall(None, "ReadMcpResource", {"server": "x", "uri": "file:///x"})
    assert [verdict(own, mode=mode) for mode in MODES] == ["allow"] * len(MODES)
    assert verdict(own, layer("user", "deny readmcpresource")) == "deny"
    assert verdict(own, layer("user", "ask *")) == "ask"
    assert verdict(own, layer("user", "deny mcp__*")) == "allow"
    assert verdict(own, layer("user", "deny ReadMcpResource uri=file:*")) == "deny"


@pytest.mark.parametrize(
    ("rules", "action"),
    [
        ((), "ask"),
        (("allow mcp__x__get",), "allow"),
        (("deny mcp__x__get",), "deny"),
        (("allow mcp__x__get", "deny SubscribePolling"), "deny"),
        (("allow SubscribePolling",), "ask"),
    ],
)
def test_polling_a_tool_passes_that_tools_gate(rules: tuple[str, ...], action: Action) -> None:
    call = ProposedCall(None, "SubscribePolling", target=ProposedCall("x", "get"))
    assert verdict(call, layer("user", *rules)) == action


def test_a_tool_that_says_it_destroys_does_not_only_read() -> None:
    call = ProposedCall("x", "t", {}, Hints(read_only_hint=True, destructive_hint=True))
    assert verdict(call, mode="accept-reads", trusted=("x",)) == "ask"
    assert verdict(call, mode="plan", trusted=("x",)) == "deny"


def test_a_hint_that_changes_changes_the_verdict() -> None:
    policy = Policy((), "accept-reads", ("x",))
    assert policy.decide(ProposedCall("x", "t", {}, READS)).action == "allow"
    assert policy.decide(ProposedCall("x", "t")).action == "ask"
    assert policy.decide(ProposedCall("x", "t", {}, READS)).action == "allow"


@pytest.mark.parametrize("mode", MODES)
def test_rules_that_cannot_be_read_let_nothing_through_unasked_but_what_this_session_allowed(mode: Mode) -> None:
    policy = Policy([layer("user", "allow mcp__github__*")], mode, ("github",), ("settings.json",))
    call = ProposedCall("github", "get", {}, READS)
    assert policy.decide(call).action == "ask"
    assert "settings.json" in policy.decide(call).why
    assert policy.with_rule("session", rule("allow mcp__github__get")).decide(call).action == "allow"
    assert policy.with_rule("session", rule("deny mcp__github__get")).decide(call).action == "deny"


def test_a_verdict_names_the_rule_and_whose_it_is() -> None:
    found = Policy([layer("managed", "deny mcp__github__* title=*")]).decide(
        ProposedCall("github", "new", {"title": "x"})
    )
    assert (found.level, found.rule) == ("managed", Rule("mcp__github__*", "deny", "title=*"))
    assert found.why == "the machine's settings say: deny mcp__github__* with title=*"


def test_what_a_project_allows_is_ignored_with_a_problem() -> None:
    policy = Policy([RuleLevel("project", (rule("allow mcp__x__*"),), "p/settings.json")])
    assert policy.decide(ProposedCall("x", "t")).action == "ask"
    assert [(problem.path, "cannot allow" in problem.message) for problem in policy.problems] == [
        ("p/settings.json", True)
    ]


def test_an_allow_that_does_not_say_where_the_server_ends_is_ignored_with_a_problem() -> None:
    policy = Policy([layer("user", "allow mcp_my_server_get", "allow mcp__*_read", "allow mcp__ok__*")])
    assert {
        policy.decide(ProposedCall("my", "server_get")).action,
        policy.decide(ProposedCall("my_server", "get")).action,
    } == {"ask"}
    assert policy.decide(ProposedCall("x_read", "write")).action == "ask"
    assert [problem.message.split()[4] for problem in policy.problems] == ["mcp_my_server_get", "mcp__*_read"]


LARGE: dict[str, dict[str, object]] = {
    "one text": {"x": "a" * 1_000_000},
    "as much as is searched": {"x": "a" * 64 * 1024},
    "many texts": {f"k{n}": "a" * 256 for n in range(256)},
    "other letters": {"x": "aé" * 8_000},
    "many keys": {f"k{n}": "a" for n in range(100_000)},
    "a long list": {"x": ["a"] * 100_000},
}


@pytest.mark.parametrize("what", LARGE)
@pytest.mark.parametrize(
    "pattern", ["*" + "a" * 25 + "b" + "a" * 25 + "*", "*a" * 300 + "b", "*" + "a?" * 300, "*[!a]*"]
)
@pytest.mark.parametrize("action", ["allow", "deny"])
def test_no_pattern_and_no_arguments_make_a_verdict_slow(what: str, pattern: str, action: str) -> None:
    policy = Policy([layer("user", f"{action} mcp__x__* {pattern}")])
    call = ProposedCall("x", "t", LARGE[what])
    assert min(timeit.repeat(lambda: policy.decide(call), timer=time.thread_time, number=1, repeat=4)) < 0.010


def test_the_verdict_about_a_tool_is_remembered_and_no_arguments_are_looked_at() -> None:
    policy = Policy([layer("user", "deny mcp__y__* secret*", "allow mcp__x__*")])
    assert policy.decide(ProposedCall("x", "t")) is policy.decide(ProposedCall("x", "t", {"a": object()}))


@pytest.mark.parametrize(
    ("pattern", "arguments"),
    [
        ("port=22", {"port": 22.0}),
        ("port=22", {"port": " 22\t"}),
        ("port=22", {"port": "2.2e1"}),
        ("port=22", {"port": "+22"}),
        ("port=22", {"port": "022"}),
        ("port=22", {"port": "0x16"}),
        ("port=22", {"port": "\uff12\uff12"}),
        ("port=22", {"port": "\u0662\u0662"}),
        ("port=22.0", {"port": 22}),
        ("port=22", {"options": {"Port ": 22.0}}),
        ("amount=0.5", {"amount": ".50"}),
        ("*rm -rf*", {"argv": ["rm", "-rf", "/"]}),
        ("*rm -rf*", {"argv": ("rm", "-rf")}),
        ("argv=rm -rf /", {"argv": ["rm", "-rf", "/"]}),
        ("*sleep 5*", {"deep": [{"argv": ["sleep", 5]}]}),
        ("*rm -rf*", {"args": ["-rf", "/"], "command": "rm"}),
        ("*rm -rf*", {"Cmd": "rm", "Argv": "-rf"}),
        ("*rm -rf*", {"command": "rm  -rf"}),
        ("*rm -rf*", {"command": "rm\t\n-rf"}),
        ("*rm -rf*", {"command": "rm\u2003-rf"}),
        ("rm", {"command": "rm "}),
        ("rm", {"command": "\nrm\0"}),
        ("command=rm", {"command": "rm\u3000"}),
        *(("rm", {"command": f"r{odd}m"}) for odd in (
            "\0", "\x1b", "\x7f", "\x9b", "\u00ad", "\u034f", "\u061c", "\u180e", "\u200b", "\u200d", "\u202e", "\u2060",
            "\u2066", "\u3164", "\ufe0f", "\ufeff", "\ufff9", "\ufffa", "\ufffb", "\U000e0001", "\U000e0072",
            "\U000e0100", "\U0001d173", "\ud800",
        )),
    ],
)  # fmt: skip
def test_no_way_to_write_an_argument_evades_a_deny(pattern: str, arguments: dict[str, object]) -> None:
    call = ProposedCall("sh", "run", arguments)
    assert verdict(call, layer("user", f"deny mcp__sh__run {pattern}"), mode="bypass") == "deny"
    assert verdict(call, layer("user", f"allow mcp__sh__run {pattern}")) == "ask"


@pytest.mark.parametrize(
    ("pattern", "arguments"),
    [
        ("port=22", {"port": 2222}),
        ("port=22", {"port": "22.5"}),
        ("port=22", {"port": "022x"}),
        ("*rm -rf*", {"argv": ["rmdir", "x", "-rf"]}),
        ("rm", {"command": "rm x"}),
        ("n=1", {"n": "inf"}),
    ],
)
def test_a_deny_leaves_other_arguments_alone(pattern: str, arguments: dict[str, object]) -> None:
    call = ProposedCall("sh", "run", arguments)
    assert verdict(call, layer("user", f"deny mcp__sh__run {pattern}"), mode="bypass") == "allow"


# What each level grants to a server that came with the project.
COVERS_FOREIGN: dict[Level, bool] = {"managed": True, "session": True, "local": True, "user": False, "project": False}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rule", ["mcp__github__*", "mcp__*", "*", "github.create_issue"])
def test_what_settings_grant_to_a_name_is_not_for_a_projects_server(level: Level, rule: str) -> None:
    own = Policy([layer(level, f"allow {rule}")])
    foreign = Policy([layer(level, f"allow {rule}")], foreign={"github": frozenset()})
    assert own.decide(CALL).action == ("ask" if level == "project" else "allow")
    assert foreign.decide(CALL).action == ("allow" if COVERS_FOREIGN[level] else "ask")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("action", ["deny", "ask"])
def test_a_deny_and_an_ask_are_for_every_server(level: Level, action: Action) -> None:
    policy = Policy([layer(level, f"{action} mcp__github__*")], foreign={"github": frozenset()})
    assert policy.decide(CALL).action == action


def test_the_reason_says_that_an_allow_is_for_ones_own_servers() -> None:
    policy = Policy([layer("user", "allow mcp__github__* title=*")], foreign={"github": frozenset()})
    found = policy.decide(ProposedCall("github", "create_issue", {"title": "x"}))
    assert found.why == (
        "no rule matches it; your rule to allow mcp__github__* with title=* is for your own servers, "
        "and github comes from this project; approve it again to apply the rule"
    )
    assert policy.decide(CALL).why == "no rule matches it"


def apply(*rules: str) -> dict[str, frozenset[AllowRule]]:
    """The project's server github, with these rules applied to it: a tool, and behind a blank a pattern."""
    pairs = [rule.partition(" ") for rule in rules]
    return {"github": frozenset(AllowRule(tool, pattern) for tool, _, pattern in pairs)}


@pytest.mark.parametrize("rule", ["mcp__github__*", "mcp__*", "*", "github.create_issue"])
def test_a_rule_that_the_person_applied_to_a_projects_server_allows_its_tools_and_the_reason_says_so(rule: str) -> None:
    found = Policy([layer("user", f"allow {rule}")], foreign=apply(rule)).decide(CALL)
    assert (found.action, found.level) == ("allow", "user")
    assert found.why == f"your settings say: allow {rule}; you applied it to github when you approved that"
    own = Policy([layer("user", f"allow {rule}")]).decide(CALL)
    assert own.why == f"your settings say: allow {rule}"


@pytest.mark.parametrize("rule", ["mcp__github__*", "github.* title=*", "github.*x", "GITHUB.*", "github/*", "*"])
def test_a_rule_that_was_not_named_is_withheld_however_alike_it_is(rule: str) -> None:
    call = ProposedCall("github", "create_issue", {"title": "x"})
    assert Policy([layer("user", f"allow {rule}")], foreign=apply("github.*")).decide(call).action == "ask"
    assert Policy([layer("user", f"allow {rule}", "allow github.*")], foreign=apply("github.*")).decide(call).rule == (
        Rule("github.*", "allow")
    )


def test_an_applied_rule_is_for_the_server_that_it_was_applied_to() -> None:
    rules = [layer("user", "allow *")]
    policy = Policy(rules, foreign={**apply("*"), "other": frozenset()})
    assert policy.decide(CALL).action == "allow"
    assert policy.decide(ProposedCall("other", "create_issue")).action == "ask"


@pytest.mark.parametrize("level", [level for level in LEVELS if level != "user"])
def test_a_rule_of_another_level_is_not_applied_with_the_persons_of_the_same_text(level: Level) -> None:
    policy = Policy([layer(level, "allow github.*")], foreign=apply("github.*"))
    assert policy.decide(CALL).action == ("allow" if COVERS_FOREIGN[level] else "ask")
    assert "applied" not in policy.decide(CALL).why


@pytest.mark.parametrize("level", LEVELS)
def test_a_deny_of_any_level_holds_over_an_applied_rule(level: Level) -> None:
    denies = ["deny mcp__github__*", *(["allow github.*"] if level == "user" else [])]
    layers = [layer(level, *denies), *([] if level == "user" else [layer("user", "allow github.*")])]
    assert Policy(layers, foreign=apply("github.*")).decide(CALL).action == "deny"


def test_an_applied_rule_holds_no_further_than_for_ones_own_server() -> None:
    rules = [layer("user", "allow github.* title=x")]
    policy = Policy(rules, foreign=apply("github.* title=x"))
    assert policy.decide(ProposedCall("github", "create_issue", {"title": "x"})).action == "allow"
    assert policy.decide(ProposedCall("github", "create_issue", {"title": "x", "body": "y"})).action == "ask"
    assert Policy(rules, "plan", foreign=apply("github.* title=x")).decide(CALL).action == "deny"
    assert Policy(rules, doubts=["settings.json"], foreign=apply("github.*")).decide(CALL).action == "ask"


def test_a_withheld_allow_shields_from_nothing() -> None:
    rules = layer("user", "allow mcp__github__create_issue", "deny mcp__github__*")
    assert Policy([rules]).decide(CALL).action == "allow"
    assert Policy([rules], foreign={"github": frozenset()}).decide(CALL).action == "deny"


@pytest.mark.parametrize(
    ("level", "action"), [("managed", "ask"), ("session", "allow"), ("user", "allow"), ("project", "allow")]
)
def test_only_the_machine_asks_where_permissions_are_bypassed(level: Level, action: Action) -> None:
    assert verdict(CALL, layer(level, "ask mcp__github__*"), mode="bypass") == action


def test_many_patterns_and_long_arguments_are_too_much_together() -> None:
    rules = [f"deny mcp__x__* *{number}q?{number}*" for number in range(2_000)]
    policy = Policy([layer("user", *rules)], "bypass")
    assert policy.decide(ProposedCall("x", "t", {"text": "z" * 60_000})).action == "deny"
    assert policy.decide(ProposedCall("x", "t", {"text": "z" * 1_500})).action == "allow"


RULE_FILES: dict[str, list[str]] = {
    "denies": [f"deny mcp__server{number}__tool_{number}" for number in range(2_000)],
    "patterns": [f"deny mcp__x__* *{number}*rf?x{number}*" for number in range(2_000)],
    "long globs": [f"deny mcp__*{number}{'a?' * 60} *{number}{'a?' * 60}" for number in range(1_000)],
    "classes": [f"deny *{number}{'[a-z]*' * 20} {number}{'[a-z]*' * 20}" for number in range(1_000)],
    "other letters": [f"deny mcp__\uff58{'é' * 60}{number} {'é' * 60}{number}" for number in range(2_000)],
}


@pytest.mark.parametrize("what", RULE_FILES)
def test_the_most_rules_there_can_be_cost_little_and_only_once(what: str) -> None:
    layers = [layer("user", *RULE_FILES[what])]
    calls = [ProposedCall("x", f"t{number}", {"a": "rm -rf " * 10}) for number in range(3)]
    began = time.thread_time()
    policy = Policy(layers, "bypass")
    policy.decide(calls[0])
    first = time.thread_time() - began
    assert first < 1.5
    again = min(timeit.repeat(lambda: policy.decide(calls[0]), timer=time.thread_time, number=1, repeat=5))
    assert again < 0.02
    # A session's answer compiles nothing again.
    answered = lambda: policy.with_rule("session", rule("allow mcp__x__t1")).decide(calls[1])  # noqa: E731
    assert min(timeit.repeat(answered, timer=time.thread_time, number=1, repeat=5)) < max(first, 0.02)


def test_no_glob_takes_longer_than_a_millisecond_to_match() -> None:
    texts = ["a" * 65_536, "ab" * 32_768, "a" * 32_768 + "b" * 32_768, "é" * 16_384]
    globs = ["*" + "a" * 25 + "b" + "a" * 25 + "*", "*a" * 300 + "b", "*" + "a?" * 300, "*[!a]*", "*a?b*", "?" * 900 + "*",
             "*" + "a" * 900 + "b*", "*" + "ab" * 400 + "a*", "*" + "[ab]" * 3 + "*"]  # fmt: skip
    for text, written in itertools.product(texts, globs):
        glob = Glob(written)
        glob.matches("a" * 2_000)  # compiled with the rules, once
        took = min(timeit.repeat(lambda: glob.matches(text), timer=time.thread_time, number=1, repeat=7))  # noqa: B023
        assert is_within(took, 0.001), (written[:20], text[:3])
