"""A turn ends when it should: after enough requests, tokens or money, or when the model repeats itself or is cut off."""

import json
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.models import Call, Fail, FakeModel, ModelRequest, Say, Stop, Think, Usage

import mooring
from agent.doors import PROVIDERS, ask_command, follow, open_host, pick, program
from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.core.conversation.event import (
    TokensUsed,
    ToolFinished,
    ToolStarted,
    TurnDone,
)
from support import DEMO, Home

SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schema"
SETTINGS = "home/.config/mooring/settings.json"
WORKER = mooring.AgentDefinition(name="worker", description="Does anything.", prompt="You are the worker.")
READY = "\n> "
CTRL_C = "\x03"
SAME = Call("Glob", {"pattern": "*.same"})
at_terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal")


def search_for_ever(*more: Any) -> Callable[[ModelRequest], list[Any]]:
    """A model that looks for another file in every reply, and never finishes."""
    numbers = count()
    return lambda request: [Say("Looking. "), Call("Glob", {"pattern": f"*.{next(numbers)}"}), *more]


def repeat_for_ever(request: ModelRequest) -> Call:
    return SAME


def validate(name: str, data: Any) -> None:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    Draft202012Validator(schema).validate(data)


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.processes
def test_a_model_that_calls_for_ever_is_asked_a_hundred_times_and_the_command_ends_with_1(home: Home) -> None:
    with FakeModel(search_for_ever()) as fake:
        done = ask_command(home, fake, "-p", "Search", "--output-format", "json")
        assert len(fake.requests) == 100
    assert done.code == 1, done.err
    data = json.loads(done.out)
    validate("headless", data)
    assert (data["reason"], data["isError"], data["turns"]) == ("max-turns", True, 100)
    assert data["error"] == "The model was asked 100 times, the most in one turn (--max-turns), and had not finished."
    assert f"mooring: {data['error']}" in done.err


@pytest.mark.processes
def test_the_fifth_identical_call_in_a_row_ends_a_turn_in_which_no_one_can_be_asked(home: Home) -> None:
    with FakeModel(repeat_for_ever) as fake:
        done = ask_command(home, fake, "-p", "Search", "--output-format", "stream-json", real=True)
        assert len(fake.requests) == 5
    events = [json.loads(line) for line in done.out.splitlines()]
    for event in events:
        validate("turn-event", event)
    assert (done.code, events[-1]["type"], events[-1]["reason"]) == (1, "Done", "repeated")
    assert [event["type"] for event in events].count("ToolStarted") == 4


@pytest.mark.processes
def test_tokens_and_money_have_limits_by_option_and_by_setting_and_the_running_total_is_told(home: Home) -> None:
    with FakeModel(search_for_ever(Usage(input=1000, output=100))) as fake:
        done = ask_command(home, fake, "-p", "Go", "--output-format", "stream-json", "--token-budget", "2500")
        events = [json.loads(line) for line in done.out.splitlines()]
        used = [event for event in events if event["type"] == "Usage"]
        one = used[0]["turnCost"]
        assert one > 0
        home.write(SETTINGS, {"maxCost": 1.5 * one, "maxTurns": 50})
        by_setting = ask_command(home, fake, "-p", "Go", "--output-format", "json")
        by_option = ask_command(home, fake, "-p", "Go", "--output-format", "json", "--max-cost", str(3.5 * one))
    assert (done.code, events[-1]["reason"]) == (1, "token-budget")
    assert [event["turnUsage"]["inputTokens"] for event in used] == [1000, 2000, 3000]
    assert [event["turnCost"] for event in used] == pytest.approx([one, 2 * one, 3 * one])
    for ended, replies in ((by_setting, 2), (by_option, 4)):
        data = json.loads(ended.out)
        validate("headless", data)
        assert (ended.code, data["reason"], data["turns"]) == (1, "max-cost", replies)
        assert data["cost"] == pytest.approx(replies * one)


@pytest.mark.processes
def test_a_cost_that_nobody_knows_is_no_limit_the_option_is_refused_and_the_setting_has_no_effect(home: Home) -> None:
    with FakeModel([Say("Hello.")]) as fake:
        refused = ask_command(home, fake, "-p", "Hi", "--max-cost", "1", word="ollama")
        assert fake.requests == []
        home.write(SETTINGS, {"maxCost": 1})
        done = ask_command(home, fake, "-p", "Hi", word="ollama")
    assert (refused.code, refused.out) == (2, "")
    assert "The price of ollama:qwen3:4b is unknown, so its cost cannot be limited." in refused.err
    assert (done.code, done.out) == (0, "Hello.\n")
    assert "`maxCost` has no effect: the price of ollama:qwen3:4b is unknown" in done.err


# --- a reply that was cut off -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [*PROVIDERS, "openrouter", "ollama"])
async def test_a_reply_that_was_cut_off_says_so_its_calls_are_not_made_and_the_conversation_goes_on(
    word: str, home: Home
) -> None:
    cut = [Say("I will add. "), Call("mcp__demo__add", {"a": 1, "b": 2}), Stop("length")]
    script = [cut, Say("Now I know."), [Think("Hm"), Stop("length")], Say("Still here.")]
    async with FakeModel(script) as fake, program(home, fake, word, policy="allow") as agent:
        events = await follow(agent, "Add")
        done = events[-1]
        assert isinstance(done, TurnDone)
        assert (done.reason, done.text) == ("length", "I will add. ")
        assert pick(events, ToolStarted) == []
        assert (await agent.run("Go on")).text == "Now I know."
        (result,) = fake.requests[1].all_results
        assert "was not made, because the reply was cut off" in result.text
        assert (await agent.run("Think")).reason == "length"
        assert (await agent.run("Go on")).text == "Still here."


@pytest.mark.processes
def test_a_cut_off_reply_is_exit_1_with_what_was_said(home: Home) -> None:
    with FakeModel([[Say("Once upon a"), Stop("length")]]) as fake:
        done = ask_command(home, fake, "-p", "A story")
    assert (done.code, done.out) == (1, "Once upon a\n")
    assert "mooring: The reply was cut off" in done.err


# --- a program --------------------------------------------------------------------------------------------------------


async def test_a_program_has_the_same_limits_and_reads_why_a_turn_ended(home: Home) -> None:
    async with FakeModel(search_for_ever(Usage(input=10, output=1))) as fake, open_host(home, fake) as host:
        async with mooring.agent(host, MODELS["anthropic"], local=True) as agent:
            done = await agent.run("Search")
            assert (done.reason, done.replies, len(fake.requests)) == ("max-turns", 100, 100)
        async with mooring.agent(host, MODELS["anthropic"], local=True, token_budget=30) as agent:
            assert (await agent.run("Search")).reason == "token-budget"
            # Each turn has a budget of its own.
            assert (await agent.run("Search")).replies == 3


async def test_without_ask_the_same_call_again_and_again_ends_the_turn_and_the_next_one_goes_on(home: Home) -> None:
    replies = iter([*[SAME] * 4, [Call("Glob", {"pattern": "*.other"}), SAME], *[SAME] * 4, Say("Fine.")])
    async with FakeModel(lambda request: next(replies)) as fake, program(home, fake, local=True) as agent:
        done = await agent.run("Search")
        # The other call in between began a new row.
        assert (done.reason, done.replies) == ("repeated", 9)
        assert (await agent.run("And?")).text == "Fine."
    assert "several times in a row" in fake.requests[-1].all_results[-1].text


async def test_with_ask_the_repeated_call_and_the_hundredth_request_are_questions(home: Home) -> None:
    asked: list[mooring.Question] = []

    async def ask(question: mooring.Question) -> mooring.Answer:
        asked.append(question)
        match question:
            case mooring.RepeatedCall():
                return mooring.Allow() if len(asked) == 1 else mooring.No("It finds nothing.")
            case mooring.ContinueTurn():
                return mooring.Yes() if question.requests == 12 else mooring.Allow()
            case _:
                return mooring.No()

    async with FakeModel(repeat_for_ever) as fake, program(home, fake, local=True, ask=ask, max_turns=12) as agent:
        events = await follow(agent, "Search")
    done = events[-1]
    assert isinstance(done, TurnDone)
    # Nothing but a plain yes goes on: a program that allows everything would never end.
    assert (done.reason, done.replies) == ("max-turns", 24)
    assert asked[0] == mooring.RepeatedCall(None, "Glob", {"pattern": "*.same"}, 5)
    times = [question.times for question in asked if isinstance(question, mooring.RepeatedCall)]
    assert times == [5, *range(10, 25)]
    assert [question for question in asked if isinstance(question, mooring.ContinueTurn)] == [
        mooring.ContinueTurn(12, 12),
        mooring.ContinueTurn(24, 12),
    ]
    finished = pick(events, ToolFinished)
    assert [event.denied for event in finished] == [False] * 9 + [True] * 15
    assert "It finds nothing." in fake.requests[10].all_results[-1].text


async def test_a_repeated_call_that_needs_permission_is_asked_about_once_and_the_question_says_both(home: Home) -> None:
    asked: list[mooring.Question] = []
    answers = iter(
        [*[mooring.Allow("once")] * 4, mooring.No("Enough."), *[mooring.Allow("once")] * 4, mooring.Allow("session")]
    )

    async def ask(question: mooring.Question) -> mooring.Answer:
        asked.append(question)
        return next(answers, mooring.No())

    noting = Call("mcp__demo__note", {"text": "x"})
    other = Call("mcp__demo__note", {"text": "y"})
    # Another call beside it is asked about as ever.
    replies = [*[noting] * 6, [noting, noting, other], noting, *[noting] * 4, Say("Done.")]
    async with FakeModel(replies) as fake, program(home, fake, ask=ask) as agent:
        assert (await agent.run("Note it")).text == "Done."
    permissions = [question for question in asked if isinstance(question, mooring.Permission)]
    times = [(question.arguments["text"], question.times) for question in permissions]
    assert times[:6] == [("x", 0)] * 4 + [("x", 5), ("x", 6)]
    assert sorted(times[6:9]) == [("x", 0), ("x", 0), ("y", 0)]
    # The other call began a new row. What is allowed for the session is asked about for repetition alone.
    assert len(permissions) == 10
    assert asked[10:] == [mooring.RepeatedCall("demo", "note", {"text": "x"}, 5)]


async def test_a_repeated_call_that_no_one_can_permit_ends_the_turn(home: Home) -> None:
    async def ask(question: mooring.Question) -> mooring.Answer:
        return mooring.No(nobody=True)

    noting = Call("mcp__demo__note", {"text": "x"})
    async with FakeModel(lambda request: noting) as fake, program(home, fake, ask=ask) as agent:
        done = await agent.run("Note it")
    assert (done.reason, done.replies) == ("repeated", 5)


async def test_sub_agents_side_by_side_spend_the_budget_of_whoever_started_them(home: Home) -> None:
    task = {"description": "task", "subagent_type": "worker"}
    starting = [Call("Agent", {**task, "prompt": "One"}), Call("Agent", {**task, "prompt": "Two"})]
    each = Usage(input=90, output=10)
    script = {
        "Delegate": [[*starting, each]],
        "One": search_for_ever(each),
        "Two": search_for_ever(each),
    }
    async with (
        FakeModel(script) as fake,
        program(home, fake, local=True, agents=[WORKER], token_budget=1000) as agent,
    ):
        events = await follow(agent, "Delegate")
    done = events[-1]
    assert isinstance(done, TurnDone)
    assert (done.reason, done.replies) == ("token-budget", 1)
    # Two requests may be under way when the budget is spent, and none begins after that.
    assert 1000 <= done.usage.total <= 1100
    assert len(fake.requests) == done.usage.total // 100
    ends = {event.reason for event in pick(events, TurnDone) if event.parent is not None}
    assert ends == {"token-budget"}
    totals = [event.turn_usage.total for event in pick(events, TokensUsed)]
    assert totals == [100 * n for n in range(1, len(totals) + 1)]
    assert done.cost == pytest.approx(pick(events, TokensUsed)[-1].turn_cost)


async def test_two_conversations_of_one_host_have_budgets_of_their_own(home: Home) -> None:
    each = Usage(input=90, output=10)
    async with FakeModel(search_for_ever(each)) as fake, open_host(home, fake) as host:
        first = mooring.agent(host, MODELS["anthropic"], local=True, token_budget=300)
        second = mooring.agent(host, MODELS["openai"], local=True, token_budget=500)
        async with first as small, second as large:
            assert (await small.run("Search")).usage.total == 300
            assert (await large.run("Search")).usage.total == 500


@pytest.mark.timeout(300)  # each of the 200 requests holds all that was said before
async def test_a_sub_agent_is_asked_two_hundred_times_or_fewer_if_its_file_or_the_person_says_so(home: Home) -> None:
    def start(agent: str) -> Call:
        return Call("Agent", {"description": "task", "subagent_type": agent, "prompt": f"Work, {agent}"})

    brief = mooring.AgentDefinition(name="brief", prompt="Brief.", max_turns=3)
    eager = mooring.AgentDefinition(name="eager", prompt="Eager.", max_turns=1000)
    script = {
        "Delegate": [[start("brief"), start("eager")], Say("Done.")],
        "Work, brief": search_for_ever(),
        "Work, eager": search_for_ever(),
        "Few": [[start("brief"), start("eager")], Say("Done.")],
    }
    async with FakeModel(script) as fake, open_host(home, fake) as host:
        async with mooring.agent(host, MODELS["anthropic"], local=True, agents=[brief, eager]) as agent:
            assert (await agent.run("Delegate")).text == "Done."
            assert _count_by_task(fake) == {"Work, brief": 3, "Work, eager": 200}
        fake.requests.clear()
        async with mooring.agent(host, MODELS["anthropic"], local=True, agents=[brief, eager], max_turns=2) as agent:
            assert (await agent.run("Few")).text == "Done."
            assert _count_by_task(fake) == {"Work, brief": 2, "Work, eager": 2}


def _count_by_task(fake: FakeModel) -> dict[str, int]:
    tasks = [request.first_user_text for request in fake.requests]
    return {task: tasks.count(task) for task in sorted(set(tasks)) if task.startswith("Work")}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_turns": 0}, "max_turns must be a whole number and at least 1, not 0."),
        ({"max_cost": -1}, "max_cost must be a number of US dollars above 0, not -1."),
        ({"token_budget": "many"}, "token_budget must be a whole number and at least 1, not 'many'."),
    ],
)
async def test_a_limit_that_is_none_is_refused_in_a_program(options: dict[str, Any], words: str, home: Home) -> None:
    async with FakeModel([]) as fake, open_host(home, fake) as host:
        with pytest.raises(mooring.ConfigError) as raised:
            async with mooring.agent(host, MODELS["anthropic"], **options):
                pass
    assert str(raised.value) == words


async def test_a_try_that_a_busy_provider_refused_does_not_count(home: Home) -> None:
    script = [Call("Glob", {"pattern": "*"}), Fail(503, retry_after=0), Say("Done.")]
    async with FakeModel(script) as fake, program(home, fake, local=True, max_turns=2) as agent:
        assert (await agent.run("Go")).reason == "finished"


# --- the chat ---------------------------------------------------------------------------------------------------------


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", "-m", MODELS["anthropic"], *words, **variables(fake))


def leave(person: Person) -> None:
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw
    assert person.left() == []


@at_terminal
@pytest.mark.processes
def test_in_the_chat_the_cap_asks_whether_to_go_on(home: Home) -> None:
    with FakeModel(search_for_ever()) as fake, meet(home, fake, "--max-turns", "3") as person:
        person.answers((READY, "Search"))
        person.sees("The model was asked 3 times in this turn and has not finished.")
        person.answers(("Go on, for up to 3 requests more? [y/N]: ", "y"))
        person.sees("The model was asked 6 times in this turn and has not finished.")
        person.answers(("[y/N]: ", "n"))
        person.sees("The model was asked 6 times, the most in one turn (--max-turns), and had not finished.")
        person.sees("tokens in")
        person.sees(READY)
        assert len(fake.requests) == 6
        leave(person)


@at_terminal
@pytest.mark.processes
def test_in_the_chat_the_fifth_identical_call_is_asked_about_n_refuses_it_and_ctrl_c_ends_the_turn(home: Home) -> None:
    with FakeModel(repeat_for_ever) as fake, meet(home, fake) as person:
        person.answers((READY, "Search"))
        asked = person.sees("Call it again? [y/N]: ")
        assert "call 5 in a row with the same input" in asked
        person.types("n")
        person.sees("call 6 in a row")
        person.sees("Call it again? [y/N]: ")
        person.presses(CTRL_C)
        person.sees("Stopped.")
        person.sees(READY)
        assert len(fake.requests) == 6
        leave(person)
    assert "refused to have the same call made again" in fake.requests[-1].all_results[-1].text


@at_terminal
@pytest.mark.processes
def test_in_the_chat_a_repeated_call_that_needs_permission_is_one_question(home: Home) -> None:
    home.configure(demo=DEMO)
    noting = Call("mcp__demo__note", {"text": "x"})
    with FakeModel([*[noting] * 5, Say("Done.")]) as fake, meet(home, fake) as person:
        person.types("Note it")
        for _ in range(4):
            assert "in a row" not in person.sees('because …"): ')
            person.types("y")
        asked = person.sees('because …"): ')
        assert "asked because " in asked
        assert "and it is call 5 in a row with the same input" in asked
        person.types("y")
        assert "Call it" not in person.sees("Done.")
        person.sees(READY)
        leave(person)


@at_terminal
@pytest.mark.processes
def test_ctrl_c_goes_back_from_always_and_at_the_question_itself_ends_the_turn(home: Home) -> None:
    write = Call("Write", {"file_path": str(home.cwd / "new.txt"), "content": "x"})
    with FakeModel([write, Say("Never asked.")]) as fake, meet(home, fake) as person:
        person.answers((READY, "Write it"))
        person.sees('because …"): ')
        person.types("N")
        person.sees("Because: ")
        person.presses(CTRL_C)
        person.sees('because …"): ')
        person.presses(CTRL_C)
        person.sees("Stopped.")
        person.sees(READY)
        assert len(fake.requests) == 1
        leave(person)
    assert not (home.cwd / "new.txt").exists()


@at_terminal
@pytest.mark.processes
def test_ctrl_c_at_always_keeps_the_call_that_was_typed(home: Home) -> None:
    with Person(home, "chat", "--demo") as person:
        person.answers((READY, "/call demo.add a=2 b=40"))
        person.answers(('because …"): ', "a"))
        person.sees("Always: [e]verywhere or in this [p]roject? ")
        person.presses(CTRL_C)
        person.answers(('because …"): ', "y"))
        person.sees('{"sum": 42}')
        person.sees(READY)
        leave(person)
