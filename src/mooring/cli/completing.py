"""What a shell that completes a line is offered, from what is known; what finds it is loaded only for that."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import click

from mooring.cli.base import complete_server, get_globals, list_shell_words
from mooring.cli.interrupts import run_until_interrupted
from mooring.errors import MooringError

if TYPE_CHECKING:
    from mooring.verbs.use.complete import KnownServers

T = TypeVar("T")
MOST_SESSIONS = 100
"""How many sessions are offered."""


def complete_tool(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete `server.tool`."""
    return _offer(ctx, lambda known: known.complete_tools(incomplete))


def complete_argument(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the words after the first of `mooring call`: a tool, the name of a parameter, or its value."""
    first = str(ctx.params.get("tool") or "")
    words = _list_words(ctx, parameter)
    return _offer(ctx, lambda known: known.complete_argument(first, words, incomplete))


def complete_tool_words(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete a server and its tool, in one word or two."""
    words = _list_words(ctx, parameter)
    if len(words) == 1:
        return _offer(ctx, lambda known: known.list_tools(words[0]), incomplete)
    if words:
        return []
    return complete_server(ctx, parameter, incomplete) or complete_tool(ctx, parameter, incomplete)


def complete_resource(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete a server, then the address of one of its resources."""
    words = _list_words(ctx, parameter)
    if not words:
        return complete_server(ctx, parameter, incomplete)
    if len(words) > 1:
        return []
    return _offer(ctx, lambda known: known.list_addresses(words[0]), incomplete)


def complete_watched(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete a server, then the address of a resource or a tool, then the tool's arguments."""
    words = _list_words(ctx, parameter)
    if not words:
        return complete_server(ctx, parameter, incomplete)
    if len(words) > 1:
        return _offer(ctx, lambda known: known.complete_argument(words[0], words[1:], incomplete))
    return [*complete_resource(ctx, parameter, incomplete), *complete_tool_words(ctx, parameter, incomplete)]


def complete_prompt(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete a server, then one of its prompts, then the names of its arguments."""
    match _list_words(ctx, parameter):
        case []:
            return complete_server(ctx, parameter, incomplete)
        case [server]:
            return _offer(ctx, lambda known: known.list_prompts(server), incomplete)
        case [server, prompt, *_]:
            return _offer(ctx, lambda known: known.list_prompt_arguments(server, prompt), incomplete)
        case _:
            return []


def _list_words(ctx: click.Context, parameter: click.Parameter) -> list[str]:
    return list(ctx.params.get(parameter.name or "") or ())


def _offer(ctx: click.Context, find: "Callable[[KnownServers], list[str]]", incomplete: str = "") -> list[str]:
    """What is found that begins like the word that is being typed."""
    # Nothing is known of a server that is named by its command or address.
    if ctx.params.get("server") or ctx.params.get("url"):
        return []
    from mooring.verbs.use.complete import KnownServers  # loaded here: only a shell that completes needs it

    options = get_globals(ctx)
    try:
        found = find(KnownServers(options.inventory(remember=False), options.workspace().where))
    except MooringError:  # a message would end up in the middle of the line that is being typed
        return []
    return list_shell_words(word for word in found if word.startswith(incomplete))


def complete_agent(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of an agent."""
    from mooring.verbs.agent.agents import list_agent_names

    names = _list_or_nothing(lambda: list_agent_names(get_globals(ctx).workspace()))
    return list_shell_words(name for name in names if name.startswith(incomplete))


def complete_session(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the id of one of the sessions that were used last."""
    from mooring.verbs.agent.sessions import list_sessions

    found = _list_or_nothing(lambda: list_sessions(get_globals(ctx).workspace().where, None, MOST_SESSIONS))
    return [session.id for session in found if session.id.startswith(incomplete)]


def complete_secret(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a stored secret."""
    from mooring.verbs.config.secrets import list_stored_secrets

    where = get_globals(ctx).workspace().where
    stored = _list_or_nothing(lambda: run_until_interrupted(list_stored_secrets(where)))
    return [secret.name for secret in stored if secret.name.startswith(incomplete)]


def complete_taken_name(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete a name that the project took, and that isn't approved."""
    return _complete_taken_name(ctx, incomplete, approved=False)


def complete_approved_name(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete a name that the project took, and that is approved."""
    return _complete_taken_name(ctx, incomplete, approved=True)


def _complete_taken_name(ctx: click.Context, incomplete: str, *, approved: bool) -> list[str]:
    from mooring.verbs.config.taken_names import list_taken_names

    listed = _list_or_nothing(lambda: list_taken_names(get_globals(ctx).workspace()))
    names = {each.taken.name for each in listed if each.approved is approved}
    return list_shell_words(name for name in sorted(names) if name.startswith(incomplete))


def _list_or_nothing(find: Callable[[], Iterable[T]]) -> Iterable[T]:
    """What is found; an error finds nothing: a message would end up in the middle of the line that is being typed."""
    try:
        return find()
    except MooringError:
        return ()
