"""`mooring resources`, `read`, `prompts`, `prompt` and `watch`: what servers offer besides tools."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from mooring.cli.adhoc import label_server, make_setup, refuse_second_server, require_words, run_with_host
from mooring.cli.base import NO_SERVERS, Globals, echo, print_columns, print_json, say
from mooring.cli.output import check_output, save_output
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.core.conversation.host_event import Updated
from mooring.core.protocol.result import FilledPrompt, Reading
from mooring.core.protocol.tool import Item, Prompt, Resource, ResourceTemplate
from mooring.display import results
from mooring.display.text import safe, safe_text
from mooring.errors import ConfigError
from mooring.host.host import Host
from mooring.verbs.parse import UsageError
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.offers import What, fill_prompt, list_offered, read_resource
from mooring.verbs.use.opening import Setup
from mooring.verbs.use.watch import watch

_KEYS: Mapping[What, str] = {"resources": "resources", "templates": "resourceTemplates", "prompts": "prompts"}
"""What the protocol calls the lists."""

_NOUNS: Mapping[What, str] = {"resources": "resources", "templates": "resource templates", "prompts": "prompts"}


def run_resources(options: Globals, name: str | None, templates: bool, **server: Any) -> None:
    _show_offered(options, "templates" if templates else "resources", name, server)


def run_prompts(options: Globals, name: str | None, **server: Any) -> None:
    _show_offered(options, "prompts", name, server)


def _show_offered(options: Globals, what: What, name: str | None, server: Mapping[str, Any]) -> None:
    """List the resources, templates or prompts of one server, or of all, and print them as text or data."""
    setup = make_setup(options, server)
    wanted = name or setup.adhoc_name or None
    with Ticker(options, label_server(server, name or "the servers")):
        found = run_with_host(setup, lambda host, deadline: list_offered(host, what, deadline, wanted), named=wanted)
    if options.json:
        print_json({_KEYS[what]: [_make_item_data(item) for item in found.items], "failed": found.failed})
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
    text = item.item.description or item.item.title or ""
    return safe(item.server), safe(_describe_item(item)), safe(text.strip().partition("\n")[0])


def _make_item_data(item: Item) -> dict[str, object]:
    """An item with its server, under the names that the protocol uses."""
    offered = item.item
    common = {"server": item.server, "name": offered.name, "title": offered.title, "description": offered.description}
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
            spelled = (f"{each.name}=…" if each.required else f"[{each.name}=…]" for each in arguments or ())
            return " ".join((name, *spelled))


def run_read(options: Globals, words: tuple[str, ...], output: str | None, **server: Any) -> None:
    check_output(output)
    setup = make_setup(options, server)
    name, uri, *rest = require_words(setup, words, "URI", "resources")
    if rest:
        raise UsageError("One resource is read at a time.")

    async def work(host: Host, deadline: Deadline) -> None:
        reading = await read_resource(host, name, uri, deadline)
        # Shown before the server is closed, which may take a moment.
        ticker.clear()
        _show_reading(options, name, uri, reading, output)

    with Ticker(options, label_server(server, name)) as ticker:
        run_with_host(setup, work, named=name)


def _show_reading(options: Globals, server: str, uri: str, reading: Reading, output: str | None) -> None:
    if output is not None:
        save_output(options, output, results.reading_as_bytes(server, reading), results.name_reading_kind(reading))
    elif options.json:
        print_json(results.reading_as_data(server, reading))
    else:
        _print_reading(options, uri, reading, results.reading_as_bytes(server, reading))


def _print_reading(options: Globals, uri: str, reading: Reading, data: bytes) -> None:
    if not data:
        if not options.quiet:
            echo(f"{safe(uri)} is empty.", err=True)
    elif not sys.stdout.isatty():
        # A program gets it byte for byte, without a newline that is not part of it.
        echo(data, end="")
    elif results.is_text(reading):
        echo(safe_text(data.decode()))
    else:
        raise ConfigError(f"{uri} is not text; -o FILE keeps it.")


def run_prompt(options: Globals, words: tuple[str, ...], **server: Any) -> None:
    refuse_second_server(options, server, next(iter(words), ""))
    setup = make_setup(options, server)
    name, prompt, *arguments = require_words(setup, words, "PROMPT", "prompts")
    with Ticker(options, label_server(server, name)):
        filled = run_with_host(
            setup, lambda host, deadline: fill_prompt(host, name, prompt, arguments, deadline), named=name
        )
    if options.json:
        print_json(results.prompt_as_data(name, filled))
    elif filled.messages:
        _print_messages(filled)
    elif not options.quiet:
        echo(f"{safe(name)}'s prompt {safe(prompt)} has no messages.", err=True)


def _print_messages(filled: FilledPrompt) -> None:
    for message in filled.messages:
        text = results.block_as_text(message.content)
        say(f"{safe(message.role)}:", "title")
        echo(safe_text(text) if sys.stdout.isatty() else text.encode())


def run_watch(
    options: Globals, words: tuple[str, ...], interval: float | None, count: int | None, **server: Any
) -> None:
    refuse_second_server(options, server, next(iter(words), ""))
    setup = make_setup(options, server)
    name, target, *arguments = require_words(setup, words, "URI or TOOL", "resources", "tools")

    def tell(event: Updated) -> None:
        ticker.clear()
        _print_change(options, event)

    with Ticker(options, label_server(server, name)) as ticker:
        run_with_host(
            setup,
            lambda host, deadline: watch(
                host, name, target, arguments, tell, deadline, warn=ticker.warn, interval=interval, count=count
            ),
            named=name,
        )


def _print_change(options: Globals, event: Updated) -> None:
    if event.error is not None:
        echo(f"{safe(event.server)} {safe(event.target)}: {safe(event.error)}", err=True)
    elif options.json:
        echo(json.dumps({"server": event.server, "target": event.target, **_make_change_data(event)}))
    else:
        # One line for each change, whatever it holds: a program that reads along can count on it.
        echo(safe(_make_change_text(event).rstrip("\n").replace("\n", "\\n")))
    sys.stdout.flush()


def _make_change_data(event: Updated) -> dict[str, Any]:
    if event.content is None:
        return {}
    if isinstance(event.content, Reading):
        return results.reading_as_data(event.server, event.content)
    return results.as_data(event.content)


def _make_change_text(event: Updated) -> str:
    if event.content is None:
        return f"{event.target} changed"
    if isinstance(event.content, Reading):
        return results.reading_as_bytes(event.server, event.content).decode(errors="replace")
    return results.as_text(event.content)
