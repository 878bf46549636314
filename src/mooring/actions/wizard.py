"""The wizard of `add`: asks about a server piece by piece, and checks each answer at once. Nothing is written."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from mooring.actions.add import Preview, check_files_are_read, check_name, find_destination, preview, understand
from mooring.actions.describe import SCOPES, ServerDescription, parse_header, parse_variable
from mooring.actions.pasted import Pasted, parse_command_line, parse_pasted
from mooring.core.question import Answer, Ask, ServerDetail, WriteServer, Yes
from mooring.core.where import Viewpoint
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.literals import LiteralSecret, find_literal_secrets
from mooring.discovery.targets import WriteScope, list_writers
from mooring.discovery.untyped import as_mapping
from mooring.display.text import short_path
from mooring.errors import ConfigError

T = TypeVar("T")

_START = (
    "Enter takes what is in brackets. Ctrl+C leaves, and nothing is added.",
    "Instead of a name you can paste an address, a command line or an entry in JSON.",
)
_KINDS = ("program", "address")
_TRANSPORTS = ("auto", "http", "sse")
_AS_TYPED = "as typed"
# A stand-in while there is no name: an entry is checked before it has one.
_NAMELESS = "server"


class NewServer(Struct, frozen=True):
    """A server that was described and agreed to: what `add` takes."""

    name: str
    raw: Mapping[str, Any]
    scope: WriteScope
    tool: str


async def ask_for_server(ask: Ask, request: Viewpoint, described: ServerDescription) -> NewServer | None:
    """Ask for everything that a description leaves open; `None` if the person gave up or declined.

    Raises:
        ConfigError: the name that was given cannot be one, or nothing can be added.
    """
    check_files_are_read(request)
    try:
        return await _Wizard(ask, request, described).run()
    except _GivenUp:
        return None


class _GivenUp(Exception):
    """There was no answer."""


class _Wizard:
    """What is known of the server so far."""

    def __init__(self, ask: Ask, request: Viewpoint, described: ServerDescription) -> None:
        self._ask = ask
        self._request = request
        self._name = described.name
        self._raw: dict[str, Any] = {}
        self._scope = described.scope
        self._tool = described.tool

    async def run(self) -> NewServer | None:
        await self._ask_start()
        if not self._raw:
            await self._ask_connection()
        await self._ask_place()
        answer = await self._ask(self._describe_writing())
        if not isinstance(answer, Yes):
            return None
        return NewServer(self._name, self._raw, self._scope, self._tool)

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
        understand(pasted.name if pasted.is_named else _NAMELESS, pasted.raw)
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
        config, _ = understand(_NAMELESS, self._raw)
        for secret in find_literal_secrets(config.written or config.connection):
            values = as_mapping(self._raw.get(secret.slot))
            # A pasted entry may have its variables under another key, which stays as it is.
            if only in (None, secret.name) and secret.name in values:
                self._raw[secret.slot] = {**values, secret.name: await self._ask_reference(secret)}

    async def _ask_reference(self, secret: LiteralSecret) -> str:
        """The value to write: a reference, unless the person wants the secret itself in the file."""
        variable = _name_variable(secret, self._name)
        reference = f"{_find_scheme(secret.value)}${{{variable}}}"
        notes = [
            f"{secret.name} looks like a secret. A reference keeps it out of the file: {variable} has the value then."
        ]
        if variable not in self._request.where.env:
            notes.append(f"{variable} is not set here. Before you use the server: export {variable}=…")
        options = (reference, _AS_TYPED)
        chosen = await self._ask_until("Write it as", _pick(options), tuple(notes), reference, options)
        return secret.value if chosen == _AS_TYPED else reference

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
        scope = _pick(SCOPES)(text)
        find_destination(self._request, self._tool, scope, self._name)
        return scope

    def _parse_tool(self, text: str) -> str:
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
        """What `check` makes of the answer; asked again, with what was wrong, until it accepts one."""
        while True:
            answer = await self._ask(ServerDetail(self._name, label, notes, default, options, secret, block))
            try:
                return check(_read_text(answer))
            except ConfigError as error:
                notes = (str(error),)


def _read_text(answer: Answer) -> str:
    if not isinstance(answer, Yes):
        raise _GivenUp
    return str(answer.content or "").strip()


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
    understand(_NAMELESS, raw)
    return raw


def _parse_transport(text: str) -> str:
    return _pick(_TRANSPORTS)(text)


def _pick(options: tuple[T, ...]) -> Callable[[str], T]:
    """A check that accepts one of these, or the beginning of one."""

    def check(text: str) -> T:
        fitting = [option for option in options if text and str(option).startswith(text.lower())]
        exact = [option for option in options if option == text]
        for option in (*exact, *fitting):
            return option
        raise ConfigError(f"Type one of these: {', '.join(map(str, options))}.")

    return check


def _name_variable(secret: LiteralSecret, server: str) -> str:
    """The variable that a reference names: for a header, one that says which server it belongs to."""
    if secret.slot == "env":
        return secret.name
    what = "TOKEN" if secret.name.lower() == "authorization" else secret.name
    name = re.sub(r"[^A-Z0-9]+", "_", f"{server}_{what}".upper()).strip("_")
    return f"_{name}" if name[:1].isdigit() else name


def _find_scheme(value: str) -> str:
    """The word before the token in a header such as `Bearer abc`, with its space."""
    found = re.match(r"(?i)(?:bearer|basic|token)\s+", value)
    return found[0] if found else ""
