"""Fields of one entry changed: what a person types about them becomes edits of the entry's text, key by key."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from mooring.core.definitions.config import ServerConfig
from mooring.discovery.edit import round_times, write_entry
from mooring.discovery.format import Format
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.values import as_mapping, text_or_none
from mooring.display.text import quote_argument
from mooring.errors import ConfigError
from mooring.syntax.document import Kind
from mooring.syntax.edit import Steps, find_value, put_value, remove_value
from mooring.syntax.parse import parse
from mooring.verbs.config.add import understand
from mooring.verbs.config.describe import ServerDescription, describe_entry
from mooring.verbs.config.locate import LocatedEntry

# What a program has no use for once it becomes an address, and the other way around.
_OF_ONE_KIND = (
    "type", "transport", "command", "args", "env", "cwd", "passEnv", "envFile", "url", "headers", "headersHelper",
    "oauth", "auth",
)  # fmt: skip
_TIMES = ("timeout", "callTimeout", "startTimeout")


class FieldChanges(Struct, frozen=True, kw_only=True):
    """What to change; what is not named stays."""

    description: ServerDescription = ServerDescription()
    """The command or the address, variables, headers, the transport and the token, as in the quick form."""
    timeout: float | None = None
    """Seconds, for a connection and for each call."""
    unset: tuple[str, ...] = ()
    """Keys to remove, as they are in the file, such as `timeout` or `env.TOKEN`."""

    @property
    def is_empty(self) -> bool:
        return self.description.is_bare and self.timeout is None and not self.unset


def apply_changes(text: str, located: LocatedEntry, keys: Steps, changes: FieldChanges) -> str:
    """A file's text with fields of the entry under these keys changed.

    Raises:
        ConfigError: the changes do not fit the entry, or cannot be made without touching more.
    """
    raw = _find_entry(text, located, keys)
    if replace(changes, unset=()).is_empty:
        made = text
    elif located.target.format.tool == OWN.tool:
        made = _apply(text, located, keys, _compare(raw, _change(raw, changes)))
    else:
        made = _apply_translated(text, located, keys, raw, changes)
    for key in changes.unset:
        made = _remove(made, located.kind, keys, _find_key(raw, key, located.name))
    return made


def _remove(text: str, kind: Kind, entry: Steps, path: tuple[str, ...]) -> str:
    """The text without a key of an entry, and without the objects that would be left empty."""
    data = find_value(parse(text.encode(), kind).data, entry)
    while len(path) > 1 and len(find_value(data, path[:-1])) == 1:
        path = path[:-1]
    return remove_value(text, kind, (*entry, *path))


def _find_entry(text: str, located: LocatedEntry, keys: Steps) -> Mapping[str, Any]:
    try:
        raw = find_value(parse(text.encode(), located.kind).data, keys)
    except LookupError:
        raise ConfigError(f"{located.name} is no longer in {located.path}.") from None
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{located.name} is not an object; {_advise_editor(located)}")
    return raw


def _apply(text: str, located: LocatedEntry, keys: Steps, edits: Iterable[tuple[Steps, Any]]) -> str:
    for path, value in edits:
        whole = (*keys, *path)
        if value is UNSET:
            text = remove_value(text, located.kind, whole)
        else:
            text = put_value(text, located.kind, whole, value)
    return text


def _advise_editor(located: LocatedEntry) -> str:
    origin = located.definition.origin
    tool = "" if origin.tool == OWN.tool else f" --in {origin.tool}"
    return f"edit it as a whole: mooring mcp edit {quote_argument(located.name)}{tool}"


def _find_key(raw: Mapping[str, Any], written: str, name: str) -> tuple[str, ...]:
    """The keys that `env.KEY` means; a key may have dots itself."""
    found = _follow(raw, written)
    if found is None:
        raise ConfigError(f"{name} has no `{written}`.")
    return found


def _follow(raw: Mapping[str, Any], written: str) -> tuple[str, ...] | None:
    if written in raw:
        return (written,)
    for key, value in raw.items():
        if written.startswith(f"{key}.") and isinstance(value, Mapping):
            rest = _follow(value, written[len(key) + 1 :])
            return None if rest is None else (key, *rest)
    return None


# --- which keys ---------------------------------------------------------------------------------------------


def _change(raw: Mapping[str, Any], changes: FieldChanges, time_key: str = "timeout") -> dict[str, Any]:
    """An entry of Mooring's own with its fields changed. Raises: ConfigError if they do not fit."""
    described = describe_entry(_complete(raw, changes.description))
    changed = dict(raw)
    if ("command" in raw) != ("command" in described):
        changed = {key: value for key, value in raw.items() if key not in _OF_ONE_KIND}
    for slot in ("env", "headers"):
        if slot in described:
            described[slot] = {**as_mapping(changed.get(slot)), **described[slot]}
    if changes.description.words and "args" not in described:
        changed.pop("args", None)
    if "type" in described:
        changed.pop("transport", None)
    changed |= described
    if changes.timeout is not None:
        changed = {key: value for key, value in changed.items() if key not in _TIMES}
        changed[time_key] = round(changes.timeout * 1000)
    return changed


def _complete(raw: Mapping[str, Any], description: ServerDescription) -> ServerDescription:
    """A description with the entry's own command or address, unless it names another one."""
    if description.words or description.url:
        return description
    command = text_or_none(raw.get("command"))
    if command is None:
        return replace(description, url=text_or_none(raw.get("url")))
    args = raw.get("args")
    return replace(description, words=(command, *(args if isinstance(args, list) else ())))


def _apply_translated(
    text: str, located: LocatedEntry, keys: Steps, raw: Mapping[str, Any], changes: FieldChanges
) -> str:
    """The same in another tool's file, in its own keys.

    The entry before and after is written as the tool would, and only the difference is applied: what the tool alone
    knows is in neither of them, and so stays.
    """
    format = located.target.format
    before = _read(text, located)
    old = write_entry(before, format)
    for time_key in _TIMES:
        described, _ = understand(located.name, _change(write_entry(before, OWN).raw, changes, time_key))
        after = round_times(described, format)
        new = write_entry(after, format)
        lost = [key for key in new.lost if key not in old.lost]
        # Many tools have a timeout for calls alone, or for the start alone.
        if changes.timeout is None or not lost:
            break
    if lost:
        raise ConfigError(f"{format.title} cannot express the `{lost[0]}` of {located.name}.")
    edits = [
        ((_find_spelling(raw, str(path[0]), format), *path[1:]), value) for path, value in _compare(old.raw, new.raw)
    ]
    # An entry that the tool itself would refuse may lack what it always has.
    made = _apply(text, located, keys, [(path, value) for path, value in edits if value is not UNSET or path[0] in raw])
    # Tools have more ways to write the same than are known here.
    if write_entry(_read(made, located), OWN).raw != write_entry(after, OWN).raw:
        raise ConfigError(f"{located.name} is written in a way that options cannot change; {_advise_editor(located)}")
    return made


def _read(text: str, located: LocatedEntry) -> ServerConfig:
    read = located.read(text)
    if read is None or not isinstance(read.definition, ServerConfig):
        raise ConfigError(f"{located.name} has an invalid entry; {_advise_editor(located)}")
    return read.definition


def _find_spelling(raw: Mapping[str, Any], key: str, format: Format) -> str:
    """The key that an entry has for something, which may be another one than Mooring would write."""
    field = format.fields.get(key)
    if key in raw or field is None:
        return key
    same = [other for other, its in format.fields.items() if its.slot == field.slot]
    present = [other for other in same if other in raw]
    return present[0] if present else key


def _compare(before: Mapping[str, Any], after: Mapping[str, Any], path: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """What to put, or `UNSET` to remove a key, so that one entry becomes the other."""
    for key in before:
        if key not in after:
            yield (*path, key), UNSET
    for key, value in after.items():
        old = before.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            yield from _compare(old, value, (*path, key))
        elif key not in before or old != value:
            yield (*path, key), value
