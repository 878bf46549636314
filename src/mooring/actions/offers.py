"""`resources`, `read`, `prompts` and `prompt`: what servers offer besides tools."""

import asyncio
from collections.abc import Mapping, Sequence
from time import time
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.actions.deadline import Deadline
from mooring.actions.opening import LATELY
from mooring.core.near import nearest
from mooring.core.result import FilledPrompt, Reading
from mooring.core.tool import Prompt
from mooring.errors import ConfigError, MooringError
from mooring.host.host import Host
from mooring.servers.items import Item
from mooring.servers.server import Server

What: TypeAlias = Literal["resources", "templates", "prompts"]


class Offered(Struct, frozen=True):
    """What was found, by whom it is offered, and why some could not be asked, by server."""

    items: tuple[Item, ...]
    failed: Mapping[str, str] = {}


async def list_offered(host: Host, what: What, deadline: Deadline, name: str | None = None) -> Offered:
    """The resources, templates or prompts of one server, or of all that have any.

    Raises: as `Host.server`, and ServerError, for one; for all, that is in `failed`.
    """
    if name is not None:
        server = host.server(name)
        async with deadline.covering(server.name, f"the list of its {what}"):
            return Offered(tuple(await _ask(host, what, server.name)))
    failed: dict[str, MooringError] = {**host.lately_failed(LATELY)}
    servers = [server for name, server in sorted(host.servers.items()) if server.name == name]
    asked = [server for server in servers if server.name not in failed and _may_have(server, what)]
    answers = await asyncio.gather(*(_attempt(host, what, server.name, deadline) for server in asked))
    found: list[Item] = []
    for server, answer in zip(asked, answers, strict=True):
        if isinstance(answer, MooringError):
            failed[server.name] = answer
        else:
            found += answer
    return Offered(tuple(found), {name: str(why) for name, why in sorted(failed.items())})


async def read_resource(host: Host, name: str, uri: str, deadline: Deadline) -> Reading:
    """What stands in a resource. Raises: as `Host.server`, and ServerError."""
    async with deadline.covering(name, uri):
        return await host.read(name, uri)


async def fill_prompt(host: Host, server: str, name: str, words: Sequence[str], deadline: Deadline) -> FilledPrompt:
    """A prompt with its arguments, `name=value`, filled in.

    Raises:
        ConfigError: there is no such prompt, or its arguments do not fit; nothing was asked for.
        UnknownServer, ServerDisabled, NotApproved, ServerError: as `Host.prompt`.
    """
    given = _pairs(words)
    async with deadline.covering(server, name):
        known = [item.item for item in await host.prompts(server) if isinstance(item.item, Prompt)]
        owner = host.server(server).name
        _check(owner, _find(owner, known, name), given)
        return await host.prompt(server, name, given)


async def _ask(host: Host, what: What, name: str) -> list[Item]:
    match what:
        case "resources":
            return await host.resources(name)
        case "templates":
            return await host.templates(name)
        case "prompts":
            return await host.prompts(name)


async def _attempt(host: Host, what: What, name: str, deadline: Deadline) -> list[Item] | MooringError:
    try:
        async with deadline.covering(name, f"the list of its {what}"):
            return await _ask(host, what, name)
    except MooringError as error:
        return error


def _may_have(server: Server, what: What) -> bool:
    """Whether it must be asked: one that said lately that it has none need not be started."""
    capability = "prompts" if what == "prompts" else "resources"
    offer = server.offer
    return offer is None or not offer.fresh(time(), LATELY) or offer.hello.offers(capability)


def _pairs(words: Sequence[str]) -> dict[str, str]:
    made = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"{word!r} is no argument; write it as name=value.")
        made[key] = value
    return made


def _find(server: str, known: Sequence[Prompt], name: str) -> Prompt:
    found = next((prompt for prompt in known if prompt.name == name), None)
    if found is None:
        near = nearest(name, [prompt.name for prompt in known])
        guess = f"Did you mean {' or '.join(near)}?" if near else "`mooring prompts` shows what it has."
        raise ConfigError(f"{server} has no prompt {name!r}. {guess}")
    return found


def _check(server: str, prompt: Prompt, given: Mapping[str, str]) -> None:
    known = [argument.name for argument in prompt.arguments or ()]
    for missing in (a.name for a in prompt.arguments or () if a.required and a.name not in given):
        raise ConfigError(f"{server}'s prompt {prompt.name} needs the argument {missing}; add {missing}=VALUE.")
    for extra in (name for name in given if name not in known):
        near = nearest(extra, known, 1)
        guess = f"Did you mean {near[0]}?" if near else f"It has {', '.join(known) or 'none'}."
        raise ConfigError(f"{server}'s prompt {prompt.name} has no argument {extra}. {guess}")
