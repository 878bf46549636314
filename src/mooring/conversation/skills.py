"""The skills that servers offer: listed when they are needed, and read only if they are what was listed.

Each list and each reading passes the gate as one of the server's resources does. The texts are the servers' own:
nothing in them is run, and nothing that they name is attached.
"""

import asyncio
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

from mooring.conversation.lookup import Lookup
from mooring.conversation.requests import LIST_SKILLS, Requests
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.result import Reading
from mooring.core.protocol.skill import MAIN_FILE, FoundSkills, OfferedSkill, ServerSkill, SkillFile, name_skills
from mooring.core.protocol.tool import Listing
from mooring.core.text.suggestions import nearest
from mooring.display.text import count_noun
from mooring.errors import ConfigError, Denied, MooringError, ParseError, ProtocolError, ServerError
from mooring.syntax.front_matter import split_front_matter

if TYPE_CHECKING:
    from mooring.servers.server import Server

PATIENCE = 3.0
"""How many seconds a turn waits for the lists of all servers together."""
FAILURE_LIFE = 60.0
"""After how many seconds a server that failed to list its skills is asked again."""
MOST_SKILLS = 1_000
"""How many skills of one server are used."""


class ServerSkills:
    """The skills of those servers that one conversation may use, and what it asks of servers about them."""

    def __init__(self, lookup: Lookup, requests: Requests, has_server: Callable[[str], bool]) -> None:
        self._lookup = lookup
        self._requests = requests
        self._has_server = has_server

    async def list(self) -> FoundSkills:
        """The skills of every server that declares some and is not denied; a server that fails is a problem.

        A server that has not listed its skills on this connection is asked.
        """
        names = [*self._list_permitted()]
        await asyncio.gather(*(_refresh(self._lookup.server(name)) for name in names))
        return self.known

    @property
    def known(self) -> FoundSkills:
        """The same as far as servers have listed them."""
        by_name: dict[str, OfferedSkill] = {}
        problems: tuple[Problem, ...] = ()
        for name in self._list_permitted():
            listing = self._lookup.server(name).offering.skills
            if listing is not None:
                if self._has_server(name):
                    by_name |= _name_all(name, listing)
                problems = (*problems, *_find_problems(name, listing))
        return FoundSkills(by_name, problems)

    async def find(self, name: str) -> OfferedSkill | None:
        """The skill that `server:skill` means; `None` if no server of that name offers skills.

        Raises: ConfigError if the server has no such skill; Denied; ServerError.
        """
        server_name = self._find_server(name) if ":" in name else None
        if server_name is None or not self._has_server(server_name):
            return None
        self._requests.check_listing(LIST_SKILLS, server_name)
        server = self._lookup.server(server_name)
        known = _name_all(server_name, await _list_now(server))
        if not server.offering.has_skills:
            return None
        wanted = server_name + name[len(server_name) :]
        if wanted in known:
            return known[wanted]
        own = name[len(server_name) + 1 :]
        if "://" in own:
            # Before the server is asked: an address that a model made up can carry what it read elsewhere.
            skill = await self._requests.get_skill(server_name, f"{own.removesuffix('/SKILL.md')}/SKILL.md")
            return OfferedSkill(server_name, wanted, skill, is_listed=False)
        near = nearest(wanted, known)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ConfigError(f"{server_name} offers no skill {own!r}.{guess}")

    async def read(self, offered: OfferedSkill, path: str = MAIN_FILE) -> str:
        """What a file of a skill says, if it is what its server listed; `SKILL.md` comes without its header.

        Raises: ConfigError if the list has no such file; Denied; ServerError.
        """
        listed = offered.skill.files.get(path)
        if listed is None:
            raise ConfigError(f"The skill {offered.name} has no file {path!r}.")
        # Its server named it in the list of its skills, or it was permitted when it was found.
        is_listed = offered.is_listed
        reading = await self._requests.read(offered.server, listed.uri, linked=is_listed, approved=not is_listed)
        try:
            return await asyncio.to_thread(_read_text, offered, listed, reading)
        except ProtocolError:
            # It may just have changed: then the next list has what it says now.
            self._lookup.server(offered.server).offering.skills = None
            raise

    def _list_permitted(self) -> Iterator[str]:
        for name in self._lookup.own_names:
            server = self._lookup.server(name)
            # Nobody is asked for the inputs of a server that they did not name.
            if not server.offering.has_skills or server.pending_inputs or self._is_held(name):
                continue
            try:
                self._requests.check_listing(LIST_SKILLS, name)
            except Denied:
                continue
            yield name

    def _is_held(self, name: str) -> bool:
        """Whether a server has tools that are held back: then it is not what was approved."""
        source = self._lookup.catalog.source(name)
        return source is not None and bool(source.held)

    def _find_server(self, name: str) -> str | None:
        """The server that the name of a skill begins with, ignoring case; the longest, if there are two."""
        fitting = [each for each in self._lookup.servers if name.casefold().startswith(f"{each}:".casefold())]
        longest = max(fitting, key=len, default=None)
        return longest if longest is not None and len(name) > len(longest) + 1 else None


# --- lists ----------------------------------------------------------------------------------------------------------


async def _refresh(server: "Server") -> None:
    """Have a server list its skills if that is due. Never raises for what the server does: the list says it."""
    if _is_fresh(server):
        return
    try:
        async with asyncio.timeout(PATIENCE):
            await _list_now(server)
    except TimeoutError:
        _store_failure(server, f"it took longer than {PATIENCE:g} seconds")
    except MooringError as error:
        _store_failure(server, str(error))


async def _list_now(server: "Server") -> Listing[ServerSkill]:
    """The skills of a server, which is connected for that, unless they were listed lately. Raises: ServerError."""
    known = server.offering.skills
    if known is not None and known.items and _is_fresh(server):
        return known
    listing = await server.ask(lambda session: session.list_skills())
    _store(server, listing)
    return listing


def _is_fresh(server: "Server") -> bool:
    known = server.offering.skills
    if known is None:
        return False
    return known.ttl is None or monotonic() - server.offering.skills_at < known.ttl


def _store(server: "Server", listing: Listing[ServerSkill]) -> None:
    server.offering.skills = listing
    server.offering.skills_at = monotonic()


def _store_failure(server: "Server", reason: str) -> None:
    # Why a server cannot be connected is said elsewhere, and once it is connected it is asked again.
    _store(server, Listing(note=reason if server.is_connected else "", ttl=FAILURE_LIFE))


def _name_all(server: str, listing: Listing[ServerSkill]) -> Mapping[str, OfferedSkill]:
    used = islice(name_skills(server, listing.items), MOST_SKILLS)
    return {offered.name: offered for offered in used}


def _find_problems(server: str, listing: Listing[ServerSkill]) -> Iterator[Problem]:
    """One sentence for each reason why skills of a server are missing."""
    if listing.note:
        yield _report(server, f"The skills of {server} could not all be listed: {listing.note}")
    if len(listing.items) > MOST_SKILLS:
        yield _report(server, f"{server} offers {len(listing.items):,} skills; the first {MOST_SKILLS:,} are used")
    if listing.rejected:
        first = listing.rejected[0]
        number = count_noun(len(listing.rejected), "skill")
        yield _report(server, f"{number} of {server} can't be used, such as {first.name[:100]}: {first.reason[:200]}")


def _report(server: str, message: str) -> Problem:
    return Problem(None, message, server=server, level="warning")


# --- contents -------------------------------------------------------------------------------------------------------


def _read_text(offered: OfferedSkill, listed: SkillFile, reading: Reading) -> str:
    """The text of a file if every byte is as listed; of `SKILL.md`, without its header. Raises: ProtocolError."""
    data = _read_bytes(offered, listed, reading)
    if len(data) != listed.size or f"sha256:{sha256(data).hexdigest()}" != listed.digest:
        raise _refuse(offered, "is not what the server listed: its size or its digest differs")
    try:
        text = data.decode()
        return text if listed.uri != offered.skill.uri else _read_body(offered, text)
    except (UnicodeDecodeError, ParseError) as error:
        raise _refuse(offered, f"can't be read: {error}") from error


def _read_body(offered: OfferedSkill, text: str) -> str:
    found = split_front_matter(text)
    if found.header.data != offered.skill.frontmatter:
        raise _refuse(offered, "has another header than the server listed")
    return found.body.strip()


def _read_bytes(offered: OfferedSkill, listed: SkillFile, reading: Reading) -> bytes:
    contents = [part for part in reading.contents if part.uri == listed.uri]
    if len(contents) != 1:
        raise _refuse(offered, "came back without its text")
    text, blob = contents[0].text, contents[0].blob
    if text is not None:
        return text.encode()
    try:
        return b64decode(blob or "", validate=True)
    except ValueError as error:
        raise _refuse(offered, "can't be read: it is no Base64") from error


def _refuse(offered: OfferedSkill, reason: str) -> ServerError:
    return ProtocolError(offered.server, f"its skill {offered.skill.name} {reason}; it was not used")
