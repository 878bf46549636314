"""`mooring.connect`: one server, started and spoken to, and ended with everything it started."""

import asyncio
import gc
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

import mooring
from mooring.servers.connect import derive_server_name, prepare_command
from mooring.servers.start_program import allow_install_time

DEMO = [sys.executable, "-I", "-m", "mooring.demo"]


def faulty(fault: str, size: int | None = None) -> list[str]:
    return [sys.executable, "-m", "mooring.testing", fault, *([str(size)] if size else [])]


async def test_the_demo_server_answers() -> None:
    async with mooring.connect(DEMO) as session:
        assert [tool.name for tool in session.tools.items] == ["echo", "add", "slow", "fail", "picture", "ask", "note"]
        result = await session.call_tool("add", {"a": 1, "b": 2})
        assert result.structured == {"sum": 3}


async def test_a_command_may_be_one_text() -> None:
    async with mooring.connect(" ".join(DEMO)) as session:
        assert session.hello.server_info.name == "mooring-demo"


@pytest.mark.parametrize(("target", "words"), [("", "no command"), ("'x", "quote"), ([], "no command")])
async def test_a_command_that_is_none_is_refused_in_words(target: str, words: str) -> None:
    with pytest.raises(mooring.ConfigError, match=words):
        async with mooring.connect(target):
            pass


async def test_progress_of_a_call_is_heard() -> None:
    heard: list[mooring.Progress] = []
    async with mooring.connect(DEMO) as session:
        await session.call_tool("slow", {"seconds": 0.1, "steps": 4}, on_progress=heard.append)
    assert [step.progress for step in heard] == [0, 1, 2, 3, 4]


async def test_a_question_of_the_server_reaches_the_person() -> None:
    asked = []

    async def elicit(params: dict[str, object]) -> dict[str, object]:
        asked.append(params["message"])
        return {"action": "accept", "content": {"answer": "blue"}}

    async with mooring.connect(DEMO, client=mooring.Client(elicit=elicit)) as session:
        result = await session.call_tool("ask", {"question": "Which colour?"})
    assert asked == ["Which colour?"]
    assert "blue" in result.text


async def test_changes_of_a_resource_are_heard() -> None:
    changed: asyncio.Queue[str] = asyncio.Queue()
    async with mooring.connect(DEMO, client=mooring.Client(on_update=changed.put_nowait)) as session:
        await session.subscribe("demo://notes")
        await session.call_tool("note", {"text": "hello"})
        assert await changed.get() == "demo://notes"
        reading = await session.read_resource("demo://notes")
        assert "hello" in (reading.contents[0].text or "")


async def test_the_server_runs_in_the_folder_it_is_given(tmp_path: Path) -> None:
    code = "import os, sys; sys.stderr.write(os.getcwd()); sys.exit(7)"
    with pytest.raises(mooring.ServerDied) as caught:
        async with mooring.connect([sys.executable, "-c", code], cwd=str(tmp_path)):
            pass
    assert caught.value.stderr == (str(tmp_path),)
    assert caught.value.exit_code == 7


async def test_the_last_words_are_words_and_not_the_frame_around_them() -> None:
    code = "raise ExceptionGroup('the ship sank', [OSError('a hole in the hull')])"
    with pytest.raises(mooring.ServerDied, match=r"Its last output: OSError: a hole in the hull\.") as caught:
        async with mooring.connect([sys.executable, "-c", code]):
            pass
    assert caught.value.stderr[-1].strip(" +-") == ""


async def test_a_failed_start_names_the_variables_that_were_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "the-secret-itself")
    with pytest.raises(mooring.SpawnError, match=r"install it, or give its full path\.$") as missing:
        async with mooring.connect(["no-such-program-anywhere"]):
            pass
    # No variable helps to find a program: it was given PATH.
    assert missing.value.withheld == ()
    with pytest.raises(mooring.ServerDied) as died:
        async with mooring.connect(faulty("exit_at_once")):
            pass
    assert "CANARY_TOKEN" in died.value.withheld
    # Not in the message, which a model may read.
    assert "CANARY_TOKEN" not in str(died.value)


async def test_a_secret_of_the_person_does_not_reach_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "secret")
    code = "import os, sys; sys.stderr.write(str([k for k in os.environ if 'CANARY' in k])); sys.exit(1)"
    with pytest.raises(mooring.ServerDied) as caught:
        async with mooring.connect([sys.executable, "-c", code]):
            pass
    assert caught.value.stderr == ("[]",)


async def test_one_deadline_covers_start_handshake_and_list() -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(mooring.TimedOut):
        async with mooring.connect(faulty("hang_list"), limits=mooring.Limits(connect=1.0)):
            pass
    assert loop.time() - began < 30


def test_a_runner_that_may_download_gets_more_time() -> None:
    assert allow_install_time(prepare_command(["npx", "-y", "x"]), mooring.Limits()).connect > 60
    assert allow_install_time(prepare_command(["/usr/bin/uvx", "x"]), mooring.Limits()).connect > 60
    assert allow_install_time(prepare_command(["node", "x"]), mooring.Limits()).connect == mooring.Limits().connect


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (["npx", "-y", "@scope/server-x@1.2"], "server-x"),
        (["uvx", "mcp-server-git"], "mcp-server-git"),
        (["/usr/bin/github-mcp", "stdio"], "github-mcp"),
        (["python", "-m", "server"], "server"),
        (["node", "/path/index.js"], "index.js"),
        (["python3", "-c", "print('a secret')"], "python3"),
    ],
)
def test_a_server_nobody_named_goes_by_its_program(argv: list[str], name: str) -> None:
    assert derive_server_name(argv) == name


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
async def test_what_is_no_number_in_json_is_not_sent_as_nothing(number: float) -> None:
    async with mooring.connect(DEMO) as session:
        with pytest.raises(mooring.BadArguments, match="not a JSON number"):
            await session.call_tool("echo", {"text": "x", "a": [{"b": number}], "c": None})
        assert (await session.call_tool("echo", {"text": "still"})).text == "still"


async def test_a_guard_that_is_given_stays_open_for_the_others() -> None:
    async with mooring.Guard() as guard, mooring.connect(DEMO, guard=guard) as first:
        async with mooring.connect(DEMO, guard=guard):
            pass
        assert (await first.call_tool("echo", {"text": "still"})).text == "still"


async def test_a_program_that_never_speaks_is_given_up_at_the_deadline_not_after_it() -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(mooring.TimedOut):
        async with mooring.connect(["sleep", "100"], limits=mooring.Limits(connect=1.0)):
            pass
    assert loop.time() - began < 2


async def test_whatever_fails_carries_what_is_known_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "x")
    code = "import sys, time; print('no licence', file=sys.stderr, flush=True); time.sleep(60)"
    with pytest.raises(mooring.TimedOut) as caught:
        async with mooring.connect([sys.executable, "-c", code], limits=mooring.Limits(connect=1.0)):
            pass
    assert caught.value.stderr == ("no licence",)
    assert "CANARY_TOKEN" in caught.value.withheld


async def test_a_guard_that_dies_is_a_server_error_without_an_invented_exit_code() -> None:
    async with mooring.Guard() as guard:
        async with mooring.connect(DEMO, guard=guard) as session:
            os.kill(guard.pid or 0, 9)
            with pytest.raises(mooring.ServerDied, match="guard") as caught:
                await session.call_tool("slow", {"seconds": 5})
        assert caught.value.exit_code is None
        async with mooring.connect(DEMO, guard=guard) as again:
            assert (await again.call_tool("echo", {"text": "back"})).text == "back"


async def test_two_hundred_servers_at_once_lose_and_cross_nothing_and_give_everything_back() -> None:
    """One guard, two hundred real processes alive together, five calls to each with words of their own."""
    limits = mooring.Limits(connect=60)

    async def use(session: mooring.Session, number: int) -> None:
        words = [f"{number}-{call}-{os.urandom(8).hex()}" for call in range(5)]
        results = await asyncio.gather(*(session.call_tool("echo", {"text": word}) for word in words))
        assert [result.text for result in results] == words

    async with mooring.Guard() as guard:
        async with mooring.connect(faulty("plain"), guard=guard, limits=limits) as session:
            await use(session, 0)
        before, memory = len(os.listdir("/proc/self/fd")), _memory()
        gate = asyncio.Semaphore(32)
        everyone = asyncio.Barrier(200)

        async def one(number: int) -> None:
            async with AsyncExitStack() as stack:
                async with gate:
                    way = mooring.connect(faulty("plain"), guard=guard, limits=limits)
                    session = await stack.enter_async_context(way)
                await everyone.wait()
                await use(session, number)

        await asyncio.gather(*map(one, range(200)))
        assert len(os.listdir("/proc/self/fd")) == before
        assert _memory() - memory < 30e6


def _memory() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("fault", "kind", "stage", "may_have_run", "retry"),
    [
        ("exit_at_once", mooring.ServerDied, "handshake", None, True),
        ("hang_init", mooring.TimedOut, "handshake", None, True),
        ("hang_list", mooring.TimedOut, "list", None, True),
        ("wrong_version", mooring.HandshakeError, "handshake", None, False),
        ("kill9_midcall", mooring.ServerDied, "call", True, True),
        ("hang_call", mooring.TimedOut, "call", True, True),
        ("null_id_error", mooring.RpcError, "call", True, False),
        ("neither", mooring.ProtocolError, "call", True, False),
    ],
)
async def test_an_error_says_all_that_is_known_and_is_never_a_group(
    fault: str, kind: type[mooring.ServerError], stage: str, may_have_run: bool | None, retry: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("CANARY_TOKEN", "x")
    with pytest.raises(mooring.ServerError) as caught:
        async with mooring.connect(
            faulty(fault), limits=mooring.Limits(connect=0.5 if fault == "hang_init" else 3.0)
        ) as session:
            await session.call_tool("fault", timeout=mooring.Timeout(1, 1))
    error = caught.value
    assert isinstance(error, kind)
    assert (error.stage, error.retry) == (stage, retry)
    assert may_have_run is None or error.may_have_run == may_have_run
    assert "CANARY_TOKEN" in error.withheld
