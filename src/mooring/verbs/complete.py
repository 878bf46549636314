"""What a word of a verb can become, by what its row calls it: what is known is looked up, and no server is started."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.core.definitions.paths import Workspace
from mooring.inventory.load import Inventory, load
from mooring.settings import SETTINGS

if TYPE_CHECKING:
    from mooring.verbs.use.complete import KnownServers

MOST_SESSIONS = 100
"""How many sessions are offered."""


class TypedWord(Struct, frozen=True):
    """A word that is being typed, with what was typed before it."""

    text: str
    workspace: Workspace
    words: Sequence[str] = ()
    """The words before it that belong to the same argument."""
    tool: str = ""
    """The tool of `mooring call`, if this is one of its arguments."""
    earlier: Sequence[str] = ()
    """The words before it of all arguments."""
    is_adhoc: bool = False
    """The server is named by its command or address: nothing is known of it."""

    def load(self) -> Inventory:
        """What is configured. Raises: MooringError."""
        return load(self.workspace, remember=False)

    def find_known(self, find: "Callable[[KnownServers], list[str]]") -> list[str]:
        """What is known of the configured servers. Raises: MooringError."""
        if self.is_adhoc:
            return []
        from mooring.verbs.use.complete import KnownServers  # the names of servers are completed without it

        return find(KnownServers(self.load(), self.workspace.where))

    def keep_matching(self, names: Iterable[str]) -> list[str]:
        """The names that begin like the word."""
        return [name for name in names if name.startswith(self.text)]


def _offer_servers(typed: TypedWord) -> list[str]:
    begin = typed.text.casefold()
    return [choice.name for choice in typed.load().choices if choice.name.casefold().startswith(begin)]


def _offer_tools(typed: TypedWord) -> list[str]:
    return typed.find_known(lambda known: known.complete_tools(typed.text))


def _offer_of_server(list_items: "Callable[[KnownServers, str], list[str]]", typed: TypedWord) -> list[str]:
    """A server, then one of its items."""
    match typed.words:
        case []:
            return _offer_servers(typed)
        case [server]:
            return typed.keep_matching(typed.find_known(lambda known: list_items(known, server)))
        case _:
            return []


_offer_resources = partial(_offer_of_server, lambda known, server: known.list_addresses(server))


def _offer_tool_words(typed: TypedWord) -> list[str]:
    """A server and its tool, in one word or two."""
    offered = _offer_of_server(lambda known, server: known.list_tools(server), typed)
    return offered if offered or typed.words else _offer_tools(typed)


def _offer_watched(typed: TypedWord) -> list[str]:
    """A server, then the address of a resource or a tool, then the tool's arguments."""
    if len(typed.words) == 1:
        return [*_offer_resources(typed), *_offer_tool_words(typed)]
    if not typed.words:
        return _offer_servers(typed)
    server, *words = typed.words
    return _offer_arguments(typed, server, words)


def _offer_arguments(typed: TypedWord, tool: str, words: Sequence[str]) -> list[str]:
    return typed.find_known(lambda known: known.complete_argument(tool, words, typed.text))


def _offer_prompt(typed: TypedWord) -> list[str]:
    """A server, then one of its prompts, then the names of its arguments."""
    if len(typed.words) < 2:
        return _offer_of_server(lambda known, server: known.list_prompts(server), typed)
    server, prompt, *_ = typed.words
    return typed.keep_matching(typed.find_known(lambda known: known.list_prompt_arguments(server, prompt)))


def _offer_agents(typed: TypedWord) -> list[str]:
    from mooring.verbs.agent.agents import list_agent_names  # as below: each completion loads what it needs alone

    return typed.keep_matching(list_agent_names(typed.workspace))


def _offer_sessions(typed: TypedWord) -> list[str]:
    from mooring.verbs.agent.sessions import list_sessions

    return typed.keep_matching(each.id for each in list_sessions(typed.workspace.where, None, MOST_SESSIONS))


def _offer_secrets(typed: TypedWord) -> list[str]:
    import asyncio

    from mooring.verbs.config.secrets import list_stored_secrets

    stored = asyncio.run(list_stored_secrets(typed.workspace.where))
    return typed.keep_matching(secret.name for secret in stored)


def _offer_setting_values(typed: TypedWord) -> list[str]:
    setting = SETTINGS.get(typed.earlier[0]) if typed.earlier else None
    return [] if setting is None else typed.keep_matching(setting.choices)


def _offer_setting_items(typed: TypedWord) -> list[str]:
    return _offer_servers(typed) if "trustedServers" in typed.earlier else []


def _offer_rules(typed: TypedWord) -> list[str]:
    from mooring.permissions.rule import spell_rule
    from mooring.verbs.config.rules import list_own_rules

    return typed.keep_matching(spell_rule(rule) for rule in list_own_rules(typed.workspace))


def _offer_taken_names(typed: TypedWord, *, approved: bool = False) -> list[str]:
    from mooring.verbs.config.taken_names import list_taken_names

    listed = list_taken_names(typed.workspace)
    return typed.keep_matching(sorted({each.taken.name for each in listed if each.approved is approved}))


def _offer_decided(typed: TypedWord) -> list[str]:
    from mooring.verbs.config.reset import list_answers

    answers = list_answers(typed.workspace, typed.load())
    return [*_offer_servers(typed), *typed.keep_matching(answers)]


def _offer_sources(typed: TypedWord) -> list[str]:
    from mooring.verbs.config.import_servers import list_tools

    return typed.keep_matching(list_tools())


def _offer_holders(typed: TypedWord) -> list[str]:
    """The tools that define the server that is named, or any, in files that can be written."""
    from mooring.discovery.targets import list_writers
    from mooring.inventory.approval import list_definitions

    named = [choice for choice in typed.load().choices if not typed.earlier or choice.name in typed.earlier]
    holders = {definition.origin.tool for choice in named for definition in list_definitions(choice)}
    return typed.keep_matching(tool for tool in list_writers() if tool in holders)


def _offer_own_tools(typed: TypedWord) -> list[str]:
    """The tools of all servers, by their own names."""

    def list_own(known: "KnownServers") -> list[str]:
        return list(dict.fromkeys(tool for server in known.names for tool in known.list_tools(server)))

    return typed.keep_matching(typed.find_known(list_own))


def _offer_writers(typed: TypedWord) -> list[str]:
    from mooring.discovery.targets import list_writers

    return typed.keep_matching(list_writers())


OFFERS: Mapping[str, Callable[[TypedWord], list[str]]] = {
    "agent": _offer_agents,
    "approved_name": partial(_offer_taken_names, approved=True),
    "argument": lambda typed: _offer_arguments(typed, typed.tool, typed.words),
    "decided": _offer_decided,
    "first_server": lambda typed: [] if typed.words else _offer_servers(typed),
    "holder": _offer_holders,
    "own_tool": _offer_own_tools,
    "prompt": _offer_prompt,
    "resource": _offer_resources,
    "rule": _offer_rules,
    "secret": _offer_secrets,
    "server": _offer_servers,
    "session": _offer_sessions,
    "setting": lambda typed: typed.keep_matching(SETTINGS),
    "setting_item": _offer_setting_items,
    "setting_value": _offer_setting_values,
    "source": _offer_sources,
    "taken_name": _offer_taken_names,
    "tool": _offer_tools,
    "tool_words": _offer_tool_words,
    "watched": _offer_watched,
    "writer": _offer_writers,
}
"""What can be offered for a word, by what a row calls it. Raises: MooringError."""

PATHS: Mapping[str, str] = {"file": "file", "folder": "dir"}
"""What rows call a path, and what shells call what they complete it to."""
