"""`AskUserQuestion`, a few questions to the person; and `TodoWrite`, the steps to take, for the person to follow."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from mooring.conversation.local_tool import LocalCall, LocalTool, text_result
from mooring.core.conversation.event import Todo
from mooring.core.conversation.question import Allow, Ask, Form, No, Yes
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.result import Result
from mooring.display.text import count_noun
from mooring.errors import ConfigError

ASKER = "The agent"
OTHER = "other"


class AnswerOption(Struct):
    label: Annotated[str, Meta(description="The answer, in a few words")]
    description: Annotated[str, Meta(description="What choosing it means")] = ""


class PersonQuestion(Struct, rename="camel"):
    question: Annotated[str, Meta(description="The whole question")]
    options: Annotated[list[AnswerOption], Meta(min_length=1, max_length=10, description="The answers to choose from")]
    header: Annotated[str, Meta(description="One or two words for it")] = ""
    multi_select: Annotated[bool, Meta(description="Whether several may be chosen")] = False


class AskArguments(Struct, forbid_unknown_fields=True):
    questions: Annotated[list[PersonQuestion], Meta(min_length=1, max_length=4)]


class AskUserTool(LocalTool):
    label = "AskUserQuestion"
    description = (
        "Ask the person up to four questions, each with answers to choose from; they can always answer in their own "
        "words. Ask only what you cannot find out, and never for a password."
    )
    parameters = AskArguments
    only_reads = True

    def __init__(self, ask: Ask | None, asker: str = ASKER) -> None:
        self._ask = ask
        self._asker = asker

    def assess(self, arguments: AskArguments) -> LocalAccess:
        return LocalAccess(is_free=True, why="it only asks you")

    async def run(self, call: LocalCall) -> Result:
        questions: list[PersonQuestion] = call.arguments.questions
        answer = No(nobody=True) if self._ask is None else await self._ask(make_form(questions, self._asker))
        match answer:
            case Yes(content):
                return text_result(_describe_answers(questions, content))
            case No():
                return text_result(explain_no(answer), failed=answer.nobody)
            case Allow():
                return text_result("The person agreed, but chose nothing.")


def explain_no(answer: No) -> str:
    """What a model is told whose questions were not answered."""
    if answer.nobody:
        return "There is nobody to ask; decide by yourself, and say what you decided."
    return f"The person did not answer{f': {answer.reason}' if answer.reason else '.'}"


def make_form(questions: list[PersonQuestion], asker: str = ASKER) -> Form:
    """The questions as one form, with a field for each and one for the person's own words."""
    properties: dict[str, Any] = {}
    for number, question in enumerate(questions, 1):
        properties[name_field(question, number)] = _make_field(question)
    properties[OTHER] = {"type": "string", "description": "Anything else, in your own words"}
    message = "\n".join(_describe(question) for question in questions)
    return Form(asker, message, {"type": "object", "properties": properties})


def name_field(question: PersonQuestion, number: int) -> str:
    """The field of the form that answers a question."""
    return f"{number}. {question.header or 'answer'}"


def _make_field(question: PersonQuestion) -> dict[str, Any]:
    labels = list(dict.fromkeys(option.label for option in question.options))
    if question.multi_select:
        items = {"type": "string", "enum": labels}
        return {"type": "array", "items": items, "description": question.question}
    return {"type": "string", "enum": labels, "description": question.question}


def _describe(question: PersonQuestion) -> str:
    options = [f"  {option.label}: {option.description}" for option in question.options if option.description]
    return "\n".join([question.question, *options])


class FormAnswers(Struct, frozen=True):
    """What a person filled in."""

    choices: list[list[str]]
    """What was chosen for each question."""
    own_words: str
    """Empty if they wrote none."""


def read_answers(questions: Sequence[PersonQuestion], content: Any) -> FormAnswers:
    """What was filled into the form of these questions; what is no form is the person's own words."""
    given: Mapping[str, Any] = content if isinstance(content, Mapping) else {OTHER: content}
    chosen = [given.get(name_field(question, number)) for number, question in enumerate(questions, 1)]
    return FormAnswers([_list_choices(each) for each in chosen], str(given.get(OTHER) or ""))


def _list_choices(chosen: Any) -> list[str]:
    if chosen is None or chosen == "":
        return []
    return [str(each) for each in chosen] if isinstance(chosen, list | tuple) else [str(chosen)]


def _describe_answers(questions: list[PersonQuestion], content: Any) -> str:
    answers = read_answers(questions, content)
    lines = [
        f"{question.question} {', '.join(chosen) or '(nothing chosen)'}"
        for question, chosen in zip(questions, answers.choices, strict=True)
    ]
    if answers.own_words:
        lines.append(f"In their own words: {answers.own_words}")
    return "\n".join(lines)


MAX_STEPS = 200
OnPlan: TypeAlias = Callable[[tuple[Todo, ...]], None]
"""Called with all steps of a plan whenever it changes."""


class TodoItem(Struct):
    """One step, as a model writes it; what else it says is left to it."""

    content: Annotated[str, Meta(description="What is to be done")]
    status: Literal["pending", "in_progress", "completed"] = "pending"


class TodoArguments(Struct, forbid_unknown_fields=True):
    todos: Annotated[list[TodoItem], Meta(description="All steps, in their order: those that are done as well")]


class TodoTool(LocalTool):
    label = "TodoWrite"
    description = (
        "Write down the steps of a longer task, and keep them current: one step in_progress at a time, and completed "
        "as soon as it is. Each call replaces the whole list."
    )
    parameters = TodoArguments
    only_reads = True

    def __init__(self, on_plan: OnPlan) -> None:
        self._on_plan = on_plan
        self.steps: tuple[Todo, ...] = ()

    def assess(self, arguments: TodoArguments) -> LocalAccess:
        return LocalAccess(is_free=True, why="it only notes what is to be done")

    async def run(self, call: LocalCall) -> Result:
        items: list[TodoItem] = call.arguments.todos
        if len(items) > MAX_STEPS:
            raise ConfigError(f"TodoWrite: no more than {MAX_STEPS} steps, please.")
        self.steps = tuple(Todo(item.content, item.status) for item in items)
        self._on_plan(self.steps)
        left = sum(step.status != "completed" for step in self.steps)
        return text_result(f"Noted: {count_noun(len(items), 'step')}, {left} to do.")
