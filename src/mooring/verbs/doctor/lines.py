"""A report in lines, for every face: what it says is here, how a line looks is up to the face."""

from collections.abc import Iterator, Sequence
from typing import get_args

from mooring.auth.store import StoreInfo
from mooring.core.protocol.failure import CheckStage
from mooring.display.text import count_noun, safe, short_path
from mooring.verbs.doctor.report import Finding, Report, ServerDiagnosis, StageResult
from mooring.verbs.verb import ShownLine

_LONGEST_STAGE = max(map(len, get_args(CheckStage)))


def list_lines(report: Report, home: str, *, is_named: bool, verbose: bool = False) -> Iterator[ShownLine]:
    """What a person reads of a report; `is_named` if it is about servers that they named."""
    shows_stages = is_named or verbose
    if not is_named:
        yield from _describe_summary(report, home, verbose)
    if shows_stages:
        for server in report.servers:
            yield from _describe_server(server)
    for finding in report.findings:
        # What stops a server is shown at its stage already.
        if not shows_stages or finding.stage is None or finding.server is None:
            yield from _describe_finding(finding, home)
    if verbose and report.store is not None:
        yield ShownLine(_describe_store(report.store, home), "dim")
    if verbose and not report.processes_known:
        yield ShownLine("Nothing tells on this system which servers are running already.", "dim")


def _describe_summary(report: Report, home: str, verbose: bool) -> Iterator[ShownLine]:
    files = count_noun(len(report.files), "file")
    servers = count_noun(len(report.servers), "server")
    summary = f"Read {files}; {servers} configured."
    yield ShownLine(summary) if report.findings else ShownLine(f"{summary} Nothing to fix.", "good")
    if verbose:
        yield from (ShownLine(f"  {short_path(path, home)}") for path in report.files)


def _describe_store(store: StoreInfo, home: str) -> str:
    if store.path is None:
        return f"Secrets are stored in the system keyring ({safe(store.name)})."
    return f"Secrets are stored in {safe(short_path(store.path, home))}, because {safe(store.why)}."


def _describe_server(server: ServerDiagnosis) -> Iterator[ShownLine]:
    yield ShownLine(safe(server.name), "title")
    for stage in server.stages:
        yield from _describe_stage(stage)


def _describe_stage(stage: StageResult) -> Iterator[ShownLine]:
    what = f"{'':{_LONGEST_STAGE - len(stage.stage)}}  {safe(stage.what)}" if stage.what else ""
    yield ShownLine(f"  {'✓' if stage.ok else '✗'} {stage.stage}", "good" if stage.ok else "bad", what)
    yield from _describe_details(stage.evidence, stage.fix)


def _describe_finding(finding: Finding, home: str) -> Iterator[ShownLine]:
    mark = "✗" if finding.unhealthy else "?"
    server = f"{safe(finding.server)}: " if finding.server else ""
    headline = f"{mark} {server}{safe(finding.what)}{_describe_place(finding, home)}"
    yield ShownLine(headline, "bad" if finding.unhealthy else "doubtful")
    yield from _describe_details(finding.evidence, finding.fix)


def _describe_details(evidence: Sequence[str], fix: str) -> Iterator[ShownLine]:
    yield from (ShownLine(f"    {safe(line)}", "dim") for line in evidence)
    if fix:
        # Some say it themselves.
        label = "" if fix.startswith("fix ") else "fix: "
        yield ShownLine(f"    {label}{safe(fix)}")


def _describe_place(finding: Finding, home: str) -> str:
    if not finding.path:
        return ""
    line = f":{finding.line}" if finding.line else ""
    return f"  ({short_path(finding.path, home)}{line})"
