"""`doctor`: puts together which files were read, how far each server comes, and what to fix."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, get_args

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
from mooring.verbs.doctor.pitfalls import check_other_tools, check_pitfalls
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
        *check_files(inventory, where),
        *_drop_outdated(check_starts(inventory, where), tried),
        *check_isolation(inventory, admitted, where),
        *check_failures(admitted, remembered, where, tried),
        *_check_tried(admitted, tried, where),
        *check_approvals(inventory),
        *_drop_outdated(check_secrets(inventory, where), tried),
        *check_pitfalls(inventory, where),
        *check_other_tools(inventory, where),
        *check_held_tools(admitted, where),
        *check_running(inventory, processes or ()),
    )
    findings = _group(found, names)
    servers = tuple(_describe_servers(inventory, where, admitted, remembered, findings, tried, names))
    return Report(inventory.files, servers, findings, processes is not None, store)


def _drop_outdated(findings: Iterable[Finding], tried: "Mapping[str, TriedServer]") -> Iterator[Finding]:
    """What was expected of servers, without those that were tried: there it is known."""
    return (finding for finding in findings if finding.server not in tried)


def _check_tried(admitted: Admitted, tried: "Mapping[str, TriedServer]", where: Paths) -> Iterator[Finding]:
    if not tried:
        return
    from mooring.verbs.doctor.trial import check_tried

    for name, outcome in tried.items():
        alias = admitted.aliases.get(name)
        approved = alias.approved if alias else admitted.wanted[name]
        yield from check_tried(name, approved.config, outcome, where)


def _group(findings: Iterable[Finding], names: Collection[str] | None) -> tuple[Finding, ...]:
    """What belongs to no server first, then server by server, each once, in the order in which they were found."""
    by_server: dict[str | None, dict[Finding, None]] = {None: {}}
    for finding in findings:
        if names is None or finding.server in names:
            by_server.setdefault(finding.server, {})[finding] = None
    return tuple(finding for group in by_server.values() for finding in group)


def _describe_servers(
    inventory: Inventory,
    where: Paths,
    admitted: Admitted,
    remembered: Mapping[str, Remembered],
    findings: Iterable[Finding],
    tried: "Mapping[str, TriedServer]",
    names: Collection[str] | None,
) -> Iterator[ServerDiagnosis]:
    by_server: dict[str | None, list[Finding]] = {}
    for finding in findings:
        by_server.setdefault(finding.server, []).append(finding)
    for choice in inventory.choices:
        name = choice.name
        if names is not None and name not in names:
            continue
        alias = admitted.aliases.get(name)
        record = remembered.get(alias.server if alias else name)
        yield describe_stages(choice, by_server.get(name, ()), admitted, record, tried.get(name), where)


_STEPS: Mapping[str, CheckStage] = {"handshake": "protocol", "tools": "tools"}
"""The steps of `mcp test` whose details say something about a stage."""


def describe_stages(
    choice: Choice,
    findings: Iterable[Finding],
    admitted: Admitted,
    remembered: Remembered | None,
    tried: "TriedServer | None",
    where: Paths,
) -> ServerDiagnosis:
    """How far a server comes, according to what was found about it."""
    config = choice.definition.config
    failed: dict[CheckStage, Finding] = {}
    for finding in findings:
        if finding.stage is not None:
            failed.setdefault(finding.stage, finding)
    approved = _find_approved(admitted, choice.name)
    last = _find_last_known(choice, failed, approved, remembered, tried, where)
    details = _list_details(choice, approved, remembered, tried, where)
    stages = tuple(
        _make_result(stage, failed.get(stage), details.get(stage, "")) for stage in _list_until(config, last)
    )
    return ServerDiagnosis(choice.name, stages, tried is not None)


def _list_until(config: ServerConfig | Broken, last: CheckStage) -> Iterator[CheckStage]:
    """The stages of a server up to the last one that is known."""
    every = get_args(CheckStage)
    before = every[: every.index(last)]
    yield from (stage for stage in list_stages(config) if stage in before)
    # Also one that it should not have: a plain address may lead to a secure one.
    yield last


def _find_approved(admitted: Admitted, name: str) -> Approved | None:
    alias = admitted.aliases.get(name)
    return alias.approved if alias else admitted.wanted.get(name)


def _find_last_known(
    choice: Choice,
    failed: Mapping[CheckStage, Finding],
    approved: Approved | None,
    remembered: Remembered | None,
    tried: "TriedServer | None",
    where: Paths,
) -> CheckStage:
    """The last stage about which anything is known: where the server stops, or where nobody has looked further."""
    config = choice.definition.config
    if not isinstance(config, ServerConfig) or not config.enabled:
        return "file"
    if approved is None:
        return "approval"
    if tried is not None:
        return "tools" if tried.error is None else find_failed_stage(tried.error)
    if "command" in failed:
        return "command"
    if cannot_start(config, where.env):
        return "variables"
    # The failure of a server is reported under the first of its names only.
    if remembered is not None and remembered.failure is not None:
        stage = find_recorded_stage(remembered.failure)
        if stage in failed:
            return stage
    elif remembered is not None and remembered.tools is not None:
        return "tools"
    return "command" if config.transport == "stdio" else "variables"


def _list_details(
    choice: Choice, approved: Approved | None, remembered: Remembered | None, tried: "TriedServer | None", where: Paths
) -> dict[CheckStage, str]:
    config = choice.definition.config
    details: dict[CheckStage, str] = {"file": describe_definition(config, where.home)}
    if config.disabled_by is not None:
        details["file"] += f"; off by {config.disabled_by}"
    if approved is not None:
        details["approval"] = describe_approval(approved)
    if tried is not None:
        details |= {_STEPS[step.step]: step.detail for step in tried.steps if step.step in _STEPS and step.ok}
    elif remembered is not None and remembered.tools is not None:
        details["tools"] = f"{count_noun(len(remembered.tools), 'tool')}, as it listed them the last time"
    return details


def _make_result(stage: CheckStage, finding: Finding | None, detail: str) -> StageResult:
    if finding is None:
        return StageResult(stage, True, detail)
    # One command: to look at it and to decide is the same one.
    is_waiting = stage == "approval" and finding.server is not None
    fix = f"mooring mcp approve {quote_argument(finding.server or '')}" if is_waiting else finding.fix
    return StageResult(stage, False, finding.what, finding.evidence, fix)
