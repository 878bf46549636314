"""One task of a sub-agent: its conversation takes one turn, and what it said last is the result."""

from mooring.agents.loop import run_turn
from mooring.agents.thread import AgentThread
from mooring.conversation.local_tool import text_result
from mooring.core.conversation.turn import EmitTurnEvent, TurnDone, TurnInput
from mooring.core.protocol.result import Result
from mooring.display.text import count_noun

SAID_NOTHING = "(The sub-agent ended without an answer.)"


async def run_sub_agent(thread: AgentThread, prompt: str, relay: EmitTurnEvent) -> Result:
    """Have a task done. What was said before it failed, or was stopped, is part of the result."""
    await run_turn(thread, TurnInput(prompt), relay)
    done = thread.reporter.done
    assert done is not None  # a turn that isn't cancelled has an end
    return _make_result(done, thread.reporter.error)


def _make_result(done: TurnDone, error: str) -> Result:
    match done.reason:
        case "finished":
            return text_result(done.text if done.text.strip() else SAID_NOTHING)
        case "max-turns":
            asked = count_noun(done.replies, "time")
            return _report_end(f"The sub-agent's model was asked {asked} and had not finished.", done.text)
        case "max-cost" | "token-budget":
            return _report_end("The sub-agent was stopped: what this turn may take is spent.", done.text)
        case "repeated":
            return _report_end("The sub-agent was stopped: it made the same call again and again.", done.text)
        case "length":
            return _report_end("The sub-agent's reply was cut off, because it was too long.", done.text)
        case "failed" | "interrupted":
            return _report_end(f"The sub-agent failed: {error}", done.text)


def _report_end(why: str, text: str) -> Result:
    words = f"{why} The last that it said:\n\n{text}" if text.strip() else why
    return text_result(words, failed=True)
