"""`/mcp` with another agent's program: one view of what the host and the program say of each server."""

import mooring
from mooring.chat.servers import AgentView, describe_server, list_servers
from mooring.core.conversation.turn import ServerStatus
from support import DEMO, Home


async def test_what_a_program_says_is_shown_where_it_differs_from_the_host(home: Home) -> None:
    home.configure(one=DEMO, two=DEMO | {"args": [*DEMO["args"], "again"]}, off=DEMO | {"disabled": True})
    told = (
        ServerStatus("one", "connected"),
        ServerStatus("two", "failed", "no route\x1b[2J"),
        ServerStatus("off", "disabled"),
    )
    view = AgentView("copilot", told)
    async with mooring.open(request=home.request()) as host:
        lines = {line.split()[1]: line for line in list_servers(host, view) if " · " in line}
        [shown, *_] = describe_server(host, "two", [], view)
        without = "\n".join(list_servers(host))
    assert lines["one"].endswith(" · copilot: connected")
    assert " · copilot: failed · no route" in lines["two"]
    assert "copilot: failed" in shown
    assert "\x1b" not in lines["two"]
    assert "copilot" not in lines["off"]
    assert "copilot" not in without
