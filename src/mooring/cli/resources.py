"""`mooring resources`: lists the resources of servers; `prompts` shares how items are shown."""

from collections.abc import Mapping
from typing import Any

from mooring.cli.adhoc import choose_server, label_server, make_setup, run_with_host
from mooring.cli.base import NO_SERVERS, Globals, print_columns, print_json, say, summarize
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.core.protocol.tool import Argument, Prompt, Resource, ResourceTemplate
from mooring.display.text import safe
from mooring.servers.items import Item
from mooring.verbs.use.offers import What, list_offered
from mooring.verbs.use.opening import Setup


def run(options: Globals, name: str | None, templates: bool, **server: Any) -> None:
    """The resources of all servers, or of one."""
    show_offered(options, "templates" if templates else "resources", name, server)


_KEYS: Mapping[What, str] = {"resources": "resources", "templates": "resourceTemplates", "prompts": "prompts"}
"""What the protocol calls the lists."""

_NOUNS: Mapping[What, str] = {"resources": "resources", "templates": "resource templates", "prompts": "prompts"}


def show_offered(options: Globals, what: What, name: str | None, server: Mapping[str, Any]) -> None:
    """List the resources, templates or prompts of one server, or of all, and print them as text or data."""
    setup = make_setup(options, server)
    wanted = choose_server(setup, name)
    with Ticker(options, label_server(server, name or "the servers")):
        found = run_with_host(setup, lambda host, deadline: list_offered(host, what, deadline, wanted), named=wanted)
    if options.json:
        print_json({_KEYS[what]: [_make_data(item) for item in found.items], "failed": found.failed})
    else:
        print_columns([_make_cells(item) for item in found.items])
        if not found.items and not found.failed and not options.quiet:
            nothing = f"{_name_owner(setup, name)} {_NOUNS[what]}."
            say(nothing if found.has_servers else NO_SERVERS, err=True)
    warn(options, failed=found.failed)


def _name_owner(setup: Setup, name: str | None) -> str:
    if setup.adhoc_name:
        return "It offers no"
    return f"{safe(name)} offers no" if name else "No server offers any"


def _make_cells(item: Item) -> tuple[str, ...]:
    return safe(item.server), safe(_describe_item(item)), safe(summarize(item.item))


def _make_data(item: Item) -> dict[str, object]:
    """An item with its server, under the names that the protocol uses."""
    offered = item.item
    common = {
        "server": item.server,
        "name": offered.name,
        "title": offered.title,
        "description": offered.description,
    }
    match offered:
        case Resource(uri=uri, mime_type=kind, size=size):
            return {**common, "uri": uri, "mimeType": kind, "size": size}
        case ResourceTemplate(uri_template=uri, mime_type=kind):
            return {**common, "uriTemplate": uri, "mimeType": kind}
        case Prompt(arguments=arguments):
            return {**common, "arguments": arguments or ()}


def _describe_item(item: Item) -> str:
    """What `mooring read` or `mooring prompt` takes."""
    match item.item:
        case Resource(uri=uri):
            return uri
        case ResourceTemplate(uri_template=uri):
            return uri
        case Prompt(name=name, arguments=arguments):
            return " ".join((name, *map(_describe_argument, arguments or ())))


def _describe_argument(argument: Argument) -> str:
    return f"{argument.name}=…" if argument.required else f"[{argument.name}=…]"


def run_prompts(options: Globals, name: str | None, **server: Any) -> None:
    """The prompts of all servers, or of one."""
    show_offered(options, "prompts", name, server)
