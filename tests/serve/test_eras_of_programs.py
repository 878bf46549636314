"""Programs that speak both eras, through `mooring serve`: each client is passed on in its own, as if started by it."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from client import RAW, Era, ServeClient, call_tools
from web import WebServer, ask_in_rounds, ask_in_session, events, serving, text

from support import Home

SERVER = str(Path(__file__).parent / "server.py")
BOTH = {"command": sys.executable, "args": [SERVER, "both"]}


def configure(home: Home, definition: Any) -> None:
    """Configure a server in Mooring's own file, which has fields that no other has."""
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"box": definition}})


def count_starts(home: Home, speaks: str = "both", **more: Any) -> Path:
    """Configure a program that notes each of its starts in a file, which is returned."""
    starts = home.cwd / "starts"
    script = f"echo $$ >> {starts}; exec {sys.executable} {SERVER} {speaks}"
    configure(home, {"command": "sh", "args": ["-c", script], **more})
    return starts


def read_starts(starts: Path) -> list[int]:
    return [int(pid) for pid in starts.read_text().split()]


async def call_stateless(server: WebServer, tool: str, **arguments: Any) -> str:
    answer = await server.stateless("tools/call", {"name": tool, "arguments": arguments})
    return str(text(answer["result"]))


# --- one client, over stdin and stdout ------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_program_is_started_in_the_era_of_its_client(home: Home, era: Era) -> None:
    home.configure(box=BOTH)
    spoken, answer = await call_tools(home, era, "era", "form")
    assert text(spoken) == era
    assert "Ada" in text(answer)


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_program_that_starts_by_itself_starts_with_the_first_client(home: Home, era: Era) -> None:
    home.configure(box={**BOTH, "lifecycle": "eager"})

    def talk() -> Any:
        client = ServeClient(home, *RAW, era=era)
        try:
            client.__enter__()
            client.request("tools/list")
            return client.call("era")
        finally:
            client.close()

    assert text(await asyncio.to_thread(talk)) == era


async def test_a_program_without_the_era_of_its_client_is_bridged_and_later_started_only_once(home: Home) -> None:
    starts = count_starts(home, "stateless")
    for _ in range(2):
        spoken, answer = await call_tools(home, "handshake", "era", "form")
        assert text(spoken) == "stateless"
        assert "Ada" in text(answer)
    # It ends when it is sent a handshake first, or is started anew for what it speaks: both happen once at most.
    assert len(read_starts(starts)) <= 3


# --- clients of both eras, over HTTP --------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["handshake", "stateless"])
async def test_clients_of_each_era_share_a_process_that_speaks_it(home: Home, first: str) -> None:
    starts = count_starts(home)
    async with serving(home, *RAW) as server:
        if first == "handshake":
            assert text((await (await server.session()).call("era"))["result"]) == "handshake"
        else:
            assert await call_stateless(server, "era") == "stateless"
        assert len(read_starts(starts)) == 1
        sessions = [await server.session() for _ in range(10)]
        naps = [session.call("nap", seconds=0.3, nonce=f"h{at}") for at, session in enumerate(sessions)]
        others = [call_stateless(server, "nap", seconds=0.3, nonce=f"s{at}") for at in range(10)]
        answers = await asyncio.gather(*naps, *others)
        assert [text(answer["result"]) for answer in answers[:10]] == [f"h{at}" for at in range(10)]
        assert answers[10:] == [f"s{at}" for at in range(10)]
        pids = {text((await session.call("pid"))["result"]) for session in sessions}
        assert len(pids) == 1
        pids |= {await call_stateless(server, "pid") for _ in range(10)}
        assert {int(pid) for pid in pids} == set(read_starts(starts))
        assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_clients_of_one_era_need_one_process(home: Home, era: Era) -> None:
    starts = count_starts(home)
    async with serving(home, *RAW) as server:
        for _ in range(3):
            if era == "handshake":
                assert text((await (await server.session()).call("era"))["result"]) == era
            else:
                assert await call_stateless(server, "era") == era
    assert len(read_starts(starts)) == 1


async def test_what_a_program_asks_reaches_the_client_of_its_era_while_others_are_served(home: Home) -> None:
    home.configure(box=BOTH)
    async with serving(home, *RAW) as server:
        session = await server.session()
        assert await call_stateless(server, "era") == "stateless"
        busy = asyncio.create_task(call_stateless(server, "nap", seconds=5, nonce="busy"))
        await asyncio.sleep(0.2)
        # In the middle of its work, a program does not say which call it asks about. The calls in the other process
        # are none of those that it may mean.
        assert '"Ada"' in await ask_in_session(session, "Ada", "form")
        assert '"Eve"' in await ask_in_rounds(server, "Eve", "form")
        assert not busy.done()
        assert await busy == "busy"


async def test_what_a_program_logs_for_one_era_does_not_reach_the_other(home: Home) -> None:
    home.configure(box=BOTH)
    async with serving(home, *RAW) as server:
        session = await server.session()
        await session.request("logging/setLevel", {"level": "debug"})
        assert await call_stateless(server, "era") == "stateless"

        async with await session.listen() as stream:
            heard = events(stream)
            napping = asyncio.create_task(session.call("nap", seconds=1, nonce="n"))
            await asyncio.sleep(0.3)
            assert await call_stateless(server, "log") == "logged"
            assert text((await napping)["result"]) == "n"
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(heard), 0.5)
            # Its own reach it.
            assert text((await session.call("log"))["result"]) == "logged"
            assert (await asyncio.wait_for(anext(events(stream)), 100))["method"] == "notifications/message"


async def test_a_tool_that_is_new_in_a_second_process_is_listed_while_it_runs(home: Home) -> None:
    # A tool that is new in a configured server would have to be approved.
    async with serving(home, *RAW, "--server", f"{sys.executable} {SERVER} both") as server:
        session = await server.session()
        assert text((await session.call("era"))["result"]) == "handshake"
        pid = int(await call_stateless(server, "pid"))
        wanted = {"notifications": {"toolsListChanged": True}}
        async with await server.open_stateless("subscriptions/listen", wanted) as listening:
            heard = events(listening)
            assert (await anext(heard))["method"] == "notifications/subscriptions/acknowledged"
            assert await call_stateless(server, "grow") == "grown"
            note = await asyncio.wait_for(anext(heard), 100)
            assert note["method"] == "notifications/tools/list_changed"
            assert "grown" in await list_stateless(server)
            assert await call_stateless(server, "grown") == "grown"
            assert text((await session.call("pid"))["result"]) != str(pid)
            os.kill(pid, signal.SIGKILL)
            note = await asyncio.wait_for(anext(heard), 100)
            assert note["method"] == "notifications/tools/list_changed"
            tools = await list_stateless(server)
            assert "grown" not in tools
            assert "grow" in tools


async def list_stateless(server: WebServer) -> list[str]:
    return [tool["name"] for tool in (await server.stateless("tools/list"))["result"]["tools"]]


async def test_a_process_that_dies_takes_no_client_of_the_other_era_with_it(home: Home) -> None:
    starts = count_starts(home)
    async with serving(home, *RAW) as server:
        session = await server.session()
        kept = await call_stateless(server, "pid")
        killed = int(text((await session.call("pid"))["result"]))
        napping = asyncio.create_task(call_stateless(server, "nap", seconds=1, nonce="kept"))
        lost = asyncio.create_task(session.call("nap", seconds=5, nonce="lost"))
        await asyncio.sleep(0.3)
        os.kill(killed, signal.SIGKILL)
        assert "SIGKILL" in str(await lost)
        assert await napping == "kept"
        assert text((await session.call("era"))["result"]) == "handshake"
        assert await call_stateless(server, "pid") == kept
    assert len(read_starts(starts)) == 3


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_program_that_is_to_speak_one_era_has_one_process_for_everybody(home: Home, era: Era) -> None:
    starts = count_starts(home, era=era)
    async with serving(home, *RAW) as server:
        session = await server.session()
        assert text((await session.call("era"))["result"]) == era
        assert await call_stateless(server, "era") == era
        assert '"Ada"' in await ask_in_session(session, "Ada", "form")
        assert '"Eve"' in await ask_in_rounds(server, "Eve", "form")
    assert len(read_starts(starts)) == 1


@pytest.mark.parametrize("only", ["handshake", "stateless"])
async def test_a_program_of_one_era_is_shared_and_started_for_the_other_only_once(home: Home, only: Era) -> None:
    starts = count_starts(home, only)
    for _ in range(2):
        async with serving(home, *RAW) as server:
            session = await server.session()
            # The client whose era it speaks comes first, so that nothing is known of the other one.
            if only == "handshake":
                assert text((await session.call("era"))["result"]) == only
            for _ in range(3):
                assert await call_stateless(server, "era") == only
                assert text((await session.call("era"))["result"]) == only
    assert len(read_starts(starts)) == 3


def behave_twice(home: Home, second: str, **more: Any) -> Path:
    """Configure a program whose second process begins with these words of a shell; returns where starts are noted."""
    starts, once = home.cwd / "starts", home.cwd / "once"
    script = f"echo $$ >> {starts}; mkdir {once} || {{ {second}; }}; exec {sys.executable} {SERVER} both"
    configure(home, {"command": "sh", "args": ["-c", script], **more})
    return starts


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ("exit 7", "ended with exit code 7"),
        ("sleep 60", "did not answer initialize within 1.5 s"),
        ("export SAYS=more", "It describes echo, slow, form differently"),
    ],
)
async def test_a_second_process_that_cannot_be_used_is_tried_once_and_all_share_the_first(
    home: Home, second: str, why: str
) -> None:
    starts = behave_twice(home, second, startTimeout=1500)
    async with serving(home, *RAW) as server:
        assert await call_stateless(server, "era") == "stateless"
        sessions = [await server.session() for _ in range(5)]
        # All of them come while the second process starts.
        answers = await asyncio.gather(*(session.call("era") for session in sessions))
        assert [text(answer["result"]) for answer in answers] == ["stateless"] * 5
        for session in sessions:
            assert '"Ada"' in await ask_in_session(session, "Ada", "form")
        assert len(read_starts(starts)) == 2
    words = [sys.executable, "-m", "mooring", "logs", "box"]
    shown = await asyncio.create_subprocess_exec(*words, cwd=home.cwd, env=home.env, stdout=asyncio.subprocess.PIPE)
    said, _ = await shown.communicate()
    told = [line for line in said.decode().splitlines() if "Its second process cannot be used" in line]
    assert len(told) == 1
    assert why in told[0]


async def test_a_second_process_that_describes_a_tool_differently_later_is_left_once_its_calls_are_finished(
    home: Home,
) -> None:
    async with serving(home, *RAW, "--server", f"{sys.executable} {SERVER} both") as server:
        session = await server.session()
        own = text((await session.call("pid"))["result"])
        second = await call_stateless(server, "pid")
        assert second != own
        napping = asyncio.create_task(call_stateless(server, "nap", seconds=2, nonce="kept"))
        await asyncio.sleep(0.2)
        assert await call_stateless(server, "grow", says="other words") == "grown"
        async with asyncio.timeout(100):
            while await call_stateless(server, "pid") != own:  # noqa: ASYNC110 - nothing tells when it is
                await asyncio.sleep(0.05)
        assert not napping.done()
        assert await napping == "kept"
        async with asyncio.timeout(100):
            while is_running(second):  # noqa: ASYNC110 - nothing tells when it has ended
                await asyncio.sleep(0.05)
        assert '"Eve"' in await ask_in_rounds(server, "Eve", "form")


def is_running(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("only", ["handshake", "stateless"])
async def test_on_a_shared_process_a_client_that_leaves_ends_no_subscription_of_the_other_era(
    home: Home, only: Era
) -> None:
    home.configure(box={"command": sys.executable, "args": [SERVER, only]})
    wanted = {"notifications": {"resourceSubscriptions": ["test://static"]}}
    async with serving(home, *RAW) as server:
        session = await server.session()
        async with await session.listen() as stream:
            heard = events(stream)
            await session.request("resources/subscribe", {"uri": "test://static"})
            async with await server.open_stateless("subscriptions/listen", wanted) as listening:
                assert (await anext(events(listening)))["method"] == "notifications/subscriptions/acknowledged"
            await asyncio.sleep(0.5)
            await session.call("update")
            note = await asyncio.wait_for(anext(heard), 100)
            assert note["method"] == "notifications/resources/updated"


async def test_what_is_asked_while_a_second_process_starts_reaches_its_client(home: Home) -> None:
    behave_twice(home, "sleep 2")
    async with serving(home, *RAW) as server:
        session = await server.session()
        assert text((await session.call("era"))["result"]) == "handshake"
        starting = asyncio.create_task(call_stateless(server, "era"))
        await asyncio.sleep(0.5)
        assert '"Ada"' in await ask_in_session(session, "Ada", "form")
        assert not starting.done()
        assert await starting == "stateless"


async def test_the_first_process_comes_back_in_its_era_while_the_second_is_used(home: Home) -> None:
    starts = count_starts(home)
    async with serving(home, *RAW) as server:
        first = int(await call_stateless(server, "pid"))
        session = await server.session()
        second = text((await session.call("pid"))["result"])
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(100):
            while len(read_starts(starts)) < 3:  # noqa: ASYNC110 - nothing tells when a process starts
                await asyncio.sleep(0.05)
        await session.request("tools/list")
        assert text((await session.call("pid"))["result"]) == second
        assert '"Ada"' in await ask_in_session(session, "Ada", "form")
        assert await call_stateless(server, "era") == "stateless"
        assert '"Eve"' in await ask_in_rounds(server, "Eve", "form")
    assert len(read_starts(starts)) == 3


async def test_a_program_that_starts_by_itself_waits_for_no_client(home: Home) -> None:
    starts = count_starts(home, lifecycle="eager")
    async with serving(home, *RAW), asyncio.timeout(100):
        while not await asyncio.to_thread(starts.exists):  # noqa: ASYNC110 - nothing tells when a file appears
            await asyncio.sleep(0.05)


# --- the person's own use -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("written", "spoken"), [({}, "stateless"), ({"era": "handshake"}, "handshake")])
async def test_the_era_of_a_definition_is_that_of_every_connection(home: Home, written: Any, spoken: str) -> None:
    configure(home, {**BOTH, **written})
    for words in (["call", "box.era"], ["mcp", "test", "box"], ["call", "box.era"]):
        command = [sys.executable, "-m", "mooring", *words]
        done = await asyncio.create_subprocess_exec(
            *command, cwd=home.cwd, env=home.env, stdout=asyncio.subprocess.PIPE
        )
        said, _ = await done.communicate()
        assert done.returncode == 0
        if words[0] == "call":
            assert said.decode().strip() == spoken
