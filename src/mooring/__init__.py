"""Mooring: every MCP server you have configured, in any coding tool, from one place."""

# For type checkers alone: at run time, `__getattr__` below loads each name when it is first used. Only what is built
# into Python is imported here: under `python -m mooring`, the current folder's modules would still come first.
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal


def _is_program() -> bool:
    """Whether the command `mooring` is being started, and not another program that uses this package."""
    if sys.argv[:1] == ["-m"]:  # only while Python looks for the module to run
        return "mooring" in sys.orig_argv
    outermost = sys._getframe()
    while outermost.f_back is not None:
        outermost = outermost.f_back
    return {"mooring.cli", "main"} <= set(outermost.f_code.co_names)  # the script that every installer writes


def _end_at_once(*_: object) -> None:
    """What Ctrl+C does as long as there is nothing to put in order; a guard that was started sees that we are gone."""
    os._exit(130)


# Python itself would raise KeyboardInterrupt, wherever it is. While modules load, that may be in a callback of
# importlib that cannot raise: Ctrl+C was lost in 3 of 800 tries, and the command went on. If SIGINT is ignored, as in
# `mooring serve &` in a script, it stays ignored.
if _is_program() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end_at_once)

if TYPE_CHECKING:
    from typing import Any

    from mooring.agents.definition import AgentDefinition, AgentOrigin, ToolSelection
    from mooring.agents.history import (
        CallBlock,
        CallResult,
        ModelMessage,
        PersonMessage,
        ResultsMessage,
        SummaryMessage,
        TextBlock,
        ThinkingBlock,
    )
    from mooring.agents.model import (
        BlockFinished,
        Model,
        ModelRequest,
        ReplyEvent,
        ReplyFinished,
        ReplyText,
        ReplyThinking,
    )
    from mooring.auth.login import LoginResult, LogoutResult
    from mooring.conversation.conversation import (
        Conversation,
    )
    from mooring.conversation.events import EventStream
    from mooring.conversation.function import (
        FunctionTool,
        tool,
    )
    from mooring.conversation.scope import ToolScope
    from mooring.conversation.tool import (
        ModelTool,
    )
    from mooring.core.conversation.call import ToolCall, ToolDefinition
    from mooring.core.conversation.event import (
        ConversationEvent,
        DeniedCall,
        HistoryCompacted,
        NameTaken,
        PlanChanged,
        QuestionAnswered,
        QuestionAsked,
        TextPiece,
        ThinkingPiece,
        Todo,
        TokensUsed,
        TokenUsage,
        ToolFinished,
        ToolProgress,
        ToolStarted,
        TurnDone,
        TurnFailed,
        TurnStarted,
        WatchChanged,
    )
    from mooring.core.conversation.host_event import (
        HostEvent,
        ListChanged,
        Logged,
        Reloaded,
        StatusChanged,
        ToolsChanged,
        Troubled,
        Updated,
    )
    from mooring.core.conversation.outcome import CallRefusal, Excerpt, Outcome, Part
    from mooring.core.conversation.question import (
        Allow,
        Answer,
        ApplyRules,
        Approval,
        Ask,
        ChangedIssuer,
        ChangedTool,
        ChangedTools,
        ContinueTurn,
        Form,
        Login,
        MissingValue,
        No,
        Permission,
        Question,
        RepeatedCall,
        Sampling,
        Visit,
        Yes,
    )
    from mooring.core.conversation.status import (
        Connected,
        Connecting,
        Disabled,
        Failed,
        Idle,
        NeedsAuth,
        NeedsInput,
        RejectedServer,
        Status,
        Unapproved,
    )
    from mooring.core.conversation.status import (
        KnownServer as Server,
    )
    from mooring.core.conversation.turn import TurnInput
    from mooring.core.conversation.verdict import (
        Rule,
        Verdict,
    )
    from mooring.core.definitions.approved import Approved, TakenName
    from mooring.core.definitions.config import (
        Broken,
        Http,
        Origin,
        ServerConfig,
        Stdio,
    )
    from mooring.core.definitions.paths import (
        Paths,
        Workspace,
    )
    from mooring.core.definitions.problem import (
        Problem,
    )
    from mooring.core.protocol.content import (
        Audio,
        Block,
        Embedded,
        Image,
        Other,
        ResourceContents,
        ResourceLink,
        Text,
    )
    from mooring.core.protocol.limits import (
        Limits,
        Timeout,
    )
    from mooring.core.protocol.result import (
        Completion,
        FilledPrompt,
        LogMessage,
        Message,
        Progress,
        Reading,
        Result,
    )
    from mooring.core.protocol.tool import (
        Hints,
        Implementation,
        Item,
        Listing,
        Prompt,
        Resource,
        ResourceTemplate,
        ServerInfo,
    )
    from mooring.core.protocol.tool import (
        Tool as ListedTool,
    )
    from mooring.errors import (
        BadArguments,
        Clogged,
        Closed,
        ConfigError,
        ConnectError,
        ContextOverflow,
        Denied,
        FileError,
        GuardLost,
        HandshakeError,
        HeldBack,
        HttpError,
        InputMissing,
        LoginFailed,
        LoginTimedOut,
        ModelError,
        ModelOverloaded,
        MooringError,
        NeedsLogin,
        NotApproved,
        ParseError,
        ProtocolError,
        RpcError,
        SecretMissing,
        ServerDied,
        ServerDisabled,
        ServerError,
        SpawnError,
        Stale,
        Suspended,
        TimedOut,
        TooLarge,
        UnknownServer,
        UnknownTool,
        Unresolved,
    )
    from mooring.host.host import (
        Host,
    )
    from mooring.host.open import (
        Loaded,
        discover_and_load,
        open,
    )
    from mooring.host.options import (
        Policy,
    )
    from mooring.inventory.admit import (
        GivenServers,
        NotAdmitted,
    )
    from mooring.inventory.load import (
        Inventory,
        discover,
    )
    from mooring.permissions.pins import HeldTools
    from mooring.permissions.policy import Policy as CallPolicy
    from mooring.process.programs import (
        Guard,
    )
    from mooring.servers.connect import (
        connect,
    )
    from mooring.servers.watch import (
        Watch,
    )
    from mooring.settings import Settings
    from mooring.tools.catalog.catalog import (
        CatalogEntry as Tool,
    )
    from mooring.tools.results.outcome import (
        Media,
    )
    from mooring.tools.schema.adapt import Provider
    from mooring.verbs.agent.turn import Agent, agent
    from mooring.wire.session.client import (
        Client,
        Root,
    )
    from mooring.wire.session.session import (
        Session,
    )

__all__ = [
    "Agent",
    "AgentDefinition",
    "AgentOrigin",
    "Allow",
    "Answer",
    "ApplyRules",
    "Approval",
    "Approved",
    "Ask",
    "Audio",
    "BadArguments",
    "Block",
    "BlockFinished",
    "Broken",
    "CallBlock",
    "CallPolicy",
    "CallRefusal",
    "CallResult",
    "ChangedIssuer",
    "ChangedTool",
    "ChangedTools",
    "Client",
    "Clogged",
    "Closed",
    "Completion",
    "ConfigError",
    "ConnectError",
    "Connected",
    "Connecting",
    "ContextOverflow",
    "ContinueTurn",
    "Conversation",
    "ConversationEvent",
    "Denied",
    "DeniedCall",
    "Disabled",
    "Embedded",
    "EventStream",
    "Excerpt",
    "Failed",
    "FileError",
    "FilledPrompt",
    "Form",
    "FunctionTool",
    "GivenServers",
    "Guard",
    "GuardLost",
    "HandshakeError",
    "HeldBack",
    "HeldTools",
    "Hints",
    "HistoryCompacted",
    "Host",
    "HostEvent",
    "Http",
    "HttpError",
    "Idle",
    "Image",
    "Implementation",
    "InputMissing",
    "Inventory",
    "Item",
    "Limits",
    "ListChanged",
    "ListedTool",
    "Listing",
    "Loaded",
    "LogMessage",
    "Logged",
    "Login",
    "LoginFailed",
    "LoginResult",
    "LoginTimedOut",
    "LogoutResult",
    "Media",
    "Message",
    "MissingValue",
    "Model",
    "ModelError",
    "ModelMessage",
    "ModelOverloaded",
    "ModelRequest",
    "ModelTool",
    "MooringError",
    "NameTaken",
    "NeedsAuth",
    "NeedsInput",
    "NeedsLogin",
    "No",
    "NotAdmitted",
    "NotApproved",
    "Origin",
    "Other",
    "Outcome",
    "ParseError",
    "Part",
    "Paths",
    "Permission",
    "PersonMessage",
    "PlanChanged",
    "Policy",
    "Problem",
    "Progress",
    "Prompt",
    "ProtocolError",
    "Provider",
    "Question",
    "QuestionAnswered",
    "QuestionAsked",
    "Reading",
    "RejectedServer",
    "Reloaded",
    "RepeatedCall",
    "ReplyEvent",
    "ReplyFinished",
    "ReplyText",
    "ReplyThinking",
    "Resource",
    "ResourceContents",
    "ResourceLink",
    "ResourceTemplate",
    "Result",
    "ResultsMessage",
    "Root",
    "RpcError",
    "Rule",
    "Sampling",
    "SecretMissing",
    "Server",
    "ServerConfig",
    "ServerDied",
    "ServerDisabled",
    "ServerError",
    "ServerInfo",
    "Session",
    "Settings",
    "SpawnError",
    "Stale",
    "Status",
    "StatusChanged",
    "Stdio",
    "SummaryMessage",
    "Suspended",
    "TakenName",
    "Text",
    "TextBlock",
    "TextPiece",
    "ThinkingBlock",
    "ThinkingPiece",
    "TimedOut",
    "Timeout",
    "Todo",
    "TokenUsage",
    "TokensUsed",
    "TooLarge",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolFinished",
    "ToolProgress",
    "ToolScope",
    "ToolSelection",
    "ToolStarted",
    "ToolsChanged",
    "Troubled",
    "TurnDone",
    "TurnFailed",
    "TurnInput",
    "TurnStarted",
    "Unapproved",
    "UnknownServer",
    "UnknownTool",
    "Unresolved",
    "Updated",
    "Verdict",
    "Visit",
    "Watch",
    "WatchChanged",
    "Workspace",
    "Yes",
    "agent",
    "connect",
    "discover",
    "discover_and_load",
    "open",
    "tool",
]

# The names of each module; names that are not listed are in `errors`. Loaded on first use: the guard and the demo
# server run this file, too, and must start in an instant.
_NAMES = {
    "verbs.agent.turn": "Agent agent",
    "agents.definition": "AgentDefinition AgentOrigin ToolSelection",
    "agents.history": (
        "CallBlock CallResult ModelMessage PersonMessage ResultsMessage SummaryMessage TextBlock ThinkingBlock"
    ),
    "agents.model": "BlockFinished Model ModelRequest ReplyEvent ReplyFinished ReplyText ReplyThinking",
    "core.conversation.event": (
        "DeniedCall HistoryCompacted NameTaken PlanChanged QuestionAnswered QuestionAsked TextPiece ThinkingPiece Todo "
        "TokenUsage TokensUsed ToolFinished ToolProgress ToolStarted TurnDone TurnFailed TurnStarted WatchChanged "
        "ConversationEvent"
    ),
    "core.conversation.turn": "TurnInput",
    "auth.login": "LoginResult LogoutResult",
    "core.conversation.call": "ToolCall ToolDefinition",
    "core.definitions.config": "Broken Http Origin ServerConfig Stdio",
    "core.protocol.content": "Audio Block Embedded Image Other ResourceContents ResourceLink Text",
    "core.conversation.host_event": "HostEvent ListChanged Logged Reloaded StatusChanged ToolsChanged Troubled Updated",
    "core.protocol.limits": "Limits Timeout",
    "core.conversation.outcome": "Excerpt Outcome Part CallRefusal",
    "core.definitions.problem": "Problem",
    "core.conversation.question": (
        "Allow Answer ApplyRules Approval Ask ChangedIssuer ChangedTool ChangedTools ContinueTurn Form Login "
        "MissingValue No Permission Question RepeatedCall Sampling Visit Yes"
    ),
    "core.protocol.result": "Completion FilledPrompt LogMessage Message Progress Reading Result",
    "core.conversation.status": (
        "Connected Connecting Disabled Failed Idle NeedsAuth NeedsInput RejectedServer Server Status Unapproved"
    ),
    "core.protocol.tool": "Hints Item Listing Prompt Resource ResourceTemplate ListedTool Implementation ServerInfo",
    "core.definitions.paths": "Paths Workspace",
    "host.host": "Host",
    "host.open": "Loaded discover_and_load open",
    "host.options": "Policy",
    "inventory.admit": "GivenServers NotAdmitted",
    "inventory.load": "Inventory discover",
    "core.conversation.verdict": "Rule Verdict",
    "core.definitions.approved": "Approved TakenName",
    "settings": "Settings",
    "permissions.pins": "HeldTools",
    "permissions.policy": "CallPolicy",
    "process.programs": "Guard",
    "servers.connect": "connect",
    "servers.watch": "Watch",
    "tools.catalog.catalog": "Tool",
    "conversation.function": "FunctionTool tool",
    "conversation.conversation": "Conversation",
    "conversation.events": "EventStream",
    "tools.results.outcome": "Media",
    "tools.schema.adapt": "Provider",
    "conversation.scope": "ToolScope",
    "conversation.tool": "ModelTool",
    "wire.session.client": "Client Root",
    "wire.session.session": "Session",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
# Inside, a tool is what a server lists; to a program, it is what `host.tools` holds. So is a server.
_OWN_NAMES = {"CallPolicy": "Policy", "ListedTool": "Tool", "Server": "KnownServer", "Tool": "CatalogEntry"}


_RENAMED = {
    "Definition": "ToolDefinition",
    "Event": "HostEvent",
    "Hello": "ServerInfo",
    "Invocation": "ToolCall",
    "Registry": "Conversation",
    "TurnEvent": "ConversationEvent",
    "Viewpoint": "Workspace",
    "Where": "Paths",
}
"""Old names, each with its new one: they work for one release, with a warning."""
_REPLACED = {
    "CallChanged": "ToolStarted, ToolProgress and ToolFinished",
    "CallDone": "ToolFinished",
    "CallFailed": "ToolFinished",
    "CallPending": "ToolStarted",
    "CallProcessing": "ToolProgress",
    "CallState": "ToolStarted, ToolProgress and ToolFinished",
    "WatchNews": "WatchChanged",
    "WatchUpdate": "WatchChanged",
}
"""Old events, each with what says the same now: `tell` is told these for one release."""


def __getattr__(name: str) -> "Any":
    if name in _REPLACED:
        from mooring.conversation import old_events

        _warn_of_change(name, _REPLACED[name])
        return getattr(old_events, name)
    if name in _RENAMED:
        _warn_of_change(name, _RENAMED[name])
        name = _RENAMED[name]
    if name not in __all__:
        raise AttributeError(f"module 'mooring' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"mooring.{_MODULES.get(name, 'errors')}")
    return getattr(module, _OWN_NAMES.get(name, name))


def _warn_of_change(name: str, now: str) -> None:
    from warnings import warn

    warn(f"mooring.{name} is now mooring.{now}", DeprecationWarning, stacklevel=3)


# Names that are not loaded yet are completed in a shell, too.
def __dir__() -> list[str]:
    return __all__
