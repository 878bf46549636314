"""The skills of servers as one conversation may use them."""

from collections.abc import Callable

from msgspec.structs import replace

from mooring.core.protocol.skill import MAIN_FILE, FoundSkills, OfferedSkill
from mooring.tools.tool import ToolHost


class ServerSkills:
    """The skills of those servers that the conversation may use."""

    def __init__(self, host: ToolHost, has_server: Callable[[str], bool]) -> None:
        self._host = host
        self._has_server = has_server

    async def list(self) -> FoundSkills:
        """All of them; a server that has not listed its skills on this connection is asked."""
        return self._narrow(await self._host.list_skills())

    @property
    def known(self) -> FoundSkills:
        """All that were listed so far."""
        return self._narrow(self._host.list_known_skills())

    async def find(self, name: str) -> OfferedSkill | None:
        """The skill that `server:skill` means; `None` if no server of that name offers skills.

        Raises: ConfigError if the server has no such skill; Denied; ServerError.
        """
        return await self._host.find_skill(name, self._has_server) if ":" in name else None

    async def read(self, offered: OfferedSkill, path: str = MAIN_FILE) -> str:
        """What a file of a skill says.

        Raises: ConfigError if the skill has no such file; Denied; ServerError if it is not what the server listed.
        """
        return await self._host.read_skill(offered, path)

    def _narrow(self, found: FoundSkills) -> FoundSkills:
        usable = {name: offered for name, offered in found.by_name.items() if self._has_server(offered.server)}
        return replace(found, by_name=usable)
