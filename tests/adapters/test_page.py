"""The programs on the page about adapters run as they are, against a model that follows a script."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models import Call, FakeModel, Say

from support import Home

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "adapters.md"


def find_programs() -> dict[str, str]:
    """The programs by the adapter that each of them imports."""
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    return {re.findall(r"mooring\.adapters\.(\w+)", program)[0]: program for program in programs}


@pytest.mark.parametrize("adapter", find_programs())
def test_the_program_on_the_page_gets_its_answer(adapter: str, home: Home) -> None:
    script = [Call("mcp__demo__add", {"a": 2, "b": 40}), Say("It is 42.")]
    with FakeModel(script) as model:
        keys = {"ANTHROPIC_API_KEY": "none", "OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        env = {**home.env, **keys, "ANTHROPIC_BASE_URL": model.anthropic_url, "OPENAI_BASE_URL": model.openai_url}
        done = subprocess.run(
            [sys.executable, "-c", find_programs()[adapter]],
            cwd=home.cwd, env=env, capture_output=True, text=True, timeout=50,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "42" in done.stdout
    # Where a model takes part, it was shown the tools and given the result.
    assert all("mcp__demo__add" in request.tool_names for request in model.requests)
    assert model.unplayed == 0 or adapter == "fastmcp"
