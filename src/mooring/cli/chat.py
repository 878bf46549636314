"""`mooring chat`, and `mooring` alone on a terminal."""

from typing import TYPE_CHECKING, Any

import click

from mooring.cli.adhoc import take_guard
from mooring.cli.agent_names import complete_agent
from mooring.cli.base import Command, Dollars, Globals, HintedUsageError, get_globals, is_on_terminal
from mooring.cli.permission import permission_options, take_permissions
from mooring.cli.sessions.ids import complete_session
from mooring.core.conversation.backend_name import BACKENDS
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import ConfigError
from mooring.verbs.agent.session_start import SessionStart

if TYPE_CHECKING:
    from mooring.chat.responder import ChatOptions

FORMATS = ("text", "json", "stream-json")


@click.command("chat", cls=Command)
@click.option("-b", "--backend", type=click.Choice(BACKENDS), help="Who answers and picks the tools.")
@click.option("-m", "--model", metavar="PROVIDER:MODEL", help="The model, such as anthropic:claude-sonnet-5-5.")
@click.option("--agent", metavar="NAME", shell_complete=complete_agent, help="Who answers; see mooring agents.")
@click.option("-p", "--prompt", metavar="TEXT", help="Answer this, print the answer, and end; stdin is added to it.")
@click.option("--output-format", "output", type=click.Choice(FORMATS), help="What -p prints; text by default.")
@click.option("--max-turns", type=click.IntRange(1), metavar="N", help="Ask the model at most N times in a turn (100).")
@click.option("--max-cost", type=Dollars(), metavar="USD", help="End a turn that has cost this much.")
@click.option("--token-budget", type=click.IntRange(1), metavar="N", help="End a turn that has taken N tokens.")
@click.option("-c", "--continue", "newest", is_flag=True, help="Continue the last conversation of this folder.")
@click.option("-r", "--resume", metavar="ID", shell_complete=complete_session, help="Continue this conversation.")
@click.option("--plain", is_flag=True, help="Lines instead of a screen; there is no other chat yet.")
@permission_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    backend: Any,
    model: str | None,
    agent: str | None,
    prompt: str | None,
    output: str | None,
    max_turns: int | None,
    max_cost: float | None,
    token_budget: int | None,
    newest: bool,
    resume: str | None,
    plain: bool,
    **given: Any,
) -> None:
    """Use every configured server: a model answers and calls tools, or you pick them yourself.

    -b api asks a model, manual is you. The others are agents with programs of their own, which get the servers from
    here; -m then names a model as they do. `mooring backends` shows which are ready.

    Each call is asked about unless a rule allows it; /help inside shows the rest. With -p nothing is asked: what would
    be is denied, and the answer names the rule that would allow it.

    A conversation is continued by whoever answered in it. With -b somebody else goes on, in a new conversation that is
    given the transcript; --continue -b claude prefers the last one with claude.

    \b
    mooring chat -m anthropic:claude-sonnet-5-5
    mooring chat -b claude
    mooring chat -m ollama:qwen3 -p 'Which of my issues is the oldest?' --allow 'github.list_*'
    mooring chat --agent debugger
    mooring chat --resume 3fa81c -b opencode
    git diff | mooring chat -p 'Review this' --output-format json
    """
    options = get_globals(ctx)
    permissions = take_permissions(given)
    if backend == "manual" and (model or agent or prompt is not None):
        raise HintedUsageError("With -b manual you pick the tools;", "leave out -m, --agent and -p, or use -b api.")
    if newest and resume:
        raise HintedUsageError("--continue and --resume each name a conversation;", "use one of them.")
    session = SessionStart(resume, newest)
    limits = TurnLimits(max_turns, max_cost, token_budget)
    if prompt is not None:
        ctx.exit(_run_headless(options, permissions, backend, prompt, model, agent, output, limits, session))
    if output is not None:
        raise HintedUsageError("--output-format goes with -p;", "a chat prints for people.")
    if not is_on_terminal():
        raise ConfigError("A chat needs a terminal. Without one: mooring chat -p TEXT, or mooring call.")
    from mooring.chat.responder import ChatOptions  # without a terminal, the error comes without it

    chosen = ChatOptions(backend=backend, model=model, agent=agent, limits=limits, session=session)
    _open(options, permissions, chosen)


def _run_headless(
    options: Globals,
    permissions: CommandPermissions,
    backend: Any,
    prompt: str,
    model: str | None,
    agent: str | None,
    output: str | None,
    limits: TurnLimits,
    session: SessionStart,
) -> int:
    # Loaded here: a chat with a person needs none of it.
    from mooring.cli.headless import run
    from mooring.verbs.agent.headless import HeadlessRequest

    request = HeadlessRequest(backend=backend, prompt=prompt, model=model, agent=agent, limits=limits, session=session)
    chosen: Any = output or ("json" if options.json else "text")
    return run(options, permissions, request, chosen)


def show_chat(options: Globals) -> None:
    """Open the chat without any options of its own."""
    _open(options, CommandPermissions())


def _open(options: Globals, permissions: CommandPermissions, chat_options: "ChatOptions | None" = None) -> None:
    from mooring.chat.plain.chat import Chat  # loaded here: without a terminal, the error comes without it

    Chat(options.request(), permissions, take_guard(options), chat_options).run()
