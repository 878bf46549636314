"""What doctor reports, as values and as lines for every face."""

from collections.abc import Iterator, Sequence
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from mooring.auth.store import StoreInfo
from mooring.core.definitions.config import Broken, Http, ServerConfig
from mooring.core.protocol.failure import CheckStage
from mooring.display.text import count_noun, safe, short_path, shorten_paths
from mooring.verbs.verb import ShownLine

_PROGRAM: tuple[CheckStage, ...] = ("file", "approval", "variables", "command", "protocol", "tools")
_ADDRESS: tuple[CheckStage, ...] = ("file", "approval", "variables", "network", "tls", "auth", "protocol", "tools")
_PLAIN_ADDRESS = tuple(stage for stage in _ADDRESS if stage != "tls")


class Finding(Struct, frozen=True):
    """One thing to fix."""

    server: str | None
    what: str
    path: str | None
    line: int | None
    fix: str
    unhealthy: bool
    stage: CheckStage | None = None
    """The stage that the server does not pass; `None` if nothing is stopped by it."""
    evidence: tuple[str, ...] = ()
    """What was seen: an exit code, an HTTP status, the last lines that a program wrote."""


class StageResult(Struct, frozen=True):
    """One stage of one server."""

    stage: CheckStage
    ok: bool
    what: str = ""
    evidence: tuple[str, ...] = ()
    fix: str = ""


class ServerDiagnosis(Struct, frozen=True):
    """One server and how far it comes: a stage that nobody knows anything about is not listed."""

    name: str
    stages: tuple[StageResult, ...]
    tried: bool = False
    """It was started or reached just now; otherwise this is what is known without that."""


class Repair(Struct, frozen=True):
    """Something that doctor fixed, or would fix."""

    what: str
    path: str
    done: bool = False
    error: str | None = None
    """Why it could not be done."""


class Report(Struct, frozen=True):
    """The state of everything configured."""

    files: tuple[str, ...]
    servers: tuple[ServerDiagnosis, ...]
    findings: tuple[Finding, ...]
    processes_known: bool = True
    """False where nobody can tell which programs are running."""
    store: StoreInfo | None = None
    """Where secrets are stored, and why there."""

    @property
    def healthy(self) -> bool:
        return not any(finding.unhealthy for finding in self.findings)


def list_stages(config: ServerConfig | Broken) -> Sequence[CheckStage]:
    """The stages of a server, in their order; a program has no network, and a plain address no TLS."""
    if not isinstance(config, ServerConfig) or not isinstance(config.connection, Http):
        return _PROGRAM
    is_plain = config.connection.url.text.startswith(("http:", "unix:"))
    return _PLAIN_ADDRESS if is_plain else _ADDRESS


_LONGEST_STAGE = max(map(len, get_args(CheckStage)))


def list_lines(report: Report, home: str, *, is_named: bool, verbose: bool = False) -> Iterator[ShownLine]:
    """What a person reads of a report; `is_named` if it is about servers that they named."""
    for line in _list_lines(report, home, is_named=is_named, verbose=verbose):
        yield replace(line, text=shorten_paths(line.text, home), more=shorten_paths(line.more, home))


def _list_lines(report: Report, home: str, *, is_named: bool, verbose: bool) -> Iterator[ShownLine]:
    shows_stages = is_named or verbose
    if not is_named:
        yield from _describe_summary(report, home, verbose)
    if shows_stages:
        for server in report.servers:
            yield ShownLine(safe(server.name), "title")
            for stage in server.stages:
                yield from _describe_stage(stage)
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
