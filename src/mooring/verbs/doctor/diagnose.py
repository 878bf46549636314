"""`doctor`: puts together which files were read, how far each server comes, and what to fix."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from mooring.auth.store import StoreInfo
from mooring.core.definitions.paths import Paths
from mooring.inventory.admit import Admitted, admit
from mooring.inventory.load import Inventory
from mooring.process.table import RunningProcess
from mooring.servers.records import Remembered, look_up
from mooring.verbs.doctor.definitions import check_approvals, check_files, check_isolation, check_starts
from mooring.verbs.doctor.other_tools import check_other_tools
from mooring.verbs.doctor.pitfalls import check_pitfalls
from mooring.verbs.doctor.remembered import check_failures, check_held_tools
from mooring.verbs.doctor.report import Finding, Report, ServerDiagnosis
from mooring.verbs.doctor.running import check_running
from mooring.verbs.doctor.secrets import check_secrets
from mooring.verbs.doctor.stages import describe_stages
from mooring.verbs.doctor.storage import check_storage

if TYPE_CHECKING:  # what connects to servers is loaded only if they are tried
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
