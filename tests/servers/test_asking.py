"""What a server may ask of the person: passed on, answered, or refused in the way that the protocol has for it."""

from typing import Any

import pytest

from mooring.core.conversation.question import Allow, Answer, Ask, Form, No, Question, Sampling, Visit, Yes
from mooring.errors import RpcError
from mooring.servers.questions import REFUSED, ServerQuestions, make_client
from mooring.wire.session.client import Client


class Person:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answer


def facing(ask: Ask) -> Client:
    return make_client(
        "notes", ["/work"], ask, on_change=lambda _: None, on_update=lambda _: None, on_log=lambda _: None
    )


async def asked(kind: str, person: Person, **params: Any) -> Any:
    respond = getattr(facing(person), kind)
    assert respond is not None
    return await respond(params)


async def test_with_nobody_to_ask_a_form_is_dismissed_and_a_model_refused() -> None:
    unanswered: list[Question] = []
    questions = ServerQuestions("notes", None, on_unanswered=unanswered.append)
    nobody = facing(lambda question: questions.ask(question, None))
    assert nobody.elicit is not None
    assert nobody.sample is not None
    assert await nobody.elicit({"message": "Which?", "requestedSchema": {}}) == {"action": "cancel"}
    with pytest.raises(RpcError, match="Nobody can be asked here"):
        await nobody.sample({})
    assert unanswered == [Form("notes", "Which?", {}), Sampling("notes", {})]


def test_a_server_is_told_the_folder_it_may_work_in() -> None:
    roots = facing(Person(No())).roots
    assert roots is not None
    assert [(root.uri, root.name) for root in roots()] == [("file:///work", "work")]


async def test_what_a_model_is_to_write_is_put_to_the_person_and_their_message_is_the_answer() -> None:
    message = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "me"}
    person = Person(Yes(message))
    assert await asked("sample", person, messages=[], maxTokens=5) == message
    assert person.asked == [Sampling("notes", {"messages": [], "maxTokens": 5})]


@pytest.mark.parametrize("answer", [No("not today"), Yes(), Allow()])
async def test_without_a_message_the_server_is_refused_with_the_code_for_it(answer: Answer) -> None:
    with pytest.raises(RpcError) as caught:
        await asked("sample", Person(answer), messages=[])
    assert caught.value.code == REFUSED
    if isinstance(answer, No):
        assert caught.value.message == "not today"


async def test_a_form_is_filled_in_and_an_address_visited() -> None:
    person = Person(Yes({"name": "Ada"}))
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    filled = await asked("elicit", person, message="Who?", requestedSchema=schema)
    assert filled == {"action": "accept", "content": {"name": "Ada"}}
    person.answer = Yes()
    visited = await asked("elicit", person, mode="url", message="Log in", url="https://x.example", elicitationId="7")
    assert visited == {"action": "accept"}
    assert person.asked == [Form("notes", "Who?", schema), Visit("notes", "Log in", "https://x.example", "7")]


@pytest.mark.parametrize(("answer", "said"), [(No(), "decline"), (No(how="cancel"), "cancel"), (Allow(), "accept")])
async def test_a_person_may_refuse_or_wave_a_form_away(answer: Answer, said: str) -> None:
    assert await asked("elicit", Person(answer), message="Who?") == {"action": said}
