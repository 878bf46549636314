"""`approve` and `reject`: the person's word on what a project's files would start."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from mooring.actions.list import RowSource, source
from mooring.core.approved import Standing
from mooring.core.config import Http, ServerConfig, Stdio
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


class ApprovalQuestion(Struct, frozen=True):
    """What a person must see before they decide: exactly what would run or be reached, and who says so."""

    name: str
    digest: str
    """Of the very definition that is shown: only this one is approved."""
    standing: Standing
    command: tuple[str, ...]
    url: str | None
    env: Mapping[str, str]
    """Masked, but with the commands that would run, and in full where a value could put another program in place."""
    headers: Mapping[str, str]
    headers_helper: str | None
    pass_env: tuple[str, ...]
    env_file: str | None
    cwd: str | None
    source: RowSource
    merged: tuple[str, ...]
    """Other files that contribute, some of them perhaps the person's own."""
    target: str | None
    """The executable that the command stands for now, or the address's origin; `UNRESOLVED`, or `None`: see there."""
    trusted_by: str | None
    warning: str = UNCHECKED


def questions(inventory: Inventory, names: Iterable[str], where: Where) -> tuple[ApprovalQuestion, ...]:
    """What there is to decide about these names; no names means every project server not yet judged.

    Raises:
        UnknownServer: nothing goes by one of the names.
        ConfigError: one of them needs no approval, or cannot be used at all.
    """
    wanted = list(names)
    if wanted:
        return tuple(_question(inventory, _candidate(inventory, name), where) for name in wanted)
    return tuple(_question(inventory, definition, where) for definition in pending(inventory))


def pending(inventory: Inventory) -> tuple[RankedDefinition, ...]:
    """The project's definitions that wait for a word."""
    candidates = (choice.proposed or choice.definition for choice in inventory.choices)
    return tuple(
        definition
        for definition in candidates
        if isinstance(definition.config, ServerConfig) and inventory.standing(definition) in ("unseen", "changed")
    )


def decide(inventory: Inventory, asked: Iterable[ApprovalQuestion], where: Where, approve: bool) -> tuple[str, ...]:
    """Put the answer to what was shown on record; returns the names it concerns.

    Raises:
        FileError: the record cannot be written.
    """
    decisions = [_decision(inventory.root, question, approve) for question in asked]
    trust.record(where, decisions)
    return tuple(decision.name for decision in decisions)


def _decision(root: str, question: ApprovalQuestion, approve: bool) -> trust.Decision:
    return trust.Decision(
        project=root,
        name=question.name,
        digest=question.digest,
        verdict="approved" if approve else "rejected",
        target=question.target,
        at=utc_timestamp(),
    )


def _candidate(inventory: Inventory, name: str) -> RankedDefinition:
    """The project's definition of a name: the one proposed, in force, or kept out."""
    choice = inventory.find(name)
    everyone = (*([choice.proposed] if choice.proposed else []), choice.definition, *choice.shadowed)
    definition = next((d for d in everyone if inventory.standing(d) != "own"), None)
    if definition is None:
        path = choice.definition.origin.path or "the command line"
        raise ConfigError(f"{choice.name} stands in your own configuration ({path}); it needs no approval.")
    if not isinstance(definition.config, ServerConfig):
        problem = definition.config.problem
        raise ConfigError(f"{choice.name} cannot be approved: it {problem.message} ({problem.path}).")
    return definition


def _question(inventory: Inventory, definition: RankedDefinition, where: Where) -> ApprovalQuestion:
    config = definition.config
    assert isinstance(config, ServerConfig)
    stdio = config.connection if isinstance(config.connection, Stdio) else None
    http = config.connection if isinstance(config.connection, Http) else None
    return ApprovalQuestion(
        name=config.name,
        digest=trust.digest(config),
        standing=inventory.standing(definition),
        command=(stdio.command.text, *(arg.text for arg in stdio.args)) if stdio else (),
        url=hide_in_url(http.url.text) if http else None,
        env={name: _shown(name, value) for name, value in stdio.env.items()} if stdio else {},
        headers={name: reveal_commands(value) for name, value in http.headers.items()} if http else {},
        headers_helper=http.headers_helper.text if http and http.headers_helper else None,
        pass_env=stdio.pass_env if stdio else (),
        env_file=stdio.env_file.text if stdio and stdio.env_file else None,
        cwd=stdio.cwd.text if stdio and stdio.cwd else None,
        source=source(config.origin),
        merged=config.origin.layers,
        target=resolve_target(
            config.connection, inventory.root, where, default_search_path(where, inventory.settings["env"])
        ),
        trusted_by=definition.marked_by,
    )


def _shown(name: str, value: Template) -> str:
    return value.text if may_replace_program(name) else reveal_commands(value)
