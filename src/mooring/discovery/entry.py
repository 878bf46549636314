"""One entry of a file into a definition: understood, refused with a reason, or recognised as no server at all.

A key that decides what is started (command, args, env, url, headers …) must be sound or the entry is refused;
any other key that is not is a problem of its own, and the entry stands without it.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

from msgspec import Struct

from mooring.core.config import Broken, Connection, Http, OAuth, ServerConfig, Stdio, Transport
from mooring.core.problem import Level, Problem
from mooring.core.template import Template, Text, Variable
from mooring.discovery import dialect
from mooring.discovery.format import NO_SERVER, Entry, Field, Format, Slot
from mooring.discovery.template import template

MOST_ARGS = 256
LONGEST = 64 * 1024

_NOTHING: tuple[str, ...] = ()
_EMPTY: Mapping[str, str] = {}

Loose: TypeAlias = Literal["env_file", "cwd", "headers_helper"]

T = TypeVar("T")


class Refused(Exception):
    """The entry cannot be used; carries the message, the hint and the key at fault."""

    def __init__(self, message: str, hint: str = "", key: str | None = None) -> None:
        super().__init__(message)
        self.message, self.hint, self.key = message, hint, key


class NoServer(Refused):
    """The entry is sound but describes nothing that could be connected to, so it owns no name."""


class Read(Struct, frozen=True):
    """What became of an entry."""

    definition: ServerConfig | Broken | None
    problems: tuple[Problem, ...]


def read(entry: Entry, format: Format, disabled_by: str | None = None) -> Read:
    """Understand one entry. Never raises: whatever is wrong becomes a problem."""
    reader = _Reader(entry, format, disabled_by)
    try:
        return Read(reader.config(), tuple(reader.problems))
    except NoServer as refusal:
        problem = reader.problem(refusal.message, refusal.hint, refusal.key, "note")
        return Read(None, (*reader.problems, problem))
    except Refused as refusal:
        problem = reader.problem(refusal.message, refusal.hint, refusal.key)
        return Read(reader.broken(problem), (*reader.problems, problem))


class _Reader:
    """Reads one entry, collecting problems on the way."""

    def __init__(self, entry: Entry, format: Format, disabled_by: str | None) -> None:
        self.entry = entry
        self.format = format
        self.disabled_by = disabled_by
        self.problems: list[Problem] = []
        self.values: dict[Slot, tuple[str, Field, Any]] = {}

    # --- the whole ------------------------------------------------------------------------------------------

    def config(self) -> ServerConfig:
        raw = self.entry.raw
        if not isinstance(raw, Mapping):
            raise Refused(f"should be an object, but is {kind(raw)}")
        self._collect(raw)
        if self.format.prepare:
            self._collect(self.format.prepare(raw))
        self.disabled_by = self.disabled_by or self._switched_off()
        timeout = self._time("timeout")
        return ServerConfig(
            name=self.entry.name,
            origin=self.entry.origin,
            connection=self._connection(),
            disabled_by=self.disabled_by,
            required=self._soft("required", _boolean, False),
            start_timeout=self._either("start_timeout", timeout),
            call_timeout=self._either("call_timeout", timeout),
            tools_allow=self._allowed(),
            tools_deny=self._soft("tools_deny", _names, _NOTHING) + self._policy("always_deny"),
            oauth=self._oauth(),
            always_load=self._soft("always_load", _boolean, False),
            lifecycle=self._soft("lifecycle", _lifecycle, "lazy"),
            auto_approve=self._soft("auto_approve", _approvals, _NOTHING) + self._policy("always_allow"),
            raw=self.entry.raw,
        )

    def broken(self, problem: Problem) -> Broken:
        return Broken(
            name=self.entry.name,
            origin=self.entry.origin,
            problem=problem,
            disabled_by=self.disabled_by,
            transport=self._guess(),
        )

    def problem(self, message: str, hint: str = "", key: str | None = None, level: Level = "error") -> Problem:
        path = self.entry.origin.key + ((key,) if key else ())
        line = self.entry.document.line(path)
        return Problem(self.entry.origin.path, message, hint, self.entry.name, line, level)

    # --- keys -----------------------------------------------------------------------------------------------

    def _collect(self, raw: Mapping[str, Any]) -> None:
        self.values.clear()
        for key, field in self.format.fields.items():
            if raw.get(key) is not None:
                self.values.setdefault(field.slot, (key, field, raw[key]))

    def _value(self, slot: Slot) -> Any:
        return self.values[slot][2] if slot in self.values else None

    def _key(self, slot: Slot) -> str:
        return self.values[slot][0] if slot in self.values else slot

    def _soft(self, slot: Slot, read: Callable[[Any], T], default: T) -> T:
        """A key whose fault costs only itself."""
        if slot not in self.values:
            return default
        key, _, value = self.values[slot]
        try:
            return read(value)
        except Refused as refusal:
            self.problems.append(
                self.problem(f"`{key}` {refusal.message}; it is ignored", refusal.hint, key, "warning")
            )
            return default

    def _hard(self, slot: Slot, read: Callable[[Any], T], default: T) -> T:
        """A key without which the entry would start something else than was meant."""
        if slot not in self.values:
            return default
        key, _, value = self.values[slot]
        try:
            return read(value)
        except Refused as refusal:
            raise Refused(f"`{key}` {refusal.message}", refusal.hint, key) from None

    # --- the connection -------------------------------------------------------------------------------------

    def _connection(self) -> Connection:
        transport = self._transport()
        return self._stdio() if transport == "stdio" else self._http(transport)

    def _transport(self) -> Transport:
        command, url = self._value("command") or None, self._value("url") or None
        stated = self._stated()
        if command is not None and url is not None:
            raise Refused("has both a command and a url", "keep the one that is meant", self._key("url"))
        if stated is None:
            if command is not None:
                return "stdio"
            if url is not None:
                return self._untyped()
            raise Refused("has neither a command nor a url", "add the one that is meant")
        if stated == "stdio" and command is None:
            raise Refused("is of type stdio, but has no command", "add the command that starts it")
        if stated != "stdio" and url is None:
            raise Refused(f"is of type {self._value('type')}, but has no url", "add its address")
        return stated

    def _stated(self) -> Transport | None:
        if "type" not in self.values:
            return None
        word = self._hard("type", _text, "")
        if word in NO_SERVER and word not in self.format.types:
            raise NoServer(f"is no server to connect to: it {NO_SERVER[word]}", "", self._key("type"))
        if word not in self.format.types:
            known = ", ".join(dict.fromkeys(self.format.types))
            raise Refused(f"has the unknown type {word[:40]!r}", f"use one of: {known}", self._key("type"))
        return self.format.types[word]

    def _untyped(self) -> Transport:
        if self.format.ask_for_type:
            self.problems.append(
                self.problem(
                    "has a url but no type, so http is tried, then sse",
                    'add "type": "http" (or "sse")',
                    self._key("url"),
                    "note",
                )
            )
        return self.format.untyped

    def _guess(self) -> Transport | None:
        word = self._value("type")
        if isinstance(word, str) and word in self.format.types:
            return self.format.types[word]
        if "command" in self.values:
            return "stdio"
        return self.format.untyped if "url" in self.values else None

    def _stdio(self) -> Stdio:
        command = self._hard("command", _text, "")
        args = self._hard("args", _args, _NOTHING)
        return Stdio(
            command=self._template(command, "command"),
            args=tuple(self._template(arg, "args") for arg in args),
            env={name: self._template(text, "env") for name, text in self._hard("env", _map, _EMPTY).items()},
            pass_env=self._hard("pass_env", _passed, _NOTHING),
            env_file=self._optional("env_file"),
            cwd=self._optional("cwd"),
        )

    def _http(self, transport: Transport) -> Http:
        return Http(
            url=self._template(self._hard("url", _text, ""), "url"),
            headers=dict(self._headers()),
            headers_helper=self._optional("headers_helper"),
            transport=transport,
        )

    def _headers(self) -> Iterator[tuple[str, Template]]:
        if name := self._hard("bearer_env", _text, ""):
            yield "Authorization", Template(f"Bearer ${{{name}}}", (Text("Bearer "), Variable(name, unset="omit")))
        if token := self._hard("bearer", _text, ""):
            inner = self._template(token, "headers")
            yield "Authorization", Template(f"Bearer {token}", (Text("Bearer "), *inner.parts))
        for header, name in self._hard("env_headers", _map, _EMPTY).items():
            yield header, Template(f"${{{name}}}", (Variable(name, unset="omit"),))
        for header, text in self._hard("headers", _map, _EMPTY).items():
            yield header, self._template(text, "headers")

    def _optional(self, slot: Loose) -> Template | None:
        text = self._hard(slot, _text, "")
        return self._template(text, slot) if text else None

    def _template(self, text: str, field: dialect.Field) -> Template:
        return template(text, self.format.dialect, field, self.entry.inputs)

    # --- the rest -------------------------------------------------------------------------------------------

    def _switched_off(self) -> str | None:
        switches: tuple[tuple[Slot, bool], ...] = (("enabled", False), ("disabled", True))
        for slot, off in switches:
            if self._flag(slot) is off:
                return f"`{self._key(slot)}` in its entry"
        return None

    def _flag(self, slot: Slot) -> bool | None:
        """A switch; a word that evidently means one counts, since ignoring it could turn a server on."""
        value = self._value(slot)
        if isinstance(value, str) and value.strip().lower() in _WORDS:
            meant = _WORDS[value.strip().lower()]
            message = f"`{self._key(slot)}` should be true or false, but is text; it is taken as {str(meant).lower()}"
            self.problems.append(self.problem(message, "", self._key(slot), "warning"))
            return meant
        return self._soft(slot, _boolean, None)

    def _time(self, slot: Slot) -> float | None:
        if slot not in self.values:
            return None
        unit = self.values[slot][1].unit
        return self._soft(slot, lambda value: _duration(value, unit), None)

    def _either(self, slot: Slot, fallback: float | None) -> float | None:
        own = self._time(slot)
        return fallback if own is None else own

    def _allowed(self) -> tuple[str, ...] | None:
        allowed = self._soft("tools_allow", _names, None)
        return None if allowed is None or "*" in allowed else allowed

    def _policy(self, wanted: str) -> tuple[str, ...]:
        policies = self._soft("tools_policy", _policies, _EMPTY)
        return tuple(name for name, policy in policies.items() if policy == wanted)

    def _oauth(self) -> OAuth | None:
        given = self._soft("oauth", _oauth_block, None)
        loose = {
            "clientid": self._soft("oauth_client_id", _text, None),
            "scopes": self._value("oauth_scopes"),
            "resource": self._soft("oauth_resource", _text, None),
            "granttype": self._soft("oauth_grant", _text, None),
        }
        loose = {key: value for key, value in loose.items() if value is not None}
        if given is False:
            return OAuth(enabled=False)
        if given is None and not loose:
            return None
        return self._oauth_from({**(given if isinstance(given, dict) else {}), **loose})

    def _oauth_from(self, block: dict[str, Any]) -> OAuth:
        secret, port = block.get("clientsecret"), block.get("callbackport", block.get("redirectport"))
        return OAuth(
            client_id=_maybe_text(block.get("clientid")),
            client_secret=self._template(secret, "oauth") if isinstance(secret, str) else None,
            callback_port=port if isinstance(port, int) and not isinstance(port, bool) else None,
            redirect_uri=_maybe_text(block.get("redirecturi")),
            scopes=_scopes(block.get("scopes", block.get("scope"))),
            metadata_url=_maybe_text(block.get("authservermetadataurl")),
            resource=_maybe_text(block.get("resource")),
            grant=_maybe_text(block.get("granttype")),
        )


# --- values: each takes what stands in the file and gives what is meant, or refuses it without quoting it -----

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def kind(value: Any) -> str:
    """What a JSON value is, in a word, without showing it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return "a date or time"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Refused(f"should be text, but is {kind(value)}")
    if len(value) > LONGEST:
        raise Refused(f"is longer than {LONGEST // 1024} KiB")
    if "\0" in value:
        raise Refused("holds a NUL character")
    return value


def _maybe_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _plain(value: Any) -> str:
    """Text, or a number or truth value that stands for its text."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case _:
            return _text(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Refused(f"should be true or false, but is {kind(value)}")
    return value


def _duration(value: Any, unit: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise Refused(f"should be a number of {_UNITS[unit]}, but is {_oddity(value)}")
    return value * unit if value else math.inf


_UNITS = {1.0: "seconds", 0.001: "milliseconds", 60.0: "minutes"}


def _oddity(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "negative" if value < 0 else "not a usable one"
    return kind(value)


def _args(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Refused(f"should be a list, but is {kind(value)}", "write each argument as its own text in a list")
    if len(value) > MOST_ARGS:
        raise Refused(f"has more than {MOST_ARGS} items")
    return tuple(_plain(item) for item in value)


def _map(value: Any) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise Refused(f"should be an object of names and texts, but is {kind(value)}")
    return {str(name): _plain(text) for name, text in value.items() if text is not None}


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise Refused("should be a list of names")
    return tuple(value)


def _passed(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Refused("should be a list of variable names")
    return tuple(_text(item.get("name") if isinstance(item, Mapping) else item) for item in value)


def _lifecycle(value: Any) -> Any:
    if value not in ("lazy", "eager", "keep-alive"):
        raise Refused("should be lazy, eager or keep-alive")
    return value


def _approvals(value: Any) -> tuple[str, ...]:
    match value:
        case True:
            return ("*",)
        case False:
            return ()
        case str():
            return (value,)
        case _:
            return _names(value)


def _policies(value: Any) -> Mapping[str, str]:
    if not isinstance(value, list):
        raise Refused(f"should be a list, but is {kind(value)}")
    return {
        str(item["name"]): str(item.get("permission_policy"))
        for item in value
        if isinstance(item, Mapping) and "name" in item
    }


def _oauth_block(value: Any) -> dict[str, Any] | bool | None:
    match value:
        case bool():
            return value
        case Mapping():
            return {str(key).replace("_", "").replace("-", "").lower(): inner for key, inner in value.items()}
        case str():
            return None
        case _:
            raise Refused(f"should be an object, true or false, but is {kind(value)}")


def _scopes(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(str(scope) for scope in value) if isinstance(value, list) else ()
