"""What every command of a chat works with: the chat that it was typed in, and the words behind its name."""

import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from mooring.chat.session import ChatSession, Face
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.turn import TurnInput
from mooring.display.text import columns, count_noun, fit_columns, safe
from mooring.errors import ConfigError, UnknownServer

_MOST_TEXTS = 50
"""How many commands that send a text are listed."""
_NARROWEST_TEXTS = 70
"""Cells that they need beside their descriptions."""

LEAVING = ("exit", "quit")
"""What leaves a chat without a slash, too: people type it as in a shell."""

T = TypeVar("T")


def is_command(line: str) -> bool:
    """Whether a line is a command, and not for whoever answers. What has several lines was pasted, or is for them."""
    return "\n" not in line and (line.strip() in LEAVING or line.lstrip()[:1] in ("/", "!"))


class ListedChoice(Struct, frozen=True):
    """One of the things that a command can be about, as it is listed."""

    name: str
    """What would be typed behind the command."""
    about: tuple[str, ...] = ()
    """What is shown beside it, safe to show; as many cells as the others have."""
    is_current: bool = False
    """Whether it is what the chat has now; marked with an asterisk."""


class CommandFace(Face, Protocol):
    """What a command needs besides of the chat that it was typed in."""

    @property
    def session(self) -> ChatSession: ...

    @property
    def width(self) -> int:
        """How many cells a line has."""

    def say(self, *lines: str) -> None: ...

    def say_heading(self, text: str) -> None:
        """Say what the lines that follow are about."""

    def warn(self, *lines: str) -> None:
        """Say what is wrong; the lines need not be safe."""

    def show_progress(self, text: str) -> None:
        """Show what is under way, until something else is said."""

    def show_outcome(self, outcome: Outcome) -> None: ...

    async def fill(self, tool: ToolDefinition, given: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None: ...

    async def fill_form(
        self, title: str, owner: str, schema: Mapping[str, Any], given: Mapping[str, Any] | None
    ) -> dict[str, Any]: ...

    async def pick(self, choices: Sequence[ListedChoice], *, cut: bool = False) -> str | None:
        """List these, and have the person pick one: its name, or another that they type; `None` if they go back.

        What is said about one takes as many lines as it needs, or with `cut` what one line has room for.
        """

    async def edit(self, text: str) -> str | None:
        """Have the person change a text; `None` if they leave it."""

    async def send(self, said: TurnInput) -> None:
        """Have something answered, as if the person had typed it."""

    async def give_task(self, agent: str, task: str) -> None:
        """Have one of the agents do a task, and show its answer."""

    async def show_conversation(self) -> None:
        """Show who answers and what was said last, and go on with a turn that was cut off."""

    @property
    def theme(self) -> str:
        """The theme that the chat is drawn in."""

    def use_theme(self, name: str) -> str:
        """Draw everything in another theme; why that isn't possible, empty if it is."""

    def list_keys(self) -> Sequence[tuple[str, str]]:
        """The chat's keys, and what each does."""

    def leave(self) -> None: ...


class SlashCommand(Struct, frozen=True):
    """One command: what it does with the words behind its name, and how `/help` shows it."""

    run: Callable[[CommandFace, str], Awaitable[None]]
    usage: str
    help: str
    needs_model: bool = False
    """Whether it is of no use where no model behind an API answers."""


def find_server(chat: CommandFace, name: str) -> str:
    """The server that is meant, even one that may not be started. Raises: ConfigError."""
    try:
        return chat.session.servers.find_server(_unquote(name))
    except UnknownServer as error:
        guess = f" Did you mean {' or '.join(error.near)}?" if error.near else ""
    raise ConfigError(f"MCP server '{name}' not found. Run /mcp to see available servers.{guess}")


def _unquote(name: str) -> str:
    """A name without the quotation marks that it has as the word of a command."""
    try:
        words = shlex.split(name)
    except ValueError:  # an apostrophe of its own
        return name
    return " ".join(words[1:] if words[:1] == ["--"] else words)


def split_words(text: str) -> list[str]:
    """The words of a line, as a shell splits them. Raises: ConfigError."""
    try:
        return shlex.split(text)
    except ValueError:
        raise ConfigError("Unbalanced quotes.") from None


def say_rows(chat: CommandFace, rows: Sequence[tuple[str, ...]], nothing: str) -> None:
    """Say the rows as columns, or that there are none."""
    if not rows:
        chat.say(nothing)
    for line in fit_columns(rows, chat.width - 2):
        chat.say(f"  {line}")


def say_usages(chat: CommandFace, rows: Sequence[tuple[str, str]], narrowest: int) -> None:
    """Say how each command is typed and what it does; below it, where a line has fewer cells than `narrowest`."""
    if chat.width < narrowest:
        chat.say(*(f"{usage}\n      {help}" for usage, help in rows))
    else:
        chat.say(*columns(rows))


def say_texts_for_model(
    chat: CommandFace, source: str, texts: Sequence[T], describe: Callable[[T], tuple[str, str]]
) -> None:
    """List commands that send a text to the model: how each is typed and what it does. Of many, the first ones."""
    if texts:
        chat.say("", f"From {source}, sent to the model:")
        say_usages(chat, [describe(text) for text in texts[:_MOST_TEXTS]], _NARROWEST_TEXTS)
    if len(texts) > _MOST_TEXTS:
        chat.say(f"  … and {count_noun(len(texts) - _MOST_TEXTS, 'more')}; Tab completes them.")


def refuse_without_model(name: str) -> ConfigError:
    """What to raise about a command that sends a text, if the person answers themselves."""
    return ConfigError(f"/{name} is a text for a model, and none answers here. /model PROVIDER:MODEL chooses one.")


async def show_handover(chat: CommandFace, before: str | None, continues: str | None) -> None:
    """Show that somebody else answers now: `before` did until then, in the conversation `continues`."""
    if continues is not None:
        whose = "" if before is None else f", which was with {safe(before)},"
        chat.notice(f"Continues {continues}{whose} as a new conversation.")
    await chat.show_conversation()
