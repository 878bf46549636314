"""Starts OpenCode for a conversation, makes sure that only our servers are on, and follows its events."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

from mooring.backends.bridge.bridge import AgentBridge, McpTool, OwnTool
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.bridge.program import explain_end
from mooring.backends.opencode.api import NAME, OpenCodeApi, RunningProgram, open_api, start_program
from mooring.backends.opencode.config import write_env
from mooring.backends.opencode.own_config import OwnNames, find_names
from mooring.backends.opencode.reading import AgentEvent, ModelWindows, read_event, read_models
from mooring.backends.opencode.servers import OpenCodeServers, list_known_tools
from mooring.backends.opencode.shell import PermittedShell, make_shell
from mooring.discovery.values import as_mapping
from mooring.errors import ModelError

BUILT_IN: Final = frozenset({"build", "plan", "general", "explore", "compaction", "title", "summary"})

STARTS: Final = 4
"""How often it is started before it is given up: of two that are the first ever, one can't make the database."""


class RunningAgent:
    """A running OpenCode with everything that belongs to it. `launch_agent` makes one."""

    def __init__(
        self, program: RunningProgram, api: OpenCodeApi, servers: OpenCodeServers, stack: AsyncExitStack
    ) -> None:
        self.program = program
        self.api = api
        self.servers = servers
        self.on_event: Callable[[AgentEvent], None] = lambda event: None
        """Receives every event."""
        self.models: ModelWindows = {}
        """What it can ask."""
        self.version = ""
        self.worktree = ""
        """The folder that it takes for the project."""
        self.shell: PermittedShell | None = None
        """What its commands are run by; `None` if it uses a shell of its own."""
        self._stack = stack
        self._following: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether it can be asked anything: the program runs, its events are heard, and requests reach it."""
        is_heard = self._following is not None and not self._following.done()
        return self.program.is_running and is_heard and self.api.is_reachable

    @property
    def lost(self) -> asyncio.Task[None]:
        """Done when nothing more will be heard of it."""
        assert self._following is not None
        return self._following

    def find_tool(self, written: str) -> McpTool | OwnTool:
        return self.servers.find_tool(written)

    def explain_loss(self) -> ModelError:
        if self.program.is_running:
            return ModelError(NAME, "its events ended.")
        return explain_end(NAME, self.program.child)

    async def follow(self) -> None:
        """Hear its events from now on. Raises: ModelError."""
        heard = asyncio.Event()
        self._following = asyncio.get_running_loop().create_task(self._follow(heard))
        opened = asyncio.get_running_loop().create_task(heard.wait())
        try:
            await asyncio.wait((opened, self._following), return_when=asyncio.FIRST_COMPLETED)
        finally:
            opened.cancel()
        if not heard.is_set():
            await self._following

    async def _follow(self, heard: asyncio.Event) -> None:
        async with self.api.listen() as events:
            async for data in events:
                # The first event says that it is connected: from then on nothing is missed.
                heard.set()
                event = read_event(data)
                if event is not None:
                    self.on_event(event)

    async def close(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})
        await self._stack.aclose()


async def launch_agent(bridge: AgentBridge, options: BackendOptions, path: str, own: OwnNames) -> RunningAgent:
    """Start OpenCode with what the person has configured for it switched off, as far as that is in `own`.

    Raises: SpawnError; ModelError.
    """
    running = await _start(bridge, options, path, own)
    try:
        config = as_mapping(await running.api.get("/config"))
        missed = find_foreign(config, options)
        if missed - own:
            await running.close()
            running = await _start(bridge, options, path, own | missed)
            config = as_mapping(await running.api.get("/config"))
            missed = find_foreign(config, options)
        # An organization's servers are merged over what we say. Until here nothing was started.
        await running.servers.disconnect(sorted(missed.servers))
        if running.shell is not None and config.get("shell") != running.shell.path:
            # A version that doesn't have the setting, or an organization's own.
            running.shell = None
        running.models = await read_models(running.api)
        running.version = str(as_mapping(await running.api.get("/global/health")).get("version", ""))
        running.worktree = str(as_mapping(await running.api.get("/path")).get("worktree", ""))
        await running.follow()
    except BaseException:
        await running.close()
        raise
    return running


async def _start(bridge: AgentBridge, options: BackendOptions, path: str, own: OwnNames) -> RunningAgent:
    known = await list_known_tools(bridge, options.servers)
    async with AsyncExitStack() as stack:
        shell = await asyncio.to_thread(make_shell, bridge.cache, options.env, options.cwd)
        if shell is not None:
            stack.callback(shell.close)
        program = await _start_program(options, path, write_env(options, own, known, shell))
        stack.push_async_callback(program.close)
        api = await stack.enter_async_context(open_api(program, options.cwd))
        running = RunningAgent(program, api, OpenCodeServers(bridge, options, api), stack.pop_all())
    running.shell = shell
    return running


async def _start_program(options: BackendOptions, path: str, env: Mapping[str, str]) -> RunningProgram:
    for _ in range(STARTS - 1):
        try:
            return await start_program(options.guard, path, env, options.cwd)
        except ModelError:
            continue
    return await start_program(options.guard, path, env, options.cwd)


def find_foreign(config: Mapping[str, Any], options: BackendOptions) -> OwnNames:
    """The servers and agents in OpenCode's whole configuration that are on and not ours."""
    found = find_names(config)
    ours = BUILT_IN | {definition.name for definition in options.agents}
    agents = as_mapping(config.get("agent"))
    disabled = {name for name, agent in agents.items() if as_mapping(agent).get("disable") is True}
    return OwnNames(found.servers, found.agents - ours - disabled)
