"""Mooring: every MCP server you have configured, in any coding tool, from one place."""

# Only what is built into Python is imported here: under `python -m mooring`, the current folder's modules would still
# come first.
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

# The public names of each module. Loaded on first use: the guard and the demo server run this file, too, and must start
# in an instant.
_NAMES = {
    "verbs.agent.turn": "Agent agent",
    "agents.definition": "AgentDefinition AgentOrigin ToolSelection",
    "agents.history": (
        "CallBlock CallResult ModelMessage OpaqueBlock PersonMessage ResultsMessage SummaryMessage TextBlock "
        "ThinkingBlock"
    ),
    "agents.model": "BlockFinished Model ModelRequest ReplyEvent ReplyFinished ReplyText ReplyThinking",
    "core.conversation.event": (
        "DeniedCall HistoryCompacted InputAdded NameTaken PlanChanged QuestionAnswered QuestionAsked "
        "TextPiece ThinkingPiece Todo TokenUsage TokensUsed ToolFinished ToolProgress ToolStarted TurnDone TurnFailed "
        "TurnStarted WatchChanged ConversationEvent"
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
        "Allow Answer ApplyRules Approval Ask CarryOutPlan ChangedIssuer ChangedTool ChangedTools ContinueTurn Form "
        "Login MissingValue No Permission Question RepeatedCall Sampling Visit Yes"
    ),
    "core.protocol.result": "Completion FilledPrompt LogMessage Message Progress Reading Result",
    "core.conversation.status": (
        "Connected Connecting Disabled Failed Idle NeedsAuth NeedsInput RejectedServer Server Status Unapproved"
    ),
    "core.protocol.tool": "Hints Item Listing Prompt Resource ResourceTemplate ListedTool Implementation ServerInfo",
    "core.definitions.paths": "Paths Workspace",
    "errors": (
        "BadArguments Clogged Closed ConfigError ConnectError ContextOverflow Denied FileError GuardLost "
        "HandshakeError HeldBack HttpError InputMissing LoginFailed LoginTimedOut ModelError ModelOverloaded "
        "MooringError NeedsLogin NotApproved ParseError ProtocolError RpcError SecretMissing ServerDied "
        "ServerDisabled ServerError SpawnError Stale Suspended TimedOut TooLarge UnknownServer UnknownTool Unresolved"
    ),
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

# For type checkers alone: at run time, `__getattr__` below loads each name when it is first used. They take a name for
# public that is imported as itself, and read no `__all__` that is computed.
if TYPE_CHECKING:
    from typing import Any

    from mooring.agents.definition import AgentDefinition as AgentDefinition
    from mooring.agents.definition import AgentOrigin as AgentOrigin
    from mooring.agents.definition import ToolSelection as ToolSelection
    from mooring.agents.history import CallBlock as CallBlock
    from mooring.agents.history import CallResult as CallResult
    from mooring.agents.history import ModelMessage as ModelMessage
    from mooring.agents.history import OpaqueBlock as OpaqueBlock
    from mooring.agents.history import PersonMessage as PersonMessage
    from mooring.agents.history import ResultsMessage as ResultsMessage
    from mooring.agents.history import SummaryMessage as SummaryMessage
    from mooring.agents.history import TextBlock as TextBlock
    from mooring.agents.history import ThinkingBlock as ThinkingBlock
    from mooring.agents.model import BlockFinished as BlockFinished
    from mooring.agents.model import Model as Model
    from mooring.agents.model import ModelRequest as ModelRequest
    from mooring.agents.model import ReplyEvent as ReplyEvent
    from mooring.agents.model import ReplyFinished as ReplyFinished
    from mooring.agents.model import ReplyText as ReplyText
    from mooring.agents.model import ReplyThinking as ReplyThinking
    from mooring.auth.login import LoginResult as LoginResult
    from mooring.auth.login import LogoutResult as LogoutResult
    from mooring.conversation.conversation import Conversation as Conversation
    from mooring.conversation.events import EventStream as EventStream
    from mooring.conversation.function import FunctionTool as FunctionTool
    from mooring.conversation.function import tool as tool
    from mooring.conversation.scope import ToolScope as ToolScope
    from mooring.conversation.tool import ModelTool as ModelTool
    from mooring.core.conversation.call import ToolCall as ToolCall
    from mooring.core.conversation.call import ToolDefinition as ToolDefinition
    from mooring.core.conversation.event import ConversationEvent as ConversationEvent
    from mooring.core.conversation.event import DeniedCall as DeniedCall
    from mooring.core.conversation.event import HistoryCompacted as HistoryCompacted
    from mooring.core.conversation.event import InputAdded as InputAdded
    from mooring.core.conversation.event import NameTaken as NameTaken
    from mooring.core.conversation.event import PlanChanged as PlanChanged
    from mooring.core.conversation.event import QuestionAnswered as QuestionAnswered
    from mooring.core.conversation.event import QuestionAsked as QuestionAsked
    from mooring.core.conversation.event import TextPiece as TextPiece
    from mooring.core.conversation.event import ThinkingPiece as ThinkingPiece
    from mooring.core.conversation.event import Todo as Todo
    from mooring.core.conversation.event import TokensUsed as TokensUsed
    from mooring.core.conversation.event import TokenUsage as TokenUsage
    from mooring.core.conversation.event import ToolFinished as ToolFinished
    from mooring.core.conversation.event import ToolProgress as ToolProgress
    from mooring.core.conversation.event import ToolStarted as ToolStarted
    from mooring.core.conversation.event import TurnDone as TurnDone
    from mooring.core.conversation.event import TurnFailed as TurnFailed
    from mooring.core.conversation.event import TurnStarted as TurnStarted
    from mooring.core.conversation.event import WatchChanged as WatchChanged
    from mooring.core.conversation.host_event import HostEvent as HostEvent
    from mooring.core.conversation.host_event import ListChanged as ListChanged
    from mooring.core.conversation.host_event import Logged as Logged
    from mooring.core.conversation.host_event import Reloaded as Reloaded
    from mooring.core.conversation.host_event import StatusChanged as StatusChanged
    from mooring.core.conversation.host_event import ToolsChanged as ToolsChanged
    from mooring.core.conversation.host_event import Troubled as Troubled
    from mooring.core.conversation.host_event import Updated as Updated
    from mooring.core.conversation.outcome import CallRefusal as CallRefusal
    from mooring.core.conversation.outcome import Excerpt as Excerpt
    from mooring.core.conversation.outcome import Outcome as Outcome
    from mooring.core.conversation.outcome import Part as Part
    from mooring.core.conversation.question import Allow as Allow
    from mooring.core.conversation.question import Answer as Answer
    from mooring.core.conversation.question import ApplyRules as ApplyRules
    from mooring.core.conversation.question import Approval as Approval
    from mooring.core.conversation.question import Ask as Ask
    from mooring.core.conversation.question import CarryOutPlan as CarryOutPlan
    from mooring.core.conversation.question import ChangedIssuer as ChangedIssuer
    from mooring.core.conversation.question import ChangedTool as ChangedTool
    from mooring.core.conversation.question import ChangedTools as ChangedTools
    from mooring.core.conversation.question import ContinueTurn as ContinueTurn
    from mooring.core.conversation.question import Form as Form
    from mooring.core.conversation.question import Login as Login
    from mooring.core.conversation.question import MissingValue as MissingValue
    from mooring.core.conversation.question import No as No
    from mooring.core.conversation.question import Permission as Permission
    from mooring.core.conversation.question import Question as Question
    from mooring.core.conversation.question import RepeatedCall as RepeatedCall
    from mooring.core.conversation.question import Sampling as Sampling
    from mooring.core.conversation.question import Visit as Visit
    from mooring.core.conversation.question import Yes as Yes
    from mooring.core.conversation.status import Connected as Connected
    from mooring.core.conversation.status import Connecting as Connecting
    from mooring.core.conversation.status import Disabled as Disabled
    from mooring.core.conversation.status import Failed as Failed
    from mooring.core.conversation.status import Idle as Idle
    from mooring.core.conversation.status import KnownServer as _KnownServer
    from mooring.core.conversation.status import NeedsAuth as NeedsAuth
    from mooring.core.conversation.status import NeedsInput as NeedsInput
    from mooring.core.conversation.status import RejectedServer as RejectedServer
    from mooring.core.conversation.status import Status as Status
    from mooring.core.conversation.status import Unapproved as Unapproved
    from mooring.core.conversation.turn import TurnInput as TurnInput
    from mooring.core.conversation.verdict import Rule as Rule
    from mooring.core.conversation.verdict import Verdict as Verdict
    from mooring.core.definitions.approved import Approved as Approved
    from mooring.core.definitions.approved import TakenName as TakenName
    from mooring.core.definitions.config import Broken as Broken
    from mooring.core.definitions.config import Http as Http
    from mooring.core.definitions.config import Origin as Origin
    from mooring.core.definitions.config import ServerConfig as ServerConfig
    from mooring.core.definitions.config import Stdio as Stdio
    from mooring.core.definitions.paths import Paths as Paths
    from mooring.core.definitions.paths import Workspace as Workspace
    from mooring.core.definitions.problem import Problem as Problem
    from mooring.core.protocol.content import Audio as Audio
    from mooring.core.protocol.content import Block as Block
    from mooring.core.protocol.content import Embedded as Embedded
    from mooring.core.protocol.content import Image as Image
    from mooring.core.protocol.content import Other as Other
    from mooring.core.protocol.content import ResourceContents as ResourceContents
    from mooring.core.protocol.content import ResourceLink as ResourceLink
    from mooring.core.protocol.content import Text as Text
    from mooring.core.protocol.limits import Limits as Limits
    from mooring.core.protocol.limits import Timeout as Timeout
    from mooring.core.protocol.result import Completion as Completion
    from mooring.core.protocol.result import FilledPrompt as FilledPrompt
    from mooring.core.protocol.result import LogMessage as LogMessage
    from mooring.core.protocol.result import Message as Message
    from mooring.core.protocol.result import Progress as Progress
    from mooring.core.protocol.result import Reading as Reading
    from mooring.core.protocol.result import Result as Result
    from mooring.core.protocol.tool import Hints as Hints
    from mooring.core.protocol.tool import Implementation as Implementation
    from mooring.core.protocol.tool import Item as Item
    from mooring.core.protocol.tool import Listing as Listing
    from mooring.core.protocol.tool import Prompt as Prompt
    from mooring.core.protocol.tool import Resource as Resource
    from mooring.core.protocol.tool import ResourceTemplate as ResourceTemplate
    from mooring.core.protocol.tool import ServerInfo as ServerInfo
    from mooring.core.protocol.tool import Tool as _Tool
    from mooring.errors import BadArguments as BadArguments
    from mooring.errors import Clogged as Clogged
    from mooring.errors import Closed as Closed
    from mooring.errors import ConfigError as ConfigError
    from mooring.errors import ConnectError as ConnectError
    from mooring.errors import ContextOverflow as ContextOverflow
    from mooring.errors import Denied as Denied
    from mooring.errors import FileError as FileError
    from mooring.errors import GuardLost as GuardLost
    from mooring.errors import HandshakeError as HandshakeError
    from mooring.errors import HeldBack as HeldBack
    from mooring.errors import HttpError as HttpError
    from mooring.errors import InputMissing as InputMissing
    from mooring.errors import LoginFailed as LoginFailed
    from mooring.errors import LoginTimedOut as LoginTimedOut
    from mooring.errors import ModelError as ModelError
    from mooring.errors import ModelOverloaded as ModelOverloaded
    from mooring.errors import MooringError as MooringError
    from mooring.errors import NeedsLogin as NeedsLogin
    from mooring.errors import NotApproved as NotApproved
    from mooring.errors import ParseError as ParseError
    from mooring.errors import ProtocolError as ProtocolError
    from mooring.errors import RpcError as RpcError
    from mooring.errors import SecretMissing as SecretMissing
    from mooring.errors import ServerDied as ServerDied
    from mooring.errors import ServerDisabled as ServerDisabled
    from mooring.errors import ServerError as ServerError
    from mooring.errors import SpawnError as SpawnError
    from mooring.errors import Stale as Stale
    from mooring.errors import Suspended as Suspended
    from mooring.errors import TimedOut as TimedOut
    from mooring.errors import TooLarge as TooLarge
    from mooring.errors import UnknownServer as UnknownServer
    from mooring.errors import UnknownTool as UnknownTool
    from mooring.errors import Unresolved as Unresolved
    from mooring.host.host import Host as Host
    from mooring.host.open import Loaded as Loaded
    from mooring.host.open import discover_and_load as discover_and_load
    from mooring.host.open import open as open
    from mooring.host.options import Policy as Policy
    from mooring.inventory.admit import GivenServers as GivenServers
    from mooring.inventory.admit import NotAdmitted as NotAdmitted
    from mooring.inventory.load import Inventory as Inventory
    from mooring.inventory.load import discover as discover
    from mooring.permissions.pins import HeldTools as HeldTools
    from mooring.permissions.policy import Policy as _Policy
    from mooring.process.programs import Guard as Guard
    from mooring.servers.connect import connect as connect
    from mooring.servers.watch import Watch as Watch
    from mooring.settings import Settings as Settings
    from mooring.tools.catalog.catalog import CatalogEntry as _CatalogEntry
    from mooring.tools.results.outcome import Media as Media
    from mooring.tools.schema.adapt import Provider as Provider
    from mooring.verbs.agent.turn import Agent as Agent
    from mooring.verbs.agent.turn import agent as agent
    from mooring.wire.session.client import Client as Client
    from mooring.wire.session.client import Root as Root
    from mooring.wire.session.session import Session as Session

    # Imported under another name, they would be private.
    CallPolicy = _Policy
    ListedTool = _Tool
    Server = _KnownServer
    Tool = _CatalogEntry
else:
    __all__ = list(_MODULES)

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
    if name not in _MODULES:
        raise AttributeError(f"module 'mooring' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"mooring.{_MODULES[name]}")
    return getattr(module, _OWN_NAMES.get(name, name))


def _warn_of_change(name: str, now: str) -> None:
    from warnings import warn

    warn(f"mooring.{name} is now mooring.{now}", DeprecationWarning, stacklevel=3)


# Names that are not loaded yet are completed in a shell, too.
def __dir__() -> list[str]:
    return list(_MODULES)
