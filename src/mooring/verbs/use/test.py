"""`test`: connects to one server step by step, from its definition to its end, and times each step."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.conversation.status import KnownServer
from mooring.core.definitions.config import ServerConfig, Stdio
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.era import EraName
from mooring.core.protocol.failure import CheckStage, find_failed_stage
from mooring.core.protocol.tool import Listing, ServerInfo, Tool
from mooring.discovery.formats import find_format
from mooring.discovery.template import find_literal_placeholders
from mooring.display.text import safe
from mooring.errors import ServerError, Stage
from mooring.host.host import Host
from mooring.host.trial import PingAnswered, SessionOpened, StagePassed, TrialNews, ValuesFilledIn, try_once
from mooring.permissions import pins
from mooring.servers.launch.environment import OmittedEntry
from mooring.verbs.config.get import KEPT, find_missing_variables
from mooring.verbs.config.known import count_offered, describe_approval, describe_definition
from mooring.verbs.use.deadline import CONNECTING, Deadline
from mooring.verbs.verb import ShownLine

StepName: TypeAlias = CheckStage | Literal["ping", "close"]


class TrialStep(Struct, frozen=True):
    """One step, how long it took, and what a person should know about it."""

    step: StepName
    ok: bool
    seconds: float
    detail: str = ""
    partial: bool = False
    """It is not all right, but the next steps could still be tried."""


class Found(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a server turned out to be."""

    protocol_version: str
    era: EraName
    server_info: dict[str, str]
    tools: int
    rejected: int
    held: int = 0
    """How many of the tools are held back, because they are not what was approved."""
    transport: Literal["http", "sse"] | None = None
    """Which transport its address speaks; `None` for a program."""


def show_step(step: TrialStep) -> ShownLine:
    """How a step went; the reason for a failure is told below all steps, as an error."""
    line = f"{step.step:10} {step.seconds * 1000:7.0f} ms"
    detail = f"  {safe(step.detail)}" if step.detail else ""
    if step.partial:
        return ShownLine(f"! {line}", "doubtful", detail)
    return ShownLine(f"✓ {line}", "good", detail) if step.ok else ShownLine(f"✗ {line}", "bad")


async def test(
    host: Host, name: str, show: Callable[[TrialStep], None], deadline: Deadline, *, where: Paths, began: float
) -> Found:
    """Connect to one server and show each step when it is done; `began` is when the command began to read files.

    Raises:
        UnknownServer, ServerDisabled, NotApproved, ConfigError: it cannot be started.
        ServerError: it could be, and failed; TimedOut if it was not in time.
    """
    config = host.definition(name)
    if isinstance(config, ServerConfig):
        show(TrialStep("file", True, perf_counter() - began, describe_definition(config, where.home)))
    server = await host.admit(name)
    show(TrialStep("approval", True, 0.0, describe_approval(server.approved)))
    async with deadline.enforce(server.name, CONNECTING):
        return await _try(host, server, show, where, patient=deadline.seconds is None)


async def _try(
    host: Host, server: KnownServer, show: Callable[[TrialStep], None], where: Paths, *, patient: bool
) -> Found:
    trial = _Trial(server.config, show, where.env)
    try:
        await try_once(host, server.name, trial.follow, patient=patient)
    except ServerError as error:
        trial.show_failure(error)
        raise
    trial.finish("close")
    opened = trial.opened
    assert opened is not None, "an attempt that comes to its end has opened a session"
    held, _ = pins.check_tools(where, server.approved, opened.tools.items)
    return _describe_session(server.config, opened, len(held.names))


def describe_values(config: ServerConfig, omitted: Iterable[OmittedEntry], env: Mapping[str, str]) -> str:
    """What has no value in a definition, and what becomes of it; empty if everything has one."""
    sentences = [str(omission) for omission in omitted]
    reported = {omission.where for omission in omitted}
    for one in find_missing_variables(config, env):
        # What is left out, of an address too, is among the omissions already.
        if one.effect in KEPT and f"{one.variable} in {one.where}" not in reported:
            variable = one.variable or "the variable it names"
            sentences.append(f"{one.where}: {variable} is not set; it {one.effect}.")
    sentences += _describe_literals(config)
    return " ".join(sentences)


def _describe_literals(config: ServerConfig) -> Iterator[str]:
    format = find_format(config.origin.tool)
    # What was typed as a command has been through a shell, and is taken as it is.
    if format is None or config.origin.typed:
        return
    for literal in find_literal_placeholders(config.written or config.connection, format.dialect):
        # Its text is sent as a value, and so it would be struck out here.
        yield f"{literal.key}: its placeholder is taken literally; {format.title} writes {literal.spelling}."


class _Trial:
    """Shows each step of one attempt, with the time since the step before.

    Steps of the connection are collected first and shown once it is made: what the first attempt over HTTP came
    through is forgotten when SSE is tried next.
    """

    def __init__(self, config: ServerConfig, show: Callable[[TrialStep], None], env: Mapping[str, str]) -> None:
        self._config = config
        self._show = show
        self._env = env
        self.opened: SessionOpened | None = None
        self._since = perf_counter()
        self._passed: list[tuple[StepName, float]] = []
        self._details: dict[StepName, str] = {}
        way: StepName = "command" if isinstance(config.connection, Stdio) else "network"
        self._steps: dict[Stage, StepName] = {
            "spawn": way, "connect": way, "handshake": "protocol", "list": "tools", "call": "ping",
        }  # fmt: skip

    def follow(self, news: TrialNews) -> None:
        """Note or show what the attempt has come to."""
        match news:
            case ValuesFilledIn(omitted):
                missing = describe_values(self._config, omitted, self._env)
                self.finish("variables", missing, ok=not missing, partial=bool(missing))
            case StagePassed(stage):
                if stage == "connect":
                    self._passed.clear()
                self._passed.append((self._steps[stage], perf_counter()))
            case SessionOpened():
                self._show_session(news)
            case PingAnswered(error):
                self.finish("ping", error)

    def finish(
        self, step: StepName, detail: str = "", *, at: float | None = None, ok: bool = True, partial: bool = False
    ) -> None:
        """Show a step that ended now, or at the given time."""
        at = at or perf_counter()
        self._show(TrialStep(step, ok, at - self._since, detail, partial))
        self._since = at

    def _show_session(self, opened: SessionOpened) -> None:
        """Show the steps that led to the session."""
        self.opened = opened
        self._details["protocol"] = _describe_handshake(opened.hello)
        tools = opened.tools
        if tools.note and not tools.items:
            return  # the attempt ends here, with an error that is shown next
        self._details["tools"] = _describe_tools(self._config, tools)
        self._show_passed()

    def show_failure(self, error: ServerError) -> None:
        """Show the steps before the one that failed, and the failure."""
        step = self._find_step(error)
        self._show_passed(but=step)
        self.finish(step, str(error), ok=False)

    def _find_step(self, error: ServerError) -> StepName:
        return "ping" if error.stage == "call" else find_failed_stage(error)

    def _show_passed(self, but: StepName | None = None) -> None:
        for step, at in self._passed:
            if step != but:
                self.finish(step, self._details.get(step, ""), at=at)
        self._passed.clear()


def _describe_handshake(hello: ServerInfo) -> str:
    info = hello.server_info
    name = f"{info.name} {info.version}".strip() or "nameless"
    return f"{name}, protocol {hello.protocol_version}"


def _describe_tools(config: ServerConfig, tools: Listing[Tool]) -> str:
    listed = len(tools.items)
    offered = count_offered(config, (tool.name for tool in tools.items))
    text = f"{offered}" if offered == listed else f"{offered} of {listed}, by the filters in its definition"
    if tools.rejected:
        text += f", {len(tools.rejected)} that cannot be used"
    if tools.note:
        text += f". {tools.note}"
    return text


def _describe_session(config: ServerConfig, opened: SessionOpened, held: int) -> Found:
    info = opened.hello.server_info
    return Found(
        protocol_version=opened.hello.protocol_version,
        era=opened.era,
        server_info={"name": info.name, "version": info.version},
        tools=count_offered(config, (tool.name for tool in opened.tools.items)),
        rejected=len(opened.tools.rejected),
        held=held,
        transport=opened.transport,
    )
