"""The backend of OpenCode: one conversation with a server of its own, which runs until the conversation is closed."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from mooring.backends.bridge.bridge import AgentBridge
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.opencode.agents import MAIN_AGENT, split_model
from mooring.backends.opencode.answers import TurnAnswers
from mooring.backends.opencode.api import NAME
from mooring.backends.opencode.config import check_plugins, find_model
from mooring.backends.opencode.launch import RunningAgent, launch_agent
from mooring.backends.opencode.own_config import read_own_names
from mooring.backends.opencode.reading import AgentEvent, TurnParser, check_model
from mooring.backends.programs import require_program
from mooring.core.conversation.event import EndOfTurn
from mooring.core.conversation.outcome import Part
from mooring.core.conversation.turn import Receipt, ServerStatus, TurnInput
from mooring.core.protocol.content import Text
from mooring.discovery.values import as_mapping
from mooring.display.text import safe
from mooring.errors import ConfigError, ModelError, MooringError

CANCEL_TIMEOUT: Final = 5.0
"""Seconds that OpenCode has to end a turn that was canceled, before its program is ended."""
ABORT_PAUSE: Final = 0.5
"""Seconds until it is told again: a turn that hasn't quite begun doesn't hear it."""
EXIT_TIMEOUT: Final = 2.0
"""Seconds to wait for how a program ended, once nothing more is heard of it."""
EVENTS_TIMEOUT: Final = 5.0
"""Seconds to wait for the last events of a turn that has ended."""


async def open_opencode(bridge: AgentBridge, options: BackendOptions) -> "OpenCodeBackend":
    """OpenCode as the backend of one conversation. Its program is started at once, and waited for by the first turn.

    Raises: ConfigError if it isn't installed, an option is invalid, or the repository has plugins for it.
    """
    path = require_program("opencode", options.env)
    if options.model is not None and split_model(options.model) is None:
        hint = "Name both, as in anthropic/claude-sonnet-4-5; `opencode models` lists them."
        raise ConfigError(f"OpenCode needs a provider and a model, not {options.model!r}.", hint)
    await asyncio.to_thread(check_plugins, options.cwd, options.env.get("HOME", ""))
    return OpenCodeBackend(bridge, options, path)


class OpenCodeBackend:
    """One conversation with OpenCode."""

    name = "opencode"

    def __init__(self, bridge: AgentBridge, options: BackendOptions, path: str) -> None:
        self._bridge = bridge
        self._options = options
        self._path = path
        self._session = options.resume
        self._is_session_found = False
        self._has_begun = False
        """Whether OpenCode has taken what the person said in this turn."""
        self._prompts: set[str] = set()
        """The ids of what the person said."""
        self._running: RunningAgent | None = None
        self._starting: asyncio.Task[RunningAgent] | None = self._begin_start()
        self._ending: asyncio.Task[None] | None = None
        """A turn that was canceled, until OpenCode has ended it too."""
        self._updates: set[asyncio.Task[None]] = set()
        self._end_listening = bridge.on_change(self._begin_update)

    # --- the program --------------------------------------------------------------------------------------------------

    def _begin_start(self) -> asyncio.Task[RunningAgent]:
        return asyncio.get_running_loop().create_task(self._start(), name="mooring opencode")

    async def _start(self) -> RunningAgent:
        options = self._options
        # Again: since the conversation was opened, the agent itself may have written one.
        await asyncio.to_thread(check_plugins, options.cwd, options.env.get("HOME", ""))
        own = await asyncio.to_thread(read_own_names, options.env)
        running = await launch_agent(self._bridge, self._options, self._path, own)
        try:
            await running.servers.update()
        except BaseException:
            await running.close()
            raise
        return running

    async def _ensure_running(self) -> RunningAgent:
        """The running OpenCode, started again if it ended. Raises: SpawnError; ModelError."""
        if self._running is not None and not self._running.is_running:
            await self._drop()
        if self._running is None:
            starting = self._starting or self._begin_start()
            # Whoever stops waiting for it leaves it to the next turn.
            self._starting = starting
            try:
                self._running = await asyncio.shield(starting)
            finally:
                if starting.done():
                    self._starting = None
        return self._running

    async def _drop(self) -> None:
        running, self._running = self._running, None
        self._is_session_found = False
        if running is not None:
            await running.close()

    async def close(self) -> None:
        self._end_listening()
        tasks = {task for task in (self._starting, *self._updates) if task is not None}
        for task in tasks:
            task.cancel()
        if self._ending is not None:
            tasks.add(self._ending)
        if tasks:
            await asyncio.wait(tasks)
        if self._starting is not None and not self._starting.cancelled() and self._starting.exception() is None:
            await self._starting.result().close()
        await self._drop()

    # --- a turn -------------------------------------------------------------------------------------------------------

    async def turn(self, said: TurnInput) -> None:
        reporter = self._bridge.reporter
        reporter.begin(model=find_model(self._options), agent=self._options.agent)
        reason: EndOfTurn = "failed"
        text = ""
        try:
            reading = await self._run_turn(said)
            text = reading.text
            if reading.failure:
                reporter.fail(reading.failure)
            else:
                reason = "length" if reading.is_cut_off else "finished"
        except asyncio.CancelledError:
            reason = "interrupted"
            raise
        except MooringError as error:
            reporter.fail(str(error))
        finally:
            reporter.end(reason, text)

    def add(self, said: TurnInput) -> Receipt | None:
        """See `Backend.add`."""
        return None

    async def _run_turn(self, said: TurnInput) -> TurnParser:
        """Have OpenCode answer, and read what it does to the end. Raises: MooringError."""
        if self._ending is not None:
            await asyncio.shield(self._ending)
        running = await self._ensure_running()
        try:
            return await self._ask(running, said)
        except ModelError:
            if running.is_running or self._has_begun:
                raise
            # It died before the turn, and that was not noticed yet: nothing of the turn is lost.
            return await self._ask(await self._ensure_running(), said)

    async def _ask(self, running: RunningAgent, said: TurnInput) -> TurnParser:
        self._has_begun = False
        model = find_model(self._options)
        if model is not None:
            check_model(model, running.models)
        session = await self._find_session(running)
        self._bridge.record_version(running.version)
        await running.servers.update()
        reading = TurnParser(session, self._bridge.reporter, running, self._prompts)
        answers = TurnAnswers(self._bridge, running.api, running.servers, reading, running.shell, running.worktree)

        def take(event: AgentEvent) -> None:
            reading.take(event)
            self._has_begun = reading.has_begun
            if reading.has_begun:
                answers.take(event)

        running.on_event = take
        # Its answer says how the turn ended, whatever the events of the turn before still say.
        path, prompt = f"/session/{session}/message", self._write_prompt(said)
        prompting = asyncio.get_running_loop().create_task(running.api.post(path, prompt, seconds=None))
        try:
            await self._wait_for_end(running, reading, prompting)
        except asyncio.CancelledError:
            # Not waited for here: a turn that is canceled ends at once. The next one waits for it.
            self._ending = asyncio.get_running_loop().create_task(self._cancel(running, session, prompting))
            raise
        finally:
            await answers.close()
        return reading

    async def _wait_for_end(self, running: RunningAgent, reading: TurnParser, prompting: asyncio.Task[Any]) -> None:
        """Raises: ModelError if OpenCode refused the prompt, or if nothing more is heard of it."""
        await asyncio.wait((prompting, running.lost), return_when=asyncio.FIRST_COMPLETED)
        if not running.is_running:
            prompting.cancel()
            await asyncio.wait((prompting, running.program.child.exited), timeout=EXIT_TIMEOUT)
            await self._drop()
            raise running.explain_loss()
        try:
            reading.read_reply(prompting.result())
        except ModelError as error:
            raise ModelError(NAME, reading.failure) if reading.failure else error from None
        # What it told on the way may still be on the way.
        if reading.has_begun:
            with suppress(TimeoutError):
                await asyncio.wait_for(reading.ended.wait(), EVENTS_TIMEOUT)

    async def _cancel(self, running: RunningAgent, session: str, prompting: asyncio.Task[Any]) -> None:
        """Have OpenCode end a turn; if it doesn't, end OpenCode."""
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT):
                while not prompting.done():
                    await running.api.post(f"/session/{session}/abort")
                    await asyncio.wait({prompting}, timeout=ABORT_PAUSE)
        except (TimeoutError, ModelError):
            await self._drop()
        finally:
            prompting.cancel()
            await asyncio.wait({prompting})
            self._ending = None

    # --- what OpenCode is told ----------------------------------------------------------------------------------------

    async def _find_session(self, running: RunningAgent) -> str:
        """The session that goes on, or a new one. Raises: ConfigError if OpenCode doesn't have it; ModelError."""
        if self._session is None:
            made = as_mapping(await running.api.post("/session"))
            self._session = str(made["id"])
            self._is_session_found = True
            self._options.on_session(self._session)
        elif not self._is_session_found:
            await self._check_session(running, self._session)
        return self._session

    async def _check_session(self, running: RunningAgent, session: str) -> None:
        try:
            await running.api.get(f"/session/{session}")
        except ModelError as error:
            if not running.is_running:
                raise
            raise ConfigError(f"OpenCode has no session {safe(session)}: {error}") from None
        self._is_session_found = True

    def _write_prompt(self, said: TurnInput) -> dict[str, Any]:
        agent = self._options.main_agent
        prompt: dict[str, Any] = {
            "agent": MAIN_AGENT if agent is None else agent.name,
            "parts": [{"type": "text", "text": said.text}, *map(_write_attachment, said.attachments)],
        }
        if self._options.instructions:
            prompt["system"] = self._options.instructions
        model = None if self._options.model is None else split_model(self._options.model)
        if model is not None:
            prompt["model"] = {"providerID": model[0], "modelID": model[1]}
        return prompt

    # --- servers ------------------------------------------------------------------------------------------------------

    async def status(self) -> Sequence[ServerStatus]:
        if self._options.servers == "shared":
            return await self._bridge.host_servers.status()
        if self._running is None or not self._running.is_running:
            servers, left_out = await self._bridge.list_native()
            pending = [ServerStatus(server.server, "pending") for server in servers]
            return [*pending, *left_out]
        return await self._running.servers.status()

    async def switch(self, server: str, on: bool) -> None:
        if self._options.servers == "shared":
            await self._bridge.host_servers.switch(server, on)
        else:
            await (await self._ensure_running()).servers.switch(server, on)

    async def reconnect(self, server: str) -> None:
        if self._options.servers == "shared":
            await self._bridge.host_servers.reconnect(server)
        else:
            await (await self._ensure_running()).servers.reconnect(server)

    def _begin_update(self) -> None:
        """Give OpenCode other servers as soon as there are others, also in a turn."""
        if self._running is None:
            return  # it gets them when it starts
        task = asyncio.get_running_loop().create_task(_update(self._running))
        self._updates.add(task)
        task.add_done_callback(self._updates.discard)


async def _update(running: RunningAgent) -> None:
    with suppress(ModelError):  # the next turn finds out why
        await running.servers.update()


def _write_attachment(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    return {"type": "file", "mime": part.mime_type, "url": f"data:{part.mime_type};base64,{part.data}"}
