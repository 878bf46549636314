"""A server that `npx` has to install first: its tools are there in the first run of `chat -p`, in an empty home."""

import os
import subprocess

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from support import MOORING, Home


@pytest.mark.timeout(240)
def test_a_server_that_npx_installs_has_its_tools_in_the_first_run(home: Home) -> None:
    package = "@modelcontextprotocol/server-filesystem"
    home.configure(files={"command": "npx", "args": ["-y", package, str(home.project)]})
    env = {name: os.environ[name] for name in ("PATH", "npm_config_registry") if name in os.environ}
    with FakeModel([Say("Done.")]) as fake:
        done = subprocess.run(
            [MOORING, "chat", "-m", MODELS["anthropic"], "-p", "Go"],
            cwd=home.cwd,
            # An empty home has an empty cache of npm, too.
            env={**env, "HOME": str(home.home), **variables(fake)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Done.\n", b"")
    assert "mcp__files__read_text_file" in fake.requests[0].tool_names
