"""How the screen looks: what each role of text looks like on a dark, a light or the terminal's own background."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from msgspec import Struct
from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme

from mooring.chat.screen.line import Role

ThemeName: TypeAlias = Literal["dark", "light", "terminal", "none"]
THEME_NAMES: tuple[ThemeName, ...] = get_args(ThemeName)


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
    frame: Theme
    """What Textual draws around the lines: the input, questions, borders."""

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
    "accent": "#79c0ff",
    "heading": "#79c0ff",
    "link": "#58a6ff",
    "code": "#79c0ff",
    "rule": "#5d646d",
    "mark": "#8b949e",
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
    "accent": "#0550ae",
    "heading": "#0550ae",
    "link": "#0969da",
    "code": "#0550ae",
    "rule": "#8b949e",
    "mark": "#59636e",
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
# Few of its colors, for no one knows how well they can be read: on black, many terminals' blue can't.
_TERMINAL: Mapping[Role, str] = {
    "dim": "dim",
    "accent": "cyan",
    "code": "cyan",
    "rule": "dim",
    "mark": "dim",
    "success": "green",
    "failure": "red",
    "warning": "yellow",
    "running": "cyan",
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


def choose_theme(wanted: ThemeName, env: Mapping[str, str]) -> ThemeName:
    """The theme to draw in. Any value of `NO_COLOR` but the empty one asks for no colors: https://no-color.org."""
    return "none" if env.get("NO_COLOR") else wanted


def find_theme(name: str) -> ThemeName:
    """The theme of that name; the terminal's own colors for any other."""
    return next((theme for theme in THEME_NAMES if theme == name), "terminal")


def find_looks(theme: ThemeName) -> Looks:
    """The looks of a theme; `none` has no colors."""
    match theme:
        case "dark":
            return _make_looks(_DARK, "#e6edf3 on #0d1117", "#5d646d", "#8b949e", _DARK_FRAME)
        case "light":
            return _make_looks(_LIGHT, "#1f2328 on #ffffff", "#8b949e", "#59636e", _LIGHT_FRAME)
        case "terminal":
            return _make_looks(_TERMINAL, "default on default", "dim", "default", _TERMINAL_FRAME)
        case "none":
            return _make_looks(_NONE, "default on default", "dim", "default", _PLAIN_FRAME)


def _make_looks(colors: Mapping[Role, str], base: str, bar: str, thumb: str, frame: Theme) -> Looks:
    return Looks(
        roles=_make_roles(colors),
        base=Style.parse(base),
        selected=_SELECTED,
        found=_FOUND,
        scroll_bar=Style.parse(bar),
        scroll_thumb=Style.parse(thumb),
        frame=frame,
    )


def _make_ansi_frame(name: str, *colors: str) -> Theme:
    """A frame in the terminal's own colors, on whatever background it has."""
    primary, secondary, warning, error, success, accent = (f"ansi_{color}" for color in colors)
    # Textual's own has the variables that its style sheets need in such a theme.
    return replace(
        BUILTIN_THEMES["ansi-dark"],
        name=name,
        primary=primary,
        secondary=secondary,
        warning=warning,
        error=error,
        success=success,
        accent=accent,
    )


_DARK_FRAME = Theme(
    name="mooring-dark",
    primary="#58a6ff",
    secondary="#d2a8ff",
    warning="#e3b341",
    error="#ff7b72",
    success="#3fb950",
    accent="#79c0ff",
    foreground="#e6edf3",
    background="#0d1117",
    surface="#161b22",
    panel="#21262d",
)
_LIGHT_FRAME = Theme(
    name="mooring-light",
    primary="#0969da",
    secondary="#6639ba",
    warning="#7d4e00",
    error="#cf222e",
    success="#116329",
    accent="#0550ae",
    foreground="#1f2328",
    background="#ffffff",
    surface="#f6f8fa",
    panel="#eaeef2",
    dark=False,
)
_TERMINAL_FRAME = _make_ansi_frame("mooring-terminal", "cyan", "magenta", "yellow", "red", "green", "cyan")
_PLAIN_FRAME = _make_ansi_frame("mooring-none", *["default"] * 6)
