"""The keys of the chat's screen: each action with its default keys, and what a user's settings make of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mooring.core.text.suggestions import suggest_key


class KeyAction(Struct, frozen=True):
    """Something that a key does."""

    name: str
    keys: tuple[str, ...]
    """Its keys, unless the settings give it others: Claude Code's where it has the action too."""
    help: str


KEY_ACTIONS = (
    KeyAction("send", ("enter",), "send what you typed; during a turn it waits, and pressed again goes into the turn"),
    KeyAction("newline", ("ctrl+j", "shift+enter", "alt+enter"), "begin another line"),
    KeyAction("complete", ("tab",), "complete a command, a file or a tool"),
    KeyAction("search-history", ("ctrl+r",), "find what you typed earlier"),
    KeyAction("paste-image", ("ctrl+v", "alt+v"), "attach the image in the clipboard"),
    KeyAction("edit", ("ctrl+g",), "write on in your editor"),
    KeyAction("interrupt", ("ctrl+c",), "copy the selection, else stop the reply, else empty the input; twice leaves"),
    KeyAction(
        "close", ("escape",), "close what is open, else stop the reply; twice where neither is, change what you said"
    ),
    KeyAction("leave", ("ctrl+d",), "leave, if nothing is typed"),
    KeyAction("suspend", ("ctrl+z",), "go back to the shell for a while; `fg` returns"),
    KeyAction("next-mode", ("shift+tab",), "switch between the modes ask, edits and plan"),
    KeyAction("page-up", ("pageup",), "scroll up"),
    KeyAction("page-down", ("pagedown",), "scroll down"),
    KeyAction("go-to-start", ("ctrl+home",), "go to the beginning"),
    KeyAction("go-to-end", ("ctrl+end",), "go to the end, and follow it"),
    KeyAction("search", ("ctrl+f",), "search in the conversation"),
    KeyAction("previous-block", ("alt+up",), "mark the message or call above"),
    KeyAction("next-block", ("alt+down",), "mark the message or call below"),
    KeyAction("open-block", ("alt+o",), "open or close what is marked"),
    KeyAction("open-all", ("ctrl+o",), "open or close everything"),
    KeyAction("copy-block", ("alt+c",), "copy what is marked, else the last message"),
    KeyAction("fold-code", ("alt+w",), "wrap long lines of code, or stop wrapping them"),
    KeyAction("scroll-left", ("alt+left",), "scroll long lines of code to the left"),
    KeyAction("scroll-right", ("alt+right",), "scroll long lines of code to the right"),
    KeyAction("redraw", ("ctrl+l",), "draw the screen anew"),
)
"""All of them, in the order in which they are listed."""
KEPT: Mapping[str, str] = {"interrupt": "ctrl+c"}
"""Keys that stay what they are: without them a program that hangs couldn't be left."""


class KeyFault(Struct, frozen=True):
    """Something in the settings that no key can be made of."""

    action: str
    message: str
    hint: str


class ChosenKeys(Struct, frozen=True):
    """The keys of each action that are in force, and what was wrong with those in the settings."""

    keys: Mapping[str, tuple[str, ...]]
    faults: tuple[KeyFault, ...] = ()


def choose_keys(written: Mapping[str, Any]) -> ChosenKeys:
    """The keys as the settings have them: a key or a list of keys by action. What is wrong there changes nothing."""
    known = {action.name: action for action in KEY_ACTIONS}
    faults: list[KeyFault] = []
    owners = {key: name for name, key in KEPT.items()}
    for name, value in written.items():
        if name in known:
            faults += _assign(name, [value] if isinstance(value, str) else value, owners)
        else:
            faults.append(_explain_unknown(name, known))
    for action in KEY_ACTIONS:
        for key in () if action.name in written else action.keys:
            owners.setdefault(key, action.name)  # what the user gave to another action is that one's
    keys = {name: tuple(key for key, owner in owners.items() if owner == name) for name in known}
    return ChosenKeys(keys, tuple(faults))


def _assign(name: str, written: Sequence[str], owners: dict[str, str]) -> Iterator[KeyFault]:
    """Give an action its keys, but for those that are another's."""
    for text in written:
        key = normalize_key(text)
        fault = find_key_fault(key)
        owner = owners.get(key, name)
        if fault is not None:
            yield KeyFault(name, f"`{text[:_LONGEST]}` can't be the key of `{name}`: {fault}", _EXAMPLE)
        elif owner != name:
            message = f"`{text}` is the key of both `{owner}` and `{name}`; `{owner}` has it"
            yield KeyFault(name, message, f"give `{name}` another key")
        else:
            owners[key] = name


_LONGEST = 40
_EXAMPLE = "write a key such as ctrl+s, alt+up or f2"


def _explain_unknown(name: str, known: Mapping[str, KeyAction]) -> KeyFault:
    message = f"`{name[:_LONGEST]}` in `keys` is not an action; it is ignored"
    return KeyFault(name, message, suggest_key(name[:_LONGEST], known))


# --- one key ------------------------------------------------------------------------------------------------------

_MODIFIERS = ("ctrl", "alt", "shift")
"""In the order in which a key is spelled here. No terminal sends Command or the Windows key."""
_SPELLINGS = {
    "control": "ctrl", "ctl": "ctrl", "option": "alt", "opt": "alt", "meta": "alt",
    "esc": "escape", "return": "enter", "del": "delete", "ins": "insert", "pgup": "pageup", "pgdn": "pagedown",
    "pgdown": "pagedown", "\\": "backslash", "_": "underscore", "]": "right_square_bracket", "/": "slash",
}  # fmt: skip
_NAMED = {
    "up", "down", "left", "right", "home", "end", "insert", "delete", "pageup", "pagedown", "tab", "enter", "space",
    "backspace", "escape", "backslash", "underscore", "right_square_bracket", "slash",
}  # fmt: skip
_ALIKE = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "escape", "ctrl+h": "backspace"}
"""Keys that a terminal doesn't tell apart."""
_TYPED = {"space", "backslash", "underscore", "right_square_bracket", "slash"}


def normalize_key(text: str) -> str:
    """A key in one spelling: `Ctrl-S` and `control+s` are `ctrl+s`."""
    # A capital letter alone is what is typed with Shift.
    *modifiers, key = re.split(r"(?<=.)[+-](?=.)", text.strip().casefold())
    modifiers = [_SPELLINGS.get(modifier, modifier) for modifier in modifiers]
    order = [modifier for modifier in _MODIFIERS if modifier in modifiers]
    unknown = [modifier for modifier in modifiers if modifier not in _MODIFIERS]
    return "+".join([*unknown, *order, _SPELLINGS.get(key, key)])


def find_key_fault(key: str) -> str | None:
    """Why a key, in the spelling of `normalize_key`, can't be one; `None` if it can."""
    *modifiers, name = re.split(r"(?<=.)\+(?=.)", key)
    if key in _ALIKE:
        return f"a terminal sends the same for {spell_key(_ALIKE[key])}"
    if not set(modifiers) <= set(_MODIFIERS):
        return "a key has only ctrl, alt and shift before it"
    if not (name in _NAMED or re.fullmatch(r"[a-z0-9]|f([1-9]|1\d|2[0-4])", name)):
        return "there is no such key"
    is_character = name in _TYPED or len(name) == 1
    if is_character and not {"ctrl", "alt"} & set(modifiers):
        return "it is what you type"
    if is_character and "shift" in modifiers:
        return "most terminals send the same without shift"
    return None


_SHOWN = {
    "pageup": "PageUp", "pagedown": "PageDown", "escape": "Esc", "backslash": "\\", "underscore": "_",
    "right_square_bracket": "]", "slash": "/",
}  # fmt: skip


def spell_key(key: str) -> str:
    """A key as people write it: `Ctrl+S`."""
    return "+".join(_SHOWN.get(part, part.capitalize()) for part in key.split("+"))


def describe_keys(keys: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The keys of each action, and what it does."""
    for action in KEY_ACTIONS:
        spelled = ", ".join(map(spell_key, keys.get(action.name, ())))
        yield spelled or "no key", f"{action.help} ({action.name})"
