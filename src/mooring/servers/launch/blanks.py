"""The blanks of one definition: what each stands for, where that has to be fetched, and what went without."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NoReturn

from mooring import files
from mooring.core.approved import Approved
from mooring.core.question import Ask, MissingValue, Yes
from mooring.core.secret import is_secret
from mooring.core.template import (
    CommandPart,
    FilePart,
    ForeignPart,
    InputPart,
    KnownPart,
    Part,
    SecretPart,
    Template,
    TextPart,
    VariablePart,
)
from mooring.core.where import Where
from mooring.display.text import bare_name, safe
from mooring.errors import FileError, Unresolved
from mooring.servers.launch.environment import Omission
from mooring.servers.launch.expand import AsWritten, Expanded, Found, Gap, expand
from mooring.servers.launch.secrets import Secrets
from mooring.servers.launch.shell import CommandFailed
from mooring.servers.launch.stores import kept

MOST = 64 * 1024
"""The largest file that can be a value."""


class Blanks:
    """Fills in the templates of one definition.

    An entry of env or headers that cannot be filled in is left out, and that is kept in `omitted`; whatever else
    cannot be filled in stops the start. Values that must not be shown gather in `secrets`.
    """

    def __init__(
        self,
        approved: Approved,
        where: Where,
        *,
        secrets: Secrets,
        ask: Ask | None,
        run: Callable[[str], Awaitable[str | CommandFailed]],
    ) -> None:
        self._approved = approved
        self._where = where
        self._known = secrets
        self._ask = ask
        self._run = run
        self._fetched: dict[Part, Found] = {}
        self.secrets: list[str] = []
        self.omitted: list[Omission] = []

    async def fetch(self, templates: Iterable[Template]) -> None:
        """Run and ask whatever these templates need, all at the same time."""
        wanted = {
            part: template
            for template in templates
            for part in template.parts
            if isinstance(part, CommandPart | InputPart) and part not in self._fetched
        }
        if wanted:
            found = await asyncio.gather(*(self._fetch(part, template) for part, template in wanted.items()))
            self._fetched.update(zip(wanted, found, strict=True))

    async def needed(self, where: str, template: Template) -> str:
        """What a template stands for.

        Raises:
            Unresolved: a blank in it cannot be filled in.
        """
        filled = await self._fill(template)
        if isinstance(filled, Gap):
            self._stop(where, filled)
        return self._noted(filled)

    async def wanted(self, where: str, template: Template) -> str | None:
        """What a template stands for; nothing, and a note of that, where a blank in it cannot be filled in.

        Raises:
            Unresolved: its dialect says that this stops the start, or only the person could have filled it in.
        """
        filled = await self._fill(template)
        if isinstance(filled, Expanded):
            return self._noted(filled)
        if filled.stops:
            self._stop(where, filled)
        self.omit(where, filled.reason)
        return None

    async def entries(self, key: str, templates: Mapping[str, Template]) -> dict[str, str]:
        """Each entry that can be filled in. Raises: as `wanted`."""
        await self.fetch(templates.values())
        filled = {name: await self.wanted(f"{key}.{name}", template) for name, template in templates.items()}
        return {name: text for name, text in filled.items() if text is not None}

    def omit(self, where: str, reason: str) -> None:
        self.omitted.append(Omission(where, reason))

    def _stop(self, where: str, gap: Gap) -> NoReturn:
        raise Unresolved(self._approved.name, where, gap.reason)

    def _noted(self, filled: Expanded) -> str:
        self.secrets += filled.secrets
        return filled.text

    async def _fill(self, template: Template) -> Expanded | Gap:
        if (plain := template.plain) is not None:
            return Expanded(plain)
        await self.fetch([template])
        filled = expand(template, self._look_up)
        if isinstance(filled, Gap) and bare_name(template):
            return Gap("is the name of a variable that is not set", filled.stops)  # or a secret that looks like one
        return filled

    # --- what a part stands for -----------------------------------------------------------------------------

    def _look_up(self, part: Part) -> Found:
        match part:
            case TextPart(text):
                return Expanded(text)
            case VariablePart():
                return _variable(part, self._where)
            case FilePart(path):
                return self._file(path)
            case KnownPart():
                return Expanded(_place(part, self._where, self._approved.folder))
            case SecretPart():
                return self._secret(part)
            case ForeignPart(text):
                return Gap(f"holds {safe(text)}, which only {self._tool} can fill in")
            case CommandPart() | InputPart():
                return self._fetched[part]

    def _secret(self, secret: SecretPart) -> Expanded | Gap:
        given = self._where.env.get(secret.name) if secret.variable else None
        value = given or kept(secret, self._approved.config.origin.path)
        if value is not None:
            return Expanded(value, (value,))
        way = "; set a variable of that name" if secret.variable else ""
        return Gap(f"needs the secret {safe(secret.name)} of {self._tool}, whose store cannot be read{way}")

    def _file(self, path: str) -> Expanded | Gap:
        """Beside the file that names it, as OpenCode has it, which is the one tool that says so."""
        folder = os.path.dirname(self._approved.config.origin.path or "")
        found = read(self.place(path, folder if os.path.isabs(folder) else self._approved.folder))
        if isinstance(found, CommandFailed):
            return Gap(f"needs the file {safe(path)}, which {found.how}")
        return Expanded(found.strip(), (found.strip(),))

    def place(self, path: str, folder: str) -> str:
        """A path that may begin in the person's home, or else in a folder."""
        return placed(path, folder, self._where.home)

    @property
    def _tool(self) -> str:
        return self._approved.config.origin.tool

    # --- what has to be fetched -----------------------------------------------------------------------------

    async def _fetch(self, part: CommandPart | InputPart, template: Template) -> Found:
        match part:
            case CommandPart(line):
                return await self._command(Template(template.text.removeprefix("!"), line))
            case InputPart():
                return await self._input(part)

    async def _command(self, template: Template) -> Expanded | Gap:
        line = await self._fill(template)
        if isinstance(line, Gap):
            return line
        folder = self._approved.folder
        value = await self._known.once(("command", line.text, folder), lambda: self._output(line.text))
        return Expanded(value, (value,)) if isinstance(value, str) else value

    async def _output(self, line: str) -> str | Gap:
        output = await self._run(line)
        return Gap(f"comes from a command that {output.how}") if isinstance(output, CommandFailed) else output

    async def _input(self, blank: InputPart) -> Expanded | Gap:
        value: str | Gap = Gap(_asked_for(blank, "and nobody can be asked here: run mooring in a terminal"), stops=True)
        if self._ask is not None:
            ask, key = self._ask, ("input", self._approved.config.origin.path, blank)
            value = await self._known.once(key, lambda: self._answer(blank, ask))
        if isinstance(value, Gap) and blank.default is not None:
            value = blank.default
        if isinstance(value, Gap):
            return value
        written = value == blank.default or value in blank.options  # in a file that others may read as well
        return Expanded(value, () if written and not blank.secret else (value,))

    async def _answer(self, blank: InputPart, ask: Ask) -> str | Gap:
        question = MissingValue(
            self._approved.name, blank.id, blank.description, blank.default, blank.secret, blank.options
        )
        match await ask(question):
            case Yes(str(text)):
                return text
            case _:
                return Gap(_asked_for(blank, "which was not given: start it again to be asked again"), stops=True)


def told(template: Template, where: Where, folder: str) -> Expanded | Gap | None:
    """What a template stands for where nothing has to be fetched for that; `None` where only its start can tell."""
    if any(isinstance(part, CommandPart | InputPart | FilePart | SecretPart) for part in template.parts):
        return None

    def look_up(part: Part) -> Found:
        match part:
            case TextPart(text):
                return Expanded(text)
            case VariablePart():
                return _variable(part, where)
            case KnownPart():
                return Expanded(_place(part, where, folder))
            case _:
                return Gap("holds what only its own tool can fill in")

    return expand(template, look_up)


def placed(path: str, folder: str, home: str) -> str:
    """A path that may begin in the person's home, or else in a folder."""
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return os.path.join(folder, path)


def _variable(variable: VariablePart, where: Where) -> Found:
    value = where.env.get(variable.name, variable.default)
    if value is not None:
        return Expanded(value, (value,) if is_secret(variable.name, value) else ())
    match variable.unset:
        case "literal":
            return AsWritten()
        case "empty":
            return Expanded("")
        case "omit" | "error" as unset:
            return Gap(f"needs the variable {safe(variable.name)}, which is not set", stops=unset == "error")


def _place(known: KnownPart, where: Where, folder: str) -> str:
    match known.place:
        case "workspace":
            return folder
        case "workspace-name":
            return os.path.basename(folder.rstrip("/"))
        case "home":
            return where.home
        case "separator":
            return "\\" if where.platform == "win32" else "/"


def _asked_for(blank: InputPart, but: str) -> str:
    return f"asks for the input {safe(blank.id)!r}, {but}"


def read(path: str) -> str | CommandFailed:
    """The text of a file that is to be a value, or to hold some."""
    try:
        data = files.read(path, MOST)
        return CommandFailed("does not exist") if data is None else data.decode()
    except FileError as error:
        return CommandFailed(error.reason)
    except UnicodeDecodeError:
        return CommandFailed("is not text")
