"""What becomes of odd input: each row of the table in `mooring.wire.stdio.pipes`, against a real process."""

import asyncio
import os
import signal
import sys
import time

import pytest

from mooring.core.protocol.limits import Limits, Timeout
from mooring.errors import Clogged, HandshakeError, ProtocolError, RpcError, ServerDied, TimedOut, TooLarge
from mooring.wire.session.client import Client
from support import Memory

SHORT = Timeout(0.3, 0.3)
MIB = 1024 * 1024


async def echo(session, text="hello"):
    return (await session.call_tool("echo", {"text": text})).text


async def test_a_plain_server_echoes(start):
    async with start("plain") as session:
        assert await echo(session) == "hello"
        assert [tool.name for tool in session.tools.items] == ["echo", "fault"]


async def test_a_thousand_concurrent_calls_are_neither_lost_nor_crossed(start):
    async with start("plain") as session:
        nonces = [f"nonce {i} " + "x" * (i % 300) for i in range(1000)]
        assert await asyncio.gather(*(echo(session, nonce) for nonce in nonces)) == nonces
        assert session.in_flight == 0


async def test_lines_that_end_in_crlf_are_read(start):
    async with start("crlf") as session:
        assert await echo(session) == "hello"


async def test_noise_is_counted_and_kept_and_costs_no_call(start):
    async with start("stdout_noise") as session:
        assert (await session.call_tool("fault")).text == "after noise"
        assert session.anomalies.noise == 9
        assert "Listening on stdio" in session.anomalies.last_noise


async def test_noise_is_kept_in_bounds(start):
    limits = Limits(noise_lines=2, noise_width=4)
    async with start("stdout_noise", limits=limits) as session:
        assert len(session.anomalies.last_noise) == 2
        assert max(map(len, session.anomalies.last_noise)) <= 4


async def test_bytes_that_are_not_utf8_are_replaced(start):
    async with start("bad_utf8") as session:
        assert (await session.call_tool("fault")).text == "a\ufffdb"
        assert await echo(session) == "hello"


async def test_a_lone_surrogate_is_replaced(start):
    async with start("lone_surrogate") as session:
        assert (await session.call_tool("fault")).text == "a\ufffdb"


async def test_a_batch_counts_message_by_message(start):
    logs = []
    async with start("batch", client=Client(on_log=logs.append)) as session:
        assert (await session.call_tool("fault")).text == "in a batch"
        assert [log.data for log in logs] == ["note"]


async def test_json_nested_too_deeply_fails_its_own_call_only(start):
    async with start("deep_json") as session:
        other = asyncio.ensure_future(echo(session, "other"))
        # From Python 3.14 on, whether so many levels are decoded is a matter of the stack: then the result is a list.
        seen = "" if sys.version_info < (3, 14) else "|Expected `object`, got `array`"
        reason = f"nested too deeply{seen}"
        with pytest.raises(ProtocolError, match=reason):
            await session.call_tool("fault")
        assert await other == "other"


async def test_a_number_that_does_not_fit_fails_when_it_is_read(start):
    async with start("long_number") as session:
        result = await session.call_tool("fault")
        with pytest.raises(ProtocolError, match="structured result of fault"):
            _ = result.structured
        assert await echo(session) == "hello"


async def test_a_line_over_the_budget_fails_its_call_and_the_next_one_works(start):
    async with start("big_line", 100_000_000) as session:
        memory = Memory()
        with pytest.raises(TooLarge, match="16,777,216 bytes"):
            await session.call_tool("fault")
        assert await echo(session) == "hello"
        assert memory.grown < 64 * MIB


async def test_an_endless_line_fails_the_only_call(start):
    async with start("endless_line", 200_000_000) as session:
        with pytest.raises(TooLarge):
            await session.call_tool("fault")
        assert await echo(session) == "hello"


async def test_an_endless_line_fails_none_of_several_calls(start):
    async with start("endless_line", 4_000_000, limits=Limits(line=1_000_000, call=Timeout(1, 1))) as session:
        calls = [session.call_tool("fault") for _ in range(2)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [TimedOut, TimedOut]
        assert session.anomalies.too_large == 2
        assert await echo(session) == "hello"


async def test_answers_under_wrong_ids_reach_nobody(start):
    async with start("wrong_id") as session:
        assert (await session.call_tool("fault")).text == "right"
        assert session.anomalies.unknown == 7


async def test_an_id_that_comes_back_as_a_string_still_answers(start):
    async with start("string_id") as session:
        assert (await session.call_tool("fault")).text == "by string"


async def test_an_error_without_an_id_fails_the_only_call(start):
    async with start("null_id_error") as session:
        with pytest.raises(RpcError, match="Parse error"):
            await session.call_tool("fault")
        assert await echo(session) == "hello"


async def test_an_error_without_an_id_fails_none_of_several_calls(start):
    async with start("null_id_error", limits=Limits(call=SHORT)) as session:
        outcomes = await asyncio.gather(session.call_tool("fault"), session.call_tool("fault"), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [TimedOut, TimedOut]
        assert session.anomalies.unknown == 2


async def test_of_result_and_error_the_error_counts(start):
    async with start("result_and_error") as session:
        with pytest.raises(RpcError, match="both"):
            await session.call_tool("fault")


async def test_an_answer_with_neither_result_nor_error_fails_the_call(start):
    async with start("neither") as session:
        with pytest.raises(ProtocolError, match="neither a result nor an error"):
            await session.call_tool("fault")


async def test_a_second_answer_is_counted(start):
    async with start("duplicate_reply") as session:
        assert (await session.call_tool("fault")).text == "first"
        assert await echo(session) == "hello"
        assert session.anomalies.late == 1


async def test_a_half_line_costs_its_call_and_not_the_one_glued_to_it(start):
    async with start("half_line") as session:
        with pytest.raises(TimedOut) as caught:
            await session.call_tool("fault", timeout=SHORT)
        assert caught.value.may_have_run
        assert await echo(session) == "hello"


async def test_a_last_line_without_its_newline_counts(start):
    async with start("last_words") as session:
        assert (await session.call_tool("fault")).text == "last words"
        assert (await session.ended()).exit_code == 0


async def test_a_server_that_exits_at_once_is_named_with_its_code_and_last_words(start):
    with pytest.raises(ServerDied) as caught:
        async with start("exit_at_once"):
            pass
    error = caught.value
    assert (error.stage, error.exit_code, error.server) == ("handshake", 3, "exit_at_once")
    assert error.stderr == ("fatal: no such table: widgets",)
    assert "no such table" in str(error)
    # Never in the words, which a model may read.
    assert (error.withheld, "GITHUB_TOKEN" in str(error)) == (("GITHUB_TOKEN",), False)


async def test_a_server_killed_in_a_call_fails_that_call_with_what_is_known(start):
    async with start("kill9_midcall") as session:
        with pytest.raises(ServerDied, match="may have run") as caught:
            await session.call_tool("fault")
        assert caught.value.exit_code == -9
        assert caught.value.may_have_run
        with pytest.raises(ServerDied) as after:
            await session.call_tool("echo", {"text": "x"})
        assert not after.value.may_have_run
        assert (await session.ended()).exit_code == -9


async def test_a_process_that_is_gone_is_dead_though_its_child_holds_the_pipe(start):
    logs = []
    async with start("pipe_grandchild", client=Client(on_log=logs.append)) as session:
        with pytest.raises(ServerDied) as caught:
            await session.call_tool("fault")
        assert caught.value.exit_code == 5
    os.kill(logs[0].data, signal.SIGKILL)


async def test_closing_stdout_is_death_though_the_process_lives(start):
    async with start("close_stdout", limits=Limits(farewell=0.3)) as session:
        with pytest.raises(ServerDied, match="its process is still running"):
            await session.call_tool("fault")


async def test_closing_stdin_is_death_though_the_process_lives(start):
    async with start("close_stdin", limits=Limits(farewell=0.3)) as session:
        assert (await session.call_tool("fault")).text == "deaf from now on"
        with pytest.raises(ServerDied, match="its process is still running") as caught:
            await echo(session)
        assert not caught.value.may_have_run


@pytest.mark.parametrize("fault", ["hang_init", "half_line_init", "hang_list"])
async def test_one_deadline_covers_all_of_connecting(start, fault):
    began = time.monotonic()
    with pytest.raises(TimedOut) as caught:
        async with start(fault, limits=Limits(connect=0.5)):
            pass
    assert caught.value.stage == ("list" if fault == "hang_list" else "handshake")
    assert time.monotonic() - began < 30


async def test_a_revision_nobody_knows_is_refused_in_words(start):
    with pytest.raises(HandshakeError, match="'1999-01-01', which is none of 2025-11-25"):
        async with start("wrong_version"):
            pass


async def test_a_server_that_never_reads_fails_calls_at_their_deadline_in_bounded_memory(start):
    limits = Limits(call=SHORT, unsent=4_000_000)
    async with start("never_reads_stdin", limits=limits) as session:
        big = {"text": "x" * 2_000_000}
        outcomes = await asyncio.gather(*(session.call_tool("echo", big) for _ in range(10)), return_exceptions=True)
        kinds = [type(outcome) for outcome in outcomes]
        assert set(kinds) == {TimedOut, Clogged}
        assert kinds.count(TimedOut) in (1, 2)
        with pytest.raises(TimedOut) as caught:
            await session.call_tool("echo", {"text": "small"})
        assert not caught.value.may_have_run, "it never left the queue"


async def test_a_slow_start_is_waited_for(start):
    async with start("slow_start", 500) as session:
        assert await echo(session) == "hello"


async def test_two_megabytes_of_arguments_arrive_whole(start):
    async with start("plain") as session:
        text = "y" * 2_000_000
        assert await echo(session, text) == text


@pytest.mark.parametrize("fault", ["log_flood", "progress_flood", "list_changed_flood", "ping_flood", "request_flood"])
async def test_a_flood_is_survived_in_bounded_time_and_memory(start, fault):
    heard = []
    client = Client(on_log=heard.append, on_change=heard.append, roots=list)
    async with start(fault, 30_000, client=client) as session:
        memory, before = Memory(), time.process_time()
        assert (await session.call_tool("fault", on_progress=heard.append)).text == "after the flood"
        assert time.process_time() - before < 2
        assert memory.grown < 32 * MIB
        assert len(heard) <= {"log_flood": 1000, "progress_flood": 20_000}.get(fault, 20)
        assert await echo(session) == "hello"


async def test_endless_pages_stop_at_the_limit_and_what_came_is_kept(start):
    async with start("endless_pages") as session:
        assert len(session.tools.items) == 1000
        assert session.tools.note == "The list stops after 1,000 pages."


async def test_a_cursor_seen_before_stops_the_list(start):
    async with start("repeated_cursor") as session:
        assert [tool.name for tool in session.tools.items] == ["echo", "fault"]
        assert "sent a page twice" in session.tools.note


async def test_everything_is_given_back_when_a_session_closes(start):
    before = os.listdir("/proc/self/fd")
    for _ in range(3):
        async with start("plain") as session:
            await echo(session)
    await asyncio.sleep(0)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert len(asyncio.all_tasks()) <= 2
