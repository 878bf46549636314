"""Commands about the conversation that a chat is in: begin another, go on with one, and see what this one takes."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mooring.backends.api.providers import list_providers
from mooring.chat.command import CommandFace, ListedChoice, SlashCommand, say_rows, show_handover, split_words
from mooring.chat.mcp.verbs import spell_for_chat
from mooring.chat.session import ChatSession
from mooring.core.conversation.backend_name import BACKENDS, BackendName, is_program
from mooring.core.conversation.verdict import Mode
from mooring.display.text import count_noun, safe, safe_text
from mooring.display.times import format_local
from mooring.errors import ConfigError
from mooring.settings import MODES
from mooring.verbs.config.rules import MODE_WORDS

if TYPE_CHECKING:
    from mooring.agents.context import ContextUse
    from mooring.agents.sessions.store import SessionSummary
    from mooring.verbs.agent.turn import Agent


# --- another conversation -----------------------------------------------------------------------------------------


async def _new(chat: CommandFace, _: str) -> None:
    before = await chat.session.conversations.find_stored()
    await chat.session.begin_conversation()
    chat.notice("A new conversation begins.")
    if before is not None:
        chat.notice(f"To go back to the one before: /resume {before.id}")
    await chat.show_conversation()


async def _resume(chat: CommandFace, id: str) -> None:
    wanted = id or await _pick_session(chat)
    if wanted is None:
        return
    await chat.session.resume_conversation(wanted)
    await chat.show_conversation()


async def _pick_session(chat: CommandFace) -> str | None:
    """The conversation that the person picks, without the one that the chat is in; `None` if they pick none."""
    current = chat.session.responder.session
    others = [each for each in await chat.session.list_sessions() if each.id != current]
    if not others:
        chat.say("No other conversation of this folder is stored.")
        return None
    return await chat.pick([ListedChoice(each.id, _describe_session(each)) for each in others], cut=True)


async def _sessions(chat: CommandFace, _: str) -> None:
    current = chat.session.responder.session
    rows = []
    for each in await chat.session.list_sessions():
        # The one that the chat is in is marked.
        mark = "*" if each.id == current else ""
        rows.append((f"{mark}{each.id}", *_describe_session(each, is_current=bool(mark))))
    say_rows(chat, rows, "No conversations of this folder are stored.")


def _describe_session(session: "SessionSummary", *, is_current: bool = False) -> tuple[str, ...]:
    # The title is what a narrow terminal cuts off, so the others are short: 80 cells have room for a line. Without the
    # provider; and who answers in one that nobody can go on with matters to nobody.
    answerer = session.answerer.partition(":")[2] or session.answerer
    if session.open_in is not None and not is_current:
        answerer = "open elsewhere"
    return format_local(session.used), count_noun(session.turns, "turn"), safe(answerer), safe(session.title)


# --- who answers --------------------------------------------------------------------------------------------------


async def _backend(chat: CommandFace, rest: str) -> None:
    name, _, model = rest.partition(" ")
    if not name:
        picked = await chat.pick(await _list_backends(chat))
        if picked is not None:
            await _backend(chat, picked)
        return
    backend = _find_backend(name)
    model = model.strip()
    if backend == chat.session.conversations.backend and not model:
        raise ConfigError(f"{backend} answers already. /new begins a new conversation, /model chooses another model.")
    if backend == "manual" and model:
        raise ConfigError("With manual, you pick the tools; leave out the model.")
    await _hand_over(chat, backend, model or None)


def _find_backend(name: str) -> BackendName:
    for backend in BACKENDS:
        if backend == _BACKEND_ALIASES.get(name, name):
            return backend
    raise ConfigError(f"There is no backend {name!r}. The backends are {', '.join(BACKENDS)}.")


_BACKEND_ALIASES = {"none": "manual"}


async def _list_backends(chat: CommandFace) -> list[ListedChoice]:
    from mooring.verbs.agent.backends import list_backends  # few chats list them

    session = chat.session
    choices = []
    chat.show_progress("asking the programs …")
    for each in await list_backends(session.workspace, session.host.guard):
        todo = "" if each.fix is None else f"first: {each.fix}"
        about = (each.state.replace("-", " "), safe(each.login or todo))
        choices.append(ListedChoice(each.name, about, each.name == session.conversations.backend))
    return choices


async def _model(chat: CommandFace, name: str) -> None:
    backend = chat.session.conversations.backend
    wanted = name or await _pick_model(chat)
    if wanted is not None:
        await _hand_over(chat, "api" if backend == "manual" else backend, wanted)


async def _pick_model(chat: CommandFace) -> str | None:
    """The model that the person picks among those that can be used now; `None` if they pick none."""
    session = chat.session
    current = session.responder.model
    chat.say("No model answers." if current is None else f"{safe(current)} answers.")
    if session.responder.program is not None:
        chat.say("To go on with another: /model MODEL, as the program names it")
        return None
    offers = [offer for offer in await session.find_model_offers() if offer.name != current]
    if not offers:
        chat.say(f"To go on with {'one' if current is None else 'another'}: /model PROVIDER:MODEL")
        if current is None:
            chat.say(spell_for_chat(await session.advise_on_models()))
        else:
            chat.say("docs/guides/models.md has the providers, and how each gets its key.")
        return None
    chat.say("These can be used now; any other is written as PROVIDER:MODEL.")
    return await chat.pick([ListedChoice(offer.name, (safe(offer.why),)) for offer in offers])


async def _hand_over(chat: CommandFace, backend: BackendName, model: str | None) -> None:
    before = chat.session.responder.model
    continues = await chat.session.hand_over(backend, model)
    await show_handover(chat, before, continues)


# --- how it decides about calls -----------------------------------------------------------------------------------


async def _mode(chat: CommandFace, name: str) -> None:
    if not name:
        chat.say("What becomes of a call that no rule is about:")
        now = chat.session.mode
        picked = await chat.pick([ListedChoice(mode, (MODE_WORDS[mode],), mode == now) for mode in MODES])
        if picked is not None:
            await _mode(chat, picked)
        return
    wanted = _find_mode(name)
    now = chat.session.change_mode(wanted)
    if now != wanted:
        chat.warn(f"The machine's settings limit the mode: it is {now}.")
    elif now == "bypass":
        chat.warn("Permissions are bypassed in this conversation: calls are made without asking. /mode ask ends that.")
    else:
        chat.notice(f"The mode is {now}. Without a rule: {MODE_WORDS[now]}.")


def _find_mode(name: str) -> Mode:
    for mode in MODES:
        if mode == name:
            return mode
    raise ConfigError(f"There is no mode {name!r}. The modes are {', '.join(MODES)}.")


# --- what it takes ------------------------------------------------------------------------------------------------


async def _cost(chat: CommandFace, _: str) -> None:
    if chat.session.responder.model is None:
        chat.say("No model answers here, so nothing costs anything.")
        return
    stored = await chat.session.conversations.find_stored()
    if stored is None:
        chat.say("Nothing was said in this conversation yet.")
        return
    chat.say(*_describe_cost(stored))


def _describe_cost(session: "SessionSummary") -> Iterator[str]:
    from mooring.verbs.agent.sessions import describe_cost  # as in `_sessions`

    yield f"This conversation, {count_noun(session.turns, 'turn')}: {describe_cost(session.cost)}"
    usage = session.usage
    if usage.partial and not usage.total:
        yield "  tokens unknown: the provider doesn't count them"
        return
    least = "at least " if usage.partial else ""
    cached = f", {usage.cache_read_tokens:,} of them from the cache" if usage.cache_read_tokens else ""
    yield f"  {least}{usage.input_tokens:,} tokens in{cached}"
    yield f"  {least}{usage.output_tokens:,} tokens out"


async def _export(chat: CommandFace, file: str) -> None:
    stored = await chat.session.conversations.find_stored()
    if stored is None:
        raise ConfigError("Nothing of this conversation is stored, so there is nothing to export.")
    from mooring.verbs.agent.export import export_session  # few chats export anything

    name = " ".join(split_words(file))
    written = await asyncio.to_thread(export_session, chat.session.workspace, stored.id, name)
    chat.say(f"Written to {safe(written)}.")


async def _context(chat: CommandFace, what: str) -> None:
    if what not in ("", "prompt"):
        raise ConfigError("Usage: /context, or /context prompt for the whole system prompt.")
    agent = chat.session.responder.agent
    if agent is not None:
        await _show_context(chat, agent, what)
    elif chat.session.responder.program is not None:
        chat.say(*_describe_program_context(chat.session))
    else:
        chat.say("No model answers here, so there is no window to fill.")


async def _compact(chat: CommandFace, focus: str) -> None:
    agent, program = chat.session.responder.agent, chat.session.responder.program
    if program is not None:
        raise ConfigError(f"{program.name} makes room in its window by itself.")
    if agent is None:
        raise ConfigError("No model answers here, so there is nothing to summarize.")
    from mooring.agents.context import measure_context  # as in `_show_context`

    thread, prompt = agent.backend.thread, await agent.read_prompt()
    before = measure_context(thread, prompt)
    chat.show_progress("summarizing … · Ctrl+C leaves the conversation as it is")
    if not await agent.compact(focus):
        chat.say("There is nothing to summarize yet.")
        return
    after = measure_context(thread, prompt)
    chat.notice(f"The conversation is summarized: about {before.messages:,} tokens became {after.messages:,}.")
    chat.say("All that was said is still stored; /export shows it.")


async def _show_context(chat: CommandFace, agent: "Agent", what: str) -> None:
    from mooring.agents.context import measure_context  # few chats ask for it

    prompt = await agent.read_prompt()
    if what == "prompt":
        chat.say(safe_text(prompt))
        return
    thread = agent.backend.thread
    use = measure_context(thread, prompt)
    rows = [
        ("system prompt", f"{use.prompt:,}", "/context prompt shows it"),
        ("tools", f"{use.tools:,}", count_noun(len(thread.tools.definitions), "tool")),
        ("messages", f"{use.messages:,}", count_noun(len(thread.messages), "message")),
    ]
    chat.say(_describe_context(use))
    say_rows(chat, rows, "")


def _describe_context(use: "ContextUse") -> str:
    if use.window is None:
        return f"The next request takes about {use.total:,} tokens; the model's window is unknown."
    share = use.total / use.window
    return f"The next request takes about {use.total:,} of the model's {use.window:,} tokens ({share:.0%})."


def _describe_program_context(session: ChatSession) -> Iterator[str]:
    use, program = session.conversations.last_use, session.responder.program
    assert program is not None  # the caller knows
    yield f"{program.name} fills its own window, and doesn't say with what."
    if use is not None:
        of_window = f" of {use.window:,}" if use.window else ""
        yield f"Its last reply read {use.usage.input_tokens:,}{of_window} tokens."


def list_conversation_completions(session: ChatSession) -> list[str]:
    """The lines with these commands that Tab can complete to."""
    modes = [f"/mode {mode}" for mode in MODES]
    backends = [f"/backend {backend}" for backend in BACKENDS]
    return [
        *modes,
        *backends,
        *_list_models(session),
        "/context prompt",
        *(f"/resume {each.id}" for each in session.listed),
    ]


def _list_models(session: ChatSession) -> Iterator[str]:
    """The line with `/model` for each provider, of which the model is to be typed."""
    if not is_program(session.conversations.backend):
        yield from (f"/model {word}:" for word in list_providers(session.host.settings["models"]))


CONVERSATION_COMMANDS: Sequence[tuple[str, SlashCommand]] = (
    ("new", SlashCommand(_new, "/new", "begin a new conversation with whoever answers now")),
    ("resume", SlashCommand(_resume, "/resume [ID]", "go on with a stored conversation")),
    ("sessions", SlashCommand(_sessions, "/sessions", "the conversations of this folder")),
    ("model", SlashCommand(_model, "/model [NAME]", "go on with another model, in a new conversation")),
    (
        "backend",
        SlashCommand(_backend, "/backend [NAME [MODEL]]", "go on with another agent's program, an API or no model"),
    ),
    ("mode", SlashCommand(_mode, "/mode [NAME]", "what becomes of calls that no rule is about; switch it")),
    ("compact", SlashCommand(_compact, "/compact [WORDS]", "have the model summarize what was said, to make room")),
    ("export", SlashCommand(_export, "/export [FILE]", "write this conversation to a Markdown file")),
    ("cost", SlashCommand(_cost, "/cost", "tokens and money that this conversation took")),
    ("context", SlashCommand(_context, "/context [prompt]", "what fills the model's window")),
)
