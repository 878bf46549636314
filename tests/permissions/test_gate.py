"""The gate: what is asked, how often, what the answers do, and what whoever was refused gets to read."""

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from mooring.core.conversation.question import Allow, Answer, No, Permission, Question, Yes
from mooring.core.conversation.verdict import ProposedCall, Rule, Verdict
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.tool import Hints
from mooring.errors import ConfigError, Denied
from mooring.permissions.gate import Gate, answer_saver
from mooring.permissions.policy import Policy, RuleLevel
from mooring.permissions.rules import load_policy, save_trust
from mooring.settings import load
from support import Home

CALL = ProposedCall("github", "create_issue", {"title": "x"})


class Person:
    """Answers in turn, the last answer again and again; remembers what was asked."""

    def __init__(self, *answers: Answer, hold: bool = False) -> None:
        self.answers = list(answers)
        self.asked: list[Permission] = []
        self._heard = asyncio.Condition()
        self.go = asyncio.Event()
        if not hold:
            self.go.set()

    async def __call__(self, question: Question) -> Answer:
        assert isinstance(question, Permission)
        async with self._heard:
            self.asked.append(question)
            self._heard.notify_all()
        await self.go.wait()
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    async def hears(self, count: int) -> None:
        """Wait until so many questions were asked."""
        async with self._heard:
            await self._heard.wait_for(lambda: len(self.asked) >= count)


class Log:
    def __init__(self) -> None:
        self.lines: list[tuple[str, str, str]] = []

    def add(self, call: ProposedCall, verdict: Verdict, outcome: str, seconds: float) -> None:
        self.lines.append((call.tool, verdict.action, outcome))


def ruled(*rules: Rule, level: Any = "user") -> Policy:
    return Policy([RuleLevel(level, rules)])


async def outcome(gate: Gate, call: ProposedCall = CALL) -> str:
    try:
        return (await gate.authorize(call)).action
    except Denied as error:
        return str(error)


async def refusal(gate: Gate, call: ProposedCall = CALL) -> tuple[str, str]:
    """What a person reads of a call that is refused, and what a model reads."""
    with pytest.raises(Denied) as caught:
        await gate.authorize(call)
    return str(caught.value), caught.value.for_model


async def test_an_allowed_call_passes_at_once_and_a_denied_one_never() -> None:
    person = Person(Yes())
    gate = Gate(ruled(Rule("github.get_*", "allow"), Rule("github.delete_*", "deny")), person)
    assert await outcome(gate, ProposedCall("github", "get_x")) == "allow"
    assert await refusal(gate, ProposedCall("github", "delete_x")) == (
        "github.delete_x was not called: denied by your settings (deny github.delete_*).",
        "github.delete_x was not called: your settings say: deny github.delete_*. "
        "Trying again will not help; only the person can change that rule.",
    )
    assert person.asked == []


async def test_a_question_says_what_why_whence_and_which_rule_would_silence_it() -> None:
    person = Person(Yes())
    hints = Hints(destructive_hint=True)
    await Gate(Policy(), person).authorize(ProposedCall("github", "create_issue", {"title": "x"}, hints, ".mcp.json"))
    assert person.asked == [
        Permission(
            "github", "create_issue", {"title": "x"}, "no rule matches it",
            '{"tool": "mcp__github__create_issue", "action": "allow"}', ".mcp.json", hints, ("once", "session"),
        )
    ]  # fmt: skip


async def test_once_is_once_and_a_session_lasts_for_that_very_tool() -> None:
    person = Person(Allow(), Yes(), Allow("session"))
    gate = Gate(Policy(), person)
    for _ in range(5):
        assert await outcome(gate) == "allow"
    assert len(person.asked) == 3
    await gate.authorize(ProposedCall("github", "other"))
    assert len(person.asked) == 4


async def test_a_rule_typed_for_a_session_is_named_as_it_was_typed() -> None:
    rule = Rule("github.create_*", "deny", "*secret*")
    gate = Gate(Policy([RuleLevel("session", (rule,))]))
    person, model = await refusal(gate, ProposedCall("github", "create_issue", {"title": "a secret"}))
    denial = "denied by a rule for this session (deny github.create_* with *secret*)"
    assert person == f"github.create_issue was not called: {denial}."
    assert "a rule for this session: deny github.create_* with *secret*. Trying again will not help" in model


async def test_the_model_reads_the_persons_reason_and_the_person_that_nothing_was_called() -> None:
    assert await refusal(Gate(Policy(), Person(No("use the other repository")))) == (
        "Not called: use the other repository",
        "github.create_issue was not called; the answer was no: use the other repository",
    )
    assert (await refusal(Gate(Policy(), Person(No()))))[0] == "Not called."


async def test_without_anybody_to_ask_the_rule_to_add_is_named() -> None:
    assert await outcome(Gate(Policy())) == (
        "github.create_issue was not called: no rule matches it, and there is nobody to ask. To allow it: "
        "mooring allow github.create_issue"
    )


async def test_without_anybody_to_ask_no_rule_is_named_that_would_not_help() -> None:
    doubtful = await outcome(Gate(Policy((), "bypass", (), ("settings.json",))))
    managed = await outcome(Gate(ruled(Rule("*", "ask"), level="managed")))
    assert doubtful.endswith(
        "rules in settings.json cannot be read, and could deny it, and there is nobody to ask. "
        "Fix that file first; `mooring mcp doctor` says what is wrong with it."
    )
    assert managed.endswith("The machine's settings require a person to answer.")


async def test_questions_about_the_same_tool_are_asked_one_at_a_time_and_a_session_settles_the_rest() -> None:
    person = Person(Allow("session"), hold=True)
    gate = Gate(Policy(), person)
    waiting = [asyncio.create_task(outcome(gate, ProposedCall("github", "t", {"n": n}))) for n in range(20)]
    other = asyncio.create_task(outcome(gate, ProposedCall("github", "u")))
    await person.hears(2)
    assert [question.tool for question in person.asked] == ["t", "u"]
    person.go.set()
    assert await asyncio.gather(*waiting, other) == ["allow"] * 21
    assert len(person.asked) == 2


async def test_a_no_to_a_call_holds_for_the_same_call_that_waited_and_a_yes_does_not() -> None:
    person = Person(No("stop"), Allow(), hold=True)
    gate = Gate(Policy(), person)
    same = [asyncio.create_task(outcome(gate)) for _ in range(3)]
    others = [
        asyncio.create_task(outcome(gate, ProposedCall("github", "create_issue", {"title": n}))) for n in range(2)
    ]
    await asyncio.sleep(0)
    person.go.set()
    assert ["stop" in words for words in await asyncio.gather(*same)] == [True] * 3
    assert await asyncio.gather(*others) == ["allow"] * 2
    assert len(person.asked) == 3
    assert await outcome(gate) == "allow"


async def test_a_call_that_is_cancelled_while_it_asks_leaves_the_others_their_turn() -> None:
    person = Person(Allow(), hold=True)
    gate = Gate(Policy(), person)
    first, second = (asyncio.create_task(outcome(gate)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    person.go.set()
    assert await second == "allow"
    assert first.cancelled()


async def test_polling_a_tool_asks_about_that_tool_even_where_polling_itself_was_just_allowed() -> None:
    person = Person(Allow())
    gate = Gate(ruled(Rule("SubscribePolling", "ask")), person)
    await gate.authorize(ProposedCall(None, "SubscribePolling", target=CALL))
    assert [question.tool for question in person.asked] == ["SubscribePolling", "create_issue"]
    gate = Gate(ruled(Rule("github.*", "deny")), person)
    assert "deny github.*" in await outcome(gate, ProposedCall(None, "SubscribePolling", target=CALL))


async def test_always_is_kept_and_holds_for_the_next_gate(home: Home) -> None:
    for place, path in (
        ("user", ".config/mooring/settings.json"),
        ("project-local", ".local/state/mooring/rules.json"),
    ):
        person = Person(Allow("always", place))  # type: ignore[arg-type]  # both are places
        gate = Gate(Policy(), person, save_answer=answer_saver(home.where, str(home.project)))
        call = ProposedCall("github", f"for_{place}")
        assert (await outcome(gate, call), await outcome(gate, call), len(person.asked)) == ("allow", "allow", 1)
        assert person.asked[0].scopes == ("once", "session", "always")
        assert f"for_{place}" in (home.home / path).read_text()
        settings = load(home.where, str(home.project))
        assert load_policy(settings, home.where, str(home.project)).decide(call).action == "allow"


READ = ProposedCall("github", "get_issue", {}, Hints(read_only_hint=True))


async def test_one_answer_trusts_a_server_for_all_that_it_says_only_reads(home: Home) -> None:
    person = Person(Allow("reads"))
    gate = Gate(
        Policy(), person, save_answer=answer_saver(home.where, None), save_trust=partial(save_trust, home.where)
    )
    assert await outcome(gate, READ) == "allow"
    assert await outcome(gate, replace(READ, tool="list_issues")) == "allow"
    assert [question.scopes for question in person.asked] == [("once", "session", "reads", "always")]
    # The next policy, as after a change of the settings, and one that is made of what was saved.
    gate.use(Policy())
    assert gate.policy.decide(READ).why == "github, which you trust, marks it as read-only"
    saved = load_policy(load(home.where, None), home.where, None)
    assert (saved.decide(READ).action, saved.decide(replace(READ, server="other")).action) == ("allow", "ask")
    # Nothing that writes, or that a rule is about.
    assert await outcome(gate) == "allow"
    assert person.asked[-1].scopes == ("once", "session", "always")
    gate.use(ruled(Rule("github.get_*", "ask")))
    await gate.authorize(READ)
    assert len(person.asked) == 3


async def test_an_answer_that_trusts_a_server_settles_what_else_is_asked_about_it() -> None:
    person = Person(Allow("reads"), hold=True)
    gate = Gate(Policy(), person, save_answer=lambda *_: None, save_trust=lambda _: None)
    other = gate.share(person)
    calls = READ, replace(READ, tool="list_issues"), CALL, replace(READ, server="other")
    outcomes = [asyncio.create_task(outcome(each, call)) for call in calls for each in (gate, other)]
    await person.hears(len(calls))  # one of each tool: the second one waits for its answer
    person.go.set()
    assert await asyncio.gather(*outcomes) == ["allow"] * 8
    # The other gate's write and the other server's second read are asked about, and none of the trusted reads.
    assert [question.tool for question in person.asked[4:]] == ["create_issue"]


@pytest.mark.parametrize(
    ("policy", "call"),
    [
        (Policy(), replace(READ, hints=None)),
        (Policy(), replace(READ, hints=Hints(read_only_hint=True, destructive_hint=True))),
        (Policy(foreign={"github": ()}), READ),
        (ruled(Rule("github.*", "ask")), READ),
        (ruled(Rule("github.*", "ask"), level="managed"), READ),
        (Policy(doubts=["settings.json"], trusted=["github"]), READ),
    ],
)
async def test_an_answer_trusts_no_server_where_that_is_not_offered(policy: Policy, call: ProposedCall) -> None:
    person = Person(Allow("reads"))
    trusted: list[str] = []
    gate = Gate(policy, person, save_answer=lambda *_: None, save_trust=trusted.append)
    for _ in range(2):
        assert await outcome(gate, call) == "allow"
    assert len(person.asked) == 2
    assert "reads" not in person.asked[0].scopes
    assert trusted == []


async def test_a_server_that_the_machine_does_not_trust_is_trusted_for_the_session_alone(home: Home) -> None:
    home.write("system/etc/mooring/settings.json", {"trustedServers": []})
    problems: list[Problem] = []
    person = Person(Allow("reads"))
    save = partial(save_trust, home.where)
    gate = Gate(Policy(), person, save_answer=lambda *_: None, save_trust=save, on_problem=problems.append)
    assert [await outcome(gate, READ), await outcome(gate, READ)] == ["allow", "allow"]
    assert "says which servers are trusted" in problems[0].message
    assert not (home.home / ".config/mooring/settings.json").exists()


async def test_an_answer_that_cannot_be_kept_holds_for_the_session_and_is_told(home: Home) -> None:
    def full(server: str | None, tool: str, place: str, pattern: str = "") -> None:
        raise ConfigError("the disk is full")

    problems: list[Problem] = []
    person = Person(Allow("always"))
    gate = Gate(Policy(), person, save_answer=full, on_problem=problems.append)
    assert [await outcome(gate), await outcome(gate)] == ["allow", "allow"]
    assert (len(person.asked), [problem.message for problem in problems]) == (1, ["the disk is full"])


@pytest.mark.parametrize(
    ("make", "scopes"),
    [
        (lambda: ruled(Rule("*", "ask"), level="managed"), ("once",)),
        (lambda: ruled(Rule("*", "ask"), level="project"), ("once", "session", "always")),
        (lambda: Policy((), "bypass", (), ("settings.json",)), ("once", "session")),
        (lambda: Policy([RuleLevel("managed", (Rule("*", "allow"),))], doubts=["settings.json"]), ("once", "session")),
    ],
)
async def test_an_answer_reaches_no_further_than_what_asks_allows(make: Callable[[], Policy], scopes: Any) -> None:
    person = Person(Allow("always"))
    kept: list[str] = []
    gate = Gate(make(), person, save_answer=lambda server, tool, place, pattern="": kept.append(tool))
    assert [await outcome(gate), await outcome(gate)] == ["allow", "allow"]
    assert person.asked[0].scopes == scopes
    assert (len(person.asked), len(kept)) == (1 if len(scopes) > 1 else 2, 1 if "always" in scopes else 0)


async def test_answers_outlive_a_change_of_the_settings_but_not_a_new_deny() -> None:
    gate = Gate(Policy(), Person(Allow("session")))
    await gate.authorize(CALL)
    gate.use(ruled(Rule("*", "ask")))
    assert gate.policy.decide(CALL).action == "allow"
    gate.use(ruled(Rule("github.*", "deny")))
    assert gate.policy.decide(CALL).action == "deny"


async def test_every_refusal_is_logged() -> None:
    log = Log()
    await outcome(Gate(ruled(Rule("*", "deny")), audit=log))
    await outcome(Gate(Policy(), audit=log))
    await outcome(Gate(Policy(), Person(No()), audit=log))
    await outcome(Gate(ruled(Rule("*", "allow")), audit=log))
    assert log.lines == [("create_issue", action, "denied") for action in ("deny", "ask", "ask")]


async def test_whatever_a_server_calls_itself_its_answer_is_remembered_for_it_alone() -> None:
    person = Person(Allow("session"))
    gate = Gate(Policy(), person)
    odd = [("a__b", "*"), ("a", "b__*"), ("*", "*"), ("a_", "[x]"), ("", ""), ("é", "\u200b"), ("mcp", "mcp__x")]
    for server, tool in odd:
        await gate.authorize(ProposedCall(server, tool))
        await gate.authorize(ProposedCall(server, tool))
    assert [(question.server, question.tool) for question in person.asked] == odd
    assert all(json.loads(question.rule)["action"] == "allow" for question in person.asked)


async def test_an_answer_for_the_session_never_undoes_what_the_session_denies() -> None:
    denied = Rule("github.create_issue", "deny", "*secret*")
    gate = Gate(Policy([RuleLevel("session", (denied,))]), Person(Allow("session")))
    assert await outcome(gate) == "allow"
    assert "secret" in await outcome(gate, ProposedCall("github", "create_issue", {"title": "a secret"}))
    assert await outcome(gate) == "allow"
