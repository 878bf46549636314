"""The nouns of a decision: a proposed call, a rule about it, and the verdict. Light enough for any command to load."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct

from mooring.core.protocol.tool import Hints
from mooring.core.text.glob import find_glob_fault
from mooring.errors import ConfigError

Action: TypeAlias = Literal["allow", "deny", "ask"]
Level: TypeAlias = Literal["managed", "session", "local", "user", "project"]
Mode: TypeAlias = Literal["plan", "ask", "edits", "accept-reads", "bypass"]
ItemState: TypeAlias = Literal["listed", "unlisted"]
ServerName: TypeAlias = str | None
"""The name of a server; `None` means Mooring itself."""


BYPASSED = "permissions are bypassed"
"""What the log says of a call that was allowed because nobody is asked about calls."""


class Rule(Struct, frozen=True, omit_defaults=True):
    """What happens to calls of some tools with some arguments.

    Raises:
        ConfigError: the action is none, or a glob is not understood. A rule without effect could be a deny.
    """

    tool: str
    action: Action
    pattern: str = ""
    """A glob over the arguments, see `argument_match.ArgumentPattern`; empty for any."""

    def __post_init__(self) -> None:
        fault = find_rule_fault(self.tool, self.action, self.pattern)
        if fault is not None:
            raise ConfigError(f"A rule about {self.tool!r} cannot be used: {fault}.")

    def __str__(self) -> str:
        arguments = f" with {self.pattern}" if self.pattern else ""
        return f"{self.action} {self.tool}{arguments}"


ACTIONS: tuple[Action, ...] = get_args(Action)


def find_rule_fault(tool: object, action: object, pattern: object) -> str | None:
    """Why these are no rule, in words that follow a colon; `None` if they are one."""
    if not isinstance(tool, str) or not tool.strip():
        return "its tool has to be a text such as server.tool"
    if action not in ACTIONS:
        return f"its action has to be allow, deny or ask, not {action!r}"
    if not isinstance(pattern, str):
        return f"its pattern has to be a text, not {pattern!r}"
    for text in (tool, pattern):
        fault = find_glob_fault(text)
        if fault is not None:
            return f"{text!r} {fault}"
    return None


LOCAL_TOOLS = frozenset(
    {
        "Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS",
        "NotebookEdit", "NotebookRead", "Read", "Skill", "Task", "TodoWrite", "WebFetch", "WebSearch", "Write",
    }
)  # fmt: skip
"""The tools of an agent that work on this machine, by the names that agent files use."""

AccessKind: TypeAlias = Literal["command", "path", "domain", "text", "nothing"]


# Plain data only, as a call that holds it.
class LocalAccess(Struct, frozen=True, gc=False, kw_only=True):
    """What a call of a local tool would touch on this machine, found out before anybody decides about it."""

    kind: AccessKind = "nothing"
    subject: str = ""
    """What the pattern of a rule is compared with: the command, the resolved path, the host or the words."""
    spellings: tuple[str, ...] = ()
    """Other ways to name the same thing, such as the path as it was written. A deny of any of them holds."""
    project: str = ""
    """The folder that relative patterns start from, without links in its path."""
    home: str = ""
    """The folder that `~` means in a pattern, likewise."""
    is_free: bool = False
    """It needs no permission unless a rule is about it: it only reads, and only inside the project."""
    is_edit: bool = False
    """It changes a file inside the project, which needs no permission in the mode `edits`."""
    why: str = ""
    """Why it is asked about, or why it is free."""
    insists: str = ""
    """Why it is asked about even if a rule or a mode allows it; empty if it isn't."""
    unless_named: str = ""
    """Why it is asked about even if a mode allows it, or a rule that doesn't name it; empty if it isn't."""
    name: str = ""
    """What the pattern of a rule has to contain to name it; if empty, a rule with any pattern does."""
    refused: str = ""
    """Why it is never done, whatever any rule says; empty if it may be."""
    grant: str | None = None
    """The pattern of the rule that a lasting yes adds, empty for any call; `None` if no rule can allow it."""
    verbatim: str = ""
    """Where no rule can allow it: what a yes for the session covers, to the letter. Empty if a yes is for this call
    only."""
    limit: str = ""
    """Why no rule can allow it; empty if one can, or if there is nothing more to say."""
    preview: str = ""
    """All that the call would do, in lines for a person; it says more than the arguments do. Make it safe."""
    fault: str = ""
    """Why the call would fail, if that is known and whoever may read the file may know it."""
    digest: str = ""
    """Of the file as it was when the preview was made: what changes meanwhile is not what was agreed to."""


# Calls and verdicts hold plain data only, never anything that leads back to a host, so the collector can skip them.
class ProposedCall(Struct, frozen=True, gc=False):
    """A tool that is about to be called, with its arguments and what is known about it."""

    server: ServerName
    """`None` for one of Mooring's own tools."""
    tool: str
    """The server's own name for the tool, never the name a model is shown."""
    arguments: Mapping[str, Any] = {}
    hints: Hints | None = None
    origin: str = ""
    """Where the server comes from, in words."""
    target: "ProposedCall | None" = None
    """The call that one of Mooring's own tools would make in turn."""
    item: ItemState | None = None
    """For what Mooring does with a server's resources and prompts, under the name of its own tool for that: whether the
    server named the item. `None` for a call of a tool."""
    access: LocalAccess | None = None
    """What a local tool would touch; `None` for every other tool."""


class Verdict(Struct, frozen=True, gc=False):
    """What happens to a call, why, and the rule that decided, if one did."""

    action: Action
    why: str
    level: Level | None = None
    rule: Rule | None = None
    doubtful: bool = False
    """It would have been allowed, but rules that cannot be read could deny it."""


HELD_BACK = Verdict("deny", "held back: changed or added since you approved its server's tools")


class CommandPermissions(Struct, frozen=True):
    """The rules and the mode that one command adds, by `--allow`, `--deny` and `--permission-mode`."""

    rules: tuple[Rule, ...] = ()
    mode: Mode | None = None
