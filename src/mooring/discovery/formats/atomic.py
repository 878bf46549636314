"""Atomic and pi: milliseconds for calls, minutes for rest, bearer tokens by value or by name, `~` in folders."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import ATOMIC
from mooring.discovery.format import (
    BASIC,
    MINUTES,
    Field,
    Format,
    Writes,
    common_without,
    fields,
    project_file,
    user_file,
)
from mooring.discovery.values import EntryRefused


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    timeout = raw.get("timeoutMs")
    if isinstance(timeout, int | float) and timeout <= 0:
        hint = "remove it, or set a time"
        raise EntryRefused("`timeoutMs` is not above 0, which Atomic does not accept", hint, "timeoutMs")
    # `auth` only names a kind of login or forbids one; what is known about the client is in `oauth`.
    if raw.get("auth") is False:
        return {**raw, "oauth": False}
    return {**raw, "auth": None}


_FIELDS = {
    **common_without("timeout"),
    **fields(timeoutMs="call_timeout", requestTimeoutMs="call_timeout", bearerToken="bearer",
             bearerTokenEnv="bearer_env", includeTools="tools_allow", excludeTools="tools_deny",
             idleTimeout=Field("idle_timeout", MINUTES), httpTransport="type"),
}  # fmt: skip

FORMAT = Format(
    tool="atomic",
    title="Atomic",
    places=(
        project_file(".atomic/mcp.json"),
        project_file(".pi/mcp.json"),
        user_file("${ATOMIC_CODING_AGENT_DIR:-~/.atomic/agent}/mcp.json"),
        user_file("${ATOMIC_CODING_AGENT_DIR:-~/.pi/agent}/mcp.json"),
    ),
    other_keys=(("mcp-servers",),),
    fields=_FIELDS,
    defaults={"idleTimeout": ("settings", "idleTimeout")},
    dialect=ATOMIC,
    prepare=_prepare,
    writes=Writes(
        user=(user_file("${ATOMIC_CODING_AGENT_DIR:-~/.atomic/agent}/mcp.json"),),
        project=(project_file(".atomic/mcp.json"),),
        slots=(*BASIC, "cwd", "call_timeout", "idle_timeout", "tools_deny", "lifecycle", "oauth"),
        types={},
        oauth={"client_id": "clientId", "client_secret": "clientSecret", "scopes": "scope", "grant": "grantType"},
        joined_scopes=True,
    ),
)
