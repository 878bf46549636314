"""Who is measured: for each contender its name, how its driver is started, and what has to be set up for it."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.peers import install

from bench.ground import CACHE, HERE, NODE, build_node, build_python, locked, python_of

DRIVERS = HERE / "drivers"


@dataclass(frozen=True)
class Contender:
    """A client that takes part; without a driver it takes part in rows of shell commands only."""

    key: str
    name: str
    driver: tuple[str, ...] = ()
    build: Callable[[], None] | None = None
    quick: bool = False
    """Whether it takes part in a quick run."""


def _ours(key: str, name: str, script: str, *options: str) -> Contender:
    return Contender(key, name, (sys.executable, str(DRIVERS / script), *options), quick=True)


def _python(key: str, package: str, script: str, quick: bool = False) -> Contender:
    name = f"{package} {locked(key, package)}"
    return Contender(key, name, (python_of(key), str(DRIVERS / script)), partial(build_python, key), quick)


def _agent(key: str, peer: str, package: str, script: str, name: str = "", *options: str) -> Contender:
    driver = (python_of(peer), str(DRIVERS / script), *options)
    return Contender(key, name or f"{package} {locked(peer, package)}", driver, partial(build_python, peer))


def _shell(key: str, name: str, build: Callable[[], None] | None = None) -> Contender:
    return Contender(key, name, build=build, quick=build is None)


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")


FASTMCP = CACHE / "fastmcp/bin/fastmcp"
MCPM = CACHE / "mcpm/bin/mcpm"
MCPORTER = NODE / "node_modules/.bin/mcporter"
MOORING = Path(sys.executable).parent / "mooring"

CONTENDERS = {
    contender.key: contender
    for contender in (
        _ours("ours", "mooring", "ours.py"),
        _ours("begun", "mooring, its guard begun ahead", "ours.py", "--begun"),
        _ours("host", "mooring, a host", "host.py"),
        _ours("bare", "plain subprocesses, no client", "bare.py"),
        _python("mcp", "mcp", "with_mcp.py", quick=True),
        _python("fastmcp", "fastmcp", "with_fastmcp.py"),
        _python("mcp-use", "mcp-use", "with_mcp_use.py"),
        _python("langchain", "langchain-mcp-adapters", "with_langchain.py"),
        _ours("agent", "mooring, an agent", "agent_ours.py"),
        _agent("pydantic-ai", "pydantic-ai", "pydantic-ai-slim", "agent_pydantic_ai.py"),
        _agent("requests", "pydantic-ai", "", "agent_pydantic_ai.py", "pydantic-ai, its model alone", "--floor"),
        _agent("openai-agents", "openai-agents", "openai-agents", "agent_openai_agents.py"),
        _agent("langchain-agent", "langchain-agent", "langchain", "agent_langchain.py"),
        Contender("node", "Node SDK 1.32.2", ("node", str(NODE / "with_node.mjs")), build_node),
        _shell("mcporter", "mcporter 0.12.3", build_node),
        _shell("mcporter-config", "mcporter config list (starts nothing)", build_node),
        _shell("fastmcp-cli", f"fastmcp {locked('fastmcp', 'fastmcp')}", partial(build_python, "fastmcp")),
        _shell("mcpm", f"mcpm {locked('mcpm', 'mcpm')} (starts nothing)", partial(build_python, "mcpm")),
        _shell("ours-refresh", "mooring, all servers started"),
        _ours("replies", "mooring, its models alone", "replies.py"),
        _ours("replies-bare", "aiohttp, which reads and forgets", "replies.py", "--bare"),
        _shell("prompt", "mooring chat -p"),
        _shell("claude-prompt", "claude -p", partial(install.install, _say, {"tools"})),
        _shell("opencode-prompt", "opencode run", partial(install.install_backends, _say)),
        _shell("llm-prompt", f"llm {locked('llm', 'llm')}", partial(build_python, "llm")),
        _shell("tenth", "mooring, a tenth of it"),
        _shell("screen", "mooring, its screen"),
        _shell("three-widgets", "Textual, three widgets"),
        _shell("screen-long", "1,200 messages, 500 cards"),
        _shell("screen-short", "10 messages, 4 cards"),
        _shell("screen-fed", "text fed at the conversation"),
        _shell("screen-model", "the same text from a model, over HTTP"),
        _shell("python", "python -c pass"),
    )
}
