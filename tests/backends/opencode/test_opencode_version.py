"""An OpenCode that is newer than what Mooring knows of its tools, through the command."""

import subprocess
from pathlib import Path

import pytest
from opencode_talk import OpenCodeHome, do, play
from tests.models import Call, FakeModel
from tests.peers import install

pytestmark = pytest.mark.timeout(400)  # a busy machine takes its time to start the program

OLDER = """
import sys
from msgspec.structs import replace
from mooring.backends.own_tools import OWN_TOOLS
OWN_TOOLS["opencode"] = replace(OWN_TOOLS["opencode"], version="1.17.0")
from mooring.cli import main
sys.exit(main())
"""
"""The command, of a Mooring that knows an older version."""


def test_a_newer_version_is_used_by_what_is_known_and_told_once(tmp_path: Path) -> None:
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        home.write("project/inside.txt", "what is inside")
        read = Call("read", {"filePath": str(home.cwd / "inside.txt")})
        unknown = Call("read", {"filePath": str(home.cwd / "inside.txt"), "follow": True})
        words = ["chat", "-b", "opencode", "-p", do([read], [unknown])]
        told = {}
        for name, command in (
            ("newer", [install.python("backends"), "-c", OLDER]),
            ("known", [install.mooring("backends")]),
        ):
            done = subprocess.run(
                [*command, *words], cwd=home.cwd, env=home.env, capture_output=True, text=True, check=False
            )
            assert "All done." in done.stdout, done.stderr
            told[name] = done.stderr.count("Mooring knows the tools of OpenCode 1.17.0, and this is 1.18")
            results = model.requests[-1].all_results[-2:]
            assert "what is inside" in results[0].text
            # Only what isn't known is asked about, and with -p that is a no.
            assert "what is inside" not in results[1].text
        assert told == {"newer": 1, "known": 0}
