"""For each server, the stages that it is known to pass, up to the first that it does not."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, get_args

from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Broken, ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.failure import CheckStage, find_failed_stage
from mooring.discovery.choose import Choice
from mooring.display.text import count_noun, quote_argument
from mooring.inventory.admit import Admitted
from mooring.servers.records import Remembered
from mooring.verbs.config.known import describe_approval, describe_definition
from mooring.verbs.doctor.definitions import cannot_start
from mooring.verbs.doctor.remembered import find_recorded_stage
from mooring.verbs.doctor.report import Finding, ServerDiagnosis, StageResult, list_stages

if TYPE_CHECKING:  # what connects to servers takes longer to load than everything that is done without
    from mooring.verbs.doctor.trial import TriedServer

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
