"""`mooring call`: parses the words of a call and shows its result."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from mooring.cli.adhoc import label_server, make_setup, refuse_second_server, run_with_host
from mooring.cli.base import UNHEALTHY, Globals, echo, pop_permissions, print_json
from mooring.cli.output import check_output, save_output, show_text
from mooring.cli.ticker import Ticker
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Tool
from mooring.core.protocol.units import MIB
from mooring.display.results import as_bytes, as_data, as_text, name_kind
from mooring.display.text import safe
from mooring.errors import ConfigError
from mooring.host.host import Host
from mooring.tools.schema.shape import Shape
from mooring.verbs.parse import UsageError
from mooring.verbs.use.arguments import LIMIT, build_arguments
from mooring.verbs.use.call import call
from mooring.verbs.use.deadline import Deadline


def run(
    options: Globals, tool: str, words: tuple[str, ...], given: str | None, output: str | None, **server: Any
) -> int:
    check_output(output)
    permissions = pop_permissions(server)
    if "-" in words:
        words, given = tuple(word for word in words if word != "-"), "-"
    if given == "-":
        given = _read_stdin()
    refuse_second_server(options, server, tool)
    setup = replace(make_setup(options, server), permissions=permissions)
    # An ad hoc server is not part of the name that was typed: dots in it belong to the tool's own name.
    name = (setup.adhoc_name, tool) if setup.adhoc_name else tool

    def fill(owner: str, found: Tool, typed: Sequence[str]) -> Mapping[str, Any]:
        _refuse_shared_options(options, found)
        return build_arguments(owner, found, typed, given, warn=ticker.warn)

    async def work(host: Host, deadline: Deadline) -> bool:
        result = await call(host, name, fill, ticker, deadline, words)
        # Shown before the servers are closed, which may take a moment.
        ticker.clear()
        _show(options, result, output)
        return result.is_error

    with Ticker(options, label_server(server, tool)) as ticker:
        failed = run_with_host(setup, work, named=tool if isinstance(name, str) else None)
    return UNHEALTHY if failed else 0


def _refuse_shared_options(options: Globals, tool: Tool) -> None:
    """Refuse an option behind a tool that has a parameter of that name. Raises: UsageError; nothing was sent."""
    known = Shape(tool.schema).properties_at(())
    for option in options.late:
        name = option.removeprefix("--")
        shared = next((each for each in (name, name.replace("-", "_")) if each in known), None)
        if option.startswith("--") and shared is not None:
            raise UsageError(
                f"{option} is an option of Mooring's, and {tool.name} has a parameter {shared!r}.",
                f"For the tool: {shared}=VALUE. For Mooring, put {option} before the tool's name.",
            )


def _show(options: Globals, result: Result, output: str | None) -> None:
    if output is not None:
        _save(options, result, output)
        return
    if options.json:
        print_json(as_data(result))
        return
    text = as_text(result)
    if text:
        if sys.stdout.isatty():
            show_text(text, options.workspace().where)
        else:
            # A program gets the text whole and byte for byte.
            echo(text.encode())
        sys.stdout.flush()
    elif not options.quiet:
        echo(f"{safe(result.server)}.{safe(result.tool)} returned nothing.", err=True)


def _save(options: Globals, result: Result, path: str) -> None:
    data = as_bytes(result)
    if data is None:
        raise ConfigError("The result has nothing to write to a file; --json shows it whole.")
    save_output(options, path, data, name_kind(result))


def _read_stdin() -> str:
    if sys.stdin is None:
        raise ConfigError("There is nothing to read: stdin is closed.")
    data = sys.stdin.buffer.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ConfigError(f"The arguments on stdin are larger than {LIMIT // MIB} MiB.")
    try:
        return data.decode()
    except UnicodeDecodeError:
        # Raised below, outside of this block: in its context, the decoding error would keep everything that was read.
        reason = "The arguments on stdin are not UTF-8 text."
    raise ConfigError(reason)
