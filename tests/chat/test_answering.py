"""Questions and forms, with somebody who types the same lines every time."""

import asyncio
from typing import Any

import pytest

from mooring.chat.field import read_fields
from mooring.chat.plain.dialog import Ended, Interrupted
from mooring.chat.plain.filling import FormDialog
from mooring.chat.plain.questions import Questions
from mooring.core.conversation.question import (
    Allow,
    Answer,
    Approval,
    ChangedTool,
    ChangedTools,
    Form,
    MissingValue,
    No,
    Permission,
    Question,
    Sampling,
    ServerDetail,
    Visit,
    WriteServer,
    Yes,
)


class Typist:
    """A terminal at which these lines are typed; an error is raised in place of one."""

    is_reading = False

    def __init__(self, *lines: str | Exception) -> None:
        self.dialog = asyncio.Lock()
        self.lines = list(lines)
        self.said: list[str] = []
        self.hidden: list[str] = []
        self.fresh: list[bool] = []

    async def read_line(
        self,
        prompt: str,
        *,
        secret: bool = False,
        complete: Any = (),
        keep: bool = False,
        fresh: bool = False,
        keys: str = "",
    ) -> str:
        self.said.append(prompt)
        self.fresh.append(fresh)
        line = self.lines.pop(0)
        if isinstance(line, Exception):
            raise line
        if secret:
            self.hidden.append(line)
        return line

    async def read_waiting(self) -> list[str]:
        return []

    def say(self, *texts: str) -> None:
        self.said.extend(texts)

    notice = warn = say

    def style(self, text: str, *_: str) -> str:
        return text


async def answer(question: Question, *lines: str | Exception, project: bool = True) -> tuple[Answer, Typist]:
    typist = Typist(*lines)
    made = await Questions(typist, project=project)(question)  # type: ignore[arg-type]
    assert typist.lines == []
    assert typist.fresh[:1] == [True], "what was typed before the question could answer it"
    return made, typist


async def filled(
    properties: dict[str, Any], *lines: str, required: tuple[str, ...] = (), **more: Any
) -> tuple[Any, str]:
    typist = Typist(*lines)
    schema = {"type": "object", "properties": properties, "required": list(required), **more}
    made = await FormDialog(typist, "srv", "tool", schema).fill()  # type: ignore[arg-type]
    assert typist.lines == []
    return made, "\n".join(typist.said)


MAY_I = Permission("github", "create_issue", {"title": "x\x1b[2J"}, "no rule matches it", '{"tool": "…"}')


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["o"], Allow("once")),
        (["y"], Allow("once")),
        (["", "what", "s"], Allow("session")),
        (["a", "e"], Allow("always", "user")),
        (["a", "?", "p"], Allow("always", "project-local")),
        (["n"], No()),
        (["N", "too early"], No("too early")),
        ([Interrupted()], No(how="cancel")),
        ([Ended()], No(how="cancel")),
    ],
)
async def test_every_answer_to_a_permission(lines: list[str | Exception], expected: Answer) -> None:
    made, typist = await answer(MAY_I, *lines)
    assert made == expected
    assert "\x1b" not in "".join(typist.said)


async def test_a_wrong_place_for_always_says_which_letters_there_are() -> None:
    _, typist = await answer(MAY_I, "a", "x", "p")
    assert typist.said.count("Type e or p; Ctrl+C goes back.") == 1


async def test_no_answer_reaches_further_than_it_may() -> None:
    question = Permission("s", "t", {}, "why", "rule", scopes=("once",))
    made, typist = await answer(question, "s", "a", "o")
    assert made == Allow("once")
    assert not any("[s]ession" in line for line in typist.said)


async def test_without_a_project_always_means_everywhere() -> None:
    assert (await answer(MAY_I, "a", project=False))[0] == Allow("always", "user")


async def test_the_person_writes_what_a_model_would() -> None:
    request = {
        "systemPrompt": "Be brief.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Hi\x07"}}],
    }
    made, typist = await answer(Sampling("srv", request), "one\\", "two")
    assert isinstance(made, Yes)
    assert made.content["content"] == {"type": "text", "text": "one\ntwo"}
    assert "srv │   user: Hi\\x07" in typist.said
    assert isinstance((await answer(Sampling("srv", request), ""))[0], No)


async def test_an_address_is_shown_and_never_opened() -> None:
    visit = Visit("srv", "Log in", "https://example.com/?x=1", "1")
    made, typist = await answer(visit, "")
    assert made == Yes()
    assert "https://example.com/?x=1" in typist.said
    assert (await answer(visit, "n"))[0] == No()


@pytest.mark.parametrize(
    ("value", "line", "expected"),
    [
        (MissingValue("s", "token", secret=True), "hush", Yes("hush")),
        (MissingValue("s", "region", options=("eu", "us")), "2", Yes("us")),
        (MissingValue("s", "region", default="eu"), "", Yes("eu")),
        (MissingValue("s", "region", options=("eu", "us")), "9" * 5000, Yes("9" * 5000)),
    ],
)
async def test_a_blank_of_a_definition_is_filled_in(value: MissingValue, line: str, expected: Answer) -> None:
    made, typist = await answer(value, line)
    assert made == expected
    assert typist.hidden == ([line] if value.secret else [])


async def test_a_value_that_is_needed_is_asked_for_once_more_and_ctrl_d_leaves_at_once() -> None:
    made, typist = await answer(MissingValue("s", "region"), "", "eu")
    assert made == Yes("eu")
    assert typist.said.count("A value is needed; Ctrl+C leaves.") == 1
    assert (await answer(MissingValue("s", "region"), "", ""))[0] == No()
    assert (await answer(MissingValue("s", "region"), Ended()))[0] == No(how="cancel")


# --- forms ------------------------------------------------------------------------------------------------------------


def ask_form(**properties: Any) -> Form:
    return Form("srv", "Where?", {"type": "object", "properties": properties, "required": list(properties)})


async def test_what_is_typed_before_a_form_of_one_text_is_its_answer_if_it_fits() -> None:
    assert (await answer(ask_form(city={"type": "string"}), "Hamburg"))[0] == Yes({"city": "Hamburg"})
    assert (await answer(ask_form(city={"type": "string"}), "yes", "Bonn"))[0] == Yes({"city": "Bonn"})
    assert (await answer(ask_form(city={"type": "string"}), "n"))[0] == No()
    made, typist = await answer(ask_form(mail={"type": "string", "format": "email"}), "nobody", "a@b")
    assert made == Yes({"mail": "a@b"})
    assert any("mail must be an email address" in line for line in typist.said)


@pytest.mark.parametrize(
    ("form", "lines", "sent"),
    [
        (ask_form(a={"type": "string"}, b={"type": "string"}), ["1", "2"], {"a": "1", "b": "2"}),
        (ask_form(n={"type": "integer"}), ["1"], {"n": 1}),
        (ask_form(token={"type": "string", "format": "password"}), ["hush"], {"token": "hush"}),
    ],
)
async def test_what_is_typed_before_any_other_form_is_not_sent(form: Form, lines: list[str], sent: Any) -> None:
    made, typist = await answer(form, "7", "", *lines)
    assert made == Yes(sent)
    assert "Press Enter to fill in the form, or n to decline." in typist.said


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        ({"type": "string"}, "42", "42"),
        ({"type": "string"}, '""', ""),
        ({"type": "integer"}, "42", 42),
        ({"type": "number"}, "4.5", 4.5),
        ({"type": "boolean"}, "yes", True),
        ({"type": "boolean"}, "false", False),
        ({"type": "array", "items": {"type": "string"}}, "a, b", ["a", "b"]),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"enum": ["open", "closed"]}, "2", "closed"),
        ({"enum": ["open", "closed"]}, "OPEN", "open"),
        ({"enum": [10, 20]}, "20", 20),
        ({"oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]}, "Blue", "b"),
        ({"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]}, "1", "r"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, "1, c", ["a", "c"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "x", "x"),
        ({}, '{"deep": [1]}', {"deep": [1]}),
        ({"$ref": "#/$defs/n"}, "7", 7),
    ],
)
async def test_a_text_becomes_the_value_that_is_meant(schema: dict[str, Any], text: str, expected: Any) -> None:
    made, _ = await filled({"x": schema}, text, required=("x",), **{"$defs": {"n": {"type": "integer"}}})
    assert made == {"x": expected}


def test_what_an_object_holds_is_said_before_it_is_asked_for() -> None:
    thing = {"type": "object", "properties": {"note": {}, "id": {"type": "integer"}}, "required": ["id"]}
    schema = {"properties": {"one": thing, "many": {"type": "array", "items": thing}, "words": {"type": "array"}}}
    shown = {field.name: list(field.lines) for field in read_fields(schema)}
    assert shown == {
        "one": ['{"id": whole number, "note"?: any JSON}'],
        "many": ['[{"id": whole number, "note"?: any JSON}, …]'],
        "words": [],
    }


def test_what_is_required_is_asked_for_first() -> None:
    schema = {"properties": {"a": {}, "b": {"default": 3}, "c": {}}, "required": ["c"]}
    assert [field.name for field in read_fields(schema)] == ["c", "a", "b"]
    assert read_fields(schema)[2].prompt == "b (any JSON, Enter for 3): "


async def test_optional_ones_are_skipped_one_by_one_or_all_at_once() -> None:
    three = {name: {"type": "string"} for name in "abc"}
    assert (await filled(three, "", "x", ""))[0] == {"b": "x"}
    assert (await filled(three, "x", "."))[0] == {"a": "x"}


async def test_what_does_not_fit_names_the_parameter_and_is_asked_for_again() -> None:
    made, said = await filled({"count": {"type": "integer", "minimum": 1}}, "0", "many", "2", required=("count",))
    assert made == {"count": 2}
    assert said.count("count must be") == 2


async def test_what_fits_alone_but_not_together_is_asked_for_in_full() -> None:
    properties = {"a": {"type": "string"}, "b": {"type": "string"}}
    made, said = await filled(properties, "", "", '{"b": "x"}', minProperties=1)
    assert made == {"b": "x"}
    assert "all of it" in said


async def test_of_two_that_will_do_neither_is_required() -> None:
    properties = {"a": {"type": "string"}, "b": {"type": "string"}}
    either = [{"required": ["a"]}, {"required": ["b"]}]
    made, said = await filled(properties, "", "x", anyOf=either)
    assert made == {"b": "x"}
    assert "is required" not in said


@pytest.mark.parametrize(
    "schema", [{}, {"properties": None}, {"properties": {"x": True}}, {"properties": {"x": {"enum": []}}}, {"type": 3}]
)
def test_an_odd_schema_is_no_error(schema: dict[str, Any]) -> None:
    for field in read_fields(schema):
        assert field.prompt
        assert list(field.lines) == []
        field.value("x")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("email", ["ada@example.com", "root@localhost"], ["notmail", "a b@c", "@x", "a@"]),
        ("uri", ["https://example.com/a?b", "urn:isbn:1", "mailto:a@b"], ["example.com", "https://", "a b:c", "://x"]),
        ("date", ["2026-02-28", "2024-02-29"], ["2026-02-29", "28.2.2026", "20260228", "2026-2-8"]),
        (
            "date-time",
            ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.5+01:00"],
            ["2026-01-31", "2026-01-31 09:30", "2026-01-31T09:30:00", "2026-01-31T25:00:00Z"],
        ),
    ],
)
async def test_a_format_is_labeled_and_checked(kind: str, good: list[str], bad: list[str]) -> None:
    for text in good:
        made, said = await filled({"x": {"type": "string", "format": kind}}, *bad, text)
        assert made == {"x": text}
        assert said.count("x must be a") == len(bad)
        assert " such as " in said.splitlines()[0]


async def test_a_format_is_checked_in_json_too() -> None:
    made, said = await filled(
        {"x": {"type": "string", "format": "email"}, "y": {"type": "string"}}, '{"x": "no", "y": "z"}', "a@b"
    )
    assert made == {"x": "a@b", "y": "z"}
    assert "x must be an email address" in said


async def test_enter_sends_the_default_that_is_shown() -> None:
    properties = {
        "n": {"type": "integer", "default": 42},
        "path": {"type": "string", "default": "."},
        "on": {"type": "boolean", "default": False},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
        "five": {"type": ["string", "integer"], "default": "5"},
        "empty": {"type": "string", "default": ""},
        "none": {"type": "string"},
    }
    sent = {"n": 42, "path": ".", "on": False, "tags": ["a"], "five": "5", "empty": ""}
    assert (await filled(properties, "", "", "", "", "", "", ""))[0] == sent
    assert (await filled(properties, "1", "."))[0] == {**sent, "n": 1}, "the rest takes its defaults too"


async def test_a_default_that_its_own_schema_refuses_is_not_offered() -> None:
    made, said = await filled({"x": {"type": "string", "format": "email", "default": "nobody"}}, "")
    assert made == {}
    assert "nobody" not in said


@pytest.mark.parametrize(
    ("line", "expected"), [("y", Yes()), ("YES", Yes()), ("", No()), ("n", No()), ("a", No()), ("s", No())]
)
@pytest.mark.parametrize(
    "question", [Approval("s", (("runs", "sh"),), ""), ChangedTools("s", (ChangedTool("t", "new", "+x"),))]
)
async def test_only_a_plain_yes_approves(question: Question, line: str, expected: Answer) -> None:
    assert (await answer(question, line))[0] == expected


# --- what a wizard asks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "lines", "expected"),
    [
        (ServerDetail("", "Name"), ["demo"], "demo"),
        (ServerDetail("", "Name"), [""], ""),
        (ServerDetail("s", "Scope", (), "user", ("user", "project")), [""], "user"),
        (ServerDetail("s", "Scope", (), "user", ("user", "project")), ["2"], "project"),
        (ServerDetail("s", "Scope", (), "user", ("user", "project")), ["3"], "3"),
        (ServerDetail("s", "Variable", (), ""), [""], ""),
        (ServerDetail("", "Name", block=True), ["{", '  "a": {', "  }", "}"], '{\n  "a": {\n  }\n}'),
        (ServerDetail("", "Name"), ["{"], "{"),
    ],
)
async def test_a_detail_is_answered_with_what_was_typed_or_with_its_default(
    question: ServerDetail, lines: list[str], expected: str
) -> None:
    made, _ = await answer(question, *lines)
    assert made == Yes(expected)


async def test_a_detail_that_is_secret_is_typed_unseen() -> None:
    made, typist = await answer(ServerDetail("s", "Token", (), "", secret=True), "hush")
    assert (made, typist.hidden) == (Yes("hush"), ["hush"])


async def test_the_prompt_of_a_detail_says_what_enter_means_and_notes_come_before_it() -> None:
    _, typist = await answer(ServerDetail("s", "Scope", ("Mind this.",), "user", ("user", "project")), "")
    assert typist.said == ["", "Mind this.", "  1  user", "  2  project", "Scope [user]: "]


@pytest.mark.parametrize(("typed", "expected"), [("", Yes()), ("y", Yes()), ("n", No()), ("no", No())])
async def test_an_entry_is_shown_before_it_is_written(typed: str, expected: Answer) -> None:
    made, typist = await answer(WriteServer("s", "~/mcp.json", "{\n}", ("A note.",)), typed)
    assert made == expected
    assert typist.said == ["", "s will be added to ~/mcp.json:", "  {", "  }", "A note.", "Add it? [Y/n]: "]


@pytest.mark.parametrize("leaves", [Interrupted(), Ended()])
@pytest.mark.parametrize("question", [ServerDetail("s", "Name"), WriteServer("s", "p", "{}")])
async def test_whoever_leaves_a_wizard_gives_no_answer(question: Question, leaves: Exception) -> None:
    made, _ = await answer(question, leaves)
    assert made == No(how="cancel")
