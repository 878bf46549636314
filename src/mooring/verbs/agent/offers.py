"""Who could answer on this machine, where nobody was chosen: by a key, a model server that runs here, or a program.

Nothing is sent but a list of models asked of this machine, without a key.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import SplitResult, urlsplit

from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from mooring.backends.api.providers import (
    ModelProvider,
    find_url,
    has_key,
    is_local,
    list_providers,
)
from mooring.backends.programs import PROGRAM_FACTS, find_program, has_library
from mooring.core.conversation.backend_name import PROGRAMS, BackendName, ProgramName
from mooring.core.definitions.paths import Paths
from mooring.errors import ConfigError
from mooring.files.installation import spell_install
from mooring.settings import Settings
from mooring.verbs.agent.options import ConversationOptions
from mooring.wire.http.address import parse_address

PROBE_SECONDS = 0.2
"""How long all model servers on this machine have to answer."""
MOST_MODELS = 3
"""How many models of one of them are offered."""
MOST_OFFERS = 9
"""One key each."""
MOST_READ = 1024 * 1024
"""How many bytes of a list of models are read."""


class AnswererOffer(Struct, frozen=True):
    """Somebody who could answer."""

    backend: BackendName
    model: str | None
    """The provider and the model, as after `-m`; `None` for a program."""
    why: str
    """What makes it possible, in words."""

    @property
    def name(self) -> str:
        return self.model or self.backend

    @property
    def setting(self) -> tuple[str, str]:
        """The setting that chooses it for good, and its value."""
        return ("model", self.model) if self.model is not None else ("backend", self.backend)

    def choose(self, options: ConversationOptions) -> ConversationOptions:
        """How a conversation is had in which it answers."""
        return replace(options, backend=self.backend, model=self.model)


class FoundOffers(Struct, frozen=True):
    """Who could answer, and what is missing for others that are nearly there."""

    offers: tuple[AnswererOffer, ...]
    lacks: tuple[str, ...] = ()
    programs: tuple[ProgramName, ...] = ()
    """The agents that are installed, whether or not Mooring can talk to them yet."""


async def find_offers(where: Paths, settings: Settings) -> FoundOffers:
    """Who could answer. It takes as long as a program needs to list what it has, and no longer than `PROBE_SECONDS`."""
    offers = await find_model_offers(where, settings)
    lacks: list[str] = []
    programs = tuple(name for name in PROGRAMS if find_program(name, where.env) is not None)
    for name in programs:
        label = PROGRAM_FACTS[name].label
        if has_library(name):
            offers.append(AnswererOffer(name, None, f"{label} is installed"))
        else:
            lacks.append(f"{label} is installed. What Mooring needs to talk to it: {spell_install(name)}")
    return FoundOffers(tuple(offers[:MOST_OFFERS]), tuple(lacks), programs)


async def find_model_offers(where: Paths, settings: Settings) -> list[AnswererOffer]:
    """The models behind an API that could answer. It takes no longer than `PROBE_SECONDS`."""
    providers = list_providers(settings["models"])
    models = [*_offer_keys(where, providers.values())]
    models += await _find_local(where, providers.values())
    return models


def _offer_keys(where: Paths, providers: Iterable[ModelProvider]) -> Iterator[AnswererOffer]:
    seen: set[str] = set()
    for row in providers:
        # The same key twice is OpenAI's other protocol. An endpoint of the person's own has no model that is known.
        if not row.needs_key or row.example == "MODEL" or seen.intersection(row.key_names) or not has_key(row, where):
            continue
        seen.update(row.key_names)
        yield AnswererOffer("api", f"{row.word}:{row.example}", f"you have a key, {_name_key(row, where.env)}")


def _name_key(row: ModelProvider, env: Mapping[str, str]) -> str:
    return next((name for name in row.key_names if env.get(name, "").strip()), row.key_names[0])


# --- model servers on this machine ------------------------------------------------------------------------------------


async def _find_local(where: Paths, providers: Iterable[ModelProvider]) -> list[AnswererOffer]:
    """Models of the servers that run here, on their usual ports or where a variable says."""
    here = [row for row in providers if not row.needs_key and is_local(row, where)]
    listed = await asyncio.gather(*(_list_models(find_url(row, where)) for row in here))
    return [
        AnswererOffer("api", f"{row.word}:{name}", f"{row.word} runs on this machine")
        for row, names in zip(here, listed, strict=True)
        for name in names[:MOST_MODELS]
    ]


class _ListedModel(Struct, frozen=True):
    id: str


class _Listing(Struct, frozen=True):
    data: list[_ListedModel]


async def _list_models(url: str) -> list[str]:
    """The models of a server on this machine; none if it doesn't list them in time, or something else is there."""
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            answer = await _fetch(urlsplit(f"{parse_address(url).url.rstrip('/')}/models"))
        head, _, body = answer.partition(b"\r\n\r\n")
        if b" 200" not in head.partition(b"\r\n")[0]:
            return []
        return [model.id for model in json.decode(body, type=_Listing).data]
    except (OSError, ConfigError, DecodeError):
        return []


async def _fetch(parts: SplitResult) -> bytes:
    """A short document of this machine, with its head. What speaks HTTP otherwise takes longer to load than that."""
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
    try:
        # In version 1.0, the document comes in one piece and its end is that of the connection.
        writer.write(f"GET {parts.path} HTTP/1.0\r\nHost: {parts.netloc.rpartition('@')[2]}\r\n\r\n".encode())
        return await _read_all(reader)
    finally:
        writer.close()


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    data = b""
    while (more := await reader.read(MOST_READ)) and len(data) < MOST_READ:
        data += more
    return data
