"""A tool that works on this machine: it says what a call would touch before the gate decides whether it may."""

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.conversation.function import define_tool, read_arguments
from mooring.conversation.skills import ServerSkills
from mooring.conversation.tool import Arguments, OnProgress, OnStart
from mooring.core.conversation.call import CallId, ToolDefinition, ToolName
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.content import Text
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Hints, Tool

MayOpen: TypeAlias = Callable[[LocalAccess], bool]
"""Whether a file that a call comes across may be opened or named: see `Conversation.may_open`."""
CallTool: TypeAlias = Callable[[str, Arguments], Awaitable[Outcome]]


class LocalCall(Struct, frozen=True):
    """One call that was permitted, and what it may ask of the conversation that it belongs to."""

    id: CallId
    arguments: Any
    """As the struct that the tool described its arguments by."""
    access: LocalAccess
    may_open: MayOpen
    call_tool: CallTool
    """Calls another tool of the conversation, which passes the gate by itself."""
    find_tool: Callable[[str], ToolDefinition | None]
    """The tool of the conversation that a name means."""
    skills: ServerSkills


class LocalTool:
    """One of an agent's own tools for this machine. Each belongs to one conversation, which closes it."""

    server = None
    origin = "this machine"
    label: str
    """Its name, as agent files write it."""
    description: str
    parameters: type[Struct]
    """The arguments, as a struct."""
    aliases: tuple[str, ...] = ()
    """Other names under which a rule may deny it or ask about it: whoever denies `Edit` means `Write` too."""
    other_names: tuple[str, ...] = ()
    """Other names that a model may call it by."""
    is_offered = True
    """Whether a model is shown it. One that isn't says why, if it is called all the same."""
    raises_answers = False
    """Whether what its work raises was raised by whoever was asked something, and ends the turn as it does anywhere."""
    only_reads = False
    max_tokens: int | None = None
    """How much of a result is given to the model at once, if that is less than for other tools."""

    @property
    def name(self) -> ToolName:
        return ToolName(self.label)

    @cached_property
    def definition(self) -> Tool:
        return define_tool(self.name, self.description, self.parameters, self.hints)

    @property
    def hints(self) -> Hints:
        return Hints(read_only_hint=self.only_reads)

    def parse(self, arguments: Arguments) -> Any:
        """The arguments as the struct that describes them. Raises: BadArguments."""
        return read_arguments(self.name, arguments, self.parameters)

    def assess(self, arguments: Any) -> LocalAccess:
        """What a call with these arguments would touch. May read files, so it is called in a thread.

        Raises: MooringError if it cannot be made at all.
        """
        raise NotImplementedError

    async def run(self, call: LocalCall) -> Result:
        """Do the work of a call that was permitted. Raises: MooringError."""
        raise NotImplementedError

    async def call(self, arguments: Arguments, on_start: OnStart, on_progress: OnProgress) -> Result:
        """Not for a local tool: its calls go through `assess`, the gate and `run`, which its conversation does."""
        raise NotImplementedError

    async def close(self) -> None:
        """End what is left of its calls."""


def text_result(text: str, *, failed: bool = False) -> Result:
    """A result that is one text. Names of files may hold bytes that are no text: those become question marks."""
    return Result((Text(text.encode(errors="replace").decode()),), is_error=failed)
