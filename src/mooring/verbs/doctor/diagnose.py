"""`doctor`: puts together which files were read, how far each server comes, and what to fix."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, get_args

from msgspec import Struct

from mooring.auth.store import StoreInfo
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Broken, ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.failure import CheckStage, find_failed_stage
from mooring.discovery.choose import Choice
from mooring.display.text import count_noun, quote_argument
from mooring.inventory.admit import Admitted, admit
from mooring.inventory.load import Inventory
from mooring.process.table import RunningProcess
from mooring.servers.records import Remembered, look_up
from mooring.verbs.config.known import describe_approval, describe_definition
from mooring.verbs.doctor.definitions import cannot_start, check_approvals, check_files, check_isolation, check_starts
from mooring.verbs.doctor.pitfalls import check_other_tools, check_own_name, check_pitfalls
from mooring.verbs.doctor.plain_secrets import check_plain_secrets
from mooring.verbs.doctor.remembered import check_failures, check_held_tools, find_recorded_stage
from mooring.verbs.doctor.report import Finding, Report, ServerDiagnosis, StageResult, list_stages
from mooring.verbs.doctor.running import check_running
from mooring.verbs.doctor.storage import check_secrets, check_storage

if TYPE_CHECKING:
    from mooring.verbs.doctor.trial import TriedServer


def diagnose(
    inventory: Inventory,
    where: Paths,
    *,
    names: Collection[str] | None = None,
    processes: Iterable[RunningProcess] | None = (),
    tried: "Mapping[str, TriedServer] | None" = None,
    store: StoreInfo | None = None,
) -> Report:
    """Examine everything that is configured, or the servers of these names, without starting anything.

    `processes` are those that run at this moment, `None` if nobody can tell; `tried` is what became of servers that
    were started before; `store` takes the person's secrets.
    """
    tried = tried or {}
    admitted = admit(inventory)
    remembered = look_up(admitted.wanted.values(), where)
    found = (
        *check_storage(where),
        *check_own_name(where),
        *check_files(inventory, where),
        *_drop_outdated(check_starts(inventory, where), tried),
        *check_isolation(inventory, admitted, where),
        *check_failures(admitted, remembered, where, tried),
        *_check_tried(admitted, tried, where),
        *check_approvals(inventory),
        *_drop_outdated(check_secrets(inventory, where), tried),
        *check_pitfalls(inventory, where),
        *check_plain_secrets(inventory),
        *check_other_tools(inventory, where),
        *check_held_tools(admitted, where),
        *check_running(inventory, processes or ()),
    )
    by_server = _group(found, names)
    servers = []
    for choice in inventory.choices:
        if names is None or choice.name in names:
            alias = admitted.aliases.get(choice.name)
            record = remembered.get(alias.server if alias else choice.name, Remembered())
            approved = admitted.find_approved(choice.name)
            known = _KnownServer(choice, approved, record, tried.get(choice.name), where)
            servers.append(_describe_stages(known, by_server.get(choice.name, ())))
    findings = tuple(finding for group in by_server.values() for finding in group)
    return Report(inventory.files, tuple(servers), findings, processes is not None, store)


def _drop_outdated(findings: Iterable[Finding], tried: "Mapping[str, TriedServer]") -> Iterator[Finding]:
    """What was expected of servers, without those that were tried: there it is known."""
    return (finding for finding in findings if finding.server not in tried)


def _check_tried(admitted: Admitted, tried: "Mapping[str, TriedServer]", where: Paths) -> Iterator[Finding]:
    if not tried:
        return
    from mooring.verbs.doctor.trial import check_tried

    for name, outcome in tried.items():
        approved = admitted.find_approved(name)
        if approved is not None:
            yield from check_tried(name, approved.config, outcome, where)


def _group(findings: Iterable[Finding], names: Collection[str] | None) -> Mapping[str | None, Iterable[Finding]]:
    """What belongs to no server first, then server by server, each once, in the order in which they were found."""
    by_server: dict[str | None, dict[Finding, None]] = {None: {}}
    for finding in findings:
        if names is None or finding.server in names:
            by_server.setdefault(finding.server, {})[finding] = None
    return by_server


class _KnownServer(Struct, frozen=True):
    """What is known of a server, besides what there is to fix."""

    choice: Choice
    approved: Approved | None
    remembered: Remembered
    tried: "TriedServer | None"
    where: Paths

    @property
    def config(self) -> ServerConfig | Broken:
        return self.choice.definition.config


_TELLING: tuple[CheckStage, ...] = ("protocol", "tools")
"""The stages whose details a trial finds out."""


def _describe_stages(known: _KnownServer, findings: Iterable[Finding]) -> ServerDiagnosis:
    """How far a server comes, according to what was found about it."""
    failed: dict[CheckStage, Finding] = {}
    for finding in findings:
        if finding.stage is not None:
            failed.setdefault(finding.stage, finding)
    reached = _list_until(known.config, _find_last_known(known, failed))
    details = _list_details(known)
    stages = tuple(_make_result(stage, failed.get(stage), details.get(stage, "")) for stage in reached)
    return ServerDiagnosis(known.choice.name, stages, known.tried is not None)


def _list_until(config: ServerConfig | Broken, last: CheckStage) -> Iterator[CheckStage]:
    """The stages of a server up to the last one that is known."""
    every = get_args(CheckStage)
    before = every[: every.index(last)]
    yield from (stage for stage in list_stages(config) if stage in before)
    # Also one that it should not have: a plain address may lead to a secure one.
    yield last


def _find_last_known(known: _KnownServer, failed: Mapping[CheckStage, Finding]) -> CheckStage:
    """The last stage about which anything is known: where the server stops, or where nobody has looked further."""
    config, failure = known.config, known.remembered.failure
    if not isinstance(config, ServerConfig) or not config.enabled:
        return "file"
    if known.approved is None:
        return "approval"
    if known.tried is not None:
        return "tools" if known.tried.error is None else find_failed_stage(known.tried.error)
    if "command" in failed:
        return "command"
    if cannot_start(config, known.where.env):
        return "variables"
    # The failure of a server is reported under the first of its names only.
    if failure is not None and find_recorded_stage(failure) in failed:
        return find_recorded_stage(failure)
    if failure is None and known.remembered.tools is not None:
        return "tools"
    return "command" if config.transport == "stdio" else "variables"


def _list_details(known: _KnownServer) -> dict[CheckStage, str]:
    config = known.config
    details: dict[CheckStage, str] = {"file": describe_definition(config, known.where.home)}
    if config.disabled_by is not None:
        details["file"] += f"; off by {config.disabled_by}"
    if known.approved is not None:
        details["approval"] = describe_approval(known.approved)
    if known.tried is not None:
        found = {step.step: step.detail for step in known.tried.steps if step.ok}
        details |= {stage: found[stage] for stage in _TELLING if stage in found}
    elif known.remembered.tools is not None:
        details["tools"] = f"{count_noun(len(known.remembered.tools), 'tool')}, as it listed them the last time"
    return details


def _make_result(stage: CheckStage, finding: Finding | None, detail: str) -> StageResult:
    if finding is None:
        return StageResult(stage, True, detail)
    # One command: to look at it and to decide is the same one.
    is_waiting = stage == "approval" and finding.server is not None
    fix = f"mooring mcp approve {quote_argument(finding.server or '')}" if is_waiting else finding.fix
    return StageResult(stage, False, finding.what, finding.evidence, fix)
