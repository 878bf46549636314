"""The same program for every client: connect the servers, count the tools, call one, and report each step as JSON.

It is run with the servers and the case as arguments, in the client's own environment.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

Servers = dict[str, dict[str, Any]]


@dataclass
class Connected:
    """What a client has once it is connected."""

    tools: int
    call: Callable[[str, str, dict[str, Any]], Awaitable[str]]
    """Takes the server, the tool and its arguments."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """What it says about servers that are unavailable, where it says so without raising."""


Connect = Callable[[Servers], AbstractAsyncContextManager[Connected]]


def main(connect: Connect) -> None:
    servers, case = json.loads(sys.argv[1]), sys.argv[2]
    report = Report(time.perf_counter())  # loading a library is not what is measured
    asyncio.run(run(connect, servers, case, report))


async def run(connect: Connect, servers: Servers, case: str, report: "Report") -> None:
    try:
        async with connect(servers) as client:
            report("connected", tools=client.tools, error="; ".join(client.errors.values()))
            if case == "killed":
                await attempt(report, "killed", client.call("good", "slow", {"seconds": 3}))
                await attempt(report, "again", client.call("good", "echo", {"text": "ahoy"}))
            else:
                await attempt(report, "call", client.call("good", "echo", {"text": "ahoy"}))
    except Exception as error:  # noqa: BLE001 - whatever a client raises is what the page reports
        report("failed", error=describe(error))
    report("closed")


async def attempt(report: "Report", step: str, call: Awaitable[str]) -> None:
    report(f"begin {step}")
    try:
        report(step, answer=await call)
    except Exception as error:  # noqa: BLE001 - whatever a client raises is what the page reports
        report(step, error=describe(error))


def describe(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


@dataclass
class Report:
    """Prints a step, with the seconds until then."""

    began: float

    def __call__(self, step: str, **facts: Any) -> None:
        print(json.dumps({"step": step, "seconds": time.perf_counter() - self.began, **facts}), flush=True)
