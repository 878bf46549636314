"""A rule that the person applied to a project's server holds for clients of `mooring serve` too, and no longer."""

import json
from pathlib import Path

import pytest
from client import Era, ServeClient
from web import text

from support import Actor, Home, run_beside


@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_a_client_is_asked_unless_the_rule_was_applied_to_this_very_definition(
    home: Home, tmp_path: Path, era: Era
) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.write("project/.mcp.json", {"mcpServers": {"github": actor.entry}})
    home.write("home/.config/mooring/settings.json", {"permissions": [{"tool": "github.*", "action": "allow"}]})
    for words, asked in (([], 1), (["--apply-rules"], 0)):
        assert run_beside(home, "mcp", "approve", "--yes", *words, "github").code == 0
        with ServeClient(home, "--names", "raw", era=era) as client:
            assert text(client.call("count")) == "count"
            assert len(client.asked) == asked
    with ServeClient(home, "--names", "raw", era=era, capabilities={}) as client:
        assert text(client.call("count")) == "count"
        changed = {"mcpServers": {"github": {**actor.entry, "env": {"A": "b"}}}}
        home.write("project/.mcp.json", json.dumps(changed))
        assert run_beside(home, "mcp", "approve", "--yes", "github").code == 0
    with ServeClient(home, "--names", "raw", era=era, capabilities={}) as client:
        refused = client.call("count")
        assert refused["isError"]
        assert "is for your own servers, and github comes from this project" in text(refused)
    assert len(actor.done("counts")) == 3
