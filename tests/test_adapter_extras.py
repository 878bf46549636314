"""An adapter whose framework is not installed."""

import subprocess
import sys

import pytest

from support import install_command

FRAMEWORKS = [
    ("anthropic", "anthropic", "anthropic"),
    ("fastmcp", "fastmcp", "fastmcp"),
    ("langchain", "langchain", "langchain"),
    ("openai_agents", "agents", "openai-agents"),
    ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
]


@pytest.mark.parametrize(("adapter", "framework", "extra"), FRAMEWORKS)
def test_an_adapter_without_its_framework_names_the_command_that_installs_it(
    adapter: str, framework: str, extra: str
) -> None:
    # Some of them are there for other tests: this is how Python marks a module that does not exist.
    program = f"import sys; sys.modules[{framework!r}] = None; import mooring.adapters.{adapter}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: ")
    assert last.endswith(f". Install what this adapter needs: {install_command(extra)}")
