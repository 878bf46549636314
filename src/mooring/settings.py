"""Settings, each value with its origin. A repository may propose but not grant, and the person's own files win."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate, islice
from math import inf
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring import files
from mooring.core.conversation.backend_name import BACKENDS, SERVERS_WAYS
from mooring.core.conversation.effort import EFFORTS
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.units import MIB
from mooring.core.text.secret import is_secret_value
from mooring.core.text.suggestions import suggest_key
from mooring.errors import FileError, ParseError
from mooring.syntax.document import Document
from mooring.syntax.parse import parse

Level: TypeAlias = Literal["managed", "user", "project", "default"]


class Setting(Struct, frozen=True):
    """What can be set, its default, and whether a project's file may set it.

    A project's file holds permissions that deny or ask, and how tools are shown: never what is started, reached or paid
    for.
    """

    default: Any
    expects: str
    fits: Callable[[Any], bool]
    project: bool
    help: str

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it can have, as they are typed, if they are few."""
        if self.fits(True):
            return ("true", "false")
        is_choice = self.expects.startswith(_ONE_OF)
        return tuple(self.expects.removeprefix(_ONE_OF).split(", ")) if is_choice else ()


_ONE_OF = "one of "


class SettingValue(Struct, frozen=True):
    """A setting's value and the file that holds it."""

    value: Any
    level: Level
    path: str | None


class Settings(Struct, frozen=True):
    """Every setting with its value in force, and what was wrong with the files."""

    values: Mapping[str, SettingValue]
    problems: tuple[Problem, ...] = ()
    layers: tuple[Mapping[str, SettingValue], ...] = ()
    """What each file says, highest first: the rules of every level apply, not those of the highest alone."""
    doubts: tuple[str, ...] = ()
    """The person's own and the machine's files whose rules cannot be read in full: one of them could be a deny."""
    looked: tuple[str, ...] = ()
    """Where settings were looked for, found or not."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key].value

    def __repr__(self) -> str:
        given = ", ".join(key for key, value in self.values.items() if value.path is not None)
        return f"<Settings: {given or 'as they come'}>"

    def every(self, key: str) -> tuple[SettingValue, ...]:
        """What each level says of a setting, highest first."""
        return tuple(layer[key] for layer in self.layers if key in layer)


LONGEST_RULE = 1_000
LONGEST_SHOWN = 40
"""How many characters of an unknown key are shown."""
PROJECT_LIMIT = 256 * 1024
PROJECT_VALUES = 10_000
"""How large a project's file may be, and how many keys and list elements it may hold."""
MAX_RULES = 2_000
"""How many rules of one file are in force. Each is compiled once, which takes up to a tenth of a millisecond."""
MAX_RULE_TEXT = 256 * 1024
"""How many characters they may have in all."""
MODEL_KINDS = ("anthropic", "google", "openai", "openai-chat")
"""What an endpoint for models can speak."""
NETWORK = ("proxy", "ca", "certificate", "key")
_RULE_KEYS = ("tool", "pattern", "action")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _is_amount(value: Any) -> bool:
    # The exact type: to Python `true` is a number, to a person who wrote it in a settings file it is not.
    return type(value) in (int, float) and 0 <= value < inf


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 1


def _is_message_size(value: Any) -> bool:
    # Less than this would refuse what every server sends: its list of tools.
    return type(value) is int and 64 * 1024 <= value <= 1024 * MIB


def _is_amount_of_lines(value: Any) -> bool:
    return type(value) is int and value >= 0


def _are_keys(value: Any) -> bool:
    return _is_map_of(lambda keys: _is_text(keys) or _are_names(keys), value)


def _is_list_of(fits: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, list) and all(map(fits, value))


def _is_map_of(fits: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(fits, value.values()))


def _is_folder(value: Any) -> bool:
    # Git's `*` would be every repository of everybody: each has to be named.
    return isinstance(value, str) and value.startswith(("/", "~/"))


def _are_rules(value: Any) -> bool:
    return _is_list_of(_is_rule, value) and count_fitting_rules(value) == len(value)


def _are_amounts(value: Any) -> bool:
    """One amount for everything, or a map of globs to amounts."""
    return _is_amount(value) or _is_map_of(_is_amount, value)


_are_switches = partial(_is_map_of, _is_switch)
_are_texts = partial(_is_map_of, _is_text)
_are_names = partial(_is_list_of, _is_text)
_are_folders = partial(_is_list_of, _is_folder)


def _are_endpoints(value: Any) -> bool:
    return _is_map_of(_is_endpoint, value) and all(map(_is_word, value))


def _is_word(value: str) -> bool:
    # What follows the first colon of `PROVIDER:MODEL` is the model.
    return bool(value) and ":" not in value and value == value.strip()


def _is_endpoint(value: Any) -> bool:
    if not _are_texts(value) or not value.keys() <= {"kind", "baseUrl", "key"}:
        return False
    has_address = value.get("baseUrl", "").startswith(("https://", "http://"))
    # The name of a key is wanted. Whoever wrote the key itself would have it in a file that is copied and shown.
    names_key = not is_secret_value(value.get("key", ""))
    return has_address and names_key and value.get("kind") in MODEL_KINDS


def _is_rule(value: Any) -> bool:
    # An unknown key makes it no rule, for it may be a slip that matters: `"actoin": "deny"` beside `"action": "ask"`.
    if not isinstance(value, Mapping) or not value.keys() <= set(_RULE_KEYS):
        return False
    tool = value.get("tool")
    pattern = value.get("pattern", "")
    if not _is_rule_text(tool) or not _is_rule_text(pattern):
        return False
    return _find_fault(value) is None


def _find_fault(rule: Mapping[str, Any]) -> str | None:
    from mooring.core.conversation.verdict import find_rule_fault  # most listings have no rules to look at

    return find_rule_fault(rule.get("tool"), rule.get("action"), rule.get("pattern", ""))


def _is_rule_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_RULE


def count_fitting_rules(rules: Iterable[Mapping[str, Any]]) -> int:
    """How many rules of a list are in force, from its beginning, before there are too many or they are too long."""
    sizes = accumulate(len(rule["tool"]) + len(rule.get("pattern", "")) for rule in islice(rules, MAX_RULES))
    return sum(size <= MAX_RULE_TEXT for size in sizes)


MODES: tuple[Literal["plan", "ask", "edits", "accept-reads", "bypass"], ...] = (
    "plan", "ask", "edits", "accept-reads", "bypass",
)  # fmt: skip
"""Permission modes, as they are listed."""
"""How much a model can be asked to think."""
THEMES = ("terminal", "dark", "light")
FACES = ("screen", "plain")
NAMES = ("mcp__server__tool", "mcp_server_tool", "mcp.server.tool")

SETTINGS: Mapping[str, Setting] = {
    "sources": Setting(
        {}, "an object of tool ids and true or false", _are_switches, False,
        'which tools\' files are read: {"cursor": false} leaves one out',
    ),
    "permissions": Setting(
        [], 'a list of {"tool", "pattern", "action"}', _are_rules, True,
        "what tools may do; a project's rules can only deny or ask",
    ),
    "permissionMode": Setting(
        "ask", _ONE_OF + ", ".join(MODES), lambda value: value in MODES, False,
        "what becomes of tools that no rule speaks of",
    ),
    "trustedServers": Setting(
        [], "a list of names", _are_names, False, "servers that are believed when they say that a tool only reads",
    ),
    "model": Setting(None, "text", _is_text, False, "the model the chat speaks to, as PROVIDER:MODEL"),
    "effort": Setting(
        None, "one of " + ", ".join(EFFORTS), lambda value: value in EFFORTS, False,
        "how much a model behind an API thinks before it answers; left out for a model that has no such choice",
    ),
    "models": Setting(
        {}, 'an object of names and {"kind", "baseUrl", "key"}, where kind is one of ' + ", ".join(MODEL_KINDS),
        _are_endpoints, False,
        "endpoints that have models, for NAME:MODEL; key is the name of a variable or a stored secret",
    ),
    "maxTurns": Setting(
        100, "a whole number, 1 or more", _is_count, False,
        "how many times a model is asked in a turn; in the chat you are then asked whether to go on",
    ),
    "maxCost": Setting(
        None, "a number of US dollars above 0", lambda value: _is_amount(value) and value > 0, False,
        "what a turn may cost in US dollars, with its sub-agents, before it ends",
    ),
    "tokenBudget": Setting(
        None, "a whole number, 1 or more", _is_count, False,
        "how many tokens a turn may take, in and out and with its sub-agents, before it ends",
    ),
    "sessionDays": Setting(
        90, "a number of days", _is_amount, False,
        "how long a conversation is kept after it was last used; 0 keeps it until you remove it",
    ),
    "chat": Setting(
        FACES[0], _ONE_OF + ", ".join(FACES), lambda value: value in FACES, False,
        "how the chat is shown on a terminal: on the whole screen, or in plain lines, as a screen reader wants them",
    ),
    "backend": Setting(
        None, _ONE_OF + ", ".join(BACKENDS), lambda value: value in BACKENDS, False,
        "who answers in the chat: a model behind an API, you, or another agent's program",
    ),
    "backendServers": Setting(
        SERVERS_WAYS[0], _ONE_OF + ", ".join(SERVERS_WAYS), lambda value: value in SERVERS_WAYS, False,
        "how another agent's program gets the servers: shared goes through Mooring, native gives it their definitions",
    ),
    "toolNames": Setting(
        NAMES[0], _ONE_OF + ", ".join(NAMES), lambda value: value in NAMES, True,
        "how tools are named for a model",
    ),
    "toolBudget": Setting(
        10, "a number from 0 to 100", lambda value: _is_amount(value) and value <= 100, True,
        "how much of a model's context tools may take, in percent, before it has to search for them",
    ),
    "alwaysLoad": Setting(
        [], "a list of globs over server.tool", _are_names, True,
        "tools that a model is always shown, whatever they cost",
    ),
    "searchByMeaning": Setting(
        True, "true or false", _is_switch, True,
        "whether tools are searched by what they mean too, where the extra `search` is installed",
    ),
    "resultTokens": Setting(
        25_000, "a number, or an object of globs over server.tool and numbers", _are_amounts, False,
        "how much of a result a model is given at once; the whole is kept in a file",
    ),
    "backgroundAfter": Setting(
        120, "a number of seconds", _is_amount, False,
        "after how long a call goes on in the background; 0 waits for every call to end",
    ),
    "maxMessageBytes": Setting(
        16 * MIB, "a whole number of bytes, 64 KiB or more", _is_message_size, False,
        "how large one message of a server may be; maxMessageBytes of a server's entry wins",
    ),
    "drainSeconds": Setting(
        10, "a number of seconds", _is_amount, False,
        "how long `mooring serve --http` waits for calls that are under way when it is told to end",
    ),
    "network": Setting(
        {}, "an object of " + ", ".join(NETWORK), lambda value: _are_texts(value) and set(value) <= set(NETWORK), False,
        "how servers behind an address are reached: a proxy, your own authorities, a client certificate and its key",
    ),
    "clientMetadataUrl": Setting(
        None, "an https:// address", lambda value: _is_text(value) and value.startswith("https://"), False,
        "where the document is that describes Mooring as an OAuth client, for issuers that take its address as the id",
    ),
    "mcpRemote": Setting(
        "native", "native or keep", lambda value: value in ("native", "keep"), False,
        "native reaches the address behind `npx mcp-remote URL` directly; keep starts the program as written",
    ),
    "serverWait": Setting(
        10, "a number of seconds, 0 or more", _is_amount, False,
        "how long a turn waits for servers whose tools were never seen; six times as long if the first start installs",
    ),
    "webSearch": Setting(
        None, "the name of a tool, as server.tool", _is_text, False, "the tool that searches the web for an agent",
    ),
    "inputHistory": Setting(
        True, "true or false", _is_switch, False,
        "whether what you type in a chat is kept for the up arrow and Ctrl+R in later ones",
    ),
    "theme": Setting(
        THEMES[0], _ONE_OF + ", ".join(THEMES), lambda value: value in THEMES, False,
        "the colors of the chat's screen: your terminal's own, or dark or light ones; NO_COLOR leaves all of them out",
    ),
    "keys": Setting(
        {}, "an object of actions, each with a key or a list of keys", _are_keys, False,
        'the keys of the chat\'s screen: {"search": "ctrl+s", "copy-block": []}; /keys in the chat lists the actions',
    ),
    "wheelRows": Setting(
        3, "a whole number, 1 or more", _is_count, False, "how many rows a step of the mouse wheel scrolls in the chat",
    ),
    "screenLinesLeft": Setting(
        2_000, "a whole number, 0 or more", _is_amount_of_lines, False,
        "how many lines of the chat's screen stay in the terminal after you leave; 0 for none",
    ),
    "writableFolders": Setting(
        [], "a list of folders", _are_names, False,
        "folders outside of the project in which an agent's file tools write as inside; the temporary folder is one",
    ),
    "trustedFolders": Setting(
        [], "a list of folders, each written from / or from ~/", _are_folders, False,
        "repositories of other users that are the project of the folders in them, as safe.directory of git",
    ),
    "env": Setting({}, "an object of names and texts", _are_texts, False, "environment for what mooring starts"),
}  # fmt: skip


RENAMED = {"startWindow": ("serverWait", "it counts seconds, and 10 is the default")}
"""Keys of earlier versions: which key took their place, and how its values differ."""
UNUSED = ("hooks", "sandbox")
"""What people copy from the settings of other tools. It means nothing here, and nothing in it is ever run."""


def load(where: Paths, root: str | None) -> Settings:
    """The settings in force: managed before the person's own, before the project's. Never raises."""
    problems: list[Problem] = []
    doubts: list[str] = []
    values = {key: SettingValue(setting.default, "default", None) for key, setting in SETTINGS.items()}
    layers: list[Mapping[str, SettingValue]] = []
    places = _find_layers(where, root)
    for level, path in places:
        layer = _read_layer(level, path)
        problems.extend(layer.problems)
        # A project's rules can only deny or ask, so that what is lost of them lets nothing through.
        if level != "project" and not layer.has_all_rules:
            doubts.append(path)
        values |= layer.accepted
        layers.insert(0, layer.accepted)
    return Settings(values, tuple(problems), tuple(layers), tuple(doubts), tuple(path for _, path in places))


def find_project_folders(where: Paths, cwd: str) -> list[str]:
    """The folders of a project, from `cwd` up to the nearest that holds `.git`; `cwd` alone where none does.

    A repository above that belongs to another user of the machine is not the project, because its files would be
    theirs, unless the person's settings, or the machine's, name it.
    """
    folders = files.repository_folders(cwd)
    is_foreign = files.find_foreign_owner(cwd, folders[-1]) is not None
    return [cwd] if is_foreign and not _is_trusted_folder(where, folders[-1]) else folders


def _is_trusted_folder(where: Paths, folder: str) -> bool:
    """Whether a setting names this very folder. Links in what it names are not followed: others may have made them."""
    home = os.path.realpath(where.home)
    named = load(where, None)["trustedFolders"]
    paths = [f"{home}{path[1:]}" if path.startswith("~/") else path for path in named]
    return os.path.realpath(folder) in map(os.path.normpath, paths)


def update_settings(where: Paths, path: str, change: Callable[[bytes], bytes]) -> None:
    """Change the person's settings; what an editor saves at the same moment is not lost. Raises: FileError."""
    files.read_own(path)  # others who can write to it would have a say
    files.update(path, change, f"{where.state}/locks")


def _find_layers(where: Paths, root: str | None) -> list[tuple[Level, str]]:
    """The files, lowest first."""
    project: list[tuple[Level, str]] = [("project", f"{root}/.mooring/settings.json")] if root else []
    return [
        *project,
        ("user", f"{where.config}/settings.json"),
        ("managed", f"{where.system}/etc/mooring/settings.json"),
    ]


class _Layer(Struct, frozen=True):
    """What one file sets, what is wrong with it, and whether every rule in it is in force."""

    accepted: Mapping[str, SettingValue] = {}
    problems: tuple[Problem, ...] = ()
    has_all_rules: bool = True


def _read_layer(level: Level, path: str) -> _Layer:
    document = _read(level, path)
    if document is None:
        return _Layer()
    if isinstance(document, Problem):
        return _Layer(problems=(document,), has_all_rules=False)
    problems: list[Problem] = []
    accepted = _accept(document, level, path, problems)
    return _Layer(accepted, tuple(problems), _has_all_rules(document, accepted))


def _read(level: Level, path: str) -> Document | Problem | None:
    # A repository's file is read only as far as one that a person writes would go.
    is_foreign = level == "project"
    try:
        data = files.read(path, PROJECT_LIMIT) if is_foreign else files.read_own(path)
        document = None if data is None else parse(data, "json", PROJECT_VALUES if is_foreign else inf)
    except FileError as error:
        return Problem(path, f"The file {error.reason}", error.fix or "fix or remove it")
    except ParseError as error:
        return Problem(path, f"The file {error.reason}", "fix it; until then it is ignored", line=error.line)
    if document is not None and not isinstance(document.data, Mapping):
        return Problem(path, "The file should hold an object", "fix it; until then it is ignored", line=1)
    return document


def _has_all_rules(document: Document, accepted: Mapping[str, SettingValue]) -> bool:
    written = document.data.get("permissions", [])
    kept = accepted["permissions"].value if "permissions" in accepted else []
    # Of two lists the parser keeps the last, and the first may have held a deny.
    is_single = ("permissions",) not in document.duplicates
    return is_single and bool(written == kept)


def _accept(document: Document, level: Level, path: str, problems: list[Problem]) -> dict[str, SettingValue]:
    accepted = {}
    for key, value in document.data.items():
        if key == "$schema":
            continue
        if key in UNUSED:
            message = f"`{key}` is a setting of other tools; Mooring does not use it"
            hint = "nothing needs to be done; you can remove it"
            problems.append(Problem(path, message, hint, line=document.line((key,)), level="note"))
            continue
        complaint = complain(key, value, level)
        if complaint is None:
            accepted[key] = SettingValue(value, level, path)
            if key == "keys":
                problems += _find_key_problems(document, path, value)
            continue
        message, hint = complaint
        index = _find_bad_rule(value) if key == "permissions" else None
        line = document.line((key,)) if index is None else document.line((key, index))
        problems.append(Problem(path, message, hint, line=line, level="warning"))
        if key == "permissions" and (rules := _filter_rules(value, level)):
            accepted[key] = SettingValue(rules, level, path)
    return accepted


def _find_key_problems(document: Document, path: str, written: Mapping[str, Any]) -> Iterator[Problem]:
    """What no key can be made of; the others are in force."""
    from mooring.core.keys import choose_keys  # few users have keys of their own

    for fault in choose_keys(written).faults:
        line = document.line(("keys", fault.action))
        yield Problem(path, fault.message, fault.hint, line=line, level="warning")


def _filter_rules(value: Any, level: Level) -> list[Any]:
    """The rules that are valid even if others aren't: a slip in one must not undo a deny in the next."""
    if not isinstance(value, list):
        return []
    rules = list(filter(_is_rule, value))
    rules = rules[: count_fitting_rules(rules)]
    if level != "project":
        return rules
    # Whoever writes to the repository would otherwise decide what runs on this machine.
    return [rule for rule in rules if rule["action"] != "allow"]


def complain(key: str, value: Any, level: Level) -> tuple[str, str] | None:
    """What is wrong with a setting in a file, and what to do."""
    if key in RENAMED:
        successor, difference = RENAMED[key]
        return f"`{key}` has no effect any more", f"remove it, or write `{successor}`: {difference}"
    setting = SETTINGS.get(key)
    if setting is None:
        return f"`{key}` is not a setting", suggest_key(key, SETTINGS)
    # Before its value: whoever corrected that would still have something that is ignored.
    if level == "project" and not setting.project:
        return f"`{key}` cannot be set by a project; it is ignored", "nothing needs to be done; you can remove it"
    if not setting.fits(value):
        return _complain_about_value(key, value, setting)
    if level == "project" and key == "permissions" and any(rule["action"] == "allow" for rule in value):
        return "A project's permissions can only deny or ask; what they allow is ignored", "remove its allow rules"
    return None


def _complain_about_value(key: str, value: Any, setting: Setting) -> tuple[str, str]:
    if key == "permissions" and _is_list_of(_is_rule, value):
        most = f"{MAX_RULES:,} rules with {MAX_RULE_TEXT // 1024} Ki characters"
        kept = count_fitting_rules(value)
        ignored = f"`{key}` holds {len(value):,} rules, more than {most}; those after the first {kept:,} are ignored"
        return ignored, "join rules by globs, or remove some; until then all is asked, if the file is yours"
    if key == "permissions" and (index := _find_bad_rule(value)) is not None:
        return _complain_about_rule(index, value[index])
    return f"`{key}` should be {setting.expects}; it is ignored", f"write {setting.expects}"


def _find_bad_rule(value: Any) -> int | None:
    """The index of the first rule that is none."""
    if not isinstance(value, list):
        return None
    return next((index for index, rule in enumerate(value) if not _is_rule(rule)), None)


def _complain_about_rule(index: int, rule: Any) -> tuple[str, str]:
    until = "until then all is asked, if the file is yours"
    unknown = [key for key in rule if key not in _RULE_KEYS] if isinstance(rule, Mapping) else []
    if unknown:
        key = unknown[0][:LONGEST_SHOWN]
        message = f"Rule {index + 1} of `permissions` has the unknown key `{key}`, and is ignored"
        return message, f"{suggest_key(key, _RULE_KEYS)} {until.capitalize()}"
    message = f"Rule {index + 1} of `permissions` is not one, and is ignored"
    needs = 'each rule needs "tool" and "action", which is allow, deny or ask'
    has_both = isinstance(rule, Mapping) and {"tool", "action"} <= rule.keys()
    fault = _find_fault(rule) if has_both else None
    return message, f"{fault or needs}; {until}"
