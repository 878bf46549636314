"""Tools as the provider of a model takes them, by name, description and schema; and the way back for a call."""

from collections.abc import Iterable, Mapping
from time import thread_time
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct, json

from mooring.core.conversation.call import ToolDefinition, ToolName
from mooring.core.protocol.tool import Tool
from mooring.errors import ProtocolError
from mooring.tools.schema.adapt import TOOL_NAMES, choose_names

if TYPE_CHECKING:
    from mooring.tools.schema.adapt import AdaptedSchema, Provider

MAX_DESCRIPTION: Mapping[str, int] = {"openai": 1024, "openai-strict": 1024}
"""How many characters a tool's description may have. OpenAI refuses the whole request over a longer one."""
MOST_TOOLS: Mapping[str, int] = {"openai": 128, "openai-strict": 128}
"""How many tools a model may be shown. OpenAI refuses a request with more."""

MAX_SECONDS = 1.0
"""How long the schemas of one server may take to adapt: 500 ordinary tools take a tenth of that."""
MAX_BYTES = 128 * 1024
"""The largest schema that is handed out: written without references, 64 bytes can come to a megabyte."""


class AdaptedTool(Struct, frozen=True):
    """A tool as one provider takes it."""

    description: str
    schema: Raw
    """Bytes, because conversations share it: whoever is handed a schema may change it."""
    adapted: "AdaptedSchema"
    tool: Tool
    """What it was made of: a tool of the agent's own may describe itself differently later."""


class ProviderTools:
    """Tools as one provider takes them, each adapted when it is first needed; as they are if no provider is named.

    Tools go by their names in the catalog. The names that the provider gets are the same wherever it takes them.
    """

    def __init__(self, provider: "Provider | None", names: Iterable[str]) -> None:
        self._provider = provider
        self._adapted: dict[str, AdaptedTool] = {}
        self._seconds: dict[str | None, float] = {}
        """The time that the schemas of each server took."""
        chosen = {} if provider is None else choose_names(names, TOOL_NAMES)
        self._shown = {name: shown for name, shown in chosen.items() if shown != name}
        self._meant = {shown: name for name, shown in self._shown.items()}

    def shown_name(self, name: str) -> str:
        """The name that the provider gets for a tool."""
        return self._shown.get(name, name)

    def meant_name(self, shown: str) -> str:
        """The tool that a name means which the provider was given."""
        return self._meant.get(shown, shown)

    def define(self, name: str, tool: Tool, server: str | None = None) -> ToolDefinition:
        """A tool as a model is shown it. The schema is the caller's own, to change as they like."""
        if self._provider is None:
            return _define(name, tool, server, tool.description or tool.title or "", read_schema(tool))
        made = self._adapt(self._provider, name, tool, server)
        schema = json.decode(made.schema)
        return _define(self.shown_name(name), tool, server, made.description, schema, made.adapted.strict)

    def restore(self, name: str, tool: Tool, server: str | None, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments that a model sent, as the tool itself takes them."""
        if self._provider is None:
            return arguments
        return self._adapt(self._provider, name, tool, server).adapted.restore(arguments)

    def _adapt(self, provider: "Provider", name: str, tool: Tool, server: str | None) -> AdaptedTool:
        made = self._adapted.get(name)
        if made is None or made.tool is not tool:
            description = _shorten(tool.description or tool.title or "", MAX_DESCRIPTION.get(provider))
            adapted = self._adapt_schema(provider, tool, server)
            made = self._adapted[name] = AdaptedTool(description, Raw(json.encode(adapted.schema)), adapted, tool)
        return made

    def _adapt_schema(self, provider: "Provider", tool: Tool, server: str | None) -> "AdaptedSchema":
        """A schema as the provider takes it; one that allows any object where that takes a server's tools too long."""
        from mooring.tools.schema.adapt import adapt  # many conversations are with no provider's model

        spent = self._seconds.get(server, 0.0)
        if spent < MAX_SECONDS:
            began = thread_time()
            adapted = adapt(read_schema(tool), provider)
            is_small = len(json.encode(adapted.schema)) <= MAX_BYTES
            self._seconds[server] = spent + thread_time() - began
            if is_small:
                return adapted
        return adapt({"type": "object"}, provider)


def read_schema(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments; one that can't be read becomes one that allows any object."""
    try:
        return tool.schema
    except ProtocolError:
        return {"type": "object"}


def _define(
    name: str, tool: Tool, server: str | None, description: str, schema: dict[str, Any], strict: bool = False
) -> ToolDefinition:
    try:
        output_schema = tool.result_schema
    except ProtocolError:
        output_schema = None
    return ToolDefinition(
        ToolName(name), description, schema, server, tool.name, tool.title, tool.annotations, output_schema, strict
    )


def _shorten(text: str, longest: int | None) -> str:
    if longest is None or len(text) <= longest:
        return text
    return f"{text[: longest - 1]}…"
