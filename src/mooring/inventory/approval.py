"""`approve` and `reject`: the person decides about what a project's files would start."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.approved import UNDECIDED, AllowRule, Approved, Standing
from mooring.core.definitions.config import (
    LOGIN_SECRETS,
    Connection,
    Http,
    InProcess,
    OAuth,
    ServerConfig,
    Stdio,
    list_templates,
)
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import Template, written_text
from mooring.core.text.secret import HIDDEN, hide_in_url, shorten_in_arguments, shorten_token
from mooring.discovery.choose import Choice
from mooring.discovery.scan import RankedDefinition
from mooring.display.text import reveal_commands
from mooring.errors import ConfigError, NotApproved
from mooring.inventory.load import Inventory, RowSource, describe_source, utc_timestamp
from mooring.permissions import trust
from mooring.permissions.rule import RuleMatcher
from mooring.permissions.rules import load_project_rules
from mooring.servers.launch.act import OWN_ADDRESS, Act, Use, UseKind, describe_act
from mooring.servers.launch.environment import default_search_path, may_replace_program
from mooring.servers.launch.named_files import (
    ArgumentPath,
    NamedFile,
    bind_files,
    find_argument_paths,
    find_named_files,
)
from mooring.servers.launch.target import UNRESOLVED, check_approval, resolve_target


class Effect(Struct, frozen=True, rename="camel"):
    """A command that would run, something that would be read, or a question, and where the value would go."""

    kind: UseKind
    what: str
    """The command's line, the file's path as written, or a name."""
    goes_to: str
    """What receives the value, in words."""
    path: str | None = None
    """For a file, where its path leads."""
    default: str | None = None
    """For a question, what an empty answer means."""


def describe_effects(
    act: Act, config: ServerConfig, target: str | None, paths: Mapping[str, str]
) -> tuple[Effect, ...]:
    """Everything that a start would run, read or ask for, in words.

    `target` is what the definition resolves to; `paths` are the files it names, as written, and where they lead. The
    login at the server's own address is not among them: the question names it beside the address.
    """
    host = "the server's address" if target in (None, UNRESOLVED) else str(target)
    return tuple(_describe_use(use, config, host, paths) for use in act if use.slot != OWN_ADDRESS)


def _describe_use(use: Use, config: ServerConfig, host: str, paths: Mapping[str, str]) -> Effect:
    path = paths.get(use.what) if use.kind == "file" else None
    return Effect(use.kind, use.what, _describe_receiver(use.slot, config, host), path, use.default)


def _describe_receiver(slot: str, config: ServerConfig, host: str) -> str:
    kind, _, name = slot.partition(".")
    oauth = config.oauth
    # Whom the client's secret goes to is up to the server, or to the document that the definition names.
    names_issuer = (oauth and oauth.metadata_url) or host
    exchange = (oauth and oauth.idp_token_endpoint) or "nobody, as there is no idpTokenEndpoint"
    words = _RECEIVERS.get(slot) or _RECEIVERS[kind]
    return words.format(host=host, name=name, issuer=f"the login server that {names_issuer} names", exchange=exchange)


_RECEIVERS = {
    "env": "the program, as its variable {name}",
    "passEnv": "the program, as its variable {name}",
    "headers": "{host}, in the header {name}",
    "headers.": "{host}, as headers",
    "oauth.clientSecret": "{issuer}, as the client's secret",
    "oauth.privateKey": "signatures for {issuer}",
    "oauth.assertion": "{issuer}, as a statement about you",
    "oauth.idToken": "{exchange}, as your login at the identity provider",
    "command": "the command line, as the program to run",
    "args": "the program, as an argument",
    "cwd": "the folder that the program starts in",
    "envFile": "the path of the file with variables",
    "variables": "the program, as variables",
    "url": "{host}, in the URL",
    "headersHelper": "the command that prints headers",
    "shell": "the command {name}",
}


_BEFORE_APPROVAL: tuple[Standing, ...] = (*UNDECIDED, "rejected")
UNCHECKED = "What scripts inside the repository do is not checked, now or later."


class SteeringVariable(Struct, frozen=True):
    """A variable that the program is given, and that changes which code it loads."""

    name: str
    value: str | None
    """`None` if it is passed on as it is in the person's environment."""
    source: str
    """`env`, `passEnv`, or the file that sets it."""


class ApprovalQuestion(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a person must see before they decide: exactly what would run or be reached, and which file says so.

    Text of a project's file is nobody's secret, and whatever is hidden could be what matters: all of it is shown. Only
    what OpenCode merges in from the person's own files is masked, and tokens lose what follows their prefix.
    """

    name: str
    digest: str = ""
    """Of everything that is shown: a person who names it decides about this and nothing else."""
    definition_digest: str
    """Of the very definition that is shown: only this one is approved."""
    standing: Standing
    still_approved: bool = False
    """It was approved and is still what was approved: without an answer, it may be started as before."""
    outdated: str = ""
    """Why it is not what was approved any more, to be read after its name."""
    earlier: trust.Verdict | None = None
    """What was decided last about another definition of that name in this project."""
    command: tuple[str, ...] = ()
    url: str | None = None
    env: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    headers_helper: str | None = None
    pass_env: tuple[str, ...] = ()
    env_file: str | None = None
    cwd: str | None = None
    login: Mapping[str, str] = {}
    """What it says about logging in."""
    written: tuple[str, ...] = ()
    """The command in the file, if it only leads to the address that is reached instead."""
    effects: tuple[Effect, ...] = ()
    sends_login: bool = False
    """If the person has a login at the address, it is sent there."""
    shown: tuple[str, ...] = ()
    """Marks of everything that it uses, which an approval remembers."""
    steering: tuple[SteeringVariable, ...] = ()
    files: tuple[NamedFile, ...] = ()
    """The files that would be read; of the person's own, no value is shown."""
    paths: tuple[ArgumentPath, ...] = ()
    """What the arguments of its program name outside the project."""
    files_digest: str
    """Of what the approval is bound to in these files."""
    source: RowSource
    merged: tuple[str, ...]
    """Other files that contribute, some of them perhaps the person's own."""
    target: str | None
    """The executable that the command resolves to now, or the address's origin; `UNRESOLVED`, or `None`: see there."""
    trusted_by: str | None
    replaces: RowSource | None = None
    """The person's own server of that name, which this one would take the place of."""
    rules: tuple[AllowRule, ...] = ()
    """The person's rules that allow tools of that name; they are for their own server, unless they say otherwise."""
    applied_rules: tuple[AllowRule, ...] = ()
    """Those that they applied to this server when they approved it, if it is still what was approved."""
    active_rules: tuple[str, ...] = ()
    """The person's answers for this project that allow tools of that name; they apply to this server too."""
    warning: str = UNCHECKED


def list_questions(inventory: Inventory, names: Iterable[str], where: Paths) -> tuple[ApprovalQuestion, ...]:
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


def check_digest(question: ApprovalQuestion, digest: str) -> None:
    """See that a digest was printed for exactly this question, now or before it was approved. Raises: NotApproved."""
    fitting = [question.digest]
    # A step of a build that approves is repeated with the same digest. Only the standing differs then. After a
    # rejection the old digest is refused: the person's last word wins.
    if question.still_approved:
        fitting += [_digest_question(replace(question, standing=standing)) for standing in _BEFORE_APPROVAL]
    if digest not in fitting:
        raise NotApproved(question.name, "is not what that digest was printed for, so nothing was approved")


def apply_rules(question: ApprovalQuestion, apply: bool) -> ApprovalQuestion:
    """The question with the rules that it names applied to its server, as a yes then records it; or with none."""
    return replace(question, applied_rules=question.rules if apply else ())


def decide(inventory: Inventory, asked: Iterable[ApprovalQuestion], where: Paths, approve: bool) -> tuple[str, ...]:
    """Record the answer to the questions that were shown, and return the names of their servers.

    A yes also records which rules apply: those of `apply_rules`, or else those that were applied before.

    Raises:
        FileError: the record cannot be written.
    """
    decisions = [_make_decision(inventory.root, question, approve) for question in asked]
    trust.record(where, decisions)
    return tuple(decision.name for decision in decisions)


def reset(inventory: Inventory, names: Sequence[str], where: Paths) -> tuple[str, ...]:
    """Forget what was decided about these servers of the project, and return those about which something was.

    Raises:
        UnknownServer: no server has one of the names.
        ConfigError: one of them needs no approval.
        FileError: the record cannot be written.
    """
    definitions = [_find_foreign(inventory, name) for name in names]
    decided = [each.name for each in definitions if inventory.approvals.find_decisions(inventory.root, each.name)]
    if decided:
        trust.reset(where, inventory.root, decided)
    return tuple(decided)


def _make_decision(root: str, question: ApprovalQuestion, approve: bool) -> trust.Decision:
    # Everything comes from the question, not from the files: they may have changed while the person was reading.
    return trust.Decision(
        project=root,
        name=question.name,
        digest=question.definition_digest,
        verdict="approved" if approve else "rejected",
        target=question.target,
        files=question.files_digest,
        shown=question.shown,
        at=utc_timestamp(),
        rules=question.applied_rules if approve else (),
    )


def _find_foreign(inventory: Inventory, name: str) -> RankedDefinition:
    """The project's definition of a name, whether it is proposed, in force or shadowed."""
    choice = inventory.find(name)
    definition = next((each for each in list_definitions(choice) if inventory.standing(each) != "own"), None)
    if definition is None:
        path = choice.definition.origin.path or "the command line"
        raise ConfigError(f"{choice.name} is in your own configuration ({path}), so it needs no approval.")
    return definition


def _find_project_definition(inventory: Inventory, name: str) -> RankedDefinition:
    """The same, if it can be used."""
    definition = _find_foreign(inventory, name)
    if not isinstance(definition.config, ServerConfig):
        problem = definition.config.problem
        raise ConfigError(f"{definition.name} cannot be approved: it {problem.message} ({problem.path}).")
    return definition


def _make_question(inventory: Inventory, definition: RankedDefinition, where: Paths) -> ApprovalQuestion:
    config = definition.config
    assert isinstance(config, ServerConfig)  # unusable definitions were left out or refused above
    # The search path that a start would use: approval and start must arrive at the same executable.
    path = default_search_path(where, inventory.settings["env"])
    target = resolve_target(config.connection, inventory.root, where, path)
    act = describe_act(config, own=False)
    found = find_named_files(config, inventory.root, where)
    files = tuple(map(_hide_own_values, found))
    paths = find_argument_paths(config, inventory.root, where)
    choice = inventory.find(config.name)
    approved = trust.admit(inventory.approvals, inventory.root, config)
    outdated = _find_difference(approved, inventory, where) if approved else ""
    still_approved = approved is not None and not outdated
    own = _find_own_values(inventory, choice, config)
    question = ApprovalQuestion(
        name=config.name,
        definition_digest=trust.digest(config),
        standing=inventory.standing(definition),
        still_approved=still_approved,
        outdated=outdated,
        earlier=_find_earlier(inventory, config),
        login=_describe_login(config.oauth, own),
        written=_describe_command(config.written) if isinstance(config.written, Stdio) else (),
        effects=describe_effects(act, config, target, {file.written: file.path for file in files}),
        sends_login=any(use.slot == OWN_ADDRESS for use in act),
        shown=tuple(use.mark for use in act),
        steering=tuple(_find_steering(config.connection, files)),
        files=files,
        paths=paths,
        files_digest=bind_files((*found, *(path.file for path in paths))),
        source=describe_source(config.origin),
        merged=config.origin.layers,
        target=target,
        trusted_by=definition.trusted_by,
        replaces=find_replaced(inventory, definition),
        rules=tuple(dict.fromkeys(_find_rules(inventory, config.name))),
        applied_rules=approved.rules if approved is not None and still_approved else (),
        active_rules=tuple(_find_active_rules(inventory, config.name, where)),
        **_describe_connection(config.connection, own),
    )
    return replace(question, digest=_digest_question(question))


def _digest_question(question: ApprovalQuestion) -> str:
    shown = msgspec.to_builtins(replace(question, digest="", still_approved=False))
    # They follow from the rest. Without them, a digest that was printed before there were any still fits.
    for derived in ("outdated", "sendsLogin", "shown", "paths", "appliedRules"):
        del shown[derived]
    # Likewise as it was before their patterns were shown.
    shown["idleRules"] = [rule if rule.get("pattern") else rule["tool"] for rule in shown.pop("rules")]
    text = json.dumps(shown, sort_keys=True)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


# --- what was decided before ---------------------------------------------------------------------------------


def _find_difference(approved: Approved, inventory: Inventory, where: Paths) -> str:
    """Why an approval no longer counts, to be read after the server's name; empty if it does."""
    try:
        check_approval(approved, where, inventory.settings["env"])
    except NotApproved as error:
        return error.reason
    return ""


def _find_earlier(inventory: Inventory, config: ServerConfig) -> trust.Verdict | None:
    decisions = inventory.approvals.find_decisions(inventory.root, config.name)
    others = [decision for decision in decisions if decision.digest != trust.digest(config)]
    return others[-1].verdict if others else None


# --- what is shown of a definition ---------------------------------------------------------------------------

_OwnValues = frozenset[tuple[str, Template]]
"""Values, by their keys, that stand in the person's own files."""


def _find_own_values(inventory: Inventory, choice: Choice, config: ServerConfig) -> _OwnValues:
    """The values that OpenCode merged into a project's definition from the person's own files."""
    values: set[tuple[str, Template]] = set()
    for other in list_definitions(choice):
        own = other.config
        if not isinstance(own, ServerConfig) or inventory.standing(other) != "own":
            continue
        if own.origin.path in config.origin.layers:
            values.update(list_templates(own.connection, own.oauth))
    return frozenset(values)


def list_definitions(choice: Choice) -> tuple[RankedDefinition, ...]:
    """Every definition of a name: what a project proposes, the winner, and the rest."""
    proposed = (choice.proposed,) if choice.proposed else ()
    return (*proposed, choice.definition, *choice.shadowed)


def _describe_connection(connection: Connection, own: _OwnValues) -> dict[str, Any]:
    match connection:
        case Stdio() as program:
            return {
                "command": _describe_command(program),
                "env": {name: _describe_env(name, value, own) for name, value in program.env.items()},
                "pass_env": program.pass_env,
                "env_file": written_text(program.env_file),
                "cwd": written_text(program.cwd),
            }
        case Http() as remote:
            is_own = ("url", remote.url) in own
            return {
                "url": hide_in_url(remote.url.text) if is_own else remote.url.text,
                "headers": {
                    name: _describe_value(f"headers.{name}", value, own) for name, value in remote.headers.items()
                },
                "headers_helper": written_text(remote.headers_helper),
            }
        case InProcess():
            return {}


def _describe_command(program: Stdio) -> tuple[str, ...]:
    shortened = shorten_in_arguments([arg.text for arg in program.args])
    args = [arg.text if arg.plain is None else short for arg, short in zip(program.args, shortened, strict=True)]
    return (program.command.text, *args)


def _describe_env(name: str, value: Template, own: _OwnValues) -> str:
    # In full, since a text after a token's prefix may be the name of a package or a module.
    return value.text if may_replace_program(name) else _describe_value(f"env.{name}", value, own)


def _describe_value(key: str, value: Template, own: _OwnValues) -> str:
    if (key, value) in own:
        return reveal_commands(value)
    return value.text if value.plain is None else shorten_token(value.text)


def _describe_login(oauth: OAuth | None, own: _OwnValues) -> dict[str, str]:
    if oauth is None:
        return {}
    said = {name: getattr(oauth, name) for name in oauth.__struct_fields__}
    for field, template in oauth.templates.items():
        said[field] = _describe_value(f"oauth.{LOGIN_SECRETS[field]}", template, own)
    return {name: str(value) for name, value in said.items() if value not in (None, (), True)}


def _hide_own_values(file: NamedFile) -> NamedFile:
    # A proxy's address in the person's own file may have their password in it.
    return file if file.foreign else replace(file, steering=dict.fromkeys(file.steering, HIDDEN))


def _find_steering(connection: Connection, files: Iterable[NamedFile]) -> Iterator[SteeringVariable]:
    if isinstance(connection, Stdio):
        for name, value in connection.env.items():
            if may_replace_program(name):
                yield SteeringVariable(name, value.text, "env")
        for name in filter(may_replace_program, connection.pass_env):
            yield SteeringVariable(name, None, "passEnv")
    for file in files:
        for name, text in file.steering.items():
            yield SteeringVariable(name, text, file.written)


# --- what it would take the place of -------------------------------------------------------------------------


def find_replaced(inventory: Inventory, definition: RankedDefinition) -> RowSource | None:
    """The person's own server that a project's definition would take the place of, if it were approved."""
    for other in list_definitions(inventory.find(definition.name)):
        if other.rank > definition.rank and inventory.standing(other) == "own":
            return describe_source(other.origin)
    return None


def _find_rules(inventory: Inventory, name: str) -> Iterator[AllowRule]:
    """The person's rules that allow tools of their own server of that name."""
    for setting in inventory.settings.every("permissions"):
        # A project allows nothing, and what the machine's settings allow applies to every server.
        if setting.level != "user":
            continue
        rules = [msgspec.convert(rule, Rule) for rule in setting.value]
        yield from (AllowRule(rule.tool, rule.pattern) for rule in rules if _allows(rule, name))


def _find_active_rules(inventory: Inventory, name: str, where: Paths) -> Iterator[str]:
    """The person's answers for this project that allow tools of a server of that name, as written."""
    level, _ = load_project_rules(where, inventory.root)
    yield from (rule.tool for rule in level.rules if _allows(rule, name))


def _allows(rule: Rule, server: str) -> bool:
    return rule.action == "allow" and RuleMatcher(rule).names_server(server)
