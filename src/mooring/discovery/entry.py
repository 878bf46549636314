"""One entry of a file into a definition: understood, refused with a reason, or recognised as no server at all.

A key that decides what is started (command, args, env, url, headers …) must be sound or the entry is refused;
any other key that is not is a problem of its own, and the entry stands without it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

from msgspec import Struct

from mooring.core.config import Broken, Connection, Http, OAuth, ServerConfig, Stdio, Transport
from mooring.core.problem import Problem, Severity
from mooring.core.template import SecretPart, Template, TextPart, VariablePart, literal
from mooring.discovery import dialect, values
from mooring.discovery.format import NO_SERVER, Field, Format, RawEntry, Slot
from mooring.discovery.rewrite import is_ours, native
from mooring.discovery.template import template
from mooring.discovery.values import EntryRefused, NoServer

ADDRESSES = ("https://", "http://", "unix://", "pipe://")

_LEADS = r"[/\\~$%{]|[A-Za-z]:"
"""How a path begins that is not relative, or not known yet."""

PLAIN = 64
"""A name of letters, digits and hyphens below this length is one that every tool takes."""

_NOTHING: tuple[str, ...] = ()
_EMPTY: Mapping[str, str] = {}

Loose: TypeAlias = Literal["env_file", "headers_helper"]

T = TypeVar("T")


class Read(Struct, frozen=True):
    """What became of an entry."""

    definition: ServerConfig | Broken | None
    problems: tuple[Problem, ...]


def read(
    entry: RawEntry, format: Format, disabled_by: str | None = None, *, keep: bool = False, forced: bool = False
) -> Read:
    """Understand one entry. Never raises: whatever is wrong becomes a problem.

    With `keep`, a program that only leads to an address is started as written; otherwise the address is used.
    With `forced`, what the entry says of being off does not count.
    """
    reader = _Reader(entry, format, disabled_by, keep, forced)
    try:
        return Read(reader.config(), tuple(reader.problems))
    except NoServer as refusal:
        problem = reader.problem(refusal.message, refusal.hint, refusal.key, "note")
        return Read(None, (*reader.problems, problem))
    except EntryRefused as refusal:
        problem = reader.problem(refusal.message, refusal.hint, refusal.key)
        return Read(reader.broken(problem), (*reader.problems, problem))


class _Reader:
    """Reads one entry, collecting problems on the way."""

    def __init__(self, entry: RawEntry, format: Format, disabled_by: str | None, keep: bool, forced: bool) -> None:
        self.keep, self.forced = keep, forced
        self.entry = entry
        self.format = format
        self.disabled_by = disabled_by
        self.problems: list[Problem] = []
        self.values: dict[Slot, tuple[str, Field, Any]] = {}
        own = format.fixed(entry.raw) if format.fixed and isinstance(entry.raw, Mapping) else {}
        self._fixed = {**entry.fixed, **own}

    # --- the whole ------------------------------------------------------------------------------------------

    def config(self) -> ServerConfig:
        raw = self.entry.raw
        if not isinstance(raw, Mapping):
            raise EntryRefused(f"should be an object, but is {values.kind(raw)}")
        self._check_name()
        self._collect(raw)
        if prepare := self.entry.prepare or self.format.prepare:
            self._collect(prepare(raw))
        if self.format.remarks:
            for key, message, hint in self.format.remarks(raw):
                self.problems.append(self.problem(f"`{key}` {message}", hint, key, "warning"))
        self.disabled_by = self.disabled_by or (None if self.forced else self._switched_off())
        timeout = self._time("timeout")
        written = self._connection()
        connection = written if self.keep else native(written, self.entry.given)
        return ServerConfig(
            name=self.entry.name,
            origin=self.entry.origin,
            connection=connection,
            written=None if connection is written else written,
            disabled_by=self.disabled_by,
            required=self._soft("required", values.boolean, False),
            start_timeout=self._either("start_timeout", timeout),
            call_timeout=self._either("call_timeout", timeout),
            idle_timeout=self._time("idle_timeout"),
            tools_allow=self._allowed(),
            tools_deny=self._soft("tools_deny", values.names, _NOTHING) + self._policy("always_deny"),
            oauth=self._oauth() if isinstance(written, Http) else None,
            always_load=self._soft("always_load", values.boolean, False),
            lifecycle=self._soft("lifecycle", values.lifecycle, "lazy"),
            auto_approve=self._soft("auto_approve", values.approvals, _NOTHING) + self._policy("always_allow"),
            raw=self.entry.raw,
        )

    def _check_name(self) -> None:
        name = self.entry.name
        if name.isascii() and name.replace("-", "").isalnum() and len(name) < PLAIN:
            return
        if self.format.names and not re.fullmatch(self.format.names, name):
            message = f"has a name that {self.format.title} does not take, so it is left out there and here"
            raise NoServer(message, "rename it")

    def broken(self, problem: Problem) -> Broken:
        return Broken(
            name=self.entry.name,
            origin=self.entry.origin,
            problem=problem,
            disabled_by=self.disabled_by,
            transport=self._guess(),
        )

    def problem(self, message: str, hint: str = "", key: str | None = None, level: Severity = "error") -> Problem:
        path = self.entry.origin.key + ((key,) if key else ())
        line = self.entry.document.line(path)
        return Problem(self.entry.origin.path, message, hint or "mend its entry", self.entry.name, line, level)

    # --- keys -----------------------------------------------------------------------------------------------

    def _collect(self, raw: Mapping[str, Any]) -> None:
        self.values.clear()
        for key, field in self.format.fields.items():
            value = _inside(raw, key) if "." in key else raw.get(key)
            if value is None and key in self.format.defaults:
                value = _under(self.entry.document.data, self.format.defaults[key])
            if value is not None:
                self.values.setdefault(field.slot, (key, field, value))

    def _value(self, slot: Slot) -> Any:
        return self.values[slot][2] if slot in self.values else None

    def _key(self, slot: Slot) -> str:
        return self.values[slot][0] if slot in self.values else slot

    def _soft(self, slot: Slot, read: Callable[[Any], T], default: T) -> T:
        """A key whose fault costs only itself."""
        if slot not in self.values:
            return default
        try:
            return self._hard(slot, read, default)
        except EntryRefused as refusal:
            self.problems.append(
                self.problem(f"{refusal.message}; it is ignored", refusal.hint, refusal.key, "warning")
            )
            return default

    def _hard(self, slot: Slot, read: Callable[[Any], T], default: T) -> T:
        """A key without which the entry would start something else than was meant."""
        if slot not in self.values:
            return default
        key, _, value = self.values[slot]
        try:
            return read(value)
        except EntryRefused as refusal:
            raise EntryRefused(f"`{key}` {refusal.message}", refusal.hint, key) from None

    # --- the connection -------------------------------------------------------------------------------------

    def _connection(self) -> Connection:
        transport = self._transport()
        if transport != "stdio":
            return self._http(transport)
        stdio = self._stdio()
        if is_ours(stdio):
            raise NoServer("is Mooring itself, which it never starts", "nothing to do; it is left out")
        return stdio

    def _transport(self) -> Transport:
        command, url = _stated(self._value("command")), _stated(self._value("url"))
        stated = self._stated()
        if command is not None and url is not None:
            raise EntryRefused("has both a command and a url", "keep the one that is meant", self._key("url"))
        if stated is None:
            if self.format.typed:
                known = ", ".join(dict.fromkeys(self.format.types))
                raise EntryRefused("has no type", f"add the one that is meant: {known}")
            if command is not None:
                return "stdio"
            if url is not None:
                return self._untyped()
            raise EntryRefused("has neither a command nor a url", "add the one that is meant")
        if stated == "stdio" and command is None:
            raise EntryRefused("is of type stdio, but has no command", "add the command that starts it")
        if stated != "stdio" and url is None:
            raise EntryRefused(f"is of type {self._value('type')}, but has no url", "add its address")
        return stated

    def _stated(self) -> Transport | None:
        if "type" not in self.values:
            return None
        word = self._hard("type", values.text, "")
        if word in NO_SERVER and word not in self.format.types:
            hint = "nothing to do; it is left out"
            raise NoServer(f"is no server to connect to: it {NO_SERVER[word]}", hint, self._key("type"))
        if word not in self.format.types:
            known = ", ".join(dict.fromkeys(self.format.types))
            raise EntryRefused(f"has the unknown type {word[:40]!r}", f"use one of: {known}", self._key("type"))
        return self.format.types[word]

    def _untyped(self) -> Transport:
        if self.format.untyped is None:
            hint = 'add "type": "http"' if self.format.types.get("http") else "add its type"
            raise EntryRefused(f"has a url but no type, which {self.format.title} requires", hint, self._key("url"))
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
        command = self._based(self._hard("command", values.text, ""), ("./", ".\\"))
        args = self._hard("args", values.arguments, _NOTHING)
        return Stdio(
            command=self._template(command, "command"),
            args=tuple(self._template(arg, "args") for arg in args),
            env=dict(self._env()),
            pass_env=self._hard("pass_env", values.variable_names, _NOTHING),
            env_file=self._optional("env_file"),
            cwd=self._cwd(),
        )

    def _env(self) -> Iterator[tuple[str, Template]]:
        yield from ((name, literal(value)) for name, value in self.entry.given.items())
        for name, text in self._hard("env", values.mapping, _EMPTY).items():
            yield name, self._template(text, "env")
        for name in self._hard("env_secrets", values.variable_names, _NOTHING):
            yield name, Template(f"${{{name}}}", (SecretPart(name, self.format.tool, variable=True),))

    def _cwd(self) -> Template | None:
        text = self._hard("cwd", values.text, "")
        if not text:
            return literal(self.entry.base) if self.entry.base and self.format.at_home else None
        return self._template(self._based(text, ("",)), "cwd")

    def _based(self, path: str, beginnings: tuple[str, ...]) -> str:
        """A relative path, from where it is meant."""
        if not self.entry.base or not path.startswith(beginnings) or re.match(_LEADS, path):
            return path
        return self.entry.base if path in (".", "./") else f"{self.entry.base}/{path.removeprefix('./')}"

    def _http(self, transport: Transport) -> Http:
        return Http(
            url=self._address(),
            headers=dict(self._headers()),
            headers_helper=self._optional("headers_helper"),
            transport=transport,
        )

    def _address(self) -> Template:
        address = self._template(self._hard("url", values.text, ""), "url")
        known = isinstance(address.parts[0], TextPart)
        if known and not address.text.lower().startswith(ADDRESSES):
            raise EntryRefused(f"`{self._key('url')}` is no address", f"begin it with {ADDRESSES[0]}", self._key("url"))
        return address

    def _headers(self) -> Iterator[tuple[str, Template]]:
        if name := self._hard("bearer_env", values.text, ""):
            yield (
                "Authorization",
                Template(f"Bearer ${{{name}}}", (TextPart("Bearer "), VariablePart(name, unset="omit"))),
            )
        if token := self._hard("bearer", values.text, ""):
            inner = self._template(token, "headers")
            yield "Authorization", Template(f"Bearer {token}", (TextPart("Bearer "), *inner.parts))
        for header, name in self._hard("env_headers", values.mapping, _EMPTY).items():
            yield header, Template(f"${{{name}}}", (VariablePart(name, unset="omit"),))
        for header, text in self._hard("headers", values.mapping, _EMPTY).items():
            yield header, self._template(text, "headers")

    def _optional(self, slot: Loose) -> Template | None:
        text = self._hard(slot, values.text, "")
        return self._template(text, slot) if text else None

    def _template(self, text: str, field: dialect.Field) -> Template:
        return template(text, self.format.dialect, field, self.entry.inputs, self._fixed, self.entry.keeper)

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
        if isinstance(value, str) and value.strip().lower() in values.WORDS:
            meant = values.WORDS[value.strip().lower()]
            message = f"`{self._key(slot)}` should be true or false, but is text; it is taken as {str(meant).lower()}"
            self.problems.append(self.problem(message, "", self._key(slot), "warning"))
            return meant
        return self._soft(slot, values.boolean, None)

    def _time(self, slot: Slot) -> float | None:
        if slot not in self.values:
            return None
        field = self.values[slot][1]
        return self._soft(slot, lambda value: values.duration(value, field.unit, field.bounds), None)

    def _either(self, slot: Slot, fallback: float | None) -> float | None:
        own = self._time(slot)
        return fallback if own is None else own

    def _allowed(self) -> tuple[str, ...] | None:
        allowed = self._soft("tools_allow", values.names, None)
        return None if allowed is None or "*" in allowed else allowed

    def _policy(self, wanted: str) -> tuple[str, ...]:
        if "tools_policy" not in self.values:
            return _NOTHING
        policies = self._soft("tools_policy", values.policies, _EMPTY)
        return tuple(name for name, policy in policies.items() if policy == wanted)

    def _oauth(self) -> OAuth | None:
        given = self._soft("oauth", values.oauth_block, None)
        loose = {
            "clientid": self._soft("oauth_client_id", values.text, None),
            "scopes": self._value("oauth_scopes"),
            "resource": self._soft("oauth_resource", values.text, None),
            "granttype": self._soft("oauth_grant", values.text, None),
            "clientsecret": self._soft("oauth_client_secret", values.text, None),
            "callbackport": self._value("oauth_port"),
        }
        loose = {key: value for key, value in loose.items() if value is not None}
        if given is False:
            return OAuth(enabled=False)
        if given is None and not loose:
            return None
        return self._oauth_from({**(given if isinstance(given, dict) else {}), **loose})

    def _oauth_from(self, block: dict[str, Any]) -> OAuth:
        secret, port = block.get("clientsecret"), block.get("callbackport", block.get("redirectport"))
        uri = values.maybe_text(block.get("redirecturi"))
        if uri and (found := re.fullmatch(r"[^/]*:(\d{1,5})", uri)):
            uri, port = None, int(found[1])
        return OAuth(
            enabled=block.get("enabled") is not False,
            client_id=values.maybe_text(block.get("clientid")),
            client_secret=self._template(secret, "oauth") if isinstance(secret, str) else None,
            callback_port=port if isinstance(port, int) and not isinstance(port, bool) else None,
            redirect_uri=uri,
            scopes=values.scopes(block.get("scopes", block.get("scope"))),
            metadata_url=values.maybe_text(block.get("authservermetadataurl")),
            resource=values.maybe_text(block.get("resource")),
            grant=values.maybe_text(block.get("granttype")),
        )


def _inside(raw: Mapping[str, Any], key: str) -> Any:
    outer, _, inner = key.partition(".")
    return value.get(inner) if isinstance(value := raw.get(outer), Mapping) else None


def _under(data: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def _stated(value: Any) -> Any:
    """A value that says something; blank text does not."""
    return None if value is None or (isinstance(value, str) and not value.strip()) else value
