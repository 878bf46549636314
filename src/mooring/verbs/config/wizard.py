"""The wizard of `add`: asks about a server piece by piece, and checks each answer at once. Nothing is written."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring.auth.store import StoredSecret
from mooring.core.conversation.question import Ask, ServerDetail, WriteServer, Yes
from mooring.core.definitions.paths import Workspace
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteScope, list_writers
from mooring.display.text import short_path
from mooring.errors import ConfigError
from mooring.verbs.config.add import Preview, check_name, find_destination, preview, understand
from mooring.verbs.config.describe import (
    SCOPES,
    ServerDescription,
    check_command,
    describe_entry,
    parse_command_line,
    parse_header,
    parse_variable,
    split_words,
    suggest_name,
)
from mooring.verbs.config.locate import check_files_are_read
from mooring.verbs.config.pasted import PastedServers, is_pasted, read_pasted
from mooring.verbs.config.references import (
    NAMELESS,
    GivenUp,
    SecretToStore,
    ask_for_references,
    ask_until,
    pick,
    store_secrets,
)
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.config.stand_ins import ask_for_stand_ins, find_stand_ins, refuse_stand_ins
from mooring.verbs.parse import is_address

_START = (
    "Enter takes what is in brackets. Ctrl+C leaves, and nothing is added.",
    "Instead of a name you can paste an address, a command line or what a README says, in any tool's format.",
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


async def ask_for_server(
    ask: Ask, workspace: Workspace, described: ServerDescription
) -> NewServer | PastedServers | None:
    """Ask for everything that a description leaves open; `None` if the person gave up or declined.

    Several servers that they pasted are returned as they are, to be copied like those of a file.

    Raises:
        ConfigError: the name that was given cannot be one, or nothing can be added.
        StoreUnavailable, FileError: a secret that they want stored cannot be.
    """
    refuse_below_mooring("mooring mcp add")
    check_files_are_read(workspace)
    try:
        return await _Wizard(ask, workspace, described).run()
    except GivenUp:
        return None


async def find_new_server(
    ask: Ask | None, workspace: Workspace, described: ServerDescription
) -> NewServer | PastedServers | None:
    """The server that was typed, or that the person describes now; `None` if they gave up.

    What was pasted in place of a name may be several servers, which are returned as they are.

    Raises: as `describe_entry`, `read_pasted`, `ask_for_server` and `offer_references`.
    """
    if described.is_bare and is_pasted(described.name):
        return await find_pasted_server(ask, workspace, described.name, "The text", described)
    if described.is_bare and ask is not None:
        return await ask_for_server(ask, workspace, described)
    typed = NewServer(described.name, describe_entry(described), described.scope, described.tool)
    return await offer_references(ask, workspace, typed)


async def find_pasted_server(
    ask: Ask | None, workspace: Workspace, text: str, shown: str, described: ServerDescription
) -> NewServer | PastedServers | None:
    """The server that a text describes, or all of them if there are more; `None` if the person gave up.

    Raises: as `read_pasted` and `offer_references`; ConfigError if the only server has no name.
    """
    refuse_below_mooring("mooring mcp add")
    pasted = read_pasted(text, shown, workspace)
    pasted.check_named(shown)
    scope = _choose_scope(described.scope, pasted)
    raw = pasted.find_entry()
    if raw is None or described.tool != OWN.tool:
        return replace(pasted, scope=scope)
    return await offer_references(ask, workspace, NewServer(pasted.definitions[0].name, raw, scope, described.tool))


async def offer_references(ask: Ask | None, workspace: Workspace, new: NewServer) -> NewServer | None:
    """Offer to keep the secrets of a typed entry out of the file; `None` if the person gave up.

    If nobody can be asked, they stay as they are. A placeholder such as `YOUR_TOKEN` is asked for, or refused.

    Raises:
        ConfigError: the entry cannot be written; nobody was asked, and nothing stored.
        StoreUnavailable, FileError: what they want stored cannot be.
    """
    refuse_below_mooring("mooring mcp add")
    check_command(new.raw, workspace.cwd)
    stand_ins = find_stand_ins(new.name, new.raw)
    if ask is None and stand_ins:
        raise refuse_stand_ins(new.name, stand_ins)
    # No other tool reads what is stored here.
    if ask is None or not (stand_ins or new.tool == OWN.tool):
        return new
    preview(workspace, new.name, new.raw, new.scope, new.tool)
    # The secrets of a server that has the name already must not be replaced.
    find_destination(workspace, new.tool, new.scope, new.name).check_free(new.name)
    try:
        filled = await ask_for_stand_ins(ask, new.name, new.tool, new.raw)
        referring = await ask_for_references(ask, workspace.where, new.name, new.tool, filled.raw)
    except GivenUp:
        return None
    stored = await store_secrets(workspace.where, (*filled.secrets, *referring.secrets))
    return replace(new, raw=referring.raw, stored=stored)


def _choose_scope(typed: WriteScope, pasted: PastedServers) -> WriteScope:
    """What was typed as an option, then what was pasted; `user` is what an option says if nobody types it."""
    return typed if typed != "user" else pasted.scope or typed


class _Described(Struct, frozen=True):
    """A server that was described where its name was asked for."""

    name: str
    """Its name, or one that may do if `is_named` is false; empty if none comes to mind."""
    raw: Mapping[str, Any]
    scope: WriteScope
    is_named: bool = False


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

    async def run(self) -> NewServer | PastedServers | None:
        several = await self._ask_start()
        if several is not None:
            return several
        if not self._raw:
            await self._ask_connection()
        await self._ask_place()
        shown = preview(self._request, self._name, self._raw, self._scope, self._tool)
        path = short_path(shown.path, self._request.where.home)
        answer = await self._ask(WriteServer(self._name, path, shown.text, tuple(self._list_notes(shown))))
        if not isinstance(answer, Yes):
            return None
        stored = await store_secrets(self._request.where, self._secrets)
        return NewServer(self._name, self._raw, self._scope, self._tool, stored)

    # --- which server ---------------------------------------------------------------------------------------

    async def _ask_start(self) -> PastedServers | None:
        """Ask for the name, or a description that is pasted in its place; several servers are returned."""
        if self._name:
            self._check_name(self._name)
            return None
        first = await ask_until(self._ask, ServerDetail("", "Name", _START, block=True), self._parse_start)
        if isinstance(first, str):
            self._name = first
            return None
        if isinstance(first, PastedServers):
            return first
        self._raw = dict(first.raw)
        self._scope = first.scope
        self._name = first.name if first.is_named else await self._ask_name(first.name)
        await self._ask_for_stand_ins()
        await self._refer_to_secrets()
        return None

    def _parse_start(self, text: str) -> "str | _Described | PastedServers":
        if is_pasted(text):
            return self._parse_pasted(text)
        words = split_words(text.removeprefix("$ "))
        if len(words) == 1 and not is_address(words[0]):
            return self._check_name(text)
        raw = _parse_command(text.removeprefix("$ "))
        return _Described(suggest_name(raw), raw, self._scope)

    def _parse_pasted(self, text: str) -> "_Described | PastedServers":
        pasted = read_pasted(text, "The text", self._request)
        raw = pasted.find_entry()
        check_command(raw or {}, self._request.cwd)
        if raw is None:
            pasted.check_named("The text")
            return replace(pasted, scope=_choose_scope(self._scope, pasted))
        name = pasted.definitions[0].name
        understand(name if pasted.is_named else NAMELESS, raw)
        return _Described(name, raw, _choose_scope(self._scope, pasted), pasted.is_named)

    async def _ask_name(self, suggested: str, *problem: str) -> str:
        detail = ServerDetail(self._name, "Name", problem, suggested or None)
        return await ask_until(self._ask, detail, self._check_name)

    def _check_name(self, text: str) -> str:
        check_name(text)
        find_destination(self._request, self._tool, self._scope, text).check_free(text)
        return text

    # --- how it is reached ----------------------------------------------------------------------------------

    async def _ask_connection(self) -> None:
        notes = ("A program runs on this machine; an address is that of a server that runs already.",)
        detail = ServerDetail(self._name, "Program or address", notes, _KINDS[0], _KINDS)
        kind = await ask_until(self._ask, detail, _parse_kind)
        if isinstance(kind, dict):
            self._raw = kind
        elif kind == "program":
            detail = ServerDetail(self._name, "Command line", ("For example: npx -y some-package",))
            self._raw = await ask_until(self._ask, detail, _parse_command)
        else:
            detail = ServerDetail(self._name, "URL", ("For example: https://example.com/mcp",))
            self._raw = await ask_until(self._ask, detail, lambda text: _check_entry({"url": text}))
        await self._ask_for_stand_ins()
        await self._refer_to_secrets()
        if "url" in self._raw:
            await self._ask_address()
        else:
            await self._ask_pairs("Variable, as KEY=VALUE", "env", parse_variable)

    async def _ask_pairs(self, label: str, slot: str, parse: Callable[[str], tuple[str, str]]) -> None:
        """Ask for names with values, one after the other, until nothing is typed."""

        def check(text: str) -> str | None:
            if not text:
                return None
            name, value = parse(text)
            self._raw = _check_entry({**self._raw, slot: {**self._raw.get(slot, {}), name: value}})
            return name

        while name := await ask_until(self._ask, ServerDetail(self._name, label, default=""), check):
            await self._refer_to_secrets(name)

    async def _ask_address(self) -> None:
        detail = ServerDetail(self._name, "Transport", (), _TRANSPORTS[0], _TRANSPORTS)
        transport = await ask_until(self._ask, detail, pick(_TRANSPORTS))
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

        detail = ServerDetail(self._name, "Bearer token, not shown", default="", secret=True)
        await ask_until(self._ask, detail, check)
        await self._refer_to_secrets("Authorization")

    # --- secrets --------------------------------------------------------------------------------------------

    async def _ask_for_stand_ins(self) -> None:
        """Ask for each value that a placeholder such as `YOUR_TOKEN` stands for."""
        filled = await ask_for_stand_ins(self._ask, self._name, self._tool, self._raw)
        self._raw = dict(filled.raw)
        self._secrets += filled.secrets

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
            notes = (
                "user: for you, everywhere. project: for everyone who works on this project, in a file of the project.",
            )
            detail = ServerDetail(self._name, "Scope", notes, "user", SCOPES)
            self._scope = await ask_until(self._ask, detail, self._parse_scope)
        if self._tool == OWN.tool:
            notes = (f"The file of which tool it goes into: {', '.join(list_writers())}.",)
            detail = ServerDetail(self._name, "Tool", notes, OWN.tool)
            self._tool = await ask_until(self._ask, detail, self._parse_tool)
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

    def _list_notes(self, shown: Preview) -> Iterator[str]:
        if shown.leads_to:
            yield f"That is a link; the file is {short_path(shown.leads_to, self._request.where.home)}."
        for key in shown.not_expressed:
            yield f"{self._tool} cannot express `{key}`, so it is left out."


# --- answers ------------------------------------------------------------------------------------------------


def _parse_kind(text: str) -> str | dict[str, Any]:
    """One of the kinds, or already the address or the command line."""
    kinds = [kind for kind in _KINDS if text and kind.startswith(text.lower())]
    return kinds[0] if kinds else _parse_command(text)


def _parse_command(text: str) -> dict[str, Any]:
    return _check_entry(parse_command_line(text))


def _check_entry(raw: dict[str, Any]) -> dict[str, Any]:
    understand(NAMELESS, raw)
    return raw
