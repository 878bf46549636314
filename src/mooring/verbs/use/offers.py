"""`resources`, `read`, `prompts` and `prompt`: what servers offer besides tools."""

import asyncio
from collections.abc import Mapping, Sequence
from time import time
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from mooring.core.conversation.status import KnownServer
from mooring.core.definitions.config import find_input_variables
from mooring.core.protocol.result import FilledPrompt, Reading
from mooring.core.protocol.tool import Item, Prompt, Resource
from mooring.core.text.suggestions import nearest
from mooring.display.text import quote_argument
from mooring.errors import MOST_NAMED, ConfigError, Denied, InputMissing, MooringError, NotApproved, RpcError
from mooring.host.host import Host
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import LATELY

What: TypeAlias = Literal["resources", "templates", "prompts"]


_CAPABILITIES: Final[Mapping[What, str]] = {"resources": "resources", "templates": "resources", "prompts": "prompts"}
"""The capability under which a server says that it has any."""


class Offered(Struct, frozen=True):
    """What was found, each item with its server, and by server why some could not be asked."""

    items: tuple[Item, ...]
    failed: Mapping[str, str] = {}
    has_servers: bool = True
    """Whether any server is configured at all."""


async def list_offered(host: Host, what: What, deadline: Deadline, name: str | None = None) -> Offered:
    """The resources, templates or prompts of one server, or of all that have any.

    Raises: as `Host.server`, and ServerError, for one; for all, errors are in `failed`.
    """
    if name is None:
        return await _list_all(host, what, deadline)
    server = await host.admit(name)
    return Offered(tuple(await _ask(host, what, server.name, deadline)))


async def read_resource(host: Host, name: str, uri: str, deadline: Deadline) -> Reading:
    """The content of a resource, by its address or its name.

    Raises: as `Host.server`, and ServerError, which may suggest another address.
    """
    server = await host.admit(name)
    async with deadline.enforce(server.name, uri):
        uri = uri if ":" in uri else await _find_address(host, name, uri)
        try:
            return await host.read(name, uri)
        except RpcError as error:
            suggestion = await _suggest_listed(host, name, uri)
            if suggestion:
                error.args = (f"{error}. {suggestion}",)
            raise


async def _find_address(host: Host, server: str, name: str) -> str:
    """The address of the one resource that a server lists under a name; the name itself if there is no such one."""
    try:
        listed = [item.item for item in await host.resources(server)]
    except MooringError:
        return name
    found = [each.uri for each in listed if isinstance(each, Resource) and name in (each.name, each.title)]
    return found[0] if len(found) == 1 else name


async def _suggest_listed(host: Host, server: str, uri: str) -> str:
    """Which address may have been meant; empty if the server lists this one, or its list cannot be had."""
    try:
        known = await list_addresses(host, server)
    except MooringError:
        return ""
    return "" if uri in known else suggest_resource(server, uri, known)


async def list_addresses(host: Host, server: str) -> list[str]:
    """The addresses of the resources that a server lists. Raises: as `Host.resources`."""
    return [item.item.uri for item in await host.resources(server) if isinstance(item.item, Resource)]


def suggest_resource(server: str, uri: str, known: Sequence[str]) -> str:
    """Which resource may have been meant by an address, or else which there are."""
    if near := nearest(uri, known, 1):
        return f"Did you mean {near[0]}?"
    if not known:
        return "It lists none."
    more = f", and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"It has {', '.join(known[:MOST_NAMED])}{more}; see: mooring resources {quote_argument(server)}"


async def fill_prompt(host: Host, server: str, name: str, words: Sequence[str], deadline: Deadline) -> FilledPrompt:
    """A prompt with its arguments, `name=value`, filled in.

    Raises:
        ConfigError: there is no such prompt, or its arguments do not fit; nothing was asked for.
        UnknownServer, ServerDisabled, NotApproved, ServerError: as `Host.prompt`.
    """
    arguments = parse_pairs(words)
    owner = (await host.admit(server)).name
    async with deadline.enforce(server, name):
        known = [item.item for item in await host.prompts(server) if isinstance(item.item, Prompt)]
        check_prompt_arguments(owner, find_prompt(owner, known, name), arguments)
        return await host.prompt(server, name, arguments)


# --- asking servers -------------------------------------------------------------------------------------------------


async def _list_all(host: Host, what: What, deadline: Deadline) -> Offered:
    # A server that failed moments ago would take the whole deadline again; it is reported with that failure instead.
    # By its own name: an alias leads to the same server, which is asked once.
    servers = {name: server for name, server in sorted(host.servers.items()) if server.name == name}
    failed: dict[str, MooringError] = {**host.lately_failed(LATELY), **_find_lacking(servers)}
    asked = [name for name, server in servers.items() if name not in failed and _may_have(server, what)]
    answers = await asyncio.gather(*(_try_ask(host, what, name, deadline) for name in asked))
    found: list[Item] = []
    for name, answer in zip(asked, answers, strict=True):
        match answer:
            case Denied() if not isinstance(answer, NotApproved):
                continue  # whoever denied it knows: a list of all servers leaves it out
            case MooringError():
                failed[name] = answer  # also that a server waits for an approval, which has to be said
            case _:
                found += answer
    errors = {name: str(error) for name, error in sorted(failed.items())}
    return Offered(tuple(found), errors, has_servers=bool(host.status()))


def _find_lacking(servers: Mapping[str, KnownServer]) -> dict[str, MooringError]:
    """The servers that would have to ask the person for a value: nobody named them, so nobody is asked."""
    lacking: dict[str, MooringError] = {}
    for name, server in servers.items():
        for input in server.pending_inputs[:1]:
            variables = find_input_variables(server.config.connection, input)
            lacking[name] = InputMissing(name, input, variables, named=False)
    return lacking


def _may_have(server: KnownServer, what: What) -> bool:
    """Whether it has to be asked: a server that said recently that it has none is not started for this."""
    offer = server.offer
    if offer is None or not offer.fresh(time()):
        return True
    return offer.hello.offers(_CAPABILITIES[what])


async def _try_ask(host: Host, what: What, name: str, deadline: Deadline) -> list[Item] | MooringError:
    try:
        return await _ask(host, what, name, deadline)
    except MooringError as error:
        return error


async def _ask(host: Host, what: What, name: str, deadline: Deadline) -> list[Item]:
    ask = {"resources": host.resources, "templates": host.templates, "prompts": host.prompts}[what]
    async with deadline.enforce(name, f"the request for its {what}"):
        return await ask(name)


# --- the arguments of a prompt --------------------------------------------------------------------------------------


def parse_pairs(words: Sequence[str]) -> dict[str, str]:
    """The arguments that `name=value` words spell out. Raises: ConfigError."""
    # The protocol has only strings here, so unlike a tool's arguments no value is read as JSON.
    pairs = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"{word!r} has no name; write it as name=value.")
        if key in pairs:
            raise ConfigError(f"{key} is given twice, but takes one value.")
        pairs[key] = value
    return pairs


def find_prompt(server: str, known: Sequence[Prompt], name: str) -> Prompt:
    """The prompt of that name among those of a server. Raises: ConfigError."""
    for prompt in known:
        if prompt.name == name:
            return prompt
    names = [prompt.name for prompt in known]
    raise ConfigError(f"{server} has no prompt {name!r}. {_guess_name(nearest(name, names), names)}")


def check_prompt_arguments(server: str, prompt: Prompt, given: Mapping[str, str]) -> None:
    """Refuse what the server would refuse, with a better message and before it is asked. Raises: ConfigError."""
    # First what is unknown: if something is missing besides, this is likely to be its name, misspelled.
    check_argument_names(server, prompt, given)
    for name in list_missing_arguments(prompt, given):
        raise ConfigError(f"{server}'s prompt {prompt.name} needs the argument {name}; add {name}=VALUE.")


def check_argument_names(server: str, prompt: Prompt, given: Mapping[str, str]) -> None:
    """Refuse arguments that a prompt doesn't have. Raises: ConfigError."""
    known = [argument.name for argument in prompt.arguments or ()]
    for name in given:
        if name not in known:
            guess = _guess_name(nearest(name, known, 1), known)
            raise ConfigError(f"{server}'s prompt {prompt.name} has no argument {name}. {guess}")


def list_missing_arguments(prompt: Prompt, given: Mapping[str, str]) -> list[str]:
    """The required arguments that were left out."""
    return [each.name for each in prompt.arguments or () if each.required and each.name not in given]


def _guess_name(near: Sequence[str], known: Sequence[str]) -> str:
    return f"Did you mean {' or '.join(near)}?" if near else f"It has {', '.join(known) or 'none'}."
