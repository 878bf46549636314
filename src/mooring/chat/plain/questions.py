"""Questions put to the person at the terminal, and their answers."""

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from mooring.chat.field import parse_position
from mooring.chat.plain.dialog import DialogTerminal, Ended, Interrupted
from mooring.chat.plain.filling import FormDialog
from mooring.chat.question_queue import QuestionPlace, QuestionQueue
from mooring.core.conversation.question import (
    Allow,
    Answer,
    AnswerScope,
    ApplyRules,
    Approval,
    CarryOutPlan,
    ChangedIssuer,
    ChangedTools,
    ChangeFile,
    ChooseAnswerer,
    ContinueTurn,
    Form,
    KeepAnswerer,
    KeepServer,
    Login,
    MissingValue,
    No,
    Permission,
    Question,
    RemoveServer,
    RepeatedCall,
    Sampling,
    ServerDetail,
    UndoTurn,
    Visit,
    WriteServer,
    Yes,
)
from mooring.core.conversation.verdict import Mode
from mooring.display.lines import describe_question
from mooring.display.text import count_noun, exact_text, mark_server, safe, shorten_paths

_SCOPES: Mapping[AnswerScope, str] = {
    "once": "[y]es once",
    "session": "[s]ession",
    "reads": "[r]eads",
    "always": "[a]lways",
}
_SCOPE_WORDS: Mapping[str, AnswerScope] = {
    "o": "once",
    "once": "once",
    "y": "once",
    "yes": "once",
    "s": "session",
    "session": "session",
    "r": "reads",
    "reads": "reads",
    "a": "always",
    "always": "always",
}
_AGREES = ("y", "yes")
_FENCES = ("```", "~~~")
_PLAN_MODES: Mapping[str, Mode] = {"e": "edits", "edits": "edits", "a": "ask", "ask": "ask"}
_PLAN_WORDS: Mapping[Mode, str] = {
    "edits": "files inside the project are changed without asking",
    "ask": "you are asked about each change",
}
_DECLINES = ("n", "no")
_EVERYWHERE = ("e", "everywhere", "u", "user")
_IN_PROJECT = ("p", "project")
_NO_BECAUSE = r"(?i)no?\b[\s,.:;-]+(?:because\s+)?(\S.*)"


class Questions:
    """Asks one question at a time. Ctrl+C dismisses any of them, and what was typed before answers none.

    `on_dismissed` is told when a question was dismissed: in a chat that ends the turn. With `project`, "always" may be
    about the project alone. Without `session`, as for a single command, there is nothing that an answer could last for
    but the one call and always. Paths below `home` are shown as `~/…`.
    """

    def __init__(
        self,
        terminal: DialogTerminal,
        *,
        project: bool = True,
        session: bool = True,
        on_dismissed: Callable[[], None] = lambda: None,
        queue: QuestionQueue | None = None,
        home: str = "",
    ) -> None:
        self._terminal = terminal
        self._on_dismissed = on_dismissed
        self._project = project
        self._session = session
        self._queue = queue or QuestionQueue()
        self._home = home

    async def __call__(self, question: Question) -> Answer:
        with self._queue.join():
            return await self._ask_in_turn(question)

    async def _ask_in_turn(self, question: Question) -> Answer:
        if self._terminal.is_reading and self._queue.is_single:
            # The question waits until the line is done: nobody's half-typed words should answer it. Behind another
            # question it needs no announcement, since it follows by itself.
            asker = safe(question.server or "Mooring")
            self._terminal.warn(f"{asker} asks something: press Enter to see it.")
        async with self._terminal.dialog:
            # What is asked at the same moment is counted, too.
            await asyncio.sleep(0)
            with self._queue.open() as place:
                return await self._ask_at(place, question)

    async def _ask_at(self, place: QuestionPlace, question: Question) -> Answer:
        # A wizard asks many small things in a row, which read better without gaps.
        if not isinstance(question, ServerDetail) or question.notes:
            self._terminal.say("")
        if place.total > 1:
            self._terminal.notice(f"Question {place.number} of {place.total}")
        try:
            return await self._answer(question)
        except (Interrupted, Ended):
            self._on_dismissed()
            # A turn that asks in its own task ends here. Otherwise the model would be asked once more before it does.
            await asyncio.sleep(0)
            return No(how="cancel")

    async def _answer(self, question: Question) -> Answer:
        # Sampling shows the messages in its own way: as a conversation, not as JSON.
        # What a wizard asks for next is the prompt itself.
        if isinstance(question, Permission):
            question = replace(question, origin=shorten_paths(question.origin, self._home))
        if isinstance(question, CarryOutPlan):
            self._terminal.say(self._terminal.style("The plan:", "bold"))
            self._terminal.say_markdown(question.plan)
        elif not isinstance(question, Sampling | ServerDetail):
            first, *rest = describe_question(question)
            self._terminal.say(self._terminal.style(first, "bold"), *rest)
        match question:
            case Permission():
                return await self._ask_permission(question)
            case RepeatedCall():
                return await self._ask_approval("Call it again?")
            case ContinueTurn(more=more):
                return await self._ask_approval(f"Go on, for up to {count_noun(more, 'request')} more?")
            case CarryOutPlan():
                return await self._ask_about_plan()
            case Form():
                return await self._ask_form(question)
            case Visit():
                # The server chose the address; whether to open it is up to the person.
                self._terminal.say("It is not opened for you: copy it, if you trust who asks.")
                return Yes() if await self._confirm("Enter when you have, n to decline: ") else No()
            case Sampling():
                return await self._ask_sampling(question)
            case MissingValue():
                return await self._ask_value(question)
            case Approval():
                return await self._ask_approval("Let it be started?")
            case ApplyRules(rules=rules):
                them = "it" if len(rules) == 1 else "them"
                return await self._ask_approval(f"Apply {them} to this server?")
            case ChangedTools(tools=tools):
                if all(tool.kind == "instructions" for tool in tools):
                    return await self._ask_approval("Let models be told what is shown?")
                these = "it" if len(tools) == 1 else "them"
                return await self._ask_approval(f"Let {these} be called as shown?")
            case KeepServer():
                return await self._ask_unless_declined("Keep it?")
            case ServerDetail():
                return await self._ask_detail(question)
            case WriteServer():
                return await self._ask_unless_declined("Add it?")
            case RemoveServer():
                return await self._ask_approval("Remove it?")
            case ChangeFile():
                return await self._ask_unless_declined("Write it?")
            case UndoTurn():
                return await self._ask_approval("Undo it?")
            case Login():
                return await self._wait_for_login(question)
            case ChangedIssuer():
                return await self._ask_approval("Log in there?")
            case ChooseAnswerer(options=options):
                return await self._ask_who_answers([name for name, _ in options])
            case KeepAnswerer():
                return await self._ask_approval("Keep it?")

    async def _ask_who_answers(self, names: Sequence[str]) -> Answer:
        keys = "".join(map(str, range(1, len(names) + 1)))
        prompt = f"Who answers? {'1' if len(names) == 1 else f'1 to {len(names)}'}; Enter or Esc goes on without: "
        key = await self._terminal.read_line(prompt, fresh=True, keys=keys)
        # Where a line is read instead of a key, it may be anything.
        return Yes(names[keys.index(key)]) if len(key) == 1 and key in keys else No()

    async def _wait_for_login(self, question: Login) -> Answer:
        """Open the page and wait; whoever waits for the browser ends this when it has come back."""
        from mooring.auth.browser import has_browser, open_page  # lazy: few people log in

        if question.code:
            await self._read("Waiting until you have; Ctrl+C cancels. ")
            return Yes()
        may_open = question.browser and has_browser(os.environ)
        is_open = may_open and open_page(question.url, os.environ)
        self._terminal.say("Your browser shows this page." if is_open else "Open this page in a browser.")
        self._terminal.say("If the browser is on another machine, paste the address that it ends at here.")
        while not (pasted := await self._read("Waiting for the login; Ctrl+C cancels: ")):
            pass
        return Yes(pasted)

    async def _ask_unless_declined(self, prompt: str) -> Answer:
        return Yes() if await self._confirm(f"{prompt} [Y/n]: ") else No()

    async def _ask_approval(self, prompt: str) -> Answer:
        # Nothing but a plain yes: Enter, or a slip of the fingers, must not approve what stays approved, or remove
        # anything.
        typed = await self._read(f"{prompt} [y/N]: ")
        return Yes() if typed.casefold() in _AGREES else No()

    # --- may it be called? ----------------------------------------------------------------------------------------

    async def _ask_permission(self, question: Permission) -> Answer:
        scopes = [scope for scope in question.scopes if self._session or scope != "session"]
        offered = " · ".join(_SCOPES[scope] for scope in scopes)
        while True:
            typed = await self._read(f'Call it? {offered} · [n]o (or "no, because …"): ')
            answer = await self._read_permission(question, typed, scopes)
            if answer is not None:
                return answer

    async def _read_permission(
        self, question: Permission, typed: str, scopes: Sequence[AnswerScope]
    ) -> Allow | No | None:
        """The answer that was typed; `None` if it was none, or was taken back."""
        if typed.casefold() in _DECLINES:
            return await self._refuse(typed)
        because = re.match(_NO_BECAUSE, typed)
        if because is not None:
            return No(because[1])
        scope = _SCOPE_WORDS.get(typed.casefold())
        if scope == "once":
            return Allow("once")
        # A longer answer than the question offers is no answer.
        if scope is not None and scope in scopes:
            return await self._allow(scope, question.project_only)
        self._terminal.say("One of these letters, please.")
        return None

    async def _refuse(self, typed: str) -> No | None:
        """A capital N is a no that the model is told the reason of; `None` if it was taken back."""
        if typed != "N":
            return No()
        because = await self._read_or_go_back("Because: ")
        return None if because is None else No(because)

    async def _allow(self, scope: AnswerScope, project_only: bool) -> Allow | None:
        """`None` if it was taken back."""
        if scope != "always" or not self._project:
            return Allow(scope)
        if project_only:
            return Allow("always", "project-local")
        while True:
            typed = await self._read_or_go_back("Always: [e]verywhere or in this [p]roject? ")
            if typed is None:
                return None
            typed = typed.casefold()
            if typed in _EVERYWHERE:
                return Allow("always", "user")
            if typed in _IN_PROJECT:
                return Allow("always", "project-local")
            self._terminal.say("Type e or p; Ctrl+C goes back.")

    async def _read_or_go_back(self, prompt: str) -> str | None:
        """What is typed; `None` after Ctrl+C, which goes back to the question."""
        try:
            return await self._read(prompt)
        except Interrupted:
            return None

    # --- is the plan carried out? -----------------------------------------------------------------------------------

    async def _ask_about_plan(self) -> Answer:
        prompt = 'Carry it out? [e]dits allowed · [a]sk about each · [n]o, plan on (or "no, because …"): '
        while True:
            typed = await self._read(prompt)
            if typed.casefold() in _DECLINES:
                refusal = await self._refuse(typed)
                if refusal is not None:
                    return refusal
                continue
            because = re.match(_NO_BECAUSE, typed)
            if because is not None:
                return No(because[1])
            mode = _PLAN_MODES.get(typed.casefold())
            if mode is not None:
                self._terminal.notice(f"The plan is carried out in {mode} mode: {_PLAN_WORDS[mode]}.")
                return Yes(mode)
            self._terminal.say("One of these letters, please.")

    # --- what servers ask -----------------------------------------------------------------------------------------

    async def _ask_form(self, question: Form) -> Answer:
        form = FormDialog(self._terminal, question.server, "the form", question.schema, mark_server(question.server))
        while True:
            typed = await self._read("Enter to answer, n to decline: ")
            word = typed.casefold()
            if word in _DECLINES:
                return No()
            # A plain yes opens the form, too: it is an answer to this prompt, hardly the one that the server wants.
            if not typed or word in _AGREES:
                return Yes(await form.fill())
            if form.takes_one_text:
                return Yes(await form.fill_with(typed))
            self._terminal.say("Press Enter to fill in the form, or n to decline.")

    async def _ask_sampling(self, question: Sampling) -> Answer:
        self._terminal.say(f"{safe(question.server)} wants a model to write something. You are the model here:")
        mark = mark_server(question.server)
        # A text of several lines is one piece: each of its lines is the server's.
        lines = (line for piece in _list_messages(question.request) for line in piece.split("\n"))
        self._terminal.say(*(f"{mark} {line}" for line in lines))
        self._terminal.say("Your answer; a \\ at the end of a line goes on with the next, Enter alone refuses.")
        text = await self._read_paragraph()
        if not text:
            return No("The person wrote nothing.")
        content = {"type": "text", "text": text}
        return Yes({"role": "assistant", "content": content, "model": "person", "stopReason": "endTurn"})

    async def _read_paragraph(self) -> str:
        lines = [await self._terminal.read_line("  ", fresh=True)]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1].removesuffix("\\")
            lines.append(await self._terminal.read_line("  "))
        return "\n".join(lines).strip()

    async def _ask_value(self, question: MissingValue) -> Answer:
        prompt = f"{safe(question.id)}{safe(_describe_default(question))}: "
        text = await self._read(prompt, secret=question.secret)
        if not text and question.default is None:
            # Asked once more, since Enter may have been meant for something else; a second Enter is a no.
            self._terminal.say("A value is needed; Ctrl+C leaves.")
            text = await self._read(prompt, secret=question.secret)
        if text:
            return Yes(_pick_option(question.options, text))
        return No() if question.default is None else Yes(question.default)

    # --- what a wizard asks ---------------------------------------------------------------------------------------

    async def _ask_detail(self, question: ServerDetail) -> Answer:
        label, *lines = describe_question(question)
        self._terminal.say(*lines)
        text = await self._read(f"{label}{safe(_describe_empty(question))}: ", secret=question.secret)
        if question.block:
            text = await self._read_block(text)
        return Yes(_pick_beginning(question.options, text) or question.default or "")

    async def _read_block(self, text: str) -> str:
        """The text with the lines that follow it, until every brace and fence is closed; all of a longer paste."""
        text = await self._close_block(text)
        rest = await self._terminal.read_waiting()
        while rest:
            text = await self._close_block("\n".join((text, *rest)))
            self._terminal.notice("An empty line ends what you paste.")
            # The last line of a paste waits for Enter: only then can it be read.
            last = await self._terminal.read_line("")
            rest = [last, *await self._terminal.read_waiting()] if last else []
        return text

    async def _close_block(self, text: str) -> str:
        while _is_open(text):
            text = f"{text}\n{await self._terminal.read_line('')}"
        return text

    # --- the terminal ---------------------------------------------------------------------------------------------

    async def _confirm(self, prompt: str) -> bool:
        """Whether Enter or a yes was typed, and not a no; anything else was meant for another question."""
        while (typed := (await self._read(prompt)).casefold()) not in ("", *_AGREES, *_DECLINES):
            self._terminal.say("Press Enter, or type n.")
        return typed not in _DECLINES

    async def _read(self, prompt: str, *, secret: bool = False) -> str:
        return (await self._terminal.read_line(prompt, secret=secret, fresh=True)).strip()


def _is_open(text: str) -> bool:
    """Whether a pasted text needs more lines: inside a fence of Markdown, braces say nothing."""
    fences = [line for line in text.split("\n") if line.lstrip().startswith(_FENCES)]
    return len(fences) % 2 == 1 if fences else text.count("{") > text.count("}")


def _describe_default(question: MissingValue) -> str:
    if question.default is None:
        return ""
    return " (Enter for the default)" if question.secret else f" [{question.default}]"


def _describe_empty(question: ServerDetail) -> str:
    """What Enter alone means."""
    if question.default is None:
        return ""
    return f" [{question.default}]" if question.default else " (Enter to go on)"


def _pick_option(options: tuple[str, ...], text: str) -> str:
    """The option at a position, unless the number is an option itself."""
    if text in options:
        return text
    position = parse_position(text, len(options))
    return text if position is None else options[position]


def _pick_beginning(options: tuple[str, ...], text: str) -> str:
    """As `_pick_option`; the beginning of one option alone, such as y for yes, is that option."""
    picked = _pick_option(options, text)
    begun = [option for option in options if text and option.startswith(text.casefold())]
    return begun[0] if picked not in options and len(begun) == 1 else picked


def _list_messages(request: Mapping[str, Any]) -> Iterator[str]:
    """What a model would read, a line for each piece."""
    system = request.get("systemPrompt")
    if system:
        yield f"  system: {exact_text(str(system))}"
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, Mapping):
            role = safe(str(message.get("role", "")))
            yield from (f"  {role}: {text}" for text in _list_texts(message.get("content")))


def _list_texts(content: Any) -> Iterator[str]:
    # Content is one block, or since version 2025-11-25 of the protocol a list of them.
    blocks = content if isinstance(content, list) else [content]
    for block in blocks:
        if isinstance(block, Mapping):
            yield exact_text(str(block.get("text", f"[{block.get('type')}]")))
