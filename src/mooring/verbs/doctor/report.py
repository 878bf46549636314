"""What doctor reports: things to fix, and for each server the stages that are known."""

from collections.abc import Sequence

from msgspec import Struct

from mooring.auth.store import StoreInfo
from mooring.core.definitions.config import Broken, Http, ServerConfig
from mooring.core.protocol.failure import CheckStage

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
