"""The gate before every tool: a call goes in and comes through, or is denied with words that say why and what to do."""

import asyncio
import json
from collections.abc import Callable
from typing import Literal, Protocol, assert_never

import msgspec
from msgspec.structs import replace

from mooring.core.problem import Problem
from mooring.core.question import Allow, Ask, No, Permission, Scope, Yes
from mooring.core.where import Where
from mooring.errors import ConfigError, Denied
from mooring.permissions import rules
from mooring.permissions.policy import Policy
from mooring.permissions.rules import Place
from mooring.permissions.verdict import ProposedCall, Server, Verdict


class RefusalLog(Protocol):
    """Where the gate says what it refused; `audit.Audit` is one."""

    def add(self, call: ProposedCall, verdict: Verdict, outcome: Literal["denied"], seconds: float) -> None: ...


class Keep(Protocol):
    """Makes an answer hold for good."""

    def __call__(self, server: Server, tool: str, place: Place) -> None: ...


def keeper(where: Where, project: str | None) -> Keep:
    """Keeps answers in the person's own files."""
    return lambda server, tool, place: rules.keep(where, project, server, tool, place)


class Gate:
    """Decides by the policy, asks where it says so, and remembers the answers."""

    def __init__(
        self,
        policy: Policy,
        ask: Ask | None = None,
        *,
        keep: Keep | None = None,
        audit: RefusalLog | None = None,
        tell: Callable[[Problem], None] = lambda problem: None,
    ) -> None:
        """Without `ask` nothing is asked, and what would have to be is denied; without `keep` no answer outlives
        the session. `tell` hears of answers that could not be kept."""
        self.policy = policy
        self._ask = ask
        self._keep = keep
        self._audit = audit
        self._tell = tell
        self._answers: list[ProposedCall] = []
        self._lines: dict[tuple[Server, str], _Line] = {}

    def use(self, policy: Policy) -> None:
        """Take another policy, as after a change of the settings; answers of this session stay in force."""
        for call in reversed(self._answers):
            policy = _with_answer(policy, call)
        self.policy = policy

    def recheck(self, call: ProposedCall) -> None:
        """Let a call go on that was let through before, unless it is denied by now; nobody is asked again.

        Raises: Denied.
        """
        verdict = self.policy.decide(call)
        if verdict.action == "deny":
            raise self._denied(call, verdict, _refusal(call, verdict))

    async def pass_(self, call: ProposedCall) -> Verdict:
        """Let the call through, and say what let it.

        Raises:
            Denied: it may not be made; the message is for a person and a model to read.
        """
        verdict = self.policy.decide(call)
        if call.target is not None and verdict.action != "allow":
            await self.pass_(replace(call, target=None))
            return await self.pass_(call.target)
        while verdict.action == "ask":
            if (once := await self._asked(call)) is not None:
                return once
            verdict = self.policy.decide(call)
        if verdict.action == "deny":
            raise self._denied(call, verdict, _refusal(call, verdict))
        return verdict

    async def _asked(self, call: ProposedCall) -> Verdict | None:
        """One question about a tool at a time; `None` where the policy is to be looked at again.

        Whoever waited looks again: the answer before theirs may have settled it.
        """
        pair = (call.server, call.tool)
        line = self._lines.setdefault(pair, _Line())
        line.waiting += 1
        try:
            async with line.turn:
                verdict = self.policy.decide(call)
                return await self._answered(call, verdict, line) if verdict.action == "ask" else None
        finally:
            line.waiting -= 1
            if not line.waiting:
                self._lines.pop(pair, None)

    async def _answered(self, call: ProposedCall, verdict: Verdict, line: "_Line") -> Verdict | None:
        if self._ask is None:
            raise self._denied(call, Verdict("ask", "there was nobody to ask"), _nobody(call, verdict))
        scopes = _scopes(verdict, self._keep is not None)
        answer = line.refusal(call) or await self._ask(_question(call, verdict, scopes))
        match answer:
            case No():
                line.refused.append((call, answer))
                raise self._denied(call, Verdict("ask", "you said no"), _said_no(call, answer))
            case Allow() if answer.scope != "once" and "session" in scopes:
                await self._remember(call, answer, scopes)
                return None
            case Allow() | Yes():
                return Verdict("allow", "you allowed it once", "session")
            case _:
                assert_never(answer)

    async def _remember(self, call: ProposedCall, answer: Allow, scopes: tuple[Scope, ...]) -> None:
        self._answers.append(call)
        self.policy = _with_answer(self.policy, call)
        if answer.scope == "always" and "always" in scopes and self._keep is not None:
            try:
                await asyncio.to_thread(self._keep, call.server, call.tool, answer.where)
            except ConfigError as error:
                self._tell(Problem(None, str(error), "until then the answer holds for this session", level="warning"))

    def _denied(self, call: ProposedCall, verdict: Verdict, words: str) -> Denied:
        if self._audit is not None:
            self._audit.add(call, verdict, "denied", 0.0)
        return Denied(words)


class _Line:
    """Calls of one tool that wait for an answer, one after the other."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.waiting = 0
        self.refused: list[tuple[ProposedCall, No]] = []

    def refusal(self, call: ProposedCall) -> No | None:
        """What was answered to the very same call while this one waited: a no holds for both, a yes for one."""
        return next((no for other, no in self.refused if other == call), None)


def _with_answer(policy: Policy, call: ProposedCall) -> Policy:
    """Before what asks, and behind every deny of the session that could be meant for the tool."""
    server, tool = call.server, call.tool
    return policy.adding("session", rules.allowing(server, tool), lambda said: rules.behind(said, server, tool))


def _question(call: ProposedCall, verdict: Verdict, scopes: tuple[Scope, ...]) -> Permission:
    return Permission(
        server=call.server,
        tool=call.tool,
        arguments=call.arguments,
        why=verdict.why,
        rule=_silencing(call),
        origin=call.origin,
        hints=call.hints,
        scopes=scopes,
    )


def _scopes(verdict: Verdict, kept: bool) -> tuple[Scope, ...]:
    """How far an answer can reach: no further than what asks, and not past rules that cannot be read."""
    if verdict.level == "managed":
        return ("once",)
    if not kept or verdict.doubtful:
        return ("once", "session")
    return ("once", "session", "always")


def _silencing(call: ProposedCall) -> str:
    return json.dumps(msgspec.to_builtins(rules.allowing(call.server, call.tool)), ensure_ascii=False)


def _what(call: ProposedCall) -> str:
    return call.tool if call.server is None else f"{call.tool} of {call.server}"


def _refusal(call: ProposedCall, verdict: Verdict) -> str:
    way = "change that rule" if verdict.rule else "leave that mode"
    return f"{_what(call)} was not called: {verdict.why}. Trying again will not help; only the person can {way}."


def _said_no(call: ProposedCall, answer: No) -> str:
    reason = f": {answer.reason}" if answer.reason else "."
    return f"{_what(call)} was not called; the person said no{reason}"


def _nobody(call: ProposedCall, verdict: Verdict) -> str:
    if verdict.doubtful:
        way = "Mend that file first."
    elif verdict.level == "managed":
        way = "The machine's settings want every such call to be asked about."
    else:
        way = f"To allow it, add to `permissions` in your settings.json: {_silencing(call)}"
    return f"{_what(call)} was not called: {verdict.why}, and there is nobody to ask. {way}"
