"""`/theme` and `/keys`: how the chat looks, and what its keys do."""

import asyncio
from collections.abc import Iterator

from mooring.chat.command import CommandFace, ListedChoice, say_usages
from mooring.core.keys import choose_keys
from mooring.errors import ConfigError
from mooring.settings import THEMES

_KEEP = "keep"
_ABOUT = {
    "terminal": "the colors that your terminal has",
    "dark": "colors of its own, on a dark background",
    "light": "colors of its own, on a light background",
}
_NARROWEST_KEYS = 100
"""Cells that the keys need beside what they do."""


async def choose_theme(chat: CommandFace, words: str) -> None:
    """Draw in another theme, and keep it for later chats if that is asked for; without a name, the user picks one.

    Raises: ConfigError if there is no such theme; what writing a setting raises.
    """
    name, _, keep = words.partition(" ")
    if not name:
        picked = await _pick_theme(chat)
        if picked is not None:
            await choose_theme(chat, picked)
        return
    if name not in THEMES:
        raise ConfigError(f"There is no theme {name!r}. The themes are {', '.join(THEMES)}.")
    if keep.strip() not in ("", _KEEP):
        raise ConfigError(f"Unexpected argument {keep!r}. Usage: /theme NAME {_KEEP}")
    refusal = chat.use_theme(name)
    if keep:
        await _keep_theme(chat, name)
        chat.notice(f"Later chats begin with the theme {name}.")
    elif not refusal:
        chat.notice(f"To begin later chats with it too: /theme {name} {_KEEP}")
    if refusal:
        chat.notice(refusal)


async def _pick_theme(chat: CommandFace) -> str | None:
    chat.say("How the screen looks:")
    return await chat.pick([ListedChoice(name, (_ABOUT[name],), name == chat.theme) for name in THEMES])


async def _keep_theme(chat: CommandFace, name: str) -> None:
    from mooring.verbs.config.rules import refuse_below_mooring  # few themes are kept
    from mooring.verbs.config.settings import set_setting

    refuse_below_mooring("mooring settings theme")
    await asyncio.to_thread(set_setting, chat.session.workspace, "theme", name, False)


async def show_keys(chat: CommandFace, _: str) -> None:
    """Say what each key does, and what is wrong with those of the settings."""
    say_usages(chat, [(f"  {keys}", help) for keys, help in chat.list_keys()], _NARROWEST_KEYS)
    for fault in choose_keys(chat.session.host.settings["keys"]).faults:
        chat.warn(f"{fault.message}: {fault.hint}")
    chat.say("", 'In parentheses, names for the setting `keys`: mooring settings keys \'{"search": "ctrl+s"}\'')


def list_theme_completions() -> Iterator[str]:
    """The lines with `/theme` that Tab can complete to."""
    yield from (f"/theme {name}" for name in THEMES)
