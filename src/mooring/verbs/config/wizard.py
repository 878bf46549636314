"""The wizard of `add`: asks about a server piece by piece, and checks each answer at once. Nothing is written."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mooring.auth.store import StoredSecret
from mooring.core.conversation.question import Ask, WriteServer, Yes
from mooring.core.definitions.paths import Workspace
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteScope, list_writers
from mooring.display.text import short_path
from mooring.errors import ConfigError
from mooring.verbs.config.add import Preview, check_name, find_destination, preview, understand
from mooring.verbs.config.describe import (
    SCOPES,
    Pasted,
    ServerDescription,
    parse_command_line,
    parse_header,
    parse_pasted,
    parse_variable,
)
from mooring.verbs.config.locate import check_files_are_read
from mooring.verbs.config.references import (
    NAMELESS,
    GivenUp,
    SecretToStore,
    ask_for_references,
    ask_until,
    pick,
    store_secrets,
)

T = TypeVar("T")

_START = (
    "Enter takes what is in brackets. Ctrl+C leaves, and nothing is added.",
    "Instead of a name you can paste an address, a command line or an entry in JSON.",
)
_KINDS = ("program", "address")
_TRANSPORTS = ("auto", "http", "sse")


class NewServer(Struct, frozen=True):
    """A server that was described and agreed to: what `add` takes."""

    name: str
    raw: Mapping[str, Any]
    scope: WriteScope
    tool: str
    stored: tuple[StoredSecret, ...] = ()
    """What the wizard stored, so that the entry can refer to it."""


async def ask_for_server(ask: Ask, workspace: Workspace, described: ServerDescription) -> NewServer | None:
    """Ask for everything that a description leaves open; `None` if the person gave up or declined.

    Raises:
        ConfigError: the name that was given cannot be one, or nothing can be added.
        StoreUnavailable, FileError: a secret that they want stored cannot be.
    """
    check_files_are_read(workspace)
    try:
        return await _Wizard(ask, workspace, described).run()
    except GivenUp:
        return None


async def offer_references(ask: Ask, workspace: Workspace, new: NewServer) -> NewServer | None:
    """Offer to keep the secrets of a typed entry out of the file; `None` if the person gave up.

    Raises:
        ConfigError: the entry cannot be written; nobody was asked, and nothing stored.
        StoreUnavailable, FileError: what they want stored cannot be.
    """
    # No other tool reads what is stored here.
    if new.tool != OWN.tool:
        return new
    preview(workspace, new.name, new.raw, new.scope, new.tool)
    # The secrets of a server that has the name already must not be replaced.
    find_destination(workspace, new.tool, new.scope, new.name).check_free(new.name)
    try:
        referring = await ask_for_references(ask, workspace.where, new.name, new.tool, new.raw)
    except GivenUp:
        return None
    stored = await store_secrets(workspace.where, referring.secrets)
    return replace(new, raw=referring.raw, stored=stored)


class _Wizard:
    """What is known of the server so far."""

    def __init__(self, ask: Ask, workspace: Workspace, described: ServerDescription) -> None:
        self._ask = ask
        self._request = workspace
        self._name = described.name
        self._raw: dict[str, Any] = {}
        self._scope = described.scope
        self._tool = described.tool
        self._secrets: tuple[SecretToStore, ...] = ()

    async def run(self) -> NewServer | None:
        await self._ask_start()
        if not self._raw:
            await self._ask_connection()
        await self._ask_place()
        answer = await self._ask(self._describe_writing())
        if not isinstance(answer, Yes):
            return None
        stored = await store_secrets(self._request.where, self._secrets)
        return NewServer(self._name, self._raw, self._scope, self._tool, stored)

    # --- which server ---------------------------------------------------------------------------------------

    async def _ask_start(self) -> None:
        """The name, or a description that was pasted in its place."""
        if self._name:
            self._check_name(self._name)
            return
        first = await self._ask_until("Name", self._parse_start, notes=_START, block=True)
        if isinstance(first, str):
            self._name = first
            return
        self._raw = dict(first.raw)
        self._name = first.name if first.is_named else await self._ask_name(first.name)
        await self._refer_to_secrets()

    def _parse_start(self, text: str) -> str | Pasted:
        pasted = parse_pasted(text)
        if pasted is None:
            return self._check_name(text)
        understand(pasted.name if pasted.is_named else NAMELESS, pasted.raw)
        return pasted

    async def _ask_name(self, suggested: str, *problem: str) -> str:
        return await self._ask_until("Name", self._check_name, notes=problem, default=suggested or None)

    def _check_name(self, text: str) -> str:
        check_name(text)
        find_destination(self._request, self._tool, self._scope, text).check_free(text)
        return text

    # --- how it is reached ----------------------------------------------------------------------------------

    async def _ask_connection(self) -> None:
        notes = ("A program runs on this machine; an address is that of a server that runs already.",)
        kind = await self._ask_until("Program or address", _parse_kind, notes, _KINDS[0], _KINDS)
        if isinstance(kind, dict):
            self._raw = kind
        elif kind == "program":
            self._raw = await self._ask_until("Command line", _parse_command, ("For example: npx -y some-package",))
        else:
            self._raw = await self._ask_until("URL", _parse_url, ("For example: https://example.com/mcp",))
        await self._refer_to_secrets()
        await (self._ask_address() if "url" in self._raw else self._ask_variables())

    async def _ask_variables(self) -> None:
        await self._ask_pairs("Variable, as KEY=VALUE", "env", parse_variable)

    async def _ask_pairs(self, label: str, slot: str, parse: Callable[[str], tuple[str, str]]) -> None:
        """Ask for names with values, one after the other, until nothing is typed."""

        def check(text: str) -> str | None:
            if not text:
                return None
            name, value = parse(text)
            self._raw = _check_entry({**self._raw, slot: {**self._raw.get(slot, {}), name: value}})
            return name

        while name := await self._ask_until(label, check, default=""):
            await self._refer_to_secrets(name)

    async def _ask_address(self) -> None:
        transport = await self._ask_until("Transport", _parse_transport, (), _TRANSPORTS[0], _TRANSPORTS)
        if transport != "auto":
            self._raw = {"type": transport, **self._raw}
        await self._ask_pairs("Header, as NAME: VALUE", "headers", parse_header)
        if "authorization" not in map(str.lower, self._raw.get("headers", {})):
            await self._ask_token()

    async def _ask_token(self) -> None:
        def check(token: str) -> None:
            if token:
                headers = {**self._raw.get("headers", {}), "Authorization": f"Bearer {token}"}
                self._raw = _check_entry({**self._raw, "headers": headers})

        await self._ask_until("Bearer token, not shown", check, default="", secret=True)
        await self._refer_to_secrets("Authorization")

    # --- secrets --------------------------------------------------------------------------------------------

    async def _refer_to_secrets(self, only: str | None = None) -> None:
        """Offer a reference for each value that looks like a secret, or for the one of that name."""
        where = self._request.where
        referring = await ask_for_references(self._ask, where, self._name, self._tool, self._raw, only)
        self._raw = dict(referring.raw)
        self._secrets += referring.secrets

    # --- where it is written --------------------------------------------------------------------------------

    async def _ask_place(self) -> None:
        # What was said with an option is not asked again.
        if self._scope == "user":
            notes = ("user: for you, everywhere. project: for everybody in this project, in a file of it.",)
            self._scope = await self._ask_until("Scope", self._parse_scope, notes, "user", SCOPES)
        if self._tool == OWN.tool:
            notes = (f"Whose file it is written into: {', '.join(list_writers())}.",)
            self._tool = await self._ask_until("Tool", self._parse_tool, notes, OWN.tool)
        try:
            self._check_name(self._name)
        except ConfigError as error:
            self._name = await self._ask_name("", str(error))

    def _parse_scope(self, text: str) -> WriteScope:
        scope = pick(SCOPES)(text)
        find_destination(self._request, self._tool, scope, self._name)
        return scope

    def _parse_tool(self, text: str) -> str:
        if self._secrets and text != OWN.tool:
            raise ConfigError(f"{text} cannot read ${{keyring:{self._secrets[0].name}}}; only Mooring's own file can.")
        preview(self._request, self._name, self._raw, self._scope, text)
        return text

    def _describe_writing(self) -> WriteServer:
        shown = preview(self._request, self._name, self._raw, self._scope, self._tool)
        path = short_path(shown.path, self._request.where.home)
        return WriteServer(self._name, path, shown.text, tuple(self._list_notes(shown)))

    def _list_notes(self, shown: Preview) -> Iterator[str]:
        if shown.leads_to:
            yield f"That is a link; the file is {shown.leads_to}."
        for key in shown.not_expressed:
            yield f"{self._tool} cannot express `{key}`, so it is left out."

    # --- asking ---------------------------------------------------------------------------------------------

    async def _ask_until(
        self,
        label: str,
        check: Callable[[str], T],
        notes: tuple[str, ...] = (),
        default: str | None = None,
        options: tuple[str, ...] = (),
        *,
        secret: bool = False,
        block: bool = False,
    ) -> T:
        return await ask_until(self._ask, self._name, label, check, notes, default, options, secret=secret, block=block)


# --- answers ------------------------------------------------------------------------------------------------


def _parse_kind(text: str) -> str | dict[str, Any]:
    """One of the kinds, or already the address or the command line."""
    kinds = [kind for kind in _KINDS if text and kind.startswith(text.lower())]
    return kinds[0] if kinds else _parse_command(text)


def _parse_command(text: str) -> dict[str, Any]:
    return _check_entry(parse_command_line(text))


def _parse_url(text: str) -> dict[str, Any]:
    return _check_entry({"url": text})


def _check_entry(raw: dict[str, Any]) -> dict[str, Any]:
    understand(NAMELESS, raw)
    return raw


def _parse_transport(text: str) -> str:
    return pick(_TRANSPORTS)(text)
