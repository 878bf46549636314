"""Scan, approvals and choice together: what `discover`, the actions and the host share."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.config import Broken, Origin, Scope, ServerConfig, Stdio
from mooring.core.near import find_server
from mooring.core.problem import Problem
from mooring.core.standing import Standing
from mooring.core.template import literal
from mooring.core.where import Viewpoint, Where, here
from mooring.discovery.choose import Choice, choose
from mooring.discovery.entry import read as understood
from mooring.discovery.format import Format, Place, Sheet
from mooring.discovery.formats import FORMATS
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.scan import RankedDefinition, Scan, context, maps, scan
from mooring.errors import ConfigError, FileError, ParseError
from mooring.permissions import trust
from mooring.settings import Settings
from mooring.settings import load as load_settings
from mooring.syntax import parse


class Inventory(Struct, frozen=True):
    """Everything configured for one folder: which definition of each name counts, and what is wrong."""

    root: str
    choices: tuple[Choice, ...]
    problems: tuple[Problem, ...]
    files: tuple[str, ...]
    """The files that were found and read."""
    ledger: trust.Ledger
    settings: Settings
    looked: tuple[str, ...] = ()
    """Everywhere a file was looked for, found or not."""

    def find(self, name: str) -> Choice:
        """The choice of that name: as written, or, where only one fits, without regard to case.

        Raises:
            UnknownServer: there is none, or the case would have to decide between several.
        """
        by_name = {choice.name: choice for choice in self.choices}
        return by_name[find_server(name, by_name)]

    def standing(self, definition: RankedDefinition) -> Standing:
        return self.ledger.standing(self.root, definition.config)


def discover(cwd: str | None = None) -> Inventory:
    """Everything configured for a folder (this one, if none is named), on this machine, for this person.

    Approvals that another tool recorded are bound to the definitions as they are now, in the person's state folder.

    Raises:
        ConfigError: the person's home folder is not known.
    """
    return load(Viewpoint(here(os.environ), os.path.abspath(cwd or os.curdir)))


def load(request: Viewpoint, *, remember: bool = True) -> Inventory:
    """Read everything and decide. Starts nothing, expands nothing, opens nothing but configuration files.

    With `remember`, approvals that another tool recorded are bound to the definition as it is now.

    Raises:
        ConfigError: a file named on the command line does not exist.
    """
    place = context(request.where, request.cwd, request.project)
    settings = load_settings(request.where, place.root if request.project else None)
    formats = [*_command_line(request), *_wanted(settings)]
    found = scan(place, formats, keep=settings["mcpRemote"] == "keep", switched_on=request.switched_on)
    ledger, damage = trust.load(request.where)
    root = trust.identity(place.root)
    definitions = (*_demo(request), *found.definitions)
    problems = [*settings.problems, *found.problems, *([damage] if damage else [])]
    if remember and not damage:
        ledger, failure = _adopt(request.where, root, ledger, found)
        problems += [failure] if failure else []
    choices = choose(definitions, lambda definition: ledger.standing(root, definition.config))
    looked = (*found.looked, *found.files, *settings.looked, trust.record_of(request.where))
    return Inventory(root, choices, tuple(problems), found.files, ledger, settings, looked)


def given(servers: Mapping[str, Any] | Iterable[ServerConfig], request: Viewpoint) -> Inventory:
    """Servers that a program gave, in the shape of `mcpServers` or as values, in place of all that is configured.

    Raises:
        ConfigError: they are not what they should be. One bad entry is a problem, not an error.
    """
    settings = load_settings(request.where, None)
    found, problems = _read_given(servers, request) if isinstance(servers, Mapping) else (tuple(servers), ())
    definitions = [RankedDefinition(config, (0, 0, order)) for order, config in enumerate(found)]
    choices = choose(definitions, lambda _: "own")
    return Inventory(request.cwd, choices, (*settings.problems, *problems), (), trust.Ledger(), settings)


def _read_given(
    servers: Mapping[str, Any], request: Viewpoint
) -> tuple[tuple[ServerConfig | Broken, ...], tuple[Problem, ...]]:
    place = Place("cli", "servers", literal=True)
    try:
        document = parse(json.dumps({"mcpServers": servers}).encode(), "json")
    except (TypeError, ValueError, ParseError) as error:
        raise ConfigError(f"The servers given cannot be understood: {error}.") from None
    format = replace(OWN, places=(place,))
    entries = maps(format, (Sheet(place, "", document),), context(request.where, request.cwd, False))
    read = [understood(replace(entry, origin=replace(entry.origin, path=None)), format) for entry in entries]
    return (
        tuple(one.definition for one in read if one.definition is not None),
        tuple(problem for one in read for problem in one.problems),
    )


def _wanted(settings: Settings) -> Iterable[Format]:
    return (format for format in FORMATS if settings["sources"].get(format.tool, True))


def _command_line(request: Viewpoint) -> Iterable[Format]:
    for path in request.configs:
        absolute = os.path.abspath(os.path.join(request.cwd, path))
        _must_read(absolute, path)
        place = Place("cli", absolute, literal=True)
        yield replace(OWN, places=(place,), bare=True)


def _must_read(path: str, written: str) -> None:
    """A file that a person names must be there and sound; one that is merely found need not."""
    data = files.read(path)
    if data is None:
        raise ConfigError(f"{written} does not exist; --config takes a file in the shape of .mcp.json.")
    try:
        parse(data, "json")
    except ParseError as error:
        raise ConfigError(f"{written}: the file {error.reason} (line {error.line or 1}).") from None


def _demo(request: Viewpoint) -> Iterable[RankedDefinition]:
    if request.demo:
        # -I: neither the folder we stand in nor PYTHONPATH can put another program in its place.
        program = Stdio(literal(sys.executable), tuple(map(literal, ("-I", "-m", "mooring.demo"))))
        scope: Scope = "cli"
        yield RankedDefinition(
            ServerConfig(name="demo", origin=Origin("mooring", scope, None), connection=program), (0, 0, 0)
        )


def _adopt(where: Where, root: str, ledger: trust.Ledger, found: Scan) -> tuple[trust.Ledger, Problem | None]:
    """Bind approvals recorded by a definition's own tool to what that definition is when first seen.

    Without a record there is nothing to hold a later change against, so what cannot be recorded does not count.
    """
    vouched: dict[str, ServerConfig] = {}
    for definition in found.definitions:
        if definition.vouched_by and isinstance(definition.config, ServerConfig):
            vouched.setdefault(definition.name, definition.config)
    fresh = [
        trust.Decision(root, name, trust.digest(config), "approved", config.origin.tool, None, now())
        for name, config in vouched.items()
        if not ledger.about(root, name)
    ]
    try:
        return (trust.record(where, fresh, seconds=0), None) if fresh else (ledger, None)
    except FileError as error:
        message = f"An approval that another tool recorded could not be kept, so it does not count: it {error.reason}"
        return ledger, Problem(error.path, message, "make the file writable, or approve here", level="warning")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
