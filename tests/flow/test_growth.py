"""What things cost: a server that connects its own tools, and a host what it has open, whatever others there are."""

import os
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any, cast

from msgspec import Raw

import mooring
from mooring import files
from mooring.conversation.conversation import Conversation
from mooring.conversation.events import EventStream
from mooring.conversation.lookup import Lookup
from mooring.conversation.toolbox import ToolOptions
from mooring.core.definitions.config import Origin, ServerConfig, Stdio
from mooring.core.definitions.template import literal
from mooring.core.protocol.tool import Listing, Offer, ServerInfo, Tool
from mooring.inventory.admit import Admitted
from mooring.settings import load
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.results.deliver import ResultStore
from support import Actor, Home

SCHEMA = Raw(b'{"type":"object"}')


def offer(tools: int) -> Offer:
    listed = tuple(Tool(name=f"tool_{n}", input_schema=SCHEMA) for n in range(tools))
    return Offer(hello=ServerInfo("2025-11-25"), era="handshake", at=time.time(), tools=Listing(listed))


async def test_servers_used_one_after_another_leave_each_others_tools_alone(home: Home, tmp_path: Path) -> None:
    names = ["alpha", "beta", "gamma", "delta"]
    servers = {name: Actor(tmp_path / name).entry for name in names}
    async with mooring.open(request=home.request(), servers=servers, policy="allow") as host:
        kept: dict[str, list[CatalogEntry]] = {}
        for name in names:
            await host.call(f"{name}.whoami")
            listed = {server: list(tools.values()) for server, tools in host.tools_by_server.items() if tools}
            assert listed.keys() == {*kept, name}
            # The very same objects: nothing was made again.
            before = [id(entry) for entries in kept.values() for entry in entries]
            assert before == [id(entry) for server in kept for entry in listed[server]]
            assert [entry.tool for entry in host.search("whoami", 9)] == ["whoami"] * len(listed)
            kept = listed
        assert [entry for name in sorted(names) for entry in kept[name]] == list(host.tools)


def test_a_server_that_connects_is_the_only_one_that_is_looked_at(home: Home) -> None:
    asked: Counter[str] = Counter()

    def find_held(approved: Any, tools: tuple[Tool, ...]) -> frozenset[str]:
        asked[approved.name] += 1
        return frozenset()

    servers = {f"server-{n}": SimpleNamespace(name=f"server-{n}", offer=None, is_connected=False) for n in range(50)}
    for server in servers.values():
        server.id, server.approved, server.tools = server.name, server, ()
        server.config = ServerConfig(
            name=server.name, origin=Origin("mooring", "user", None), connection=Stdio(literal("x"))
        )
    lookup = Lookup(cast("Any", servers), find_held)
    lookup.use(Admitted(load(home.where, None), str(home.project)))
    for count, server in enumerate(servers.values(), 1):
        server.offer, server.is_connected = offer(3), True
        lookup.invalidate(server.name)
        assert len(lookup.tools) == 3 * count
    assert set(asked.values()) == {1}


def test_a_conversation_takes_over_the_last_of_many_changes_only(tmp_path: Path) -> None:
    entries = [CatalogEntry(f"mcp__s__t{n}", "s", f"t{n}", Tool(f"t{n}", SCHEMA), "") for n in range(500)]
    current = [tuple(entries)]
    options = ToolOptions(follow=True)
    unused = cast("Any", SimpleNamespace(calls=SimpleNamespace(find_origin=str)))
    store = ResultStore(str(tmp_path))
    conversation = Conversation(unused, unused, unused, lambda: current[0], store, options, stream=EventStream())

    def measure(changes: int) -> float:
        began = time.process_time()
        for _ in range(changes):
            current[0] = (*entries,)
        assert len(conversation.pairs) == len(entries)
        return time.process_time() - began

    once = min(measure(1) for _ in range(5))
    assert min(measure(100) for _ in range(3)) < 14 * once
    current[0] = tuple(entries[:7])
    assert [definition.name for definition in conversation.definitions][-7:] == [entry.name for entry in entries[:7]]


def count_looks(path: str) -> int:
    """How often the system is asked about a file when one is read."""
    looks = 0

    def watch(frame: FrameType, event: str, what: Any) -> None:
        nonlocal looks
        looks += event == "c_call" and what in (os.stat, os.lstat, os.fstat)

    sys.setprofile(watch)
    try:
        files.read(path)
    finally:
        sys.setprofile(None)
    return looks


async def test_a_host_that_was_closed_costs_no_later_read_anything(home: Home, tmp_path: Path) -> None:
    path = str(home.write("home/notes.txt", "some notes"))
    alone = count_looks(path)
    for number in range(3):
        async with mooring.open(request=Home(tmp_path / f"{number}").request(), servers={}):
            # Each look is for the record of this host's conversations, which SQLite may have open.
            assert count_looks(path) > alone
        assert count_looks(path) == alone
