"""Words for a shell to complete, from what is configured and cached; starts no server and writes nothing."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from mooring.core.definitions.paths import Paths
from mooring.core.protocol.tool import Offer, Prompt, Tool
from mooring.core.text.suggestions import find_server
from mooring.errors import ProtocolError, UnknownServer
from mooring.inventory.admit import Admitted, admit
from mooring.inventory.load import Inventory
from mooring.servers.cache import recall
from mooring.tools.catalog.catalog import ToolSource


class KnownServers:
    """The configured servers, with what each offered when it was last connected."""

    def __init__(self, inventory: Inventory, where: Paths) -> None:
        self._inventory = inventory
        self._where = where

    def complete_tools(self, typed: str) -> list[str]:
        """What `server.tool` could become; only the servers, while several of them still fit."""
        servers = self.names
        possible = keep_matching([f"{name}." for name in servers], typed)
        if len(possible) > 1:
            return possible
        # A server's name can hold dots, so what was typed may begin with the names of several servers.
        meant = [name for name in servers if typed.casefold().startswith(f"{name}.".casefold())]
        if not meant:
            meant = [name.removesuffix(".") for name in possible]
        spelled = [f"{name}.{tool}" for name in dict.fromkeys(meant) for tool in self.list_tools(name)]
        return keep_matching(spelled, typed) or possible

    def complete_argument(self, first: str, words: Sequence[str], typed: str) -> list[str]:
        """What the word after these could become: a tool of the server `first`, a parameter, or the value of one."""
        if not words and self._is_server(first):
            return keep_matching(self.list_tools(first), typed)
        tool, given = self._find_tool(first, words)
        if tool is None:
            return []
        # Loaded here: completing a name needs nothing of what schemas say.
        from mooring.tools.schema.parameters import list_parameters

        try:
            parameters = list_parameters(tool.schema)
        except ProtocolError:
            return []
        name, equals, _ = typed.partition("=")
        if equals:
            values = [value for each in parameters if each.name == name for value in each.values]
            return keep_matching([f"{name}={value}" for value in values], typed)
        used = {word.partition("=")[0] for word in given}
        left = [each.name for each in parameters if each.name not in used or each.is_list]
        return keep_matching([f"{each}=" for each in left], typed)

    def list_tools(self, server: str) -> list[str]:
        return [tool.name for tool in self._list_definitions(server)]

    def list_addresses(self, server: str) -> list[str]:
        """The addresses of a server's resources, as far as they were ever listed."""
        offer = self._recall(server)
        listed = offer.resources if offer is not None else None
        return [] if listed is None else [resource.uri for resource in listed.items]

    def list_prompts(self, server: str) -> list[str]:
        """The prompts of a server, as far as they were ever listed."""
        return [prompt.name for prompt in self._list_known_prompts(server)]

    def list_prompt_arguments(self, server: str, name: str) -> list[str]:
        """The arguments of a prompt, as they are typed."""
        known = {prompt.name: prompt.arguments for prompt in self._list_known_prompts(server)}
        arguments = known.get(name) or ()
        return [f"{argument.name}=" for argument in arguments]

    def _list_known_prompts(self, server: str) -> tuple[Prompt, ...]:
        offer = self._recall(server)
        listed = offer.prompts if offer is not None else None
        return () if listed is None else listed.items

    @property
    def names(self) -> list[str]:
        return [choice.name for choice in self._inventory.choices]

    def _is_server(self, name: str) -> bool:
        try:
            find_server(name, self.names)
        except UnknownServer:
            return False
        return True

    def _find_tool(self, first: str, words: Sequence[str]) -> tuple[Tool | None, Sequence[str]]:
        """The tool that the words name, in each of the ways in which `mooring call` takes it, and what follows it."""
        if self._is_server(first):
            return self._find_definition(first, words[0]), words[1:]
        for name in self.names:
            if first.casefold().startswith(f"{name}.".casefold()):
                found = self._find_definition(name, first[len(name) + 1 :])
                if found is not None:
                    return found, words
        named = [self._find_definition(name, first) for name in self._admitted.wanted]
        found_alone = [tool for tool in named if tool is not None]
        return found_alone[0] if len(found_alone) == 1 else None, words

    def _find_definition(self, server: str, name: str) -> Tool | None:
        return next((tool for tool in self._list_definitions(server) if tool.name == name), None)

    def _list_definitions(self, server: str) -> list[Tool]:
        offer = self._recall(server)
        if offer is None:
            return []
        config = self._admitted.wanted[self._find_own_name(server)].config
        source = ToolSource(server, offer.tools.items, "", config.tools_allow, config.tools_deny)
        return [tool for tool in source.tools if source.offers(tool.name)]

    def _recall(self, server: str) -> Offer | None:
        approved = self._admitted.wanted.get(self._find_own_name(server))
        if approved is None:
            return None
        return recall([approved], self._where).get(approved.name)

    def _find_own_name(self, server: str) -> str:
        """The name that stands for a server among its names. Raises: UnknownServer."""
        name = find_server(server, self.names)
        alias = self._admitted.aliases.get(name)
        return name if alias is None else alias.server

    @cached_property
    def _admitted(self) -> Admitted:
        return admit(self._inventory)


def keep_matching(names: Iterable[str], typed: str) -> list[str]:
    """The names that begin like what was typed, in any case."""
    return [name for name in names if name.casefold().startswith(typed.casefold())]
