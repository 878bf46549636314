"""A typed Python function as a tool that a model can call."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints, overload

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, ValidationError

from mooring.conversation.tool import Arguments, OnProgress, OnStart
from mooring.core.conversation.call import ToolName
from mooring.core.protocol.content import Audio, Embedded, Image, ResourceLink, Text
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Hints, Tool
from mooring.errors import BadArguments, ConfigError

SCHEMAS = os.path.join(os.path.dirname(__file__), "argument_schemas.json")
"""The schemas of what Mooring's own tools take, by the names of their structs."""
_BLOCKS = (Text, Image, Audio, ResourceLink, Embedded)


class FunctionTool:
    """A function of the program's own, for `Host.conversation(more=…)`. `tool` makes one."""

    server = None
    origin = "this program"

    def __init__(self, function: Callable[..., Any], name: str, description: str, hints: Hints) -> None:
        """Raises: ConfigError if a parameter's type has no JSON schema."""
        self._function = function
        import inspect  # most conversations have no function, and it takes 10 ms to load

        self._is_coroutine = inspect.iscoroutinefunction(function)
        self._parameters = _make_parameters(function, name)
        self.name = ToolName(name)
        self.definition = define_tool(name, description, self._parameters, hints)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were no tool."""
        return self._function(*args, **kwargs)

    async def call(self, arguments: Arguments, on_start: OnStart, on_progress: OnProgress) -> Result:
        given = read_arguments(self.name, arguments, self._parameters)
        on_start()
        values = {name: getattr(given, name) for name in self._parameters.__struct_fields__}
        if self._is_coroutine:
            return _make_result(await self._function(**values))
        # In a thread: a function that takes its time must not hold up every other conversation.
        answer = await asyncio.to_thread(self._function, **values)
        return _make_result(await answer if isinstance(answer, Awaitable) else answer)


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...


@overload
def tool(
    *, name: str = "", description: str = "", read_only: bool = False
) -> Callable[[Callable[..., Any]], FunctionTool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, *, name: str = "", description: str = "", read_only: bool = False
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Make a tool of a function, for `Host.conversation(more=[…])`; also as a decorator.

    The name, the description and the parameters come from the function: its docstring, and the types of its parameters,
    which `Annotated[int, "how many"]` describes. It may be a coroutine; else it runs in a thread. It returns text,
    content blocks, anything that JSON can hold, or a `Result`. What it raises is told to the model. Rules and the log
    treat it like any other tool; in plan mode only a `read_only` one is called.

    Raises:
        ConfigError: a parameter has a type that no JSON schema can describe, or takes any number of arguments.
    """

    def make(function: Callable[..., Any]) -> FunctionTool:
        import inspect  # as in `FunctionTool`

        words = description or (inspect.getdoc(function) or "").strip().partition("\n\n")[0]
        return FunctionTool(function, name or function.__name__, words, Hints(read_only_hint=read_only))

    return make if function is None else make(function)


def _make_parameters(function: Callable[..., Any], tool: str) -> type[Struct]:
    """A struct with a field for each parameter."""
    import inspect  # as in `FunctionTool`

    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ConfigError(f"{tool} cannot be a tool: its parameter {parameter.name} has no name to pass it by.")
        kind = _describe(hints.get(parameter.name, Any))
        if parameter.default is parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, _keep_default(parameter.default)))
    return msgspec.defstruct(tool, fields, kw_only=True, forbid_unknown_fields=True)


def _keep_default(value: Any) -> Any:
    """The default of a parameter, as a field of a struct has it."""
    if isinstance(value, list | dict | set):
        return msgspec.field(default_factory=lambda: value)
    return value


def _describe(kind: Any) -> Any:
    """The same type; a text beside it, as in `Annotated[int, "how many"]`, becomes its description."""
    if get_origin(kind) is not Annotated:
        return kind
    plain, *notes = get_args(kind)
    described = [Meta(description=note) if isinstance(note, str) else note for note in notes]
    return Annotated[plain, *described]


def define_tool(name: str, description: str, parameters: type[Struct], hints: Hints) -> Tool:
    """A tool whose arguments are a struct. Raises: as `make_schema`."""
    schema = Raw(msgspec.json.encode(make_schema(parameters, name)))
    return Tool(name=name, input_schema=schema, description=description, annotations=hints)


def read_arguments(tool: str, arguments: Arguments, parameters: type[Struct]) -> Any:
    """The arguments as the struct that describes them. Raises: BadArguments."""
    try:
        # Not strict: a model writes `"10"` where a number is meant, an int for a float, and JSON has no dates.
        return msgspec.convert(dict(arguments), parameters, strict=False)
    except ValidationError as error:
        raise BadArguments("Mooring", tool, str(error), words=f"{tool}: {error}.") from error


def make_schema(parameters: type[Struct], tool: str) -> dict[str, Any]:
    """The schema of a struct of arguments. Raises: as `write_schema`."""
    if parameters.__module__.startswith("mooring."):
        # Written down by `make docs`: describing all of them anew would take 25 ms at the first request of each start.
        with open(SCHEMAS, "rb") as file:
            written = msgspec.json.decode(file.read(), type=dict[str, Raw])
        found = written.get(f"{parameters.__module__}.{parameters.__qualname__}")
        if found is not None:
            return msgspec.json.decode(found, type=dict[str, Any])
    return write_schema(parameters, tool)


def write_schema(parameters: type[Struct], tool: str) -> dict[str, Any]:
    """The same, from the types of its fields. Raises: ConfigError if a field has one that no schema can describe."""
    try:
        [reference], shared = msgspec.json.schema_components([parameters], ref_template="#/$defs/{name}")
    except TypeError as error:
        raise ConfigError(f"{tool} cannot be a tool: {error}.") from error
    # The struct goes by the tool's name, in which msgspec replaces what no Python name may have.
    own = shared.pop(reference["$ref"].removeprefix("#/$defs/"))
    own.pop("title", None)
    if shared:
        own["$defs"] = shared
    return {"type": "object", "properties": {}, **own, "additionalProperties": False}


def _make_result(answer: Any) -> Result:
    match answer:
        case Result():
            return answer
        case None:
            return Result()
        case str():
            return Result((Text(answer),))
        case Text() | Image() | Audio() | ResourceLink() | Embedded():
            return Result((answer,))
        case list() | tuple() if answer and all(isinstance(part, _BLOCKS) for part in answer):
            return Result(tuple(answer))
    encoded = msgspec.json.encode(answer)
    structured = Raw(encoded) if isinstance(answer, Mapping | Struct) else UNSET
    return Result((Text(encoded.decode()),), structured_content=structured)
