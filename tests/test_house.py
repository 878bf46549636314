"""Rules of the house that no tool checks: what is exported, what is in the tree of errors."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import mooring
from mooring import errors


def test_the_public_names_are_exactly_those_meant() -> None:
    assert dir(mooring) == [
        "Agent", "AgentDefinition", "AgentOrigin", "Allow", "Answer", "ApplyRules", "Approval", "Approved", "Ask",
        "Audio", "BadArguments", "Block", "BlockFinished", "Broken", "CallBlock", "CallPolicy", "CallRefusal",
        "CallResult", "CarryOutPlan", "ChangedIssuer", "ChangedTool", "ChangedTools", "Client", "Clogged", "Closed", "Completion",
        "ConfigError", "ConnectError", "Connected", "Connecting", "ContextOverflow", "ContinueTurn", "Conversation",
        "ConversationEvent", "Denied", "DeniedCall", "Disabled", "Embedded", "EventStream", "Excerpt", "Failed",
        "FileError", "FilledPrompt", "Form", "FunctionTool", "GivenServers", "Guard", "GuardLost", "HandshakeError",
        "HeldBack", "HeldTools", "Hints", "HistoryCompacted", "Host", "HostEvent", "Http", "HttpError", "Idle", "Image",
        "Implementation", "InputAdded", "InputMissing", "Inventory", "Item", "Limits", "ListChanged", "ListedTool", "Listing",
        "Loaded", "LogMessage", "Logged", "Login", "LoginFailed", "LoginResult", "LoginTimedOut", "LogoutResult",
        "Media", "Message", "MissingValue", "Model", "ModelError", "ModelMessage", "ModelOverloaded", "ModelRequest",
        "ModelTool", "MooringError", "NameTaken", "NeedsAuth", "NeedsInput", "NeedsLogin", "No", "NotAdmitted",
        "NotApproved", "OpaqueBlock", "Origin", "Other", "Outcome", "ParseError", "Part", "Paths", "Permission", "PersonMessage",
        "PlanChanged", "Policy", "Problem", "Progress", "Prompt", "ProtocolError", "Provider", "Question",
        "QuestionAnswered", "QuestionAsked", "Reading", "RejectedServer", "Reloaded", "RepeatedCall", "ReplyEvent",
        "ReplyFinished", "ReplyText", "ReplyThinking", "Resource", "ResourceContents", "ResourceLink",
        "ResourceTemplate", "Result", "ResultsMessage", "Root", "RpcError", "Rule", "Sampling", "SecretMissing",
        "Server", "ServerConfig", "ServerDied", "ServerDisabled", "ServerError", "ServerInfo", "Session", "Settings",
        "SpawnError", "Stale", "Status", "StatusChanged", "Stdio", "SummaryMessage", "Suspended", "TakenName", "Text",
        "TextBlock", "TextPiece", "ThinkingBlock", "ThinkingPiece", "TimedOut", "Timeout", "Todo", "TokenUsage",
        "TokensUsed", "TooLarge", "Tool", "ToolCall", "ToolDefinition", "ToolFinished", "ToolProgress", "ToolScope",
        "ToolSelection", "ToolStarted", "ToolsChanged", "Troubled", "TurnDone", "TurnFailed", "TurnInput",
        "TurnStarted", "Unapproved", "UnknownServer", "UnknownTool", "Unresolved", "Updated", "Verdict", "Visit",
        "Watch", "WatchChanged", "Workspace", "Yes", "agent", "connect", "discover", "discover_and_load", "open",
        "tool",
    ]  # fmt: skip
    assert all(getattr(mooring, name) is not None for name in mooring.__all__)


def test_every_error_stands_in_the_tree() -> None:
    tree = inspect.getdoc(errors) or ""
    found = [
        member for _, member in inspect.getmembers(errors, inspect.isclass) if member.__module__ == errors.__name__
    ]
    assert all(issubclass(error, errors.MooringError) for error in found)
    assert [error.__name__ for error in found if f" {error.__name__} " not in f" {tree} ".replace("\n", " ")] == []


def test_discover_reads_the_folder_it_is_given() -> None:
    inventory = mooring.discover("/")
    assert inventory.root == "/"


def test_only_the_record_of_trust_lets_a_definition_be_started() -> None:
    root = Path(mooring.__file__).parent
    made = re.compile(r"(?<!class )\bApproved\(")
    makers = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if made.search(path.read_text())}
    assert makers == {"permissions/trust.py"}


def test_everything_is_started_in_surroundings_that_one_function_made() -> None:
    root = Path(mooring.__file__).parent
    starters = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if any(_find_starts(path))}
    # What is in `process` starts programs for the others, who have to give it surroundings. The faulty server of
    # `mooring.testing` is a program of its own, and so is the shell of OpenCode's commands, which turns into the shell
    # that OpenCode wanted to start.
    own = {"testing/faults.py", "backends/opencode/permitted.py"}
    assert {path for path in starters if not path.startswith("process/")} == own
    assert {"process/surroundings.py", "process/programs.py", "process/guard/start.py"} <= starters
    made = re.compile(r"(?<!class )\bProgramSurroundings\(")
    makers = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if made.search(path.read_text())}
    assert makers == {"process/surroundings.py"}


_STARTING_MODULES = {"subprocess", "_posixsubprocess", "multiprocessing", "pty", "webbrowser"}
_STARTING_METHODS = {
    "spawn",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "subprocess_exec",
    "subprocess_shell",
}


def _find_starts(path: Path) -> Iterator[ast.AST]:
    """Everything in a file that can start a program by itself."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names) if any(alias.name.partition(".")[0] in _STARTING_MODULES for alias in names):
                yield node
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in _STARTING_MODULES:
                yield node
            case ast.ImportFrom(module="concurrent.futures", names=names) if "Process" in str([n.name for n in names]):
                yield node
            case ast.Attribute(attr=name) if name in _STARTING_METHODS:
                yield node
            case ast.Attribute(ast.Name("os"), name) if re.match("exec|fork|posix_spawn|spawn|system$|popen", name):
                yield node


def test_only_the_fetcher_reads_and_runs_what_a_definition_names() -> None:
    root = Path(mooring.__file__).parent / "servers"
    reads = re.compile(
        r"_store\.get\(|\bfind_login_token\(|(?<!def )\bfind_stored_secret\(|(?<!def )\bfind_input\("
        r"|logins\.find_\w+\("
    )
    readers = {path.name for path in root.rglob("*.py") if reads.search(path.read_text())}
    # Whether an input was answered is looked up before anything starts; only the fetcher hands its value on.
    assert readers == {"fetch.py", "inputs.py"}


def test_only_one_place_opens_a_host() -> None:
    root = Path(mooring.__file__).parent
    made = re.compile(r"(?<!class )\bHost\(|mooring\.open\(|host\.open import")
    openers = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if made.search(path.read_text())}
    # `mooring.open` is the library's own, and the messages of a host and the help of `mooring.agent` name it; every
    # face goes through the verbs.
    assert openers == {"verbs/use/opening.py", "verbs/agent/turn.py", "host/open.py", "host/host.py", "__init__.py"}


def test_only_hosts_and_conversations_touch_live_servers() -> None:
    """Faces get what is known of a server as a value, and name the server that they want something of."""
    root = Path(mooring.__file__).parent
    live = re.compile(
        r"mooring\.servers(?:\.| import )(?:server|fleet|supervisor|connections|subscriptions)\b|\._runtime\b"
    )
    own = ("host/", "conversation/", "servers/")
    users = [path.relative_to(root).as_posix() for path in root.rglob("*.py") if live.search(path.read_text())]
    assert [path for path in users if not path.startswith(own)] == []


def test_no_pattern_repeats_a_group_as_python_3_11_0_misreads_it() -> None:
    """Python 3.11.0 to 3.11.4 match too much with `(…)*+` if the group fails after its first character.

    Debian 12 has 3.11.2. The groups counted here are decided by their first character, or by plain characters alone;
    any other is to be atomic: `(?>(?:…)*)`.
    """
    root = Path(mooring.__file__).parent
    repeated_group = re.compile(r"\)(?:[*+?]|\{+\d*,?\d*\}+)\+")
    found = {
        path.relative_to(root).as_posix(): count
        for path in root.rglob("*.py")
        if (count := sum(len(repeated_group.findall(text)) for text in _find_patterns(path)))
    }
    assert found == {
        "verbs/config/file_diff.py": 2,
        "servers/launch/named_files.py": 1,
        "syntax/edit_toml.py": 1,
        "syntax/parse.py": 1,
        "syntax/lua.py": 2,
        "syntax/toml.py": 1,
    }


def _find_patterns(path: Path) -> list[str]:
    """The texts of a module that hold a group of a regular expression."""
    constants = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    return [node.value for node in constants if isinstance(node.value, str) and "(?" in node.value]
