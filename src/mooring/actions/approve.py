"""`approve` and `reject`: the person decides about what a project's files would start."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mooring.actions.list import UNDECIDED, RowSource, describe_source, written_text
from mooring.core.approved import Standing
from mooring.core.config import Connection, Http, ServerConfig, Stdio
from mooring.core.secret import hide_in_url
from mooring.core.template import Template
from mooring.core.where import Where
from mooring.discovery.scan import RankedDefinition
from mooring.display.text import reveal_commands
from mooring.errors import ConfigError
from mooring.inventory.load import Inventory, utc_timestamp
from mooring.permissions import trust
from mooring.servers.launch.environment import default_search_path
from mooring.servers.launch.target import may_replace_program, resolve_target

UNCHECKED = "What scripts inside the repository do is not checked, now or later."


class ApprovalQuestion(Struct, frozen=True, kw_only=True):
    """What a person must see before they decide: exactly what would run or be reached, and which file says so."""

    name: str
    digest: str
    """Of the very definition that is shown: only this one is approved."""
    standing: Standing
    command: tuple[str, ...] = ()
    url: str | None = None
    env: Mapping[str, str] = {}
    """Masked, but with the commands that would run, and in full where a value could put another program in place."""
    headers: Mapping[str, str] = {}
    headers_helper: str | None = None
    pass_env: tuple[str, ...] = ()
    env_file: str | None = None
    cwd: str | None = None
    source: RowSource
    merged: tuple[str, ...]
    """Other files that contribute, some of them perhaps the person's own."""
    target: str | None
    """The executable that the command resolves to now, or the address's origin; `UNRESOLVED`, or `None`: see there."""
    trusted_by: str | None
    warning: str = UNCHECKED


def list_questions(inventory: Inventory, names: Iterable[str], where: Where) -> tuple[ApprovalQuestion, ...]:
    """The questions about these names; without names, about every project server that is not decided yet.

    Raises:
        UnknownServer: no server has one of the names.
        ConfigError: one of them needs no approval, or cannot be used at all.
    """
    definitions: Sequence[RankedDefinition] = [_find_project_definition(inventory, name) for name in names]
    if not definitions:
        definitions = list_undecided(inventory)
    return tuple(_make_question(inventory, definition, where) for definition in definitions)


def list_undecided(inventory: Inventory) -> tuple[RankedDefinition, ...]:
    """The project's definitions that nobody has decided about as they are now."""
    undecided = []
    for choice in inventory.choices:
        # An unapproved project displaces nothing: where the person has a server of that name, the project's
        # definition is only proposed.
        definition = choice.proposed or choice.definition
        is_usable = isinstance(definition.config, ServerConfig)
        if is_usable and inventory.standing(definition) in UNDECIDED:
            undecided.append(definition)
    return tuple(undecided)


def decide(inventory: Inventory, asked: Iterable[ApprovalQuestion], where: Where, approve: bool) -> tuple[str, ...]:
    """Record the answer to the questions that were shown, and return the names of their servers.

    Raises:
        FileError: the record cannot be written.
    """
    decisions = [_make_decision(inventory.root, question, approve) for question in asked]
    trust.record(where, decisions)
    return tuple(decision.name for decision in decisions)


def _make_decision(root: str, question: ApprovalQuestion, approve: bool) -> trust.Decision:
    # Everything comes from the question, not from the files: they may have changed while the person was reading.
    return trust.Decision(
        project=root,
        name=question.name,
        digest=question.digest,
        verdict="approved" if approve else "rejected",
        target=question.target,
        at=utc_timestamp(),
    )


def _find_project_definition(inventory: Inventory, name: str) -> RankedDefinition:
    """The project's definition of a name, whether it is proposed, in force or shadowed."""
    choice = inventory.find(name)
    proposed = [choice.proposed] if choice.proposed else []
    candidates = (*proposed, choice.definition, *choice.shadowed)
    definition = next((each for each in candidates if inventory.standing(each) != "own"), None)
    if definition is None:
        path = choice.definition.origin.path or "the command line"
        raise ConfigError(f"{choice.name} stands in your own configuration ({path}); it needs no approval.")
    if not isinstance(definition.config, ServerConfig):
        problem = definition.config.problem
        raise ConfigError(f"{choice.name} cannot be approved: it {problem.message} ({problem.path}).")
    return definition


def _make_question(inventory: Inventory, definition: RankedDefinition, where: Where) -> ApprovalQuestion:
    config = definition.config
    assert isinstance(config, ServerConfig)  # unusable definitions were left out or refused above
    # The search path that a start would use: approval and start must arrive at the same executable.
    path = default_search_path(where, inventory.settings["env"])
    return ApprovalQuestion(
        name=config.name,
        digest=trust.digest(config),
        standing=inventory.standing(definition),
        source=describe_source(config.origin),
        merged=config.origin.layers,
        target=resolve_target(config.connection, inventory.root, where, path),
        trusted_by=definition.marked_by,
        **_describe_connection(config.connection),
    )


def _describe_connection(connection: Connection) -> dict[str, Any]:
    match connection:
        case Stdio() as program:
            return {
                "command": (program.command.text, *(arg.text for arg in program.args)),
                "env": {name: _describe_value(name, value) for name, value in program.env.items()},
                "pass_env": program.pass_env,
                "env_file": written_text(program.env_file),
                "cwd": written_text(program.cwd),
            }
        case Http() as remote:
            return {
                "url": hide_in_url(remote.url.text),
                "headers": {name: reveal_commands(value) for name, value in remote.headers.items()},
                "headers_helper": written_text(remote.headers_helper),
            }


def _describe_value(name: str, value: Template) -> str:
    # `PATH` or `NODE_OPTIONS` can make the approved command run another program, so their values are shown in full.
    return value.text if may_replace_program(name) else reveal_commands(value)
