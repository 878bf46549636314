"""How the screen looks: what each role of text looks like on a dark, a light or the terminal's own background."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct
from rich.style import Style

from mooring.chat.screen.line import Role

ThemeName: TypeAlias = Literal["dark", "light", "terminal", "none"]


class Looks(Struct, frozen=True):
    """The looks of everything that is drawn as lines. None of them means anything that a sign or a word doesn't."""

    roles: Mapping[Role, Style]
    base: Style
    """The background, and the color of plain text."""
    selected: Style
    found: Style
    """What a search found."""
    scroll_bar: Style
    scroll_thumb: Style
    uses_terminal: bool = False
    """Whether the colors are those of the terminal, which no one may turn into others."""

    def find(self, role: Role) -> Style:
        """What a piece of that role looks like."""
        return self.roles.get(role, _NOTHING)


_NOTHING = Style()
_SELECTED = Style(reverse=True)
_FOUND = Style(bold=True, underline=True, reverse=True)


def _make_roles(colors: Mapping[Role, str]) -> Mapping[Role, Style]:
    """The attributes that each theme shares, in the colors of one."""
    shared: dict[Role, Style] = {
        "strong": Style(bold=True),
        "emphasis": Style(italic=True),
        "strike": Style(strike=True),
        "heading": Style(bold=True),
        "link": Style(underline=True),
        "person": Style(bold=True),
        "code.comment": Style(italic=True),
        "code.keyword": Style(bold=True),
    }
    plain = dict.fromkeys(colors, _NOTHING)
    return {role: look + Style.parse(colors.get(role, "")) for role, look in {**plain, **shared}.items()}


_DARK: Mapping[Role, str] = {
    "dim": "#8b949e",
    "heading": "#79c0ff",
    "link": "#58a6ff",
    "code": "#ffa657",
    "rule": "#484f58",
    "mark": "#8b949e",
    "person": "#d2a8ff",
    "success": "#3fb950",
    "failure": "#ff7b72",
    "warning": "#e3b341",
    "running": "#58a6ff",
    "added": "#56d364",
    "removed": "#ff7b72",
    "code.keyword": "#ff7b72",
    "code.string": "#a5d6ff",
    "code.number": "#79c0ff",
    "code.comment": "#8b949e",
    "code.name": "#d2a8ff",
    "code.type": "#ffa657",
    "code.operator": "#c9d1d9",
}
_LIGHT: Mapping[Role, str] = {
    "dim": "#59636e",
    "heading": "#0550ae",
    "link": "#0969da",
    "code": "#953800",
    "rule": "#afb8c1",
    "mark": "#59636e",
    "person": "#6639ba",
    "success": "#116329",
    "failure": "#cf222e",
    "warning": "#7d4e00",
    "running": "#0969da",
    "added": "#116329",
    "removed": "#cf222e",
    "code.keyword": "#cf222e",
    "code.string": "#0a3069",
    "code.number": "#0550ae",
    "code.comment": "#59636e",
    "code.name": "#6639ba",
    "code.type": "#953800",
    "code.operator": "#1f2328",
}
_TERMINAL: Mapping[Role, str] = {
    "dim": "dim",
    "heading": "blue",
    "link": "blue",
    "code": "cyan",
    "rule": "dim",
    "mark": "dim",
    "person": "magenta",
    "success": "green",
    "failure": "red",
    "warning": "yellow",
    "running": "blue",
    "added": "green",
    "removed": "red",
    "code.keyword": "magenta",
    "code.string": "green",
    "code.number": "cyan",
    "code.comment": "dim",
    "code.name": "blue",
    "code.type": "yellow",
}
_NONE: Mapping[Role, str] = {"dim": "dim", "rule": "dim", "mark": "dim", "code.comment": "dim"}


def find_looks(theme: ThemeName) -> Looks:
    """The looks of a theme; `none` has no colors, as `NO_COLOR` asks for."""
    match theme:
        case "dark":
            return _make_looks(_DARK, "#e6edf3 on #0d1117", bar="#30363d", thumb="#8b949e", is_terminal=False)
        case "light":
            return _make_looks(_LIGHT, "#1f2328 on #ffffff", bar="#d1d9e0", thumb="#59636e", is_terminal=False)
        case "terminal":
            return _make_looks(_TERMINAL, "default on default", bar="dim", thumb="default", is_terminal=True)
        case "none":
            return _make_looks(_NONE, "default on default", bar="dim", thumb="default", is_terminal=True)


def _make_looks(colors: Mapping[Role, str], base: str, *, bar: str, thumb: str, is_terminal: bool) -> Looks:
    return Looks(
        roles=_make_roles(colors),
        base=Style.parse(base),
        selected=_SELECTED,
        found=_FOUND,
        scroll_bar=Style.parse(bar),
        scroll_thumb=Style.parse(thumb),
        uses_terminal=is_terminal,
    )
