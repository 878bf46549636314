"""Programs in the documents that need the package of somebody else, against an API on loopback."""

import re
import subprocess
import sysconfig
from pathlib import Path

from install import python
from tests.models import Call, FakeModel, ModelRequest, Reply, Say

import mooring
from support import Home

ROOT = Path(__file__).parents[2]
OWN = [str(Path(mooring.__file__).parents[1]), sysconfig.get_path("purelib")]


def respond(request: ModelRequest) -> Reply:
    """A model that adds two numbers with a tool, and then says what came of it."""
    if request.results:
        return Say(f"The tool says: {request.results[0].text}")
    return Call("mcp__demo__add", {"a": 2, "b": 40})


def test_the_agent_of_the_documents_calls_a_tool_and_answers(home: Home) -> None:
    page = (ROOT / "docs" / "guides" / "library" / "agents.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", page, re.S)
    program = next(program for program in programs if "import anthropic" in program)
    # After the peer's own packages: where both have one, the peer's is used.
    program = f"import sys\nsys.path += {OWN!r}\n{program}"
    # The program starts the demo server with its own interpreter, which has no package of ours.
    program = program.replace('"-I", "-m", "mooring.demo"', f"{str(Path(mooring.__file__).parent / 'demo.py')!r}")
    with FakeModel(respond) as model:
        env = {**home.env, "ANTHROPIC_BASE_URL": model.anthropic_url, "ANTHROPIC_API_KEY": "none"}
        done = subprocess.run(
            [python("providers"), "-c", program], cwd=home.cwd, env=env, capture_output=True, text=True, timeout=60
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == 'The tool says: {"sum": 42}'
    first, second = model.requests
    assert "mcp__demo__add" in first.tool_names
    assert '<server-instructions server="demo">' in first.system
    assert not second.results[0].is_error
