"""The scenario: what is tried with every agent in both ways. Each row is a promise of `docs/results/agents.md`."""

import asyncio
import json
import os
import re
import signal
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.backends.scenario.stage import OTHER_MODELS, OpenStage, Stage, Turn
from tests.backends.scenario.words import call
from tests.peers import install
from tests.peers.processes import marked
from tests.support import Actor

from mooring.agents.files.find import BUILTIN_AGENTS
from mooring.agents.history import ModelMessage, PersonMessage, TextBlock
from mooring.agents.sessions.store import SessionStore
from mooring.core.conversation.event import (
    TextPiece,
    TokensUsed,
    TurnFailed,
    TurnStarted,
)
from mooring.core.conversation.question import Permission
from mooring.core.protocol.content import Text
from mooring.verbs.agent.choose_backend import SessionStart

SUB_AGENTS = {"claude": "general-purpose", "copilot": "general-purpose", "opencode": "general"}
"""A sub-agent that each agent brings with it."""
ASKED_WITHIN = 60.0
"""Seconds until the model is asked, on a machine that is busy."""


class Row(NamedTuple):
    """One thing that is tried."""

    title: str
    run: Callable[[OpenStage], Awaitable[None]]


def check_answered(turn: Turn, server: str, tool: str, text: str) -> None:
    """The tool was called after one question, the events name it, and the model got what it returned."""
    call = turn.find_call(server, tool)
    assert call.success, f"it failed: {call.error}"
    assert text in call.outcome.text, call.outcome.text
    assert turn.done.reason == "finished", turn.events[-2:]
    assert text in turn.done.text, f"the model was told: {turn.done.text}"
    asked = [question for question in turn.questions if isinstance(question, Permission)]
    assert [(question.server, question.tool) for question in asked] == [(server, tool)], f"questions: {asked}"


async def call_stdio(stage: OpenStage) -> None:
    turn = await stage.turn(call("tides", "add", a=40, b=2))
    check_answered(turn, "tides", "add", "42")
    assert any(isinstance(event, TextPiece) for event in turn.events), "no text came"
    assert any(isinstance(event, TokensUsed) for event in turn.events), "no usage came"
    started = [event for event in turn.events if isinstance(event, TurnStarted) and event.parent is None]
    assert [event.backend for event in started] == [stage.stage.agent]


async def call_http(stage: OpenStage) -> None:
    check_answered(await stage.turn(call("web", "echo", text="over HTTP")), "web", "echo", "over HTTP")


async def call_sse(stage: OpenStage) -> None:
    check_answered(await stage.turn(call("stream", "echo", text="over SSE")), "stream", "echo", "over SSE")


async def tool_that_fails(stage: OpenStage) -> None:
    turn = await stage.turn(call("tides", "fail"))
    ended = turn.find_call("tides", "fail")
    assert not ended.success
    assert "fail" in ended.error, ended.error
    # It is shown like every other result, and not as a call that was never made.
    assert (ended.outcome.for_person, ended.denied) == ("", False), ended.outcome
    assert "fail" in ended.outcome.text, ended.outcome
    assert turn.done.reason == "finished"


async def refused(stage: OpenStage) -> None:
    stage.stage.person.says_yes = False
    try:
        turn = await stage.turn(call("web", "add", a=1, b=2))
    finally:
        stage.stage.person.says_yes = True
    ended = turn.find_call("web", "add")
    assert not ended.success
    assert ended.denied, f"it is not told as denied: {ended.error}"
    assert [(denied.server, denied.tool) for denied in turn.done.denied] == [("web", "add")]
    assert len(turn.questions) == 1, f"{len(turn.questions)} questions"


async def statuses(stage: OpenStage) -> None:
    expected = {
        "tides": "connected",
        "web": "connected",
        "stream": "connected",
        "broken": "failed",
        "off": "disabled",
        "locked": "needs-auth",
    }
    if stage.stage.way == "shared":
        # There a server is connected when it is needed.
        await stage.chat.host.ready(servers=[name for name in expected if name != "off"], timeout=30)
    told = {status.name: status for status in await stage.chat.servers.list_agent_status()}
    seen = {name: told[name].status if name in told else "missing" for name in expected}
    if stage.stage.way == "native":
        seen["off"] = seen["off"].replace("missing", "disabled")
    assert seen == expected, {name: (word, told[name].error if name in told else "") for name, word in seen.items()}
    assert told["broken"].error, "it doesn't say why it failed"
    assert not any("Bearer" in status.error for status in told.values())


async def sub_agent(stage: OpenStage) -> None:
    name = SUB_AGENTS[stage.stage.agent]
    turn = await stage.turn(f'[[agent {name} tides.echo {{"text": "from below"}}]]')
    ended = turn.find_call("tides", "echo")
    assert ended.success, ended.error
    assert ended.parent is not None, "the call of the sub-agent is told as the agent's own"
    parents = [event.id for event in turn.started if event.parent is None]
    assert ended.parent in parents, f"{ended.parent} is none of {parents}"
    assert turn.done.reason == "finished"


async def builtin_agents(stage: OpenStage) -> None:
    """Each of Mooring's agents is a sub-agent there: its own if it has one of that name, else Mooring's."""
    turn = await stage.turn('[[agent debugger tides.echo {"text": "not among its tools"}]]')
    begun = [event.agent for event in turn.events if isinstance(event, TurnStarted) and event.parent is not None]
    assert begun == ["debugger"], begun
    debugger = next(agent for agent in BUILTIN_AGENTS if agent.name == "debugger")
    first_line = debugger.prompt.splitlines()[0]
    asked = [request for request in stage.stage.model.requests if first_line in request.system]
    assert asked, "its prompt never reached the model"
    assert not any("echo" in name for name in asked[0].tool_names), asked[0].tool_names
    offered = json.dumps(stage.stage.model.requests[0].body).casefold()
    missing = [agent.name for agent in BUILTIN_AGENTS if agent.name not in offered]
    assert missing == [], f"the model is not offered {missing}"


async def disabled_and_enabled(stage: OpenStage) -> None:
    await stage.chat.servers.switch("tides", False)
    try:
        turn = await stage.turn(call("tides", "echo", text="gone?"))
        assert not any(event.success for event in turn.finished if event.server == "tides"), "it was called"
        assert turn.done.reason == "finished"
    finally:
        await stage.chat.servers.switch("tides", True)
        await stage.chat.servers.connect("tides")
    again = await stage.turn(call("tides", "echo", text="back"))
    check_answered(again, "tides", "echo", "back")


async def canceled(stage: OpenStage) -> None:
    asked = len(stage.stage.model.requests)
    working = asyncio.create_task(stage.turn("[[hold never]]"))
    await wait_for_request(stage.stage, asked)
    working.cancel()
    await asyncio.wait({working}, timeout=ASKED_WITHIN)
    assert working.done(), "it went on"
    last = stage.stage.person.events[-1]
    assert getattr(last, "reason", None) == "interrupted", last
    check_answered(await stage.turn(call("tides", "echo", text="on")), "tides", "echo", "on")


async def model_error(stage: OpenStage) -> None:
    turn = await stage.turn("[[fail 400]]")
    failures = [event.error for event in turn.events if isinstance(event, TurnFailed) and event.retry_in is None]
    assert turn.done.reason == "failed", turn.done
    assert failures, "no error was told"
    assert "scripted" in failures[-1], failures
    check_answered(await stage.turn(call("tides", "echo", text="on")), "tides", "echo", "on")


async def killed(stage: OpenStage) -> None:
    """Its program is killed in a turn: the turn ends with the cause, and the next one goes on with what was said."""
    await stage.turn(call("tides", "echo", text="before-the-crash"))
    asked = len(stage.stage.model.requests)
    working = asyncio.create_task(stage.turn("[[hold never]]"))
    await wait_for_request(stage.stage, asked)
    kill_program(stage.stage)
    await asyncio.wait({working}, timeout=ASKED_WITHIN)
    assert working.done(), "the turn went on"
    turn = working.result()
    assert turn.done.reason == "failed", turn.done
    assert any(isinstance(event, TurnFailed) for event in turn.events), "it was not said why"
    check_answered(await stage.turn(call("tides", "echo", text="after")), "tides", "echo", "after")
    assert knows(stage.stage, "before-the-crash"), "what was said before is lost"


def kill_program(stage: Stage) -> None:
    """Kill the agent's program as nobody expects it."""
    pattern = re.compile(rb"claude_agent_sdk|@github/copilot|opencode")
    for pid in marked(stage.nonce):
        # Our own guard, and servers, run in Python.
        command = read_command(pid)
        if pattern.search(command) and b"python" not in command.partition(b" ")[0].rpartition(b"/")[2]:
            os.kill(pid, signal.SIGKILL)


def read_command(pid: int) -> bytes:
    """The command line of a process; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return b""


def knows(stage: Stage, text: str) -> bool:
    """Whether the model was told something with the newest request."""
    return text in json.dumps(stage.model.requests[-1].body)


async def wait_for_request(stage: Stage, asked: int) -> None:
    async with asyncio.timeout(ASKED_WITHIN):
        while len(stage.model.requests) <= asked:  # noqa: ASYNC110  # the model has nothing to wait for
            await asyncio.sleep(0.02)


ROWS = (
    Row("a stdio server's tool is called after one question", call_stdio),
    Row("an HTTP server's tool", call_http),
    Row("an SSE server's tool", call_sse),
    Row("a tool that fails is told as failed", tool_that_fails),
    Row("a no at our gate", refused),
    Row("status: connected, failed, disabled, needs login", statuses),
    Row("a sub-agent calls a tool, and is told as one", sub_agent),
    Row("Mooring's built-in agents are among its sub-agents", builtin_agents),
    Row("disabled in the middle, enabled again", disabled_and_enabled),
    Row("canceled in a turn", canceled),
    Row("an error of the model ends the turn with its cause", model_error),
    Row("its program is killed: the next turn goes on", killed),
)
"""In one conversation, one after the other."""


# --- around a conversation --------------------------------------------------------------------------------------------


async def resumed(stage: Stage) -> None:
    """The session goes on in another process of ours, with the agent's own memory."""
    async with stage.open(SessionStart(newest=True)) as again:
        assert again.chat.responder.backend.name == stage.agent
        check_answered(await again.turn(call("web", "echo", text="resumed")), "web", "echo", "resumed")
    assert knows(stage, "before-the-crash"), "the agent forgot what was said"


async def handed_over(stage: Stage) -> None:
    """A conversation with a model goes on here: the agent is given its transcript, and remembers it."""
    store = SessionStore(stage.home.where)
    journal = store.begin(str(stage.home.cwd), model="anthropic:claude-sonnet-5-5")
    journal.add_message(PersonMessage((Text("The mast is broken."),)))
    journal.add_message(ModelMessage((TextBlock("Then row."),), "anthropic:claude-sonnet-5-5"))
    journal.close()
    words = ["chat", "--resume", journal.id, "-b", stage.agent, "-p", "Ahoy.", *name_model(stage)]
    code, _, err = await run_mooring(stage, *words)
    assert (code, err.count(f"Continues {journal.id}, which was with anthropic:claude-sonnet-5-5")) == (0, 1), err
    assert knows(stage, "The mast is broken."), "the agent was not given the transcript"
    code, _, err = await run_mooring(stage, "chat", "--continue", "-p", "Ahoy again.")
    assert (code, "Continues" in err) == (0, False), err
    assert knows(stage, "Then row."), "the agent forgot the transcript"
    newest = store.list(most=1)[0]
    assert (newest.backend, newest.continues, newest.title, newest.turns) == (stage.agent, journal.id, "Ahoy.", 2)


async def headless(stage: Stage) -> None:
    """`mooring chat -p`: what is allowed is called, what would be asked is denied, and the exit codes are the same."""
    said = f"{call('tides', 'echo', text='alone')} {call('web', 'echo', text='unasked')}"
    words = ["chat", "-b", stage.agent, "-p", said, "--allow", "tides.*", "--output-format", "json"]
    code, out, err = await run_mooring(stage, *words, *name_model(stage))
    assert code == 0, err
    answer = json.loads(out)
    assert not answer["isError"], answer
    assert "alone" in answer["text"], answer
    assert [(denied["server"], denied["tool"]) for denied in answer["denied"]] == [("web", "echo")], answer
    code, out, err = await run_mooring(stage, "sessions", "--json")
    newest = json.loads(out)["sessions"][0]
    assert (newest["backend"], newest["id"]) == (stage.agent, answer["session"])


async def first_starts(stage: Stage) -> None:
    """A home that was never used: a server that takes its time is there, and of two only the broken one is named."""
    late = Actor(stage.home.folder / "late.json", late=3)
    crash = {"command": "sh", "args": ["-c", "echo no database >&2; exit 3"]}
    moved = stage.move(late=late.entry, crash=crash)
    asked = len(stage.model.requests)
    code, _, err = await run_mooring(moved, "chat", "-b", stage.agent, "-p", "Ahoy.", *name_model(stage))
    assert code == 0, err
    names = stage.model.requests[asked].tool_names
    assert any("late" in name for name in names), names
    [line] = err.splitlines()
    # In the native way the agent starts it, and says what it saw.
    cause = "ended with exit code 3 before it answered" if stage.way == "shared" else "could not be connected: "
    assert line.startswith(f"Warning: MCP startup error: crash {cause}"), line
    assert line.endswith("`mooring mcp test crash` shows more."), line


async def limits(stage: Stage) -> None:
    """A turn ends at the limits of the command line, and at the fifth identical call in a row."""
    different = " ".join(call("tides", "echo", text=f"call {each}") for each in range(6))
    same = " ".join([call("tides", "echo", text="again")] * 6)
    capped, saving, _ = await asyncio.gather(
        end_early(stage, "max-turns", different, "--max-turns", "3"),
        end_early(stage, "token-budget", different, "--token-budget", "20"),
        end_early(stage, "repeated", same),
    )
    assert (capped["turns"], saving["turns"]) == (3, 1), (capped, saving)


async def cut_off(stage: Stage) -> None:
    """Some agents have the model go on by themselves, and give up when that is cut off too."""
    answer = await end_early(stage, "length", " ".join(["[[cut Once upon a]]"] * 9))
    assert answer["text"] == "Once upon a", answer


async def end_early(stage: Stage, reason: str, said: str, *limits: str) -> Any:
    """Have a turn taken that ends before the model has finished; the answer."""
    words = ["chat", "-b", stage.agent, "-p", said, "--allow", "tides.*", "--output-format", "json"]
    code, out, err = await run_mooring(stage, *words, *limits, *name_model(stage))
    answer = json.loads(out)
    assert (code, answer["reason"], answer["isError"]) == (1, reason, True), (code, answer, err)
    assert answer["error"] in err, err
    return answer


async def named_agent(stage: Stage) -> None:
    """`--agent NAME`: what its file says reaches the model, and holds when the conversation goes on."""
    stage.write_agent("sailor", "You sail the seven seas.", "Read, Grep")
    await ask_agent(stage, "-b", stage.agent, "--agent", "sailor")
    # Neither the agent nor its model has to be named again.
    await ask_agent(stage, "--continue")


async def ask_agent(stage: Stage, *words: str) -> None:
    asked = len(stage.model.requests)
    code, _, err = await run_mooring(stage, "chat", *words, "-p", "Ahoy.")
    assert code == 0, err
    request = stage.model.requests[asked]
    assert "You sail the seven seas." in request.system, request.system
    assert request.model == OTHER_MODELS[stage.agent], request.model
    assert {"read", "view"} & {name.casefold() for name in request.tool_names}, request.tool_names
    assert not {"bash", "edit", "write"} & {name.casefold() for name in request.tool_names}, request.tool_names


async def choices_come_back(stage: Stage) -> None:
    """The model and the mode of a conversation hold when it goes on, with no word about either."""
    other = OTHER_MODELS[stage.agent]
    model = f"fake/{other}" if stage.agent == "opencode" else other
    code, _, err = await run_mooring(
        stage, "chat", "-b", stage.agent, "-m", model, "--permission-mode", "plan", "-p", "Ahoy."
    )
    assert code == 0, err
    asked = len(stage.model.requests)
    said = call("tides", "echo", text="not in plan mode")
    code, out, err = await run_mooring(stage, "chat", "--continue", "-p", said, "--output-format", "json")
    assert code == 0, err
    assert {request.model for request in stage.model.requests[asked:]} == {other}
    assert [denied["tool"] for denied in json.loads(out)["denied"]] == ["echo"], out
    _, out, _ = await run_mooring(stage, "sessions", "--json")
    newest = json.loads(out)["sessions"][0]
    assert (newest["backend"], newest["mode"], newest["turns"]) == (stage.agent, "plan", 2), newest


async def cost_of_turns(stage: Stage) -> None:
    """Each turn costs what it costs, in one process or in three; the list has their sum."""
    costs = [await find_cost(stage, "-b", stage.agent, *name_model(stage))]
    costs += [await find_cost(stage, "--continue") for _ in range(2)]
    _, out, _ = await run_mooring(stage, "sessions", "--json")
    total = json.loads(out)["sessions"][0]["cost"]
    if stage.agent == "copilot":
        # It counts requests of a plan, and knows no dollars.
        assert (costs, total) == ([None, None, None], None)
        return
    assert costs[0] > 0, costs
    assert [round(cost, 9) for cost in costs] == [round(costs[0], 9)] * 3, costs
    assert round(total, 9) == round(sum(costs), 9), (total, costs)


async def find_cost(stage: Stage, *words: str) -> Any:
    code, out, err = await run_mooring(stage, "chat", *words, "-p", "Ahoy.", "--output-format", "json")
    assert code == 0, err
    return json.loads(out)["cost"]


def name_model(stage: Stage) -> Sequence[str]:
    match stage.agent:
        case "claude":
            return ()
        case "copilot":
            return ("-m", "scripted")
        case "opencode":
            return ("-m", "fake/scripted")


async def run_mooring(stage: Stage, *words: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        install.mooring("backends"),
        *words,
        cwd=stage.home.cwd,
        env=stage.env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def repository(stage: Stage) -> None:
    assert stage.started_by_repository == []


async def instructions(stage: Stage) -> None:
    assert any(stage.word in json.dumps(request.body) for request in stage.model.requests)


async def own_servers(stage: Stage) -> None:
    """Those in the agent's own configuration, which are switched off in Mooring."""
    assert stage.started_by_agent == []


async def nothing_left(stage: Stage) -> None:
    left = await stage.wait_until_gone()
    assert left == [], list(map(read_command, left))


class AfterRow(NamedTuple):
    """The same around conversations."""

    title: str
    run: Callable[[Stage], Awaitable[None]]


ROWS_AFTER = (
    AfterRow("its session goes on, by its own id", resumed),
    AfterRow("a conversation with another backend goes on with the transcript", handed_over),
    AfterRow("`mooring chat -p TEXT`: the same output and exit code", headless),
    AfterRow("a server's first start is waited for; one that crashes is named", first_starts),
    AfterRow("`--max-turns`, `--token-budget` and a repeated call end the turn", limits),
    AfterRow("a reply that was cut off is told as such", cut_off),
    AfterRow("`--agent NAME`: its prompt, tools and model, also when it goes on", named_agent),
    AfterRow("its model and the permission mode come back when it goes on", choices_come_back),
    AfterRow("the cost of a turn is that turn's, also when it goes on", cost_of_turns),
    AfterRow("the project's AGENTS.md reaches the model", instructions),
    AfterRow("nothing of the repository is started", repository),
    AfterRow("what is off in Mooring is off in the agent's own configuration", own_servers),
    AfterRow("no process is left", nothing_left),
)
"""When the conversation is closed."""
