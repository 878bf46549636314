"""The keys of the screen as Textual binds them: what each action of the table of keys calls."""

from collections.abc import Iterator, Mapping, Sequence

from textual.binding import Binding, BindingsMap
from textual.widget import Widget

CALLS: Mapping[str, str] = {
    "edit": "edit",
    "paste-image": "paste_image",
    "interrupt": "interrupt",
    "close": "close",
    "leave": "end_input",
    "suspend": "suspend",
    "next-mode": "next_mode",
    "page-up": "scroll_pages(-1)",
    "page-down": "scroll_pages(1)",
    "go-to-start": "go_to_start",
    "go-to-end": "go_to_end",
    "search": "search",
    "previous-block": "go_to_block(-1)",
    "next-block": "go_to_block(1)",
    "open-block": "open_block",
    "open-all": "open_all",
    "copy-block": "copy_block",
    "fold-code": "fold_code",
    "scroll-left": "scroll_sideways(-1)",
    "scroll-right": "scroll_sideways(1)",
    "redraw": "redraw",
}
"""What the app does, wherever the focus is, by the name of the action; the others are of the input alone."""


def bind_keys(keys: Mapping[str, Sequence[str]]) -> BindingsMap:
    """The bindings of the app, for the keys of each action."""
    return BindingsMap(list(_list_bindings(keys)))


def _list_bindings(keys: Mapping[str, Sequence[str]]) -> Iterator[Binding]:
    for name, call in CALLS.items():
        yield from (Binding(key, call, id=name, priority=True) for key in keys[name])


def find_input_actions(keys: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
    """What a key does in the input, by the key."""
    return {key: name for name, own in keys.items() if name not in CALLS for key in own}


async def do_own_key(widget: Widget, key: str) -> bool:
    """Do at once what a key means to the widget that has the focus; whether it means anything to it alone.

    Textual asks for that only once the key has passed through all widgets. Meanwhile keys that came later are typed: of
    `ab`, Backspace and `c` in one piece, as a slow line delivers them, it made `ab`.
    """
    for binding in widget._bindings.key_to_bindings.get(key, ()):
        await widget.run_action(binding.action)
        return True
    return False
