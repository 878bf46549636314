"""`tools SERVER.TOOL`: one tool in full, with an example that can be pasted."""

from collections.abc import Callable

from msgspec import Struct

from mooring.core.protocol.tool import Pair
from mooring.host.host import Host
from mooring.tools.arguments.example import make_example
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.schema.parameters import Parameter, list_parameters, write_signature
from mooring.verbs.use.arguments import spell_arguments
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.naming import find_tool
from mooring.verbs.use.opening import connect_server


class ToolHelp(Struct, frozen=True):
    """What a person has to know to call a tool."""

    entry: CatalogEntry
    signature: str
    parameters: tuple[Parameter, ...]
    example: tuple[str, ...] | None
    """The words after its name in a call that fits its schema; `None` if none was found."""


async def describe_tool(
    host: Host, deadline: Deadline, name: str | Pair, on_guess: Callable[[CatalogEntry], None], *, refresh: bool = False
) -> ToolHelp:
    """One tool in full; its server is started only if the tool is unknown, or with `refresh`.

    Raises: as `find_tool`; ProtocolError if its schema cannot be read.
    """
    with deadline.reword_timeouts(name if isinstance(name, str) else ".".join(name)):
        entry = await find_tool(host, name, deadline, on_guess)
        if refresh:
            await connect_server(host, deadline, entry.server)
            entry = await host.find((entry.server, entry.tool), deadline.seconds_left)
    parameters = list_parameters(entry.schema)
    arguments = make_example(entry.definition)
    example = None if arguments is None else tuple(spell_arguments(arguments, entry.schema))
    return ToolHelp(entry, write_signature(entry.tool, parameters), tuple(parameters), example)
