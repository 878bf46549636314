"""The servers that an agent's file defines for its agent alone: read and judged like those of any other file."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.definitions.config import Scope
from mooring.core.definitions.paths import Workspace
from mooring.discovery.choose import choose
from mooring.discovery.entry import read_entry
from mooring.discovery.format import Format, Place, Sheet
from mooring.discovery.formats.claude import FORMAT as CLAUDE
from mooring.discovery.formats.copilot import FORMAT as COPILOT
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.scan import RankedDefinition, gather_entries, make_context
from mooring.errors import ConfigError, ParseError
from mooring.inventory.load import Inventory
from mooring.permissions import trust
from mooring.settings import load as load_settings
from mooring.syntax.parse import parse

_FORMATS: Mapping[str, Format] = {"claude": CLAUDE, "copilot": COPILOT}
"""Whose rules hold for what an agent's file says; Mooring's own for all others."""


class AgentServerFile(Struct, frozen=True):
    """What an agent's file says about servers, and where it is."""

    servers: Mapping[str, Mapping[str, Any]]
    format: str
    scope: Scope
    path: str


def load_agent_servers(file: AgentServerFile, workspace: Workspace) -> Inventory:
    """An inventory of these servers alone. Those of a project's file are approved as any other of the project's are.

    Raises: ConfigError if they can't be understood at all. One bad entry is a problem.
    """
    context = make_context(workspace.where, workspace.cwd, workspace.project)
    place = Place(file.scope, file.path, literal=True)
    format = replace(_FORMATS.get(file.format, OWN), places=(place,), closed=False)
    try:
        document = parse(json.dumps({format.key[0]: file.servers}).encode(), "json")
    except (TypeError, ValueError, ParseError) as error:
        raise ConfigError(f"{file.path}: its servers cannot be understood: {error}.") from None
    entries = gather_entries(format, (Sheet(place, file.path, document),), context)
    read = [read_entry(entry, format) for entry in entries]
    found = [each.definition for each in read if each.definition is not None]
    approvals, _ = trust.load(workspace.where)
    root = trust.identify_project(context.root)
    definitions = [RankedDefinition(config, (0, 0, order)) for order, config in enumerate(found)]
    return Inventory(
        root,
        choose(definitions, lambda definition: approvals.find_standing(root, definition.config)),
        tuple(problem for each in read for problem in each.problems),
        (file.path,),
        approvals,
        load_settings(workspace.where, root if workspace.project else None),
    )
