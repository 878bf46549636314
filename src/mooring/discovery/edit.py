"""A definition as an entry of a tool's file: the opposite of reading one.

What was written is read again. Whatever then differs from the definition is what the tool cannot express.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Literal

from msgspec import Struct, structs

from mooring.core.definitions.config import (
    LOGIN_SECRETS,
    Connection,
    Http,
    InProcess,
    OAuth,
    Origin,
    ServerConfig,
    Stdio,
    Transport,
    list_templates,
)
from mooring.core.definitions.template import Part, Template, TextPart, VariablePart
from mooring.discovery.dialect import Dialect, TextSlot
from mooring.discovery.documents import dig
from mooring.discovery.entry import MOST_FOREIGN, ParsedEntry, read_entry
from mooring.discovery.format import (
    COMMON,
    LOGIN_KEYS,
    PROJECT,
    Field,
    Format,
    Place,
    RawEntry,
    ScanContext,
    Slot,
    Writes,
    document_kind,
)
from mooring.discovery.formats import FORMATS
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteTarget
from mooring.discovery.translate import meaning_of, spell_template
from mooring.discovery.values import as_mapping, text_or_none
from mooring.errors import ConfigError
from mooring.syntax.document import Document
from mooring.syntax.edit import add_members, edit_bytes, put_value, remove_value, replace_members
from mooring.syntax.parse import parse

# Without these, an entry would start something else, or nothing.
_ESSENTIAL = ("command", "args", "url", "transport")
# About how a client uses a server, not about what the server is given: a copy without them still works the same.
_HINTS = frozenset(
    {
        "required", "startTimeout", "callTimeout", "idleTimeout", "maxInFlight", "maxMessageBytes", "era", "alwaysLoad",
        "lifecycle", "autoApprove", "transport",
    }
)  # fmt: skip
# What an entry says under the same names as a definition, as it is there or in another unit.
_SAME: tuple[Slot, ...] = ("required", "max_in_flight", "max_message_bytes", "era", "tools_deny", "always_load")
_TIMES: tuple[Slot, ...] = ("start_timeout", "call_timeout", "idle_timeout")
# Another tool's grants stay its own.
_NEVER_WRITTEN = {"autoApprove"}
# Relative paths are read from here, so that one shows if it would mean another file in the target.
_ELSEWHERE = "/folder/of/the/file"


class WrittenEntry(Struct, frozen=True):
    """An entry for a tool's file, and the keys of the definition that the tool cannot express."""

    raw: Mapping[str, Any]
    lost: tuple[str, ...] = ()

    @property
    def lacks(self) -> tuple[str, ...]:
        """What is lost of that which the server is given: without it, the entry would be another server."""
        return tuple(key for key in self.lost if key not in _HINTS)


def write_entry(config: ServerConfig, format: Format) -> WrittenEntry:
    """The entry that means the same in a tool's file, as far as the tool can express it.

    Placeholders are written as the tool writes them; no value is filled in.

    Raises:
        ConfigError: the tool cannot express what is started or where it is, or does not accept the name.
    """
    if format.writes is None:
        raise ConfigError(f"{format.title} files are only read.")
    config = round_times(config, format)
    raw = _EntryWriter(config, format, format.writes).write()
    read = _read_back(config, raw, format)
    lost = tuple(_compare(config, read))
    for key in lost:
        # An address of either kind is tried in both ways: then only the order of attempts differs.
        is_order = key == "transport" and "auto" in (config.transport, read.transport)
        if key in _ESSENTIAL and not is_order:
            raise _refuse_key(config, format, key)
    return WrittenEntry(raw, lost)


def _refuse_key(config: ServerConfig, format: Format, key: str) -> ConfigError:
    return ConfigError(f'{format.title} cannot express the `{key}` of "{config.name}".')


def list_lacks_of_copy(copy: ServerConfig, original: ServerConfig) -> tuple[str, ...]:
    """What an entry of Mooring's own file lacks of the definition that it was copied from; nothing if it is no copy.

    Earlier versions left out what they could not express and wrote the rest.
    """
    try:
        written = write_entry(original, OWN)
    except ConfigError:
        return ()
    is_copy = bool(written.lacks) and is_same_entry(copy.name, copy.raw, written.raw, OWN)
    return written.lacks if is_copy else ()


def list_unread_keys(config: ServerConfig) -> list[str]:
    """The first keys of a definition's entry that only its own tool understands: no other file gets them."""
    formats = [format for format in FORMATS if format.tool == config.origin.tool]
    known = {key.partition(".")[0] for format in formats for key in format.fields}
    written = {"name", *chain.from_iterable(format.writes.always for format in formats if format.writes)}
    # YAML has keys that are numbers.
    unread = (str(key) for key in config.raw if key not in known | written | COMMON.keys())
    return list(islice(unread, MOST_FOREIGN))


def put_entries(
    data: bytes,
    path: str,
    target: WriteTarget,
    place: Place,
    entries: Mapping[str, Mapping[str, Any]],
    context: ScanContext,
    *,
    replace: bool = False,
) -> bytes:
    """A file's bytes with more entries by their names, or with others in place of those that have the names.

    Raises:
        ParseError: the file is not understood well enough to be changed.
        ConfigError: it has such an entry, and that should not be replaced.
    """
    kind = document_kind(path)

    def change(text: str) -> str:
        if not text.strip() and target.format.writes:
            for key, value in target.format.writes.starter.items():
                text = put_value(text, kind, (key,), value)
        content = parse(text.encode(), kind).data
        container_key, container = _find_container(content, target.format, place, context)
        steps = _find_steps(container)
        taken = {steps[name]: raw for name, raw in entries.items() if name in steps}
        new = {name: raw for name, raw in entries.items() if name not in steps}
        if taken and not replace:
            name = next(name for name in entries if name in steps)
            raise ConfigError(describe_taken(name, path))
        if taken:
            text = replace_members(text, kind, container_key, taken)
        if not new:
            return text
        is_list = isinstance(container, list) or (container is None and target.format.as_list)
        return add_members(text, kind, container_key, list(new.values()) if is_list else new)

    return edit_bytes(data, change)


def describe_taken(name: str, path: str) -> str:
    """What is said about a name that another entry of a file has."""
    return f'Server "{name}" already exists in {path}'


def list_entries(
    data: bytes, path: str, target: WriteTarget, place: Place, context: ScanContext
) -> dict[str, Mapping[str, Any]]:
    """The entries in a file's bytes by their names, as written. Raises: ParseError."""
    content = parse(data, document_kind(path)).data if data.strip() else {}
    _, container = _find_container(content, target.format, place, context)
    return {name: as_mapping(container[step]) for name, step in _find_steps(container).items()}


def _find_steps(container: Any) -> dict[str, Any]:
    """The key or the index that leads to each entry of a map or a list, by the entry's name."""
    if not isinstance(container, list):
        return {name: name for name in as_mapping(container)}
    names = [text_or_none(as_mapping(element).get("name")) for element in container]
    # The first of several wins, as in `find_entry_path`.
    return {name: index for index, name in reversed([*enumerate(names)]) if name is not None}


def remove_entry(data: bytes, path: str, key: tuple[str | int, ...]) -> bytes:
    """A file's bytes without the entry that some keys lead to.

    Raises:
        ParseError: the file is not understood well enough to be changed.
    """
    return edit_bytes(data, lambda text: remove_value(text, document_kind(path), key))


def find_entry_path(data: Any, target: WriteTarget, place: Place, name: str, context: ScanContext) -> tuple[Any, ...]:
    """The keys that lead to an entry in a file's data: to the one with that name, or to where it would be added."""
    container_key, container = _find_container(data, target.format, place, context)
    if not isinstance(container, list):
        is_new_list = container is None and target.format.as_list
        return (*container_key, 0 if is_new_list else name)
    return (*container_key, _find_steps(container).get(name, len(container)))


def _find_container(data: Any, format: Format, place: Place, context: ScanContext) -> tuple[tuple[str, ...], Any]:
    """The keys that lead to the map or list of servers, and what is there; `None` if there is none yet."""
    if format.writes and format.writes.find_container:
        return format.writes.find_container(data)
    keys = format.list_container_keys(place)
    found = next(chain.from_iterable(dig(data, key, context) for key in keys), None)
    if found is not None:
        return found
    if format.bare_map and _is_bare_map(data):
        return (), data
    return tuple(context.root if key == PROJECT else key for key in keys[0]), None


def _is_bare_map(data: Any) -> bool:
    """Whether a file is the map of servers itself: a key of its own would become one of them."""
    entries = as_mapping(data).values()
    return bool(entries) and all(isinstance(entry, Mapping) for entry in entries)


# --- writing ------------------------------------------------------------------------------------------------


class _EntryWriter:
    """Writes one definition, slot by slot."""

    def __init__(self, config: ServerConfig, format: Format, writes: Writes) -> None:
        self.config = config
        self.format = format
        self.writes = writes
        self.values: dict[Slot, Any] = {}

    def write(self) -> dict[str, Any]:
        connection = self.config.written or self.config.connection
        match connection:
            case Stdio():
                self._write_program(connection)
            case Http():
                self._write_address(connection)
            case InProcess():
                raise ConfigError(f'"{self.config.name}" runs inside the program that has it, so no file can hold it.')
        if self.config.oauth:
            self._write_oauth(self.config.oauth)
        self._write_use()
        raw = self._make_raw()
        return dict(self.writes.arrange(raw) if self.writes.arrange else raw)

    def _make_raw(self) -> dict[str, Any]:
        raw: dict[str, Any] = {}
        if self.writes.name_key:
            raw[self.writes.name_key] = self.config.name
        raw |= self.writes.always
        for slot in ("type", *self.writes.slots):
            if slot in self.values:
                _put(raw, self._key(slot), self.values[slot])
        return raw

    def _key(self, slot: Slot) -> str:
        return self.writes.keys.get(slot) or next(key for key, field in self._fields(slot))

    def _fields(self, slot: Slot) -> list[tuple[str, Field]]:
        return [(key, field) for key, field in self.format.fields.items() if field.slot == slot]

    def _has(self, slot: Slot) -> bool:
        return slot in self.writes.slots and bool(self._fields(slot))

    def _set(self, slot: Slot, value: Any) -> None:
        if self._has(slot) and value not in (None, (), {}, False):
            self.values[slot] = list(value) if isinstance(value, tuple) else value

    def _spell(self, template: Template | None, slot: TextSlot) -> str | None:
        dialect: Dialect = self.writes.dialect or self.format.dialect
        return None if template is None else spell_template(template, dialect, slot)

    def _spell_essential(self, template: Template, slot: Literal["command", "url"]) -> str:
        text = self._spell(template, slot)
        if text is None:
            raise _refuse_key(self.config, self.format, slot)
        return text

    def _write_type(self, transport: Transport) -> None:
        words = self.writes.types
        # An address of either kind is written as the newer one where the kind must be given.
        is_required = self.format.type_required or self.format.suggest_type or self.format.untyped_url != "auto"
        if transport == "auto" and "auto" not in words and is_required:
            transport = "http"
        if transport in words and self._fields("type"):
            self.values["type"] = words[transport]

    # --- a program ------------------------------------------------------------------------------------------

    def _write_program(self, program: Stdio) -> None:
        self._write_type("stdio")
        self._set("command", self._spell_essential(program.command, "command"))
        args = [self._spell(arg, "args") for arg in program.args]
        self._set("args", tuple(arg for arg in args if arg is not None))
        if self.writes.always_args:
            self.values.setdefault("args", [])
        self._set("env_file", self._spell(program.env_file, "env_file"))
        self._set("cwd", self._spell(program.cwd, "cwd"))
        self._write_env(program)

    def _write_env(self, program: Stdio) -> None:
        env: dict[str, str] = {}
        passed = list(program.pass_env) if self._has("pass_env") else []
        secrets: list[str] = []
        for name, template in _list_env(program):
            if name in passed:
                continue
            text = self._spell(template, "env")
            is_own = meaning_of(template) == (VariablePart(name),)
            if text is not None:
                env[name] = text
            elif is_own and self._has("pass_env"):
                passed.append(name)
            elif is_own and self._has("env_secrets"):
                secrets.append(name)
        self._set("env", env)
        self._set("pass_env", tuple(passed))
        self._set("env_secrets", tuple(secrets))

    # --- an address -----------------------------------------------------------------------------------------

    def _write_address(self, address: Http) -> None:
        self._write_type(address.transport)
        self._set("url", self._spell_essential(address.url, "url"))
        self._set("headers_helper", self._spell(address.headers_helper, "headers_helper"))
        headers: dict[str, str] = {}
        from_env: dict[str, str] = {}
        for name, template in address.headers.items():
            text = self._spell(template, "headers")
            match meaning_of(template):
                case _ if text is not None:
                    headers[name] = text
                case (VariablePart(variable, None),):
                    from_env[name] = variable
                case (TextPart("Bearer "), VariablePart(variable, None)) if name == "Authorization":
                    self._set("bearer_env", variable)
        self._set("headers", headers)
        self._set("env_headers", from_env)

    def _write_oauth(self, oauth: OAuth) -> None:
        if not oauth.enabled:
            if self._has("oauth"):
                self.values["oauth"] = False
            return
        settings = {field: self._spell_login(field, oauth) for field in LOGIN_KEYS}
        block = {key: settings[field] for field, key in self.writes.oauth.items() if settings[field]}
        self._set("oauth", block)
        if "scopes" not in self.writes.oauth:
            self._set("oauth_scopes", settings["scopes"])
        self._set("oauth_client_id", oauth.client_id)
        self._set("oauth_resource", oauth.resource)
        self._set("oauth_grant", oauth.grant)
        self._set("oauth_client_secret", settings["client_secret"])
        self._set("oauth_port", oauth.callback_port)

    def _spell_login(self, field: str, oauth: OAuth) -> Any:
        if field in LOGIN_SECRETS:
            return self._spell(oauth.templates.get(field), "oauth")
        if field == "scopes":
            return " ".join(oauth.scopes) if self.writes.joined_scopes else list(oauth.scopes)
        return getattr(oauth, field)

    # --- how it is used -------------------------------------------------------------------------------------

    def _write_use(self) -> None:
        config = self.config
        if not config.enabled and self._has("enabled"):
            self.values["enabled"] = False
        elif not config.enabled and self._has("disabled"):
            self.values["disabled"] = True
        for slot in _SAME:
            self._set(slot, getattr(config, slot))
        self._write_times()
        if config.tools_allow is not None and self._has("tools_allow"):
            self.values["tools_allow"] = list(config.tools_allow)
        if config.lifecycle != "lazy":
            self._set("lifecycle", config.lifecycle)

    def _write_times(self) -> None:
        config = self.config
        if config.start_timeout == config.call_timeout:
            self._set("timeout", self._count("timeout", config.call_timeout))
        for slot in _TIMES:
            self._set(slot, self._count(slot, getattr(config, slot)))

    def _count(self, slot: Slot, seconds: float | None) -> float | None:
        """A time in the tool's unit."""
        if seconds is None or not self._has(slot):
            return None
        field = self._fields(slot)[0][1]
        if seconds == math.inf:
            # 0 means no limit wherever a tool has no bounds of its own.
            self.values[slot] = 0
            return None
        count = round(seconds / field.unit, 9)
        return int(count) if count.is_integer() else count


def round_times(config: ServerConfig, format: Format) -> ServerConfig:
    """A definition with its times as a tool can express them: rounded up, so that nothing ends sooner than it did."""
    rounded: dict[str, float] = {}
    for field in format.fields.values():
        seconds = getattr(config, field.slot, None) if field.whole else None
        if seconds is not None and seconds != math.inf:
            rounded[field.slot] = math.ceil(round(seconds / field.unit, 9)) * field.unit
    return structs.replace(config, **rounded)


def _list_env(program: Stdio) -> Iterator[tuple[str, Template]]:
    """The variables a program gets, those that are passed on among them."""
    for name in program.pass_env:
        yield name, Template(f"${{{name}}}", (VariablePart(name),))
    yield from program.env.items()


def _put(raw: dict[str, Any], key: str, value: Any) -> None:
    *outer, last = key.split(".")
    for step in outer:
        raw = raw.setdefault(step, {})
    raw[last] = value


# --- comparing ----------------------------------------------------------------------------------------------


def is_same_entry(name: str, one: Mapping[str, Any], other: Mapping[str, Any], format: Format) -> bool:
    """Whether two entries mean the same to a tool, except for which of its tools it may call unasked."""
    if one == other:
        return True
    first, second = (_read_raw(name, raw, format).definition for raw in (one, other))
    if not isinstance(first, ServerConfig) or not isinstance(second, ServerConfig):
        return False
    return not {*_compare(first, second), *_compare(second, first)} - _NEVER_WRITTEN


def _read_raw(name: str, raw: Mapping[str, Any], format: Format) -> ParsedEntry:
    origin = Origin(format.tool, "user", None)
    base = _ELSEWHERE if format.relative_paths else ""
    return read_entry(RawEntry(name, raw, origin, Document({}), 0, base=base), format)


def _read_back(config: ServerConfig, raw: Mapping[str, Any], format: Format) -> ServerConfig:
    read = _read_raw(config.name, raw, format)
    if isinstance(read.definition, ServerConfig):
        return read.definition
    reasons = [problem.message for problem in read.problems if problem.level in ("error", "note")]
    raise ConfigError(f'{format.title} cannot express "{config.name}": it {reasons[-1]}.')


def _compare(config: ServerConfig, read: ServerConfig) -> Iterator[str]:
    """The keys of a definition that are missing from another, or different there."""
    wanted, found = _list_fields(config), _list_fields(read)
    for key, value in wanted.items():
        if not _is_equal(value, found.get(key)):
            yield key
    # Only a relative path is read as something that was not written.
    yield from (key for key in found if key not in wanted and key in ("cwd", "envFile"))


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6)
    return bool(one == other)


_FIELDS: Mapping[str, Callable[[ServerConfig], Any]] = {
    "transport": lambda config: (config.written or config.connection).transport,
    "disabled": lambda config: not config.enabled,
    "required": lambda config: config.required,
    "startTimeout": lambda config: config.start_timeout,
    "callTimeout": lambda config: config.call_timeout,
    "idleTimeout": lambda config: config.idle_timeout,
    "maxInFlight": lambda config: config.max_in_flight,
    "maxMessageBytes": lambda config: config.max_message_bytes,
    "era": lambda config: config.era,
    "allowedTools": lambda config: None if config.tools_allow is None else (config.tools_allow,),
    "blockedTools": lambda config: config.tools_deny,
    "alwaysLoad": lambda config: config.always_load,
    "lifecycle": lambda config: None if config.lifecycle == "lazy" else config.lifecycle,
    "autoApprove": lambda config: config.auto_approve,
}


def _list_fields(config: ServerConfig) -> dict[str, Any]:
    """What a definition says beyond the defaults, by Mooring's own keys."""
    connection = config.written or config.connection
    fields: dict[str, Any] = {}
    for key, parts in _list_meanings(connection):
        fields[key] = (*fields.get(key, ()), parts)
    fields |= {key: read(config) for key, read in _FIELDS.items()}
    if config.oauth:
        fields |= _list_login(config.oauth)
    return {key: value for key, value in fields.items() if value not in (None, False, ())}


def _list_meanings(connection: Connection) -> Iterator[tuple[str, tuple[Part, ...]]]:
    if isinstance(connection, Stdio):
        connection = structs.replace(connection, env=dict(_list_env(connection)), pass_env=())
    for key, template in list_templates(connection):
        yield key, meaning_of(template)


def _list_login(oauth: OAuth) -> dict[str, Any]:
    if not oauth.enabled:
        return {"oauth": ("off",)}
    meanings = {field: meaning_of(template) for field, template in oauth.templates.items()}
    return {f"oauth.{key}": meanings.get(field, getattr(oauth, field)) for field, key in LOGIN_KEYS.items()}
