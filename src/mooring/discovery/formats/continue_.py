"""Continue: a list of servers with names, in YAML or in JSON files that others' tools could have written."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mooring.discovery.dialect import SECRETS
from mooring.discovery.format import PROJECT, Format, Place, Remark, fields, project, user, without

_HOME = "${CONTINUE_GLOBAL_DIR:-~/.continue}"


def _blocks(make: Callable[..., Place], folder: str) -> tuple[Place, ...]:
    return tuple(make(f"{folder}/mcpServers/*.{suffix}") for suffix in ("yaml", "yml", "json"))


def _remarks(raw: Mapping[str, Any]) -> Iterable[Remark]:
    if isinstance(limit := raw.get("connectionTimeout"), int) and 0 < limit < 1000:
        yield "connectionTimeout", f"is {limit} milliseconds, where seconds may be meant", "write milliseconds"


FORMAT = Format(
    tool="continue",
    title="Continue",
    places=(*_blocks(project, ".continue"), user(f"{_HOME}/config.yaml"), *_blocks(user, _HOME)),
    also=(("projects", PROJECT, "mcpServers"),),
    listed=True,
    single=True,
    fields={
        **without("timeout", "oauth", "auth"),
        **fields({"requestOptions.headers": "headers"}, apiKey="bearer", connectionTimeout="start_timeout"),
    },
    dialect=SECRETS,
    remarks=_remarks,
)
