"""Mooring's servers as OpenCode has them: given to its running server, under names that lead back to ours."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from mooring.backends.bridge.bridge import AgentBridge, AgentEndpoint, McpTool, OwnTool
from mooring.backends.bridge.native import (
    NativeAddress,
    NativeProgram,
    NativeServer,
    read_status,
    write_milliseconds,
)
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.opencode.agents import KnownTools
from mooring.backends.opencode.api import OpenCodeApi
from mooring.backends.opencode.own_config import CONTENT
from mooring.core.conversation.backend_name import ServersWay
from mooring.core.conversation.turn import ServerStatus
from mooring.core.text.secret import is_secret
from mooring.discovery.values import as_mapping
from mooring.display.text import safe
from mooring.errors import ConfigError, ModelError

CALL_TIMEOUT: Final = 24 * 60 * 60
"""Seconds that a call through Mooring may take: it has limits of its own, and a person may have to answer first."""
GIVING_TIMEOUT: Final = 45.0
"""Seconds that a turn waits for OpenCode to connect to a server. A slower one joins when it is there."""
RESOURCE_TOOLS: Final = frozenset({"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"})


class OpenCodeServers:
    """The servers that one running OpenCode was given."""

    def __init__(self, bridge: AgentBridge, options: BackendOptions, api: OpenCodeApi) -> None:
        self._bridge = bridge
        self._way = options.servers
        self._withheld = list_withheld(options.env)
        self._api = api
        self._given: dict[str, Mapping[str, Any]] = {}
        self._left_out: Sequence[ServerStatus] = ()
        self._giving = asyncio.Lock()

    async def update(self) -> None:
        """Give OpenCode the servers that there are now, and take away those that there aren't any more.

        Raises: ModelError if OpenCode can't be reached.
        """
        async with self._giving:
            wanted = await self._list_wanted()
            gone = [name for name in self._given if name not in wanted]
            changed = {name: config for name, config in wanted.items() if self._given.get(name) != config}
            self._given = wanted
            await asyncio.gather(*map(self._adopt, gone), *(self._give(*each) for each in changed.items()))

    async def _list_wanted(self) -> dict[str, Mapping[str, Any]]:
        if self._way == "shared":
            return {endpoint.name: write_endpoint(endpoint) for endpoint in self._bridge.list_endpoints()}
        servers, self._left_out = await self._bridge.list_native()
        return {server.name: write_native(server, self._withheld) for server in servers}

    async def _give(self, name: str, config: Mapping[str, Any]) -> None:
        try:
            await self._api.post("/mcp", {"name": name, "config": config}, GIVING_TIMEOUT)
        except ModelError:
            # It goes on connecting after that; a program that is gone is noticed by the turn.
            return

    async def _adopt(self, name: str) -> None:
        await self._api.post(f"/mcp/{quote(name, safe='')}/disconnect")

    async def disconnect(self, names: Iterable[str]) -> None:
        """End servers that are not ours, which OpenCode started whatever it was told."""
        for name in names:
            await self._adopt(name)

    # --- status and switches, where the servers are OpenCode's own ----------------------------------------------------

    async def status(self) -> Sequence[ServerStatus]:
        """The status of each server as OpenCode says it. Raises: ModelError."""
        found = as_mapping(await self._api.get("/mcp"))
        known = [self._describe(name, as_mapping(found.get(name))) for name in self._given]
        return [*known, *self._left_out]

    def _describe(self, name: str, said: Mapping[str, Any]) -> ServerStatus:
        server = self._bridge.find_server(name) or name
        return read_status(server, said.get("status"), said.get("error"))

    async def switch(self, server: str, on: bool) -> None:
        """Connect or disconnect a server. Raises: ConfigError; ModelError."""
        # The host may have been told first: then there is a server more or less to give.
        await self.update()
        name = self._bridge.name_server(server)
        if not on:
            if name in self._given:
                await self._adopt(name)
            return
        if name not in self._given:
            raise ConfigError(f"OpenCode was not given {safe(server)}.", "/mcp shows why.")
        await self._api.post(f"/mcp/{quote(name, safe='')}/connect", seconds=GIVING_TIMEOUT)
        # That is answered in the same way whether it could be reached or not.
        await self._check_connected(name)

    async def reconnect(self, server: str) -> None:
        """Raises: ConfigError; ModelError."""
        await self.switch(server, False)
        await self.switch(server, True)

    async def _check_connected(self, name: str) -> None:
        said = as_mapping(as_mapping(await self._api.get("/mcp")).get(name))
        status = self._describe(name, said)
        if status.status != "connected":
            reason = status.error or status.status
            raise ConfigError(f"OpenCode can't connect to {safe(status.name)}: {reason}")

    # --- names --------------------------------------------------------------------------------------------------------

    def find_tool(self, written: str) -> McpTool | OwnTool:
        """The tool that OpenCode means: it joins the names of the server and the tool by `_`."""
        return self._bridge.split_tool(written, "_") or OwnTool(written)

    def is_served(self, tool: OwnTool) -> bool:
        """Whether Mooring checks a tool of OpenCode where it gets there: it reads resources through our servers."""
        return self._way == "shared" and tool.tool in RESOURCE_TOOLS


async def list_known_tools(bridge: AgentBridge, way: ServersWay) -> KnownTools:
    """The tools of all servers that OpenCode is given."""
    servers: Sequence[AgentEndpoint] | Sequence[NativeServer] = bridge.list_endpoints()
    if way == "native":
        servers, _ = await bridge.list_native()
    return {
        server.name: [McpTool(server.server, tool) for tool in bridge.list_tools(server.server)] for server in servers
    }


def write_endpoint(endpoint: AgentEndpoint) -> dict[str, Any]:
    """A server that is reached through Mooring, as OpenCode has it."""
    return {
        "type": "remote",
        "url": endpoint.url,
        "headers": dict(endpoint.headers),
        "oauth": False,
        "timeout": CALL_TIMEOUT * 1000,
    }


def list_withheld(env: Mapping[str, str]) -> Sequence[str]:
    """The variables that OpenCode has for itself, and would pass on to every program that it starts."""
    secret = [name for name, value in env.items() if is_secret(name, value)]
    return ("OPENCODE_SERVER_PASSWORD", CONTENT, *secret)


def write_native(server: NativeServer, withheld: Sequence[str] = ()) -> dict[str, Any]:
    """A server that OpenCode starts or reaches itself. What is withheld from a program is empty for it."""
    match server.connection:
        case NativeProgram(command, args, env, cwd):
            config: dict[str, Any] = {
                "type": "local",
                "command": [command, *args],
                "environment": {**dict.fromkeys(withheld, ""), **env},
                "cwd": cwd,
            }
        case NativeAddress(url, headers, _):
            # It tries streamable HTTP first, then SSE, and can't be told which.
            config = {"type": "remote", "url": url, "headers": dict(headers)}
            if any(name.lower() == "authorization" for name in headers):
                config["oauth"] = False
    if server.timeout is not None:
        config["timeout"] = write_milliseconds(server.timeout)
    return config
