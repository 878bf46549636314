"""The words by which agent files of all coding tools name tools, and which of ours each of them means.

| written | means |
|---|---|
| `Read`, `Bash` | our tool of that name |
| `bash`, `webfetch`, `search`, `execute` | what OpenCode and Copilot mean by it; see the table |
| `Task(explore, plan)` | the tool that starts agents, for these agents alone |
| `mcp__github`, `mcp__github__*`, `github/*` | every tool of the server |
| `mcp__github__get_*`, `github/get_*` | some of them |
| `*` | everything |
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from mooring.agents.definition import AgentFormat, AgentScope
from mooring.core.conversation.verdict import LOCAL_TOOLS
from mooring.permissions.rule import parse_pair
from mooring.tools.catalog.names import spell_glob

OWN_TOOLS = frozenset(
    {
        *LOCAL_TOOLS - {"Task"},
        "ListMcpResources", "ReadMcpResource", "SubscribeMcpResource", "SubscribePolling", "ToolResult", "ToolSearch",
        "UnsubscribeMcpResource", "UnsubscribePolling", "Skill",
    }
)  # fmt: skip
"""The tools that belong to no server."""

_CLAUDE: Mapping[str, frozenset[str]] = {
    "Task": frozenset({"Agent"}),
    "MultiEdit": frozenset({"Edit"}),
    "KillBash": frozenset({"KillShell"}),
    "ListMcpResourcesTool": frozenset({"ListMcpResources"}),
    "ReadMcpResourceTool": frozenset({"ReadMcpResource"}),
}
"""Names that Claude Code has or had for tools that are called otherwise here."""

_MEANT_BY = (
    # The tools; OpenCode's words for them; Copilot's, and the other names that it takes for them.
    ("Bash BashOutput KillShell", "bash", "execute shell powershell"),
    ("Edit Write NotebookEdit", "edit write patch apply_patch multiedit", ""),
    ("Read NotebookRead", "read", "view"),
    ("Grep", "grep", ""),
    ("Glob", "glob", ""),
    ("LS", "list ls", ""),
    ("Grep Glob LS", "", "search"),
    ("WebFetch", "webfetch", "fetch"),
    ("WebSearch", "websearch", ""),
    ("WebFetch WebSearch", "", "web"),
    ("TodoWrite", "todowrite todoread", "todo todos"),
    ("Agent", "task", "agent custom-agent"),
    ("AskUserQuestion", "question", "ask_user"),
    ("Skill", "skill", ""),
    ("NotebookRead", "", "notebookread"),
    ("NotebookEdit", "", "notebookedit"),
)
_LOWERCASE: Mapping[str, frozenset[str]] = {
    word: frozenset(tools.split())
    for tools, opencode, copilot in _MEANT_BY
    for word in (*opencode.split(), *copilot.split())
}
"""Words that other tools write in lowercase; many mean several of ours."""

_CALL = re.compile(r"([^()]+)\((.*)\)", re.S)


class MeantTools(Struct, frozen=True):
    """What one word means."""

    own: frozenset[str] = frozenset()
    servers: tuple[str, ...] = ()
    """Globs over tools of servers."""
    is_everything: bool = False
    pattern: str = ""
    """What is written in parentheses behind a tool's name, such as `git *`."""


def read_tool_word(word: str) -> MeantTools:
    """What a word in a list of tools means. A name that nobody knows is taken for one of our tools."""
    word, inside = _split_call(word)
    if word in ("*", "**"):
        return MeantTools(is_everything=True)
    own = find_own_tools(word)
    if own:
        return MeantTools(own, pattern=inside)
    pair = parse_pair(word)
    if pair is not None:
        return MeantTools(servers=(spell_glob(*pair),))
    return MeantTools(frozenset({word}), pattern=inside)


def find_own_tools(word: str) -> frozenset[str]:
    """Our tools that a word names; none if it is no word for them."""
    if word in OWN_TOOLS:
        return frozenset({word})
    return _CLAUDE.get(word) or _LOWERCASE.get(word.casefold(), frozenset())


def list_words(tool: str) -> frozenset[str]:
    """The lowercase words that can mean one of our tools, for globs over them."""
    return frozenset({tool.casefold(), *(word for word, tools in _LOWERCASE.items() if tool in tools)})


def _split_call(word: str) -> tuple[str, str]:
    found = _CALL.fullmatch(word)
    return (word, "") if found is None else (found[1].strip(), found[2].strip())


FAMILIES: Final = ("opus", "sonnet", "haiku")
"""Words for a kind of Claude. With another provider's model, they mean that model."""
_OTHER_WORDS: Mapping[str, str] = {"gemini": "google"}
"""Providers that others call otherwise."""


class AskedModel(Struct, frozen=True):
    """What a file's `model` comes to."""

    model: str | None = None
    refusal: str = ""
    """Why it is not taken, as the end of a sentence."""


def read_model(value: Any, scope: AgentScope, format: AgentFormat) -> AskedModel:
    """The model of a file. A repository chooses among kinds of Claude only: it must not decide who reads the files."""
    if value is None:
        return AskedModel()
    if not isinstance(value, str):
        return AskedModel(refusal="is no text")
    word = value.strip()
    if word.casefold() in ("", "inherit", "default"):
        return AskedModel()
    if word.casefold() in FAMILIES:
        return AskedModel(word.casefold())
    if scope == "project":
        return AskedModel(refusal="is not taken from a project's file; use -m to choose it")
    return _read_own(word, format)


def _read_own(word: str, format: AgentFormat) -> AskedModel:
    if word.startswith("claude-"):
        return AskedModel(f"anthropic:{word}")
    separator = "/" if format == "opencode" else ":"
    provider, _, model = word.partition(separator)
    # Copilot's files have names for people, such as `Claude Sonnet 4.5`.
    if not model or " " in word:
        return AskedModel(refusal="names no provider; write it as PROVIDER:MODEL")
    provider = _OTHER_WORDS.get(provider, provider)
    return AskedModel(f"{provider}:{model}")
