"""`TodoWrite`: the steps that the agent means to take, for a person to follow."""

from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from mooring.conversation.local_tool import LocalCall, LocalTool, text_result
from mooring.core.conversation.event import Todo
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.result import Result
from mooring.display.text import count_noun
from mooring.errors import ConfigError

MAX_STEPS = 200
OnPlan: TypeAlias = Callable[[tuple[Todo, ...]], None]
"""Called with all steps of a plan whenever it changes."""


class TodoItem(Struct):
    """One step, as a model writes it; what else it says is left to it."""

    content: Annotated[str, Meta(description="What is to be done")]
    status: Literal["pending", "in_progress", "completed"] = "pending"


class TodoArguments(Struct, forbid_unknown_fields=True):
    """What `TodoWrite` takes."""

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
