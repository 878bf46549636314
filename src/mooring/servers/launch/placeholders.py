"""The placeholders of one definition: the value of each, where it has to be fetched, and which entries have none."""

import asyncio
import os
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, NoReturn

from msgspec.structs import replace

from mooring.core.definitions.approved import Approved
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import (
    OWN_KEEPER,
    CommandPart,
    Expanded,
    FilePart,
    ForeignPart,
    Gap,
    InputPart,
    KeptPlaceholder,
    KnownPart,
    Part,
    PartValue,
    SecretPart,
    Template,
    TextPart,
    VariablePart,
    effect_of_unset,
    expand,
    is_bare_name,
)
from mooring.core.text.secret import HIDDEN, is_secret, is_secret_value
from mooring.display.text import safe
from mooring.errors import FileError, SecretMissing, StoreUnavailable, Unresolved
from mooring.servers.launch.act import TOKEN_HEADER, TOKEN_VARIABLE, name_slot
from mooring.servers.launch.environment import OmittedEntry
from mooring.servers.launch.fetch import ActFetcher
from mooring.servers.launch.shell import CommandFailed


class Placeholders:
    """Fills in the templates of one definition.

    An entry of env or headers that has no value is left out and recorded in `omitted`; anything else without a value
    stops the start. Values that must not be shown are collected in `secrets`.
    """

    def __init__(self, approved: Approved, where: Paths, fetcher: ActFetcher) -> None:
        self.approved = approved
        self._tool = approved.config.origin.tool
        self._where = where
        self.fetcher = fetcher
        self._fetched: dict[tuple[Part, str], PartValue] = {}
        self.secrets: list[str] = []
        self.omitted: list[OmittedEntry] = []

    async def fetch(self, templates: Iterable[tuple[str, Template]]) -> None:
        """Run the commands and read the stored secrets that these templates need, all at the same time.

        Each template comes with its key: a value is fetched for the slot that it goes to.
        """
        wanted: dict[tuple[Part, str], Coroutine[Any, Any, Expanded | Gap]] = {}
        for key, template in templates:
            for part in template.parts:
                if (part, key) in self._fetched or (part, key) in wanted:
                    continue
                if isinstance(part, CommandPart):
                    line = Template(template.text.removeprefix("!"), part.line)
                    wanted[part, key] = self._fetch_output(part, line, key)
                elif isinstance(part, SecretPart) and part.keeper == OWN_KEEPER:
                    wanted[part, key] = self._fetch_own_secret(part.name, key)
        if wanted:
            values = await asyncio.gather(*wanted.values())
            self._fetched.update(zip(wanted, values, strict=True))

    async def fetch_token(self, url: str | None) -> str | None:
        """The token of the credential that the definition names; `None` and a record in `omitted` if there is none.

        `url` is the server's address, `None` for a program.
        """
        oauth = self.approved.config.oauth
        if oauth is None or oauth.credential_id is None:
            return None
        if url is None and not self.approved.own:
            self.omit("auth.credentialId", "names a login, and a project's program is never given one")
            return None
        slot = TOKEN_VARIABLE if url is None else TOKEN_HEADER
        try:
            token = await self.fetcher.read_token(oauth.credential_id, slot, url)
            reason = "of which no token is stored for it"
        except (StoreUnavailable, FileError) as error:
            token, reason = None, f"which cannot be read: {_describe_store(error)}"
        if token is None:
            # Somebody may have pasted the token itself.
            shown = HIDDEN if is_secret_value(oauth.credential_id) else safe(oauth.credential_id)
            self.omit("auth.credentialId", f"names {shown}, {reason}")
            return None
        self.secrets.append(token)
        return token

    async def fill(self, key: str, template: Template) -> str:
        """The text of a template that the server needs.

        Raises:
            Unresolved: a placeholder in it has no value.
        """
        filled = await self._expand(template, key)
        if isinstance(filled, Gap):
            self._stop(key, filled)
        return self._collect_secrets(filled)

    async def fill_or_omit(self, key: str, template: Template) -> str | None:
        """The text of a template, or `None` and a record in `omitted` if a placeholder in it has no value.

        Raises:
            Unresolved: its dialect says that this stops the start.
        """
        filled = await self._expand(template, key)
        if isinstance(filled, Expanded):
            return self._collect_secrets(filled)
        if filled.stops:
            self._stop(key, filled)
        self.omit(key, f"{filled.reason}; {filled.fix}" if filled.fix else filled.reason)
        return None

    async def fill_entries(self, key: str, templates: Mapping[str, Template]) -> dict[str, str]:
        """The entries that have a value. Raises: as `fill_or_omit`."""
        await self.fetch((f"{key}.{name}", template) for name, template in templates.items())
        entries: dict[str, str] = {}
        for name, template in templates.items():
            text = await self.fill_or_omit(f"{key}.{name}", template)
            if text is not None:
                entries[name] = text
        return entries

    def omit(self, key: str, reason: str) -> None:
        """Record that an entry is left out."""
        self.omitted.append(OmittedEntry(key, reason))

    def _stop(self, key: str, gap: Gap) -> NoReturn:
        if gap.secret:
            raise SecretMissing(self.approved.name, key, gap.secret)
        raise Unresolved(self.approved.name, key, gap.reason, fix=gap.fix)

    def _collect_secrets(self, filled: Expanded) -> str:
        self.secrets += filled.secrets
        return filled.text

    async def _expand(self, template: Template, key: str) -> Expanded | Gap:
        if (plain := template.plain) is not None:
            return Expanded(plain)
        if (secret := _find_exposed_secret(key, template)) is not None:
            reason = f"would put the secret {secret} on a command line, where other users can read it; pass it in env"
            return Gap(reason, stops=True)
        template = _apply_slot(key, template)
        await self.fetch([(key, template)])
        filled = expand(template, lambda part: self._look_up(part, key))
        if isinstance(filled, Gap) and is_bare_name(template):
            # A secret that someone pasted in looks like a bare name too, so the reason must not repeat it.
            return Gap("is the name of a variable that is not set", filled.stops)
        return filled

    # --- the value of a part --------------------------------------------------------------------------------

    def _look_up(self, part: Part, slot: str) -> PartValue:
        match part:
            case TextPart(text):
                return Expanded(text)
            case VariablePart(name):
                return _use_variable(part, self.fetcher.read_variable(name, slot))
            case FilePart(path):
                return self._read_file(path, slot)
            case KnownPart():
                return Expanded(_look_up_place(part, self._where, self.approved.folder))
            case SecretPart(keeper=keeper) if keeper == OWN_KEEPER:
                return self._fetched[part, slot]
            case SecretPart():
                return self._look_up_secret(part, slot)
            case ForeignPart(text):
                return Gap(f"contains {safe(text)}, which only {self._tool} can fill in")
            case InputPart():
                return self._look_up_input(part, slot)
            case CommandPart():
                return self._fetched[part, slot]

    def _look_up_input(self, part: InputPart, slot: str) -> Expanded | Gap:
        value = self.fetcher.read_answer(part, slot)
        if value is None:
            return Gap(f"needs the input {safe(part.id)!r}, which was not given", stops=True)
        # A default and the options are in a file that others may read as well. Anything else may be a password, even
        # if nobody marked it as one.
        is_public = not part.secret and (value == part.default or value in part.options)
        return Expanded(value, () if is_public else (value,))

    def _look_up_secret(self, secret: SecretPart, slot: str) -> Expanded | Gap:
        value = self.fetcher.read_tool_secret(secret, slot)
        if value is not None:
            return Expanded(value, (value,))
        fix = "set a variable of that name" if secret.variable else ""
        return Gap(f"needs the secret {safe(secret.name)} of {self._tool}, whose store cannot be read", fix=fix)

    def _read_file(self, path: str, slot: str) -> Expanded | Gap:
        content = self.fetcher.read_file(path, slot)
        if isinstance(content, CommandFailed):
            return Gap(f"needs the file {safe(path)}, which {content.how}")
        value = content.strip()
        return Expanded(value, (value,))

    # --- values that have to be fetched ---------------------------------------------------------------------

    async def _fetch_output(self, command: CommandPart, template: Template, slot: str) -> Expanded | Gap:
        line = await self._expand(template, name_slot(command))
        if isinstance(line, Gap):
            return line
        value = await self.fetcher.run_command(command, line.text, slot)
        return value if isinstance(value, Gap) else Expanded(value, (value,))

    async def _fetch_own_secret(self, name: str, slot: str) -> Expanded | Gap:
        # Read at each start: once the person has stored another value, a restart is enough.
        try:
            value = await self.fetcher.read_own_secret(name, slot)
        except (StoreUnavailable, FileError) as error:
            return Gap(f"needs the secret {name}, which cannot be read: {_describe_store(error)}", stops=True)
        if value is None:
            return Gap(f"needs the secret {name}, which is not stored", stops=True, secret=name)
        return Expanded(value, (value,))


def _describe_store(error: StoreUnavailable | FileError) -> str:
    return error.reason if isinstance(error, StoreUnavailable) else str(error)


_SECRET_SLOTS = ("env", "headers", "url", "oauth")
"""Where a stored secret may go. Everything else ends up in the arguments of a process, which all users can list."""


def _find_exposed_secret(key: str, template: Template) -> str | None:
    """The stored secret that would be shown to other users in this slot."""
    if key.partition(".")[0] in _SECRET_SLOTS:
        return None
    return next(iter(template.own_secrets), None)


def _apply_slot(key: str, template: Template) -> Template:
    """The template with what its unset variables do in this slot: in a header or an address, none stays as written."""
    parts = [
        replace(part, unset=effect_of_unset(key, template, part)) if isinstance(part, VariablePart) else part
        for part in template.parts
    ]
    return Template(template.text, tuple(parts))


def fill_without_fetching(template: Template, where: Paths, folder: str) -> Expanded | Gap | None:
    """The text of a template if nothing has to be run, read or asked for it; otherwise `None`."""
    if any(isinstance(part, CommandPart | InputPart | FilePart | SecretPart) for part in template.parts):
        return None

    def look_up(part: Part) -> PartValue:
        match part:
            case TextPart(text):
                return Expanded(text)
            case VariablePart():
                return _use_variable(part, where.env.get(part.name))
            case KnownPart():
                return Expanded(_look_up_place(part, where, folder))
            case _:
                return Gap("contains a placeholder that only its own tool can fill in")

    return expand(template, look_up)


def _use_variable(variable: VariablePart, found: str | None) -> PartValue:
    value = variable.default if found is None else found
    if value is not None:
        return Expanded(value, (value,) if is_secret(variable.name, value) else ())
    match variable.unset:
        case "literal":
            return KeptPlaceholder()
        case "empty":
            return Expanded("")
        case "omit" | "error" as unset:
            return Gap(f"needs the variable {safe(variable.name)}, which is not set", stops=unset == "error")


def _look_up_place(known: KnownPart, where: Paths, folder: str) -> str:
    match known.place:
        case "workspace":
            return folder
        case "workspace-name":
            return os.path.basename(folder.rstrip("/"))
        case "home":
            return where.home
        case "separator":
            return "\\" if where.platform == "win32" else "/"
