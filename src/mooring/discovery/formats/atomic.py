"""Atomic and pi: milliseconds for calls, minutes for rest, bearer tokens by value or by name, `~` in folders."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import ATOMIC
from mooring.discovery.format import MINUTES, Field, Format, fields, project, user, without
from mooring.discovery.values import EntryRefused


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """`auth` names a way to log in or forbids it; the client stands in `oauth`."""
    if isinstance(limit := raw.get("timeoutMs"), int | float) and limit <= 0:
        raise EntryRefused(
            "`timeoutMs` is not above 0, which Atomic does not take", "remove it, or write how long", "timeoutMs"
        )
    return {**raw, "oauth": False} if raw.get("auth") is False else {**raw, "auth": None}


_FIELDS = {
    **without("timeout"),
    **fields(timeoutMs="call_timeout", requestTimeoutMs="call_timeout", bearerToken="bearer",
             bearerTokenEnv="bearer_env", includeTools="tools_allow", excludeTools="tools_deny",
             idleTimeout=Field("idle_timeout", MINUTES), httpTransport="type"),
}  # fmt: skip

FORMAT = Format(
    tool="atomic",
    title="Atomic",
    places=(
        project(".atomic/mcp.json"),
        project(".pi/mcp.json"),
        user("${ATOMIC_CODING_AGENT_DIR:-~/.atomic/agent}/mcp.json"),
        user("${ATOMIC_CODING_AGENT_DIR:-~/.pi/agent}/mcp.json"),
    ),
    also=(("mcp-servers",),),
    fields=_FIELDS,
    defaults={"idleTimeout": ("settings", "idleTimeout")},
    dialect=ATOMIC,
    prepare=_prepare,
)
