"""`mooring chat`, and `mooring` alone on a terminal."""

from typing import TYPE_CHECKING, Any

from mooring.cli.adhoc import make_guard, pop_permissions
from mooring.cli.base import OK, Globals, is_on_terminal
from mooring.core.conversation.effort import EffortWish
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import ConfigError
from mooring.verbs.agent.choose_backend import SessionStart
from mooring.verbs.parse import UsageError

if TYPE_CHECKING:
    from mooring.verbs.agent.options import ConversationOptions


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
    session = SessionStart(resume, newest)
    limits = TurnLimits(max_turns, max_cost, token_budget)
    if prompt is None and output is not None:
        raise UsageError("--output-format goes with -p;", "a chat prints for people.")
    if prompt is None and not is_on_terminal():
        raise ConfigError("A chat needs a terminal. Without one: mooring chat -p TEXT, or mooring call.")
    from mooring.verbs.agent.options import ConversationOptions  # without a terminal, the error comes without it

    wish = None if effort is None else EffortWish(effort, is_required=True)
    chosen = ConversationOptions(backend=backend, model=model, effort=wish, agent=agent, limits=limits, session=session)
    if prompt is None:
        _open(options, permissions, chosen, on_screen=screen)
        return OK
    from mooring.cli.headless import run_prompt  # a chat with a person needs none of it

    form: Any = output or ("json" if options.json else "text")
    return run_prompt(options, permissions, chosen, prompt, form)


def show_chat(options: Globals) -> None:
    """Open the chat without any options of its own."""
    _open(options, CommandPermissions())


def _open(
    options: Globals,
    permissions: CommandPermissions,
    chat_options: "ConversationOptions | None" = None,
    *,
    on_screen: bool = False,
) -> None:
    # Both are loaded here: without a terminal, the error comes without them.
    if on_screen:
        from mooring.chat.screen.opening import chat_on_screen as chat
    else:
        from mooring.chat.plain.chat import chat_in_lines as chat

    chat(options.workspace(), permissions, make_guard(options), chat_options)
