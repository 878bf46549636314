"""`/mcp test`: connect to a server beside the one that runs, and show each step when it is done."""

from time import perf_counter

from mooring.chat.command import CommandFace, find_server
from mooring.chat.mcp.connecting import explain_failure
from mooring.display.text import advise_on_held_back, describe_held_back, safe
from mooring.errors import ServerError
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.test import TrialStep, describe_step
from mooring.verbs.use.test import test as try_server


async def test(chat: CommandFace, name: str) -> None:
    """Connect step by step. Raises: MooringError if it may not be started."""
    server = find_server(chat, name)
    session = chat.session
    where = session.workspace.where

    def show(step: TrialStep) -> None:
        chat.say("".join(describe_step(step)))
        # What is said clears the progress, and the next step may take a while.
        if step.step != "close":
            chat.show_progress(f"testing {safe(server)} …")

    chat.show_progress(f"testing {safe(server)} …")
    try:
        found = await try_server(session.host, server, show, Deadline(None), where=where, began=perf_counter())
    except ServerError as error:
        explain_failure(chat, server, error)
        return
    if found.held:
        chat.say(f"{describe_held_back(found.held)}; {advise_on_held_back(server)}")
