"""`mooring chat`, and `mooring` alone on a terminal."""

import os
import sys
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mooring.cli.base import OK, Globals, is_on_terminal, make_guard, pop_permissions
from mooring.core.conversation.verdict import CommandPermissions
from mooring.errors import ConfigError
from mooring.verbs.parse import UsageError

if TYPE_CHECKING:
    from mooring.chat.view import MakeOptions
    from mooring.verbs.agent.options import ConversationOptions

Face: TypeAlias = Literal["screen", "plain"]


def run(
    options: Globals,
    backend: Any,
    model: str | None,
    effort: Any,
    agent: str | None,
    prompt: str | None,
    output: str | None,
    max_turns: int | None,
    max_cost: float | None,
    token_budget: int | None,
    newest: bool,
    resume: str | None,
    plain: bool,
    screen: bool,
    **given: Any,
) -> int:
    permissions = pop_permissions(given)
    if backend == "manual" and (model or effort or agent or prompt is not None):
        raise UsageError("With -b manual you pick the tools;", "leave out -m, --effort, --agent and -p, or use -b api.")
    if newest and resume:
        raise UsageError("--continue and --resume each name a conversation;", "use one of them.")
    if plain and screen:
        raise UsageError("--plain and --screen each choose a chat;", "use one of them.")
    if prompt is None and output is not None:
        raise UsageError("--output-format goes with -p;", "a chat prints for people.")
    if prompt is None and not is_on_terminal():
        raise ConfigError("A chat needs a terminal. Without one: mooring chat -p TEXT, or mooring call.")

    def make_options() -> "ConversationOptions":
        # Loaded while the screen is drawn; without a terminal, the errors above come without it.
        from mooring.core.conversation.effort import EffortWish
        from mooring.core.protocol.limits import TurnLimits
        from mooring.verbs.agent.choose_backend import SessionStart
        from mooring.verbs.agent.options import ConversationOptions

        return ConversationOptions(
            backend=backend,
            model=model,
            effort=None if effort is None else EffortWish(effort, is_required=True),
            agent=agent,
            limits=TurnLimits(max_turns, max_cost, token_budget),
            session=SessionStart(resume, newest),
        )

    if prompt is None:
        _open(options, permissions, make_options, "plain" if plain else "screen" if screen else None)
        return OK
    from mooring.cli.headless import run_prompt  # a chat with a person needs none of it

    form: Any = output or ("json" if options.json else "text")
    return run_prompt(options, permissions, make_options(), prompt, form)


def show_chat(options: Globals) -> None:
    """Open the chat without any options of its own."""
    _open(options, CommandPermissions(), lambda: None, None)


def _open(options: Globals, permissions: CommandPermissions, make_options: "MakeOptions", wanted: Face | None) -> None:
    # Each is loaded only if it is what runs.
    if _choose_face(options, wanted) == "screen":
        from mooring.chat.screen.opening import chat_on_screen as chat
    else:
        from mooring.chat.plain.chat import chat_in_lines as chat

    chat(options.workspace(), permissions, make_guard(options), make_options)


def _choose_face(options: Globals, wanted: Face | None) -> Face:
    """Raises: ConfigError if the screen is asked for where none can be drawn."""
    is_drawable = _can_draw()
    if wanted == "screen" and not is_drawable:
        raise ConfigError("A screen can't be drawn on this terminal (TERM is dumb or unset). Leave out --screen.")
    if not is_drawable or wanted is not None:
        return wanted or "plain"
    from mooring.settings import load  # where an option says it, none is read

    face: Face = load(options.workspace().where, None)["chat"]
    return face


def _can_draw() -> bool:
    """Whether the cursor can be moved; on Windows, the screen has not run yet."""
    return sys.platform != "win32" and os.environ.get("TERM", "") not in ("", "dumb", "unknown")
