"""The faults of a server behind two pipes."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from tests.faults.table import NONCE, Meter, Peers, Row, bound, echoes, fails

import mooring

SECOND = mooring.Timeout(1, 1)
FLOOD = 100_000


async def exit_at_once(meter: Meter) -> str:
    async def connect() -> None:
        async with meter.server("exit_at_once"):
            raise AssertionError("it connected")

    error = await fails(connect(), mooring.ServerDied)
    bound("error after", meter.seconds, 1)
    assert (error.exit_code, error.stage) == (3, "handshake")
    assert "no such table" in error.stderr[-1]
    return f"{meter.seconds:.2f} s, exit code 3 and its last words"


def dies_in_a_call(fault: str) -> Callable[[Meter], Awaitable[str]]:
    async def trial(meter: Meter) -> str:
        async with meter.server(fault) as session:
            error = await fails(session.call_tool("fault"), mooring.ServerDied)
            bound("error after", meter.seconds, 1)
            assert error.may_have_run
            assert error.exit_code in (-9, 0)
            return f"{meter.seconds * 1000:.0f} ms, exit code {error.exit_code}, says it may have run"

    return trial


def hangs_at_start(fault: str) -> Callable[[Meter], Awaitable[str]]:
    async def trial(meter: Meter) -> str:
        async def connect() -> None:
            async with meter.server(fault, connect=1.0):
                raise AssertionError("it connected")

        error = await fails(connect(), mooring.TimedOut)
        bound("connect ends", meter.seconds, 2)
        return f"{error.stage} ends at the one deadline of 1 s"

    return trial


async def never_speaks(meter: Meter) -> str:
    async def connect() -> None:
        async with mooring.connect(["sleep", "600"], env={NONCE: meter.nonce}, limits=mooring.Limits(connect=1.0)):
            raise AssertionError("it connected")

    await fails(connect(), mooring.TimedOut)
    bound("connect ends", meter.seconds, 2)
    return f"given up after {meter.seconds:.2f} s"


def hangs_in_a_call(fault: str) -> Callable[[Meter], Awaitable[str]]:
    async def trial(meter: Meter) -> str:
        async with meter.server(fault) as session:
            await fails(session.call_tool("fault", timeout=SECOND), mooring.TimedOut)
            bound("call ends", meter.seconds, 2)
            took = meter.seconds
            await echoes(session)
            return f"ends at its deadline ({took:.2f} s), the next call works"

    return trial


def answers(fault: str, text: str) -> Callable[[Meter], Awaitable[str]]:
    async def trial(meter: Meter) -> str:
        async with meter.server(fault) as session:
            result = await session.call_tool("fault")
            assert result.text == text, result.text
            await echoes(session)
            noise = session.anomalies.noise if fault == "stdout_noise" else 0
            assert bool(noise) == (fault == "stdout_noise")
            return f"{result.text!r}, the next call works"

    return trial


async def too_large(meter: Meter) -> str:
    async with meter.server("big_line", 100_000_000) as session, meter.watching():
        error = await fails(session.call_tool("fault"), mooring.TooLarge)
        bound("refused after", meter.seconds, 5)
        bound("memory", meter.megabytes, 64, "MB")
        bound("stall", meter.stall, 0.5)
        took = meter.seconds
        await echoes(session)
        return f"{type(error).__name__} in {took:.2f} s, +{meter.megabytes:.0f} MB, stall {meter.stall * 1000:.0f} ms"


async def endless_line(meter: Meter) -> str:
    async with meter.server("endless_line", 200_000_000) as session, meter.watching():
        await fails(session.call_tool("fault"), mooring.TooLarge)
        bound("refused after", meter.seconds, 5)
        bound("memory", meter.megabytes, 64, "MB")
        took = meter.seconds
        await echoes(session)
        return f"TooLarge in {took:.2f} s, +{meter.megabytes:.0f} MB, the next call works"


def breaks(fault: str, kind: type[mooring.ServerError]) -> Callable[[Meter], Awaitable[str]]:
    async def trial(meter: Meter) -> str:
        async with meter.server(fault) as session:
            error = await fails(session.call_tool("fault"), kind)
            bound("error after", meter.seconds, 1)
            await echoes(session)
            return f"{type(error).__name__} at once, the next call works"

    return trial


async def long_number(meter: Meter) -> str:
    async with meter.server("long_number") as session:
        result = await session.call_tool("fault")

        async def look() -> object:
            return result.structured

        await fails(look(), mooring.ProtocolError)
        await echoes(session)
        return "ProtocolError where it is read, the next call works"


async def one_bad_tool(meter: Meter) -> str:
    async with meter.server("one_bad_tool") as session:
        assert len(session.tools.items) == 99
        [bad] = session.tools.rejected
        return f"99 usable; {bad.name}: {bad.reason}"[:70]


def pages(fault: str, most: int) -> Callable[[Meter], Awaitable[str]]:
    async def trial(meter: Meter) -> str:
        async with meter.server(fault) as session:
            kept = len(session.tools.items)
            assert 1 <= kept <= most, kept
            assert session.tools.note
            return f"{kept} kept, and says why the rest is missing"

    return trial


def flood(fault: str) -> Callable[[Meter], Awaitable[str]]:
    async def trial(meter: Meter) -> str:
        heard: list[object] = []
        client = mooring.Client(roots=list, on_log=heard.append, on_change=heard.append)
        async with meter.server(fault, FLOOD, client=client) as session, meter.watching():
            result = await session.call_tool("fault", on_progress=heard.append)
            assert result.text == "after the flood"
            bound("over after", meter.seconds, 5 * 3)
            bound("memory", meter.megabytes, 32, "MB")
            took = meter.seconds
            await echoes(session)
            return f"{took:.1f} s, +{meter.megabytes:.0f} MB, {len(heard):,} heard, stall {meter.stall * 1000:.0f} ms"

    return trial


async def never_reads(meter: Meter) -> str:
    async with meter.server("never_reads_stdin") as session, meter.watching():
        error = await fails(session.call_tool("echo", {"text": "x" * 2_000_000}, timeout=SECOND), mooring.TimedOut)
        bound("call ends", meter.seconds, 2)
        bound("memory", meter.megabytes, 32, "MB")
        return f"{type(error).__name__} at its deadline ({meter.seconds:.2f} s)"


async def stderr_flood(meter: Meter) -> str:
    async with meter.server("stderr_flood", 50_000_000) as session, meter.watching():
        result = await session.call_tool("fault", timeout=mooring.Timeout(60, 60))
        assert result.text == "after the flood"
        bound("memory", meter.megabytes, 32, "MB")
        return f"50 MB drained in {meter.seconds:.1f} s, +{meter.megabytes:.0f} MB"


async def close_stdout(meter: Meter) -> str:
    async with meter.server("close_stdout") as session:
        await fails(session.call_tool("fault"), mooring.ServerDied)
        bound("dead after", meter.seconds, 2)
        return f"dead after {meter.seconds:.2f} s"


async def slow_start(meter: Meter) -> str:
    async with meter.server("plain") as other, meter.watching():
        start = asyncio.create_task(_connects(meter, "slow_start", 3_000))
        slowest = 0.0
        while not start.done():
            began = time.perf_counter()
            await echoes(other)
            slowest = max(slowest, time.perf_counter() - began)
            await asyncio.sleep(0.01)
        await start
        bound("another server's call", slowest, 0.5)
        return f"ready; another server's slowest call meanwhile: {slowest * 1000:.0f} ms"


async def _connects(meter: Meter, fault: str, size: int) -> None:
    async with meter.server(fault, size) as session:
        await echoes(session)


def leaves_nothing(fault: str) -> Callable[[Meter], Awaitable[str]]:
    async def trial(meter: Meter) -> str:
        async with meter.server(fault) as session:
            assert meter.left() >= 1
            if fault == "pipe_grandchild":
                await fails(session.call_tool("fault"), mooring.ServerDied)
            meter.start()
        bound("closed after", meter.seconds, 5)
        assert meter.left() == 0, f"{meter.left()} processes left"
        return f"closed in {meter.seconds:.2f} s, nothing left"

    return trial


NO_END = "no end"
ORPHAN = "orphan"

ROWS = (
    Row("F1", "exit at once", "≤ 1 s, exit code, last words", exit_at_once,
        Peers("0.7 s, neither", "0.7 s, neither", "0.7 s, neither")),
    Row("F2", "kill -9 in a call", "at once, may have run", dies_in_a_call("kill9_midcall"),
        Peers("at once", "at once", "at once")),
    Row("F2", "exit 0 in a call", "at once, may have run", dies_in_a_call("exit_midcall")),
    Row("F3", "hang on initialize", "one deadline", hangs_at_start("hang_init"),
        Peers(f"{NO_END}; 16.8 s for 5", f"{NO_END}; 16.5 s", "60 s")),
    Row("F3", "half a line, then silence", "one deadline", hangs_at_start("half_line_init")),
    Row("F3", "hang on the list", "one deadline", hangs_at_start("hang_list")),
    Row("F3", "never says a word, ignores EOF", "one deadline", never_speaks),
    Row("F4", "hang in a call", "deadline, then lives", hangs_in_a_call("hang_call"),
        Peers(NO_END, NO_END, "60 s, then ok")),
    Row("F4", "half a line in a call", "deadline, then lives", hangs_in_a_call("half_line"),
        Peers(f"{NO_END}; next lost", f"{NO_END}; next lost", "60 s, restart")),
    Row("F5", "noise on stdout", "ignored, counted", answers("stdout_noise", "after noise"),
        Peers("ok, 8 KB of log", "ok, 8 KB of log", "ok")),
    Row("F6", "invalid UTF-8", "replaced, lives", answers("bad_utf8", "a\ufffdb"), Peers(NO_END, NO_END, "ok")),
    Row("F6", "lone surrogate", "replaced, lives", answers("lone_surrogate", "a\ufffdb")),
    Row("F7", "100 MB line", "≤ 64 MB, then lives", too_large, Peers("108 s, 563 MB", "> 150 s", "4.5 s, restart")),
    Row("F7", "endless line", "≤ 64 MB, then lives", endless_line,
        Peers("both time out", "both time out", "closed 1.9 s")),
    Row("F8", "nested 200,000 deep", "error, lives", breaks("deep_json", mooring.ProtocolError),
        Peers(NO_END, NO_END, "ok")),
    Row("F8", "100,000 digits", "error where read", long_number),
    Row("F9", "wrong ids", "reach nobody", answers("wrong_id", "right")),
    Row("F9", "id as text", "still answers", answers("string_id", "by string")),
    Row("F9", "two replies", "the first counts", answers("duplicate_reply", "first")),
    Row("F9", "error without id", "fails the only call", breaks("null_id_error", mooring.RpcError),
        Peers(NO_END, NO_END, "> 25 s")),
    Row("F9", "result and error", "the error counts", breaks("result_and_error", mooring.RpcError),
        Peers("error", "error", "hangs")),
    Row("F9", "neither", "ProtocolError", breaks("neither", mooring.ProtocolError)),
    Row("F10", "1 bad tool of 100", "99 usable", one_bad_tool, Peers("all refused", "all refused", "list refused")),
    Row("F11", "endless pages", "≤ 1,000 pages, kept", pages("endless_pages", 1000),
        Peers("one page", "250, then lost", "212,442 requests")),
    Row("F11", "repeated cursor", "stops, keeps", pages("repeated_cursor", 4),
        Peers("one page", "stops, keeps", "251,688 requests")),
    Row("F12", "100,000 log notes", "≤ 3 s, ≤ 32 MB", flood("log_flood"), Peers("18 s", "202 s", "2.1 s, 303 MB")),
    Row("F12", "100,000 progress notes", "≤ 3 s, ≤ 32 MB", flood("progress_flood")),
    Row("F12", "100,000 list changes", "≤ 3 s, ≤ 32 MB", flood("list_changed_flood")),
    Row("F12", "100,000 pings", "≤ 3 s, ≤ 32 MB", flood("ping_flood"),
        Peers("27 s, 1,013 MB", "31 s, 1,027 MB", "stall 65 s")),
    Row("F12", "100,000 requests", "≤ 3 s, ≤ 32 MB", flood("request_flood")),
    Row("F13", "never reads, 2 MB", "deadline", never_reads),
    Row("F14", "50 MB of stderr", "≤ 32 MB", stderr_flood),
    Row("F14", "stdout closed", "dead ≤ 2 s", close_stdout, Peers("at once", "at once", "hangs")),
    Row("F15", "slow start", "others unaffected", slow_start, Peers("–", "–", "–")),
    Row("F16", "ignores EOF and TERM", "nothing left ≤ 5 s", leaves_nothing("ignore_eof_term"),
        Peers("4.0 s", "4 s", "1.4 s")),
    Row("F16", "grandchild", "nothing left ≤ 5 s", leaves_nothing("grandchild"), Peers(ORPHAN, ORPHAN, ORPHAN)),
    Row("F16", "grandchild, own session", "nothing left ≤ 5 s", leaves_nothing("setsid_grandchild"),
        Peers(ORPHAN, ORPHAN, ORPHAN)),
    Row("F16", "grandchild with the pipe", "nothing left ≤ 5 s", leaves_nothing("pipe_grandchild")),
)  # fmt: skip
