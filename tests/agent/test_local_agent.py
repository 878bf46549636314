"""An agent with the tools for this machine: what only reads the project is allowed, all else is asked about."""

import asyncio
from typing import Any

from scripted import ScriptedModel, call, results_of

import mooring
from mooring.core.conversation.event import ConversationEvent, PlanChanged
from mooring.core.conversation.question import Allow, Answer, No, Permission, Question
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.turn import open_agent
from support import Home


def make_model(text: str) -> ScriptedModel:
    steps = [
        call("Read", {"file_path": "notes.txt"}, "read"),
        call("Bash", {"command": f"echo {text}"}, "run"),
        call("TodoWrite", {"todos": [{"content": text, "status": "pending"}]}, "plan"),
    ]
    return ScriptedModel([*steps], lambda request: ["\n".join(results_of(request))])


async def test_reading_the_project_is_allowed_a_command_is_asked_about_and_two_agents_share_nothing(home: Home) -> None:
    home.write("project/notes.txt", "ahoy")
    asked: dict[str, list[Question]] = {"first": [], "second": []}

    def answer_with(name: str, answer: Answer) -> Any:
        async def ask(question: Question) -> Answer:
            asked[name].append(question)
            return answer

        return ask

    async def run(host: mooring.Host, name: str, answer: Answer) -> list[ConversationEvent]:
        options = ConversationOptions(ask=answer_with(name, answer), local=True)
        async with open_agent(host, make_model(name), options) as agent:
            return [event async for event in agent.turn("go")]

    async with mooring.open(request=home.request(), servers={}) as host:
        first, second = await asyncio.gather(run(host, "first", Allow()), run(host, "second", No("not now")))
    texts = [events[-1].text for events in (first, second)]  # type: ignore[union-attr]
    assert all("ahoy" in text for text in texts)
    assert "first" in texts[0]
    assert "not now" in texts[1]
    for name in asked:
        (question,) = asked[name]
        assert isinstance(question, Permission)
        assert (question.tool, question.arguments["command"]) == ("Bash", f"echo {name}")
    for name, events in (("first", first), ("second", second)):
        (plan,) = [event for event in events if isinstance(event, PlanChanged)]
        assert [step.content for step in plan.steps] == [name]
