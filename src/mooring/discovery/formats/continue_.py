"""Continue: a list of servers with names, in YAML or in JSON files that others' tools could have written."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mooring.discovery.dialect import CONTINUE
from mooring.discovery.format import (
    BASIC,
    PROJECT,
    Format,
    Obeyed,
    Place,
    Remark,
    Writes,
    common_without,
    fields,
    obeyed_everywhere,
    project_file,
    user_file,
)

_HOME = "${CONTINUE_GLOBAL_DIR:-~/.continue}"


# A folder of files, each with one server or several, which other tools' files can be copied into.
def _blocks(make: Callable[..., Place], folder: str) -> tuple[Place, ...]:
    return tuple(make(f"{folder}/mcpServers/*.{suffix}") for suffix in ("yaml", "yml", "json"))


def _remarks(raw: Mapping[str, Any]) -> Iterable[Remark]:
    # Continue's own cookbooks write 30, which is 30 milliseconds.
    timeout = raw.get("connectionTimeout")
    if isinstance(timeout, int) and 0 < timeout < 1000:
        yield "connectionTimeout", f"is {timeout} milliseconds, where seconds may be meant", "write milliseconds"


FORMAT = Format(
    tool="continue",
    title="Continue",
    places=(*_blocks(project_file, ".continue"), user_file(f"{_HOME}/config.yaml"), *_blocks(user_file, _HOME)),
    # A copied ~/.claude.json also has servers for single projects.
    other_keys=(("projects", PROJECT, "mcpServers"),),
    as_list=True,
    single_entry=True,
    fields={
        **common_without("timeout", "oauth", "auth"),
        **fields({"requestOptions.headers": "headers"}, apiKey="bearer", connectionTimeout="start_timeout"),
    },
    dialect=CONTINUE,
    remarks=_remarks,
    writes=Writes(
        user=(user_file(f"{_HOME}/config.yaml"),),
        slots=(*BASIC, "cwd", "start_timeout"),
        keys={"headers": "requestOptions.headers"},
        types={"stdio": "stdio", "http": "streamable-http", "sse": "sse"},
        name_key="name",
        starter={"name": "Local Config", "version": "1.0.0", "schema": "v1"},
    ),
    obeys=(
        obeyed_everywhere("rules", ".continue/rules"),
        Obeyed("rules", ".continuerules"),
        obeyed_everywhere("prompts", ".continue/prompts"),
        obeyed_everywhere("agents", ".continue/agents"),
    ),
)
