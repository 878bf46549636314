"""The servers of one chat, and what its person changes about them: reload, approve, connect, enable and disable."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from mooring.chat.news import ServerNews
from mooring.chat.switches import ServerSwitches, explain_refusal
from mooring.core.conversation.status import Failed, Status
from mooring.core.conversation.turn import ServerStatus
from mooring.core.text.suggestions import find_server
from mooring.display.text import safe
from mooring.errors import InputMissing, MooringError, NeedsLogin, SecretMissing, TimedOut
from mooring.host.first_starts import follow_first_starts
from mooring.host.host import Host
from mooring.verbs.agent.servers import OPENING_SECONDS

if TYPE_CHECKING:
    from mooring.discovery.targets import WriteScope
    from mooring.verbs.agent.responder import Responder
    from mooring.verbs.config.switch import Switched

T = TypeVar("T")


class ChatServers:
    """The servers that the conversations of one chat use. Where another agent's program starts them, it is asked."""

    def __init__(
        self,
        host: Host,
        switches: ServerSwitches,
        find_responder: "Callable[[], Responder]",
        notice: Callable[[str], None],
        show_waiting: Callable[[Sequence[str]], None],
    ) -> None:
        """`switches` are those that the host applies, and `find_responder` finds who answers now."""
        self._host = host
        self._workspace = host.workspace
        self._switches = switches
        self._find_responder = find_responder
        self.news = ServerNews(host, notice)
        self.starts = follow_first_starts(host, show_waiting)
        """Has turns wait for servers that are new."""
        self._told_missing: set[str] = set()

    @property
    def _are_native(self) -> bool:
        """Whether another agent's program starts them itself."""
        return self._find_responder().has_native_servers

    @property
    def status(self) -> Mapping[str, Status]:
        return self._host.status()

    def find_server(self, name: str) -> str:
        """The server that is meant, even one that may not be started. Raises: UnknownServer."""
        return find_server(name, self.status)

    async def list_agent_status(self) -> Sequence[ServerStatus]:
        """The status of each server as another agent's program has it; empty if none answers. Raises: MooringError."""
        program = self._find_responder().program
        return () if program is None else await program.status()

    async def reload(self, name: str) -> None:
        """Restart one server and wait for it. Raises: why it cannot be reached."""
        known = self._host.server(name).name
        if self._are_native:
            await self._find_responder().backend.reconnect(known)
            return
        with self.news.attend(known):
            await self._host.reload(known)
            await self._make_ready(known)

    async def reload_all(self) -> None:
        """Read the configuration again, restart the servers that failed, and have all of them list their tools again.

        Servers that changed are replaced; healthy ones stay connected.
        """
        await self.reread()
        if self._are_native:
            return  # the program restarts what changed
        failed = {server.name for server in self._host.servers.values() if isinstance(server.status, Failed)}
        await asyncio.gather(*map(self._host.reload, failed))
        self.starts.begin()
        await self._host.ready(refresh=True)
        self.news.record_tools()

    async def reread(self) -> None:
        """Read the configuration again, because the person wants it so."""
        self.news.expects_reload = True
        await self._host.reload()
        self.news.record_tools()

    async def add_demo(self) -> None:
        """Have the bundled server too, until the chat ends."""
        self._switches.add_demo()
        await self.reread()

    async def change_files(self, change: Awaitable[T]) -> T:
        """Wait for a change of the configuration's files, and put it into effect here. Raises: as `change`."""
        changed = await self._write(change)
        await self.reread()
        return changed

    async def _write(self, change: Awaitable[T]) -> T:
        # The host may notice the change before it is told of it: that is no news to whoever makes it.
        self.news.expects_reload = True
        try:
            return await change
        except MooringError:
            self.news.expects_reload = False
            raise

    async def list_unapproved(self) -> tuple[str, ...]:
        """The project's servers that nobody has decided about as they are now."""
        # Loaded here: few chats approve anything.
        from mooring.inventory.approval import list_undecided
        from mooring.inventory.load import load

        inventory = await asyncio.to_thread(load, self._workspace)
        return tuple(definition.name for definition in list_undecided(inventory))

    async def approve_server(self, server: str) -> bool:
        """Ask about a project's server, and connect it if it is approved; whether it was.

        Raises: as `Host.ask_about_server`; why it cannot be reached.
        """
        self.news.expects_reload = True
        if not await self._host.ask_about_server(server):
            self.news.expects_reload = False
            return False
        with self.news.attend(self._host.server(server).name):
            errors = await self._host.ready(servers=[server])
        self.news.record_tools()
        for error in errors.values():
            raise error
        return True

    async def describe_no(self, server: str) -> str:
        """What it means that the person did not approve a project's server. Raises: as `Host.ask_about_server`."""
        from mooring.inventory.approval import list_questions
        from mooring.inventory.approval_rows import describe_no
        from mooring.inventory.load import load

        inventory = await asyncio.to_thread(load, self._workspace)
        [question] = await asyncio.to_thread(list_questions, inventory, [server], self._workspace.where)
        return describe_no(question, "/reject")

    async def reject_server(self, server: str) -> None:
        """Refuse a project's server until its definition changes, and end it if it runs.

        Raises: as `Host.ask_about_server`.
        """
        from mooring.inventory.approval import decide, list_questions
        from mooring.inventory.load import load

        where = self._workspace.where
        inventory = await asyncio.to_thread(load, self._workspace)
        questions = await asyncio.to_thread(list_questions, inventory, [server], where)
        await asyncio.to_thread(decide, inventory, questions, where, False)
        await self.reread()

    async def approve_tools(self, server: str) -> bool:
        """Ask about the tools of a server that are held back; whether they may be called now. Raises: FileError."""
        agreed = await self._host.ask_about_tools(server)
        self.news.record_tools()
        return agreed

    async def switch(self, server: str, on: bool) -> None:
        """Enable or disable a server until the chat ends, also for a program that was given it.

        Raises: why it cannot be started.
        """
        if on:
            self._switches.switch_on(server, self.status[server])
        else:
            self._switches.switch_off(server)
        await self.reread()
        refused = self._host.refused.get(server)
        if on and refused is not None:
            raise explain_refusal(server, refused)

    async def save_switch(self, server: str, on: bool, scope: "WriteScope | None") -> "Switched":
        """Enable or disable a server for good, and here. Raises: as `verbs.config.switch.switch`."""
        from mooring.verbs.config.switch import switch  # few chats save anything

        saved = await self._write(asyncio.to_thread(switch, self._workspace, server, on, scope))
        self.forget_switch(server)
        await self.reread()
        return saved

    def forget_switch(self, server: str) -> None:
        """Leave it to the configuration whether a server is on, from the next time that it is read."""
        self._switches.forget(server)

    async def connect(self, server: str) -> None:
        """Connect a server and wait for its tools. Raises: why it cannot be reached."""
        name = self._host.server(server).name
        if self._are_native:
            await self._find_responder().backend.status()  # the program connects it, and answers once it has tried
            return
        with self.news.attend(name):
            await self._make_ready(name)
        self.news.record_tools()

    async def _make_ready(self, server: str) -> None:
        """Connect a server and have it list its tools. Raises: why it cannot be reached."""
        errors = await self._host.ready(servers=[server], refresh=True)
        for error in errors.values():
            raise error

    def count_tools(self, server: str) -> int:
        """How many tools of a server are known. Raises: as `Host.server`."""
        return len(self._host.tools_by_server.get(self._host.server(server).name, ()))

    async def begin(self) -> None:
        """Start the servers that are new, and give them a moment; those that come later are announced when they do."""
        if self._are_native:
            return  # the program starts them, and each would run twice
        self.starts.begin()
        await self.starts.give_a_moment(OPENING_SECONDS)
        conversation = self._find_responder().conversation
        assert conversation is not None  # a chat has a person
        await conversation.skills.list()  # so that Tab knows them

    async def wait(self) -> None:
        """Wait for servers whose tools were never seen, before a turn; each of them once."""
        if not self._are_native:
            await self.starts.wait()

    def describe_missing(self) -> str:
        """Which servers the turn that begins has to do without, unless the person was told; empty if there is none."""
        missing = self.starts.find_missing()
        news = {name: error for name, error in missing.items() if name not in self._told_missing}
        self._told_missing = set(missing)
        words = [f"{safe(name)} ({_describe_lack(error)})" for name, error in news.items()]
        return f"Going on without {', '.join(words)}; /mcp shows more." if words else ""


def _describe_lack(error: MooringError) -> str:
    """Why a server is missing, in a word or two: whoever wants to know more asks for it."""
    match error:
        case TimedOut():
            return "still starting"
        case NeedsLogin():
            return "needs a login"
        case InputMissing() | SecretMissing():
            return "needs a value"
        case _:
            return "failed"
