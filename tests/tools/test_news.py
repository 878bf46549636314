"""What is watched reaches a conversation merged, and not more often than it should."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from mooring.conversation.events import EventStream
from mooring.conversation.news import WatchReporter
from mooring.core.conversation.event import ConversationEvent, WatchChanged
from mooring.core.conversation.host_event import HostEvent, Logged, Updated
from mooring.core.protocol.content import ResourceContents, Text
from mooring.core.protocol.result import Reading, Result
from mooring.tools.results.deliver import Delivery, ResultStore


class FakeHost:
    """Tells what it is given to tell."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[HostEvent] = asyncio.Queue()

    def origin(self, server: str) -> str:
        return f"the origin of {server}"

    async def events(self) -> AsyncIterator[HostEvent]:
        while True:
            yield await self.queue.get()


class Listening:
    """A conversation that watches some things, and when it was told what."""

    def __init__(self, folder: Path, watched: dict[str, Any], every: float = 0.0) -> None:
        self.host = FakeHost()
        self._heard: asyncio.Queue[tuple[float, WatchChanged]] = asyncio.Queue()
        delivery = Delivery(ResultStore(str(folder)))
        stream = EventStream()
        stream.add_listener(self._listen)
        self._news = WatchReporter(self.host.events, self.host.origin, watched, delivery, stream, every)
        self._news.start()

    def _listen(self, event: ConversationEvent) -> None:
        assert isinstance(event, WatchChanged)
        self._heard.put_nowait((asyncio.get_running_loop().time(), event))

    async def after(self, *events: HostEvent) -> tuple[float, WatchChanged]:
        """When and what it is told next, once these have happened."""
        for event in events:
            self.host.queue.put_nowait(event)
        return await self._heard.get()

    async def close(self) -> int:
        await self._news.close()
        return self._heard.qsize()


def changed(watch: str, text: str) -> Updated:
    return Updated(watch, "s", "t", Result((Text(text),)))


async def test_what_changes_all_the_time_is_told_now_and_then_the_last_of_each(tmp_path: Path) -> None:
    listening = Listening(tmp_path, {"1": None, "2": None}, every=0.1)
    at, first = await listening.after(Logged("s", "info", "x"), changed("1", "first"))
    assert first.outcome.text == "first"
    many = [changed(watch, str(number)) for number in range(50) for watch in ("1", "2", "not mine")]
    later, second = await listening.after(*many)
    assert later - at >= 0.09
    _, third = await listening.after()
    assert [(update.watch, update.outcome.text) for update in (second, third)] == [("1", "49"), ("2", "49")]
    assert second.outcome.origin == "the origin of s"
    assert await listening.close() == 0


async def test_a_watch_that_ended_is_told_with_its_reason_and_is_watched_no_more(tmp_path: Path) -> None:
    watched: dict[str, Any] = {"1": None}
    listening = Listening(tmp_path, watched)
    _, update = await listening.after(Updated("1", "s", "t", None, "it may not be called", True))
    assert (update.ended, update.outcome.text, update.outcome.is_error) == (True, "Error: it may not be called", True)
    assert watched == {}
    await listening.close()


async def test_a_resource_is_told_with_what_stands_in_it(tmp_path: Path) -> None:
    reading = Reading((ResourceContents("x://y", "text/plain", "new words"),))
    listening = Listening(tmp_path, {"1": None})
    _, heard = await listening.after(Updated("1", "s", "x://y", reading))
    assert "new words" in heard.outcome.text
    await listening.close()
