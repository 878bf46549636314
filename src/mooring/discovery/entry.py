"""One entry of a file into a definition: understood, refused with a reason, or recognized as no server at all.

A key that decides what is started (command, args, env, url, headers …) must be sound, or the entry is refused. Any
other key that is not sound is reported, and the entry is used without it.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Any, Literal, TypeVar

from msgspec import Struct

from mooring.core.definitions.config import (
    LOGIN_SECRETS,
    Broken,
    Connection,
    Http,
    OAuth,
    ServerConfig,
    Stdio,
    Transport,
)
from mooring.core.definitions.problem import Problem, Severity
from mooring.core.definitions.template import SecretPart, Template, TextPart, VariablePart, literal
from mooring.core.text.suggestions import find_slip, nearest, suggest_key
from mooring.discovery import values
from mooring.discovery.dialect import TextSlot
from mooring.discovery.format import LOGIN_KEYS, NO_SERVER, Field, Format, RawEntry, Slot
from mooring.discovery.template import find_literal_placeholders, parse_template
from mooring.discovery.values import EntryRefused, NoServer

ADDRESSES = ("https://", "http://", "unix://", "pipe://")
_NO_HOST = r"(?i)https?://([\s/?#:]|$)"
IN_ENTRY = "in its entry"
"""How a switch inside of an entry is named: `enabled` in its entry."""

# How a path begins that is absolute, or whose beginning is not known yet.
_NOT_RELATIVE = r"[/\\~$%{]|[A-Za-z]:"

# Every tool accepts names of letters, digits and hyphens up to here: no pattern needs to be compiled for them.
_PLAIN_NAME_LENGTH = 64

_NO_TEXTS: tuple[str, ...] = ()
_NO_TEXT_MAP: Mapping[str, str] = {}

T = TypeVar("T")


class ParsedEntry(Struct, frozen=True):
    """What an entry turned out to be: its definition, unless it is not a server, and everything wrong with it."""

    definition: ServerConfig | Broken | None
    problems: tuple[Problem, ...]


def read_entry(
    entry: RawEntry,
    format: Format,
    disabled_by: str | None = None,
    *,
    keep_mcp_remote: bool = False,
    force_on: bool = False,
) -> ParsedEntry:
    """Understand one entry. Never raises: whatever is wrong becomes a problem.

    With `keep_mcp_remote`, a program that only leads to an address is started as written; otherwise the address is
    used. With `force_on`, an entry that switches itself off is on.
    """
    reader = _EntryReader(entry, format, disabled_by, keep_mcp_remote, force_on)
    try:
        config = reader.read()
        return ParsedEntry(config, tuple(reader.problems))
    except NoServer as refusal:
        problem = reader.problem(refusal.message, refusal.hint, refusal.key, "note")
        return ParsedEntry(None, (*reader.problems, problem))
    except EntryRefused as refusal:
        problem = reader.problem(refusal.message, refusal.hint, refusal.key)
        return ParsedEntry(reader.broken(problem), (*reader.problems, problem))


MOST_UNKNOWN = 3
"""How many unknown keys of an entry, or of a file of our own, are looked at."""

MOST_FOREIGN = 20
"""The same for the entries of other tools: theirs may begin with keys that only they know."""


class _Setting(Struct, frozen=True):
    """What an entry says in one slot, and under which of its tool's keys."""

    key: str
    field: Field
    value: Any


_ABSENT = _Setting("", Field("type"), None)


class _EntryReader:
    """Reads one entry, collecting problems on the way."""

    def __init__(
        self, entry: RawEntry, format: Format, disabled_by: str | None, keep_mcp_remote: bool, force_on: bool
    ) -> None:
        self.entry = entry
        self.format = format
        self.disabled_by = disabled_by
        self.keep_mcp_remote = keep_mcp_remote
        self.force_on = force_on
        self.problems: list[Problem] = []
        self._settings: dict[Slot, _Setting] = {}
        self._known_values: Mapping[str, str | SecretPart] = entry.variables

    # --- the whole entry ------------------------------------------------------------------------------------

    def read(self) -> ServerConfig:
        raw = self.entry.raw
        if not isinstance(raw, Mapping):
            raise EntryRefused(f"should be an object, but is {values.describe_kind(raw)}")
        self._check_name()
        self._prepare(raw)
        self._add_remarks(raw)
        if not self.disabled_by and not self.force_on:
            self.disabled_by = self._own_off_switch()

        timeout = self._time("timeout")
        written = self._connection()
        # An entry that is refused says itself which key it lacks, and under which other one it was found.
        self._report_unknown_keys(raw)
        self._report_literals(written)
        connection = written if self.keep_mcp_remote else replace_mcp_remote(written, self.entry.plugin_env)
        policies = self._lenient("tools_policy", values.read_policies, _NO_TEXT_MAP)
        return ServerConfig(
            name=self.entry.name,
            origin=self.entry.origin,
            connection=connection,
            written=None if connection is written else written,
            disabled_by=self.disabled_by,
            required=self._lenient("required", values.read_boolean, False),
            start_timeout=self._time("start_timeout", timeout),
            call_timeout=self._time("call_timeout", timeout),
            idle_timeout=self._time("idle_timeout"),
            max_in_flight=self._lenient("max_in_flight", values.read_count, None),
            max_message_bytes=self._lenient("max_message_bytes", values.read_count, None),
            era=self._lenient("era", values.read_era, None),
            tools_allow=self._allowed_tools(),
            tools_deny=self._lenient("tools_deny", values.read_names, _NO_TEXTS)
            + _tools_under(policies, "always_deny"),
            oauth=self._oauth() if isinstance(written, Http) else self._credential(),
            always_load=self._lenient("always_load", values.read_boolean, False),
            lifecycle=self._lenient("lifecycle", values.read_lifecycle, "lazy"),
            auto_approve=self._lenient("auto_approve", values.read_approvals, _NO_TEXTS)
            + _tools_under(policies, "always_allow"),
            raw=raw,
        )

    def broken(self, problem: Problem) -> Broken:
        return Broken(
            name=self.entry.name,
            origin=self.entry.origin,
            problem=problem,
            disabled_by=self.disabled_by,
            transport=self._guess_transport(),
        )

    def problem(self, message: str, hint: str = "", key: str | None = None, level: Severity = "error") -> Problem:
        path = self.entry.origin.key
        if key:
            # A key with a dot is usually a key inside another, such as `env.TOKEN`.
            is_whole = key in values.as_mapping(self.entry.raw)
            path = (*path, key) if is_whole else (*path, *key.split("."))
        line = self.entry.document.line(path)
        return Problem(self.entry.origin.path, message, hint or "fix its entry", self.entry.name, line, level)

    def _check_name(self) -> None:
        name, pattern = self.entry.name, self.format.name_pattern
        if pattern is None or _is_plain_name(name):
            return
        if not re.fullmatch(pattern, name):
            message = f"has a name that {self.format.title} does not accept, so it is skipped there and here"
            raise NoServer(message, "rename it")

    def _prepare(self, raw: Mapping[str, Any]) -> None:
        # First as written: if `prepare` refuses the entry, its transport can still be shown.
        self._collect(raw)
        prepare = self.entry.prepare or self.format.prepare
        if prepare:
            self._collect(prepare(raw))

    def _collect(self, raw: Mapping[str, Any]) -> None:
        self._settings.clear()
        for key, field in self.format.fields.items():
            value = values.look_up(raw, key.split(".")) if "." in key else raw.get(key)
            if value is None and key in self.format.defaults:
                value = values.look_up(self.entry.document.data, self.format.defaults[key])
            if value is not None:
                self._settings.setdefault(field.slot, _Setting(key, field, value))

    def _add_remarks(self, raw: Mapping[str, Any]) -> None:
        if not self.format.remarks:
            return
        for key, message, hint in self.format.remarks(raw):
            self._warn(f"`{key}` {message}", hint, key)

    def _report_unknown_keys(self, raw: Mapping[str, Any]) -> None:
        for key in self._list_unknown(raw):
            if hint := self._explain_unknown(key):
                self._warn(f"has the unknown key `{key}`, which is ignored", hint, key)

    def _explain_unknown(self, key: str) -> str:
        """A hint on an unknown key; in another tool's file, which may have keys of its own, only if it is a slip."""
        if self.format.closed:
            return suggest_key(key, self.format.fields)
        unused = self.format.fields.keys() - self.entry.raw.keys()
        meant = find_slip(key, unused)
        return f"did you mean `{meant}`?" if meant else ""

    def _report_literals(self, connection: Connection) -> None:
        for placeholder in find_literal_placeholders(connection, self.format.dialect):
            key = self._settings[placeholder.slot].key if placeholder.slot in self._settings else None
            message = f"`{placeholder.key}` holds {placeholder.text}, which {self.format.title} takes literally"
            self._warn(message, f"{self.format.title} writes {placeholder.spelling}", key)

    def _list_unknown(self, raw: Mapping[str, Any]) -> list[str]:
        """The first keys that the format does not have; comparing thousands of them would take a while."""
        most = MOST_UNKNOWN if self.format.closed else MOST_FOREIGN
        # YAML has keys that are numbers.
        unknown = (key for key in raw if key not in self.format.fields and isinstance(key, str))
        return list(islice(unknown, most))

    def _find_misspelled(self, *wanted: str) -> tuple[str, str | None]:
        """A hint on the key that was meant by another one, and that other one; else nothing."""
        for key in self._list_unknown(values.as_mapping(self.entry.raw)):
            if near := nearest(key, wanted, 1):
                return f"did you mean `{near[0]}`? It says `{key[:40]}`", key
        return "", None

    def _warn(self, message: str, hint: str, key: str | None) -> None:
        self.problems.append(self.problem(message, hint, key, "warning"))

    # --- single keys ----------------------------------------------------------------------------------------

    def _value(self, slot: Slot) -> Any:
        return self._settings.get(slot, _ABSENT).value

    def _key(self, slot: Slot) -> str:
        """The tool's key for a slot in which the entry says something."""
        return self._settings[slot].key

    def _has(self, slot: Slot) -> bool:
        """Whether the entry says something in a slot; blank text says nothing."""
        value = self._value(slot)
        if isinstance(value, str):
            return bool(value.strip())
        return value is not None

    def _strict(self, slot: Slot, read: Callable[[Any], T], default: T) -> T:
        """A value without which the entry would start something other than what was meant: if bad, refused."""
        setting = self._settings.get(slot, _ABSENT)
        if setting.value is None:
            return default
        try:
            return read(setting.value)
        except EntryRefused as refusal:
            raise EntryRefused(f"`{setting.key}` {refusal.message}", refusal.hint, setting.key) from None

    def _lenient(self, slot: Slot, read: Callable[[Any], T], default: T) -> T:
        """A value the entry can do without: if bad, reported and left out."""
        try:
            return self._strict(slot, read, default)
        except EntryRefused as refusal:
            self._warn(f"{refusal.message}; it is ignored", refusal.hint, refusal.key)
            return default

    # --- which transport ------------------------------------------------------------------------------------

    def _connection(self) -> Connection:
        transport = self._transport()
        self._add_entry_variables()
        if transport != "stdio":
            return Http(self._url(), dict(self._headers()), self._optional("headers_helper"), transport)
        stdio = self._stdio()
        # A tool that uses Mooring as its server has it in its own file, which is one of those read here.
        if starts_mooring(stdio):
            raise NoServer("is Mooring itself, which it never starts", "nothing to do; it is skipped")
        return stdio

    def _transport(self) -> Transport:
        stated = self._stated_transport()
        if self._has("command") and self._has("url"):
            raise EntryRefused("has both a command and a url", "keep the one you mean", self._key("url"))
        if stated is None:
            return self._inferred_transport()
        if stated == "stdio" and not self._has("command"):
            hint, key = self._find_misspelled("command")
            raise EntryRefused("is of type stdio, but has no command", hint or "add the command that starts it", key)
        if stated != "stdio" and not self._has("url"):
            hint, key = self._find_misspelled("url")
            raise EntryRefused(f"is of type {self._value('type')}, but has no url", hint or "add its URL", key)
        return stated

    def _stated_transport(self) -> Transport | None:
        if "type" not in self._settings:
            return None
        word = self._strict("type", values.read_text, "")
        if word in self.format.types:
            return self.format.types[word]
        if word in NO_SERVER:
            hint = "nothing to do; it is skipped"
            raise NoServer(f"is not a server to connect to: it {NO_SERVER[word]}", hint, self._key("type"))
        raise EntryRefused(f"has the unknown type {word[:40]!r}", f"use one of: {self._types()}", self._key("type"))

    def _inferred_transport(self) -> Transport:
        if self.format.type_required:
            raise EntryRefused("has no type", f"add the one you mean: {self._types()}")
        if self._has("command"):
            return "stdio"
        if self._has("url"):
            return self._transport_of_untyped_url()
        hint, key = self._find_misspelled("command", "url")
        raise EntryRefused("has neither a command nor a url", hint or "add the one you mean", key)

    def _transport_of_untyped_url(self) -> Transport:
        key = self._key("url")
        if self.format.untyped_url is None:
            hint = 'add "type": "http"' if self.format.types.get("http") else "add its type"
            raise EntryRefused(f"has a url but no type, which {self.format.title} requires", hint, key)
        if self.format.suggest_type:
            message, hint = "has a url but no type, so http is tried, then sse", 'add "type": "http" (or "sse")'
            self.problems.append(self.problem(message, hint, key, "note"))
        return self.format.untyped_url

    def _guess_transport(self) -> Transport | None:
        """What a refused entry was probably meant to be, for listings."""
        word = self._value("type")
        if isinstance(word, str) and word in self.format.types:
            return self.format.types[word]
        if "command" in self._settings:
            return "stdio"
        return self.format.untyped_url if "url" in self._settings else None

    def _types(self) -> str:
        return ", ".join(self.format.types)

    def _add_entry_variables(self) -> None:
        if not self.format.entry_variables:
            return
        # A value that cannot be read is refused under its own key here, before the format reads it without one.
        self._strict("env", values.read_text_map, _NO_TEXT_MAP)
        self._strict("env_secrets", values.read_variable_names, _NO_TEXTS)
        self._known_values = {**self.entry.variables, **self.format.entry_variables(self.entry.raw)}

    # --- a program ------------------------------------------------------------------------------------------

    def _stdio(self) -> Stdio:
        command = self._strict("command", values.read_text, "")
        # A command without a `./` is looked up in PATH, not in the folder.
        if command.startswith(("./", ".\\")):
            command = self._resolve(command)
        args = self._strict("args", values.read_arguments, _NO_TEXTS)
        return Stdio(
            command=self._template(command, "command"),
            args=tuple(self._template(arg, "args") for arg in args),
            env=dict(self._env()),
            pass_env=self._strict("pass_env", values.read_variable_names, _NO_TEXTS),
            env_file=self._optional("env_file"),
            cwd=self._cwd(),
        )

    def _env(self) -> Iterator[tuple[str, Template]]:
        """Variables and their values; a later one replaces an earlier one of the same name."""
        for name, value in self.entry.plugin_env.items():
            yield name, literal(value)
        for name, text in self._strict("env", values.read_text_map, _NO_TEXT_MAP).items():
            yield name, self._template(text, "env")
        for name in self._strict("env_secrets", values.read_variable_names, _NO_TEXTS):
            yield name, Template(f"${{{name}}}", (SecretPart(name, self.format.tool, variable=True),))

    def _cwd(self) -> Template | None:
        text = self._strict("cwd", values.read_text, "")
        if text:
            return self._template(self._resolve(text), "cwd")
        if self.entry.base and self.format.start_in_folder:
            return literal(self.entry.base)
        return None

    def _resolve(self, path: str) -> str:
        """A path that is relative to the entry's file or plugin, made absolute; any other path unchanged."""
        base = self.entry.base
        if not base or re.match(_NOT_RELATIVE, path):
            return path
        if path in (".", "./"):
            return base
        return f"{base}/{path.removeprefix('./')}"

    # --- an address -----------------------------------------------------------------------------------------

    def _url(self) -> Template:
        url = self._template(self._strict("url", values.read_text, ""), "url")
        key = self._key("url")
        begins_with_text = isinstance(url.parts[0], TextPart)
        if begins_with_text and not url.text.lower().startswith(ADDRESSES):
            raise EntryRefused(f"`{key}` is not a URL", f"begin it with {ADDRESSES[0]}", key)
        if re.match(_NO_HOST, url.text):
            raise EntryRefused(f"`{key}` names no host", "write it as https://HOST/PATH", key)
        return url

    def _headers(self) -> Iterator[tuple[str, Template]]:
        """Headers and their values; a later one replaces an earlier one of the same name."""
        if name := self._strict("bearer_env", values.read_text, ""):
            parts = (TextPart("Bearer "), VariablePart(name, unset="omit"))
            yield "Authorization", Template(f"Bearer ${{{name}}}", parts)
        if token := self._strict("bearer", values.read_text, ""):
            value = self._template(token, "headers")
            yield "Authorization", Template(f"Bearer {token}", (TextPart("Bearer "), *value.parts))
        for header, name in self._strict("env_headers", values.read_text_map, _NO_TEXT_MAP).items():
            yield header, Template(f"${{{name}}}", (VariablePart(name, unset="omit"),))
        for header, text in self._strict("headers", values.read_text_map, _NO_TEXT_MAP).items():
            yield header, self._template(text, "headers")

    def _optional(self, slot: Literal["env_file", "headers_helper"]) -> Template | None:
        text = self._strict(slot, values.read_text, "")
        return self._template(text, slot) if text else None

    def _template(self, text: str, slot: TextSlot) -> Template:
        return parse_template(text, self.format.dialect, slot, self.entry.inputs, self._known_values, self.entry.keeper)

    # --- how it is used -------------------------------------------------------------------------------------

    def _own_off_switch(self) -> str | None:
        """Where the entry itself says that it is off; `None` if it does not."""
        if self._flag("enabled") is False:
            return f"`{self._key('enabled')}` {IN_ENTRY}"
        if self._flag("disabled") is True:
            return f"`{self._key('disabled')}` {IN_ENTRY}"
        return None

    def _flag(self, slot: Slot) -> bool | None:
        """A switch. A word that plainly means true or false is taken as that: ignoring it could turn a server on."""
        value = self._value(slot)
        word = value.strip().lower() if isinstance(value, str) else ""
        if word not in values.BOOLEAN_WORDS:
            return self._lenient(slot, values.read_boolean, None)
        meaning = values.BOOLEAN_WORDS[word]
        key = self._key(slot)
        message = f"`{key}` should be true or false, but is text; it is taken as {str(meaning).lower()}"
        self._warn(message, "", key)
        return meaning

    def _time(self, slot: Slot, default: float | None = None) -> float | None:
        field = self._settings.get(slot, _ABSENT).field
        return self._lenient(slot, lambda value: values.read_duration(value, field.unit, field.bounds), default)

    def _allowed_tools(self) -> tuple[str, ...] | None:
        allowed = self._lenient("tools_allow", values.read_names, None)
        # Copilot writes ["*"] for all tools.
        if allowed is None or "*" in allowed:
            return None
        return allowed

    # --- how to log in --------------------------------------------------------------------------------------

    def _oauth(self) -> OAuth | None:
        block = self._lenient("oauth", values.read_oauth, None)
        loose = self._loose_oauth_keys()
        if block is False:
            return OAuth(enabled=False)
        if block is None and not loose:
            return None
        return self._make_oauth({**values.as_mapping(block), **loose})

    def _credential(self) -> OAuth | None:
        """What a program's entry says about a login: at most whose token it is given."""
        block = values.as_mapping(self._lenient("oauth", values.read_oauth, None))
        credential_id = values.text_or_none(block.get("credentialid"))
        return OAuth(credential_id=credential_id) if credential_id else None

    def _loose_oauth_keys(self) -> dict[str, Any]:
        """What the entry says about a login in keys of its own rather than in one block."""
        loose = {
            "clientid": self._lenient("oauth_client_id", values.read_text, None),
            "scopes": self._value("oauth_scopes"),
            "resource": self._lenient("oauth_resource", values.read_text, None),
            "granttype": self._lenient("oauth_grant", values.read_text, None),
            "clientsecret": self._lenient("oauth_client_secret", values.read_text, None),
            "callbackport": self._value("oauth_port"),
        }
        return {key: value for key, value in loose.items() if value is not None}

    def _make_oauth(self, settings: Mapping[str, Any]) -> OAuth:
        redirect_uri = values.text_or_none(settings.get("redirecturi"))
        port = settings.get("callbackport", settings.get("redirectport"))
        # Amazon Q and Kiro write host:port where others write a URI.
        if redirect_uri and (host_and_port := re.fullmatch(r"[^/]*:(\d{1,5})", redirect_uri)):
            redirect_uri, port = None, int(host_and_port[1])
        # Keys are in one spelling here: see `read_oauth`.
        written: dict[str, Any] = {field: settings.get(key.lower()) for field, key in LOGIN_KEYS.items()}
        texts = {field: text for field, text in written.items() if isinstance(text, str)}
        secrets = {field: self._template(text, "oauth") for field, text in texts.items() if field in LOGIN_SECRETS}
        stated: dict[str, Any] = {**texts, **secrets}
        stated["enabled"] = settings.get("enabled") is not False
        stated["callback_port"] = values.int_or_none(port)
        stated["redirect_uri"] = redirect_uri
        stated["scopes"] = values.read_scopes(settings.get("scopes", settings.get("scope")))
        return OAuth(**stated)


def _is_plain_name(name: str) -> bool:
    return name.isascii() and name.replace("-", "").isalnum() and len(name) < _PLAIN_NAME_LENGTH


def _tools_under(policies: Mapping[str, str], wanted: str) -> tuple[str, ...]:
    """The tools to which Claude Code's `tools` gives a policy."""
    return tuple(name for name, policy in policies.items() if policy == wanted)


# Words are joined by NUL, which none of them can hold.
_MCP_REMOTE = r"npx\0(?:(?:-y|--yes)\0)?mcp-remote(?:@[\w.^~-]+)?"
_PYTHON = r"python[\d.]*w?"


def replace_mcp_remote(connection: Connection, plugin_env: Collection[str] = ()) -> Connection:
    """The address that `npx [-y] mcp-remote[@version] URL` leads to; any other connection unchanged.

    `plugin_env` are the variables that a tool sets for all programs of a plugin; the entry did not ask for them.
    """
    match connection:
        # With flags, variables or a folder of its own, mcp-remote may do more than Mooring would do without it. Cline
        # draws the same line.
        case Stdio(env=env, pass_env=(), env_file=None, cwd=None) if env.keys() <= set(plugin_env):
            *words, _ = _words(connection)
            if re.fullmatch(_MCP_REMOTE, "\0".join(words)) and _is_address(connection.args[-1]):
                return Http(connection.args[-1], transport="auto")
    return connection


def starts_mooring(stdio: Stdio) -> bool:
    """Whether a command would start Mooring as a server: `mooring serve` or `python -m mooring serve`."""
    words = _words(stdio)
    if "-m" in words and re.fullmatch(_PYTHON, words[0]):
        words = words[words.index("-m") + 1 :]
    return words[:1] == ["mooring"] and "serve" in words[1:]


def _words(stdio: Stdio) -> list[str]:
    """The program's name and its arguments; empty for those that are not known yet."""
    return [_program_name(stdio.command), *(arg.plain or "" for arg in stdio.args)]


def _program_name(command: Template) -> str:
    """The name of a program without its folder and Windows' suffixes."""
    path = (command.plain or "").replace("\\", "/")
    name = path.rpartition("/")[2]
    return name.removesuffix(".exe").removesuffix(".cmd")


def _is_address(template: Template) -> bool:
    first = template.parts[0]
    return isinstance(first, TextPart) and first.text.startswith(("https://", "http://"))
