"""What Claude Code asks the person: questions of the model, and forms and addresses of servers that it runs itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import ValidationError, convert

from mooring.agents.local.ask_user import ASKER, OTHER, PersonQuestion, make_form, name_field
from mooring.backends.bridge.bridge import AgentBridge
from mooring.core.conversation.question import Allow, Answer, Ask, Form, No, Question, Visit, Yes
from mooring.errors import MooringError


async def answer_questions(ask: Ask, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `AskUserQuestion` with the person's answers in them, as Claude Code wants them.

    Raises: MooringError if there is none.
    """
    try:
        questions = convert(arguments.get("questions"), list[PersonQuestion])
    except ValidationError as error:
        raise MooringError(f"The questions can't be read: {error}.") from error
    match await ask(make_form(questions, ASKER)):
        case Yes(content):
            return {**arguments, "answers": read_answers(questions, content)}
        case No(nobody=True):
            raise MooringError("There is nobody to ask; decide by yourself, and say what you decided.")
        case No(reason):
            raise MooringError(f"The person did not answer{f': {reason}' if reason else '.'}")
        case Allow():
            return {**arguments, "answers": {}}


def read_answers(questions: Sequence[PersonQuestion], content: Any) -> dict[str, str]:
    """For each question what was chosen; what the person wrote in their own words answers those without a choice."""
    given: Mapping[str, Any] = content if isinstance(content, Mapping) else {OTHER: content}
    answers: dict[str, str] = {}
    for number, question in enumerate(questions, 1):
        chosen = given.get(name_field(question, number))
        words = ", ".join(map(str, chosen)) if isinstance(chosen, list | tuple) else chosen
        answer = words or given.get(OTHER)
        if answer:
            answers[question.question] = str(answer)
    return answers


async def answer_elicitation(bridge: AgentBridge, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Ask the person what a server asks that Claude Code runs itself."""
    answer = await bridge.ask(_make_question(bridge, body))
    return _write_answer(answer)


def _make_question(bridge: AgentBridge, body: Mapping[str, Any]) -> Question:
    name = str(body.get("mcp_server_name"))
    server = bridge.find_server(name) or name
    message = str(body.get("message") or "")
    if body.get("mode") == "url":
        return Visit(server, message, str(body.get("url") or ""), str(body.get("elicitation_id") or ""))
    schema = body.get("requested_schema")
    return Form(server, message, schema if isinstance(schema, dict) else {})


def _write_answer(answer: Answer) -> Mapping[str, Any]:
    match answer:
        case Yes(content):
            return {"action": "accept", "content": content or {}}
        case Allow():
            return {"action": "accept", "content": {}}
        case No(how=how):
            return {"action": how}
