"""What the user's settings say about the screen: its theme, its keys, the mouse wheel, and what it leaves behind."""

from collections.abc import Mapping

from msgspec import Struct, field

from mooring.chat.screen.styles import ThemeName
from mooring.core.keys import choose_keys
from mooring.settings import SETTINGS, Settings


class ScreenPreferences(Struct, frozen=True):
    """How a user wants the screen."""

    theme: ThemeName = "terminal"
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: choose_keys({}).keys)
    """The keys of each action."""
    wheel_rows: int = SETTINGS["wheelRows"].default
    lines_left: int = SETTINGS["screenLinesLeft"].default
    """How many lines stand on the normal screen afterwards, at most."""


def read_preferences(settings: Settings) -> ScreenPreferences:
    """What the settings say. What is wrong with the keys there is one of the problems of the settings."""
    return ScreenPreferences(
        theme=settings["theme"],
        keys=choose_keys(settings["keys"]).keys,
        wheel_rows=settings["wheelRows"],
        lines_left=settings["screenLinesLeft"],
    )
