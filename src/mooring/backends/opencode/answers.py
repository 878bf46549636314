"""Answers what OpenCode asks in a turn: the gate decides about calls, and the person answers the model's questions."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from os.path import join
from typing import Any, Final

from mooring.agents.local.ask_user import AnswerOption, PersonQuestion, make_form, read_answers
from mooring.backends.bridge.bridge import AgentBridge, AgentCall, McpTool, OwnTool
from mooring.backends.bridge.own_tools import ActReport
from mooring.backends.opencode.api import OpenCodeApi
from mooring.backends.opencode.reading import (
    AgentEvent,
    AgentQuestion,
    Part,
    PartChanged,
    PermissionReplied,
    PermissionWanted,
    QuestionsWanted,
    ReadCall,
    ToolState,
    TurnParser,
)
from mooring.backends.opencode.servers import OpenCodeServers
from mooring.backends.opencode.shell import PermittedShell
from mooring.core.conversation.question import Yes
from mooring.discovery.values import as_mapping
from mooring.display.text import safe
from mooring.errors import FileError, ModelError


class TurnAnswers:
    """Answers the questions of one turn, each in a task of its own: a person may take long for one of them."""

    def __init__(
        self,
        bridge: AgentBridge,
        api: OpenCodeApi,
        servers: OpenCodeServers,
        reading: TurnParser,
        shell: PermittedShell | None = None,
        worktree: str = "",
    ) -> None:
        """`shell` is what runs OpenCode's commands, unless that is a shell of its own. `worktree` is its project."""
        self._bridge = bridge
        self._shell = shell
        self._worktree = worktree
        self._api = api
        self._servers = servers
        self._reading = reading
        self._answering: set[asyncio.Task[None]] = set()
        self._undecided: dict[str, PermissionWanted] = {}
        self._refused: list[tuple[PermissionWanted, str]] = []
        """The requests that are to be refused, each with the words for the model."""
        self._asked: set[str] = set()
        """The calls that OpenCode has asked about in any way."""
        self._begun: set[str] = set()
        """Those that have wanted their own permission."""

    def take(self, event: AgentEvent) -> None:
        """Begin to answer an event that asks something."""
        match event:
            case PermissionWanted() if self._reading.belongs(event.session):
                self._undecided[event.id] = event
                self._begin(self._answer_permission(event))
            case PermissionReplied(request=request):
                self._undecided.pop(request, None)
            case PartChanged(part) if part.tool == "bash" and self._reading.belongs(part.session):
                self._read_command(part)
            case QuestionsWanted() if self._reading.belongs(event.session):
                self._begin(self._answer_questions(event))
            case _:
                pass

    async def close(self) -> None:
        """Drop the questions that are still open."""
        tasks = set(self._answering)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._shell is not None:
            self._shell.end_turn()

    def _begin(self, answering: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(answering)
        self._answering.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._answering.discard(task)
        if not task.cancelled():
            # An answer that came too late is no failure; whatever else went wrong ends the turn.
            task.exception()

    # --- permissions --------------------------------------------------------------------------------------------------

    async def _answer_permission(self, wanted: PermissionWanted) -> None:
        refusal = await self._decide(wanted)
        is_open = self._undecided.pop(wanted.id, None) is not None
        if refusal is not None:
            self._refused.append((wanted, refusal))
        elif is_open:
            await self._reply(wanted.id, {"reply": "once"})
        await self._send_refusals(wanted.session)

    async def _decide(self, wanted: PermissionWanted) -> str | None:
        """Why a call may not be made, in words for the model; `None` if it may."""
        if wanted.tool is None:
            return await self._decide_alone(wanted)
        call = await self._reading.wait_for_call(wanted.tool)
        self._asked.add(call.id)
        if not is_expected(wanted, call):
            # Whatever it is, it isn't what the call says.
            return await self._decide_alone(wanted)
        if not is_aside(wanted):
            self._begin_call(call.id)
        return await self._decide_call(call, wanted)

    async def _decide_alone(self, wanted: PermissionWanted) -> str | None:
        """Judge a request by its own words, without a call that it belongs to."""
        return await self._bridge.find_refusal(AgentCall(wanted.id, OwnTool(wanted.permission), wanted.metadata))

    def _begin_call(self, id: str) -> None:
        """Note that a call wants its own permission, as it does once. OpenCode takes two with one id for the same."""
        if id in self._begun:
            self._bridge.begin_call(id)
        self._begun.add(id)
        self._bridge.begin_call(id)

    def _read_command(self, part: Part) -> None:
        if part.state is None or part.state.status not in ("completed", "error"):
            return
        if self._shell is not None:
            self._shell.withdraw(part.id)
        if part.state.status == "completed" and part.id not in self._asked:
            self._check_refused(part.id, part.state)

    def _check_refused(self, id: str, state: ToolState) -> None:
        """End the turn if a command was run that nobody was asked about: the shell is to run none."""
        if self._shell is not None and self._shell.is_refused(id, state.output):
            return
        command = str(as_mapping(state.input).get("command", ""))
        self._bridge.reporter.fail(f"OpenCode ran a command without asking: {safe(command)}")
        self._bridge.reporter.stop("failed")

    async def _decide_call(self, call: ReadCall, wanted: PermissionWanted) -> str | None:
        if isinstance(call.tool, McpTool):
            return await self._bridge.find_refusal(AgentCall(call.id, call.tool, call.arguments))
        if self._servers.is_served(call.tool):
            return None
        report = read_report(wanted, call, self._worktree)
        refusal = await self._bridge.find_refusal(AgentCall(call.id, call.tool, call.arguments, report))
        if self._shell is not None and call.name == "bash":
            return _settle_run(self._shell, call, refusal)
        return refusal

    async def _send_refusals(self, session: str) -> None:
        """Refuse what is to be refused, once nothing else of the session is undecided.

        With one refusal OpenCode refuses whatever else waits in the session, also what the person is about to allow.
        """
        if any(wanted.session == session for wanted in self._undecided.values()):
            return
        ready = [each for each in self._refused if each[0].session == session]
        self._refused = [each for each in self._refused if each not in ready]
        for refused, words in ready:
            await self._reply(refused.id, {"reply": "reject", "message": words})

    async def _reply(self, request: str, body: Mapping[str, Any]) -> None:
        try:
            await self._api.post(f"/permission/{request}/reply", body)
        except ModelError:
            return  # the call was canceled, or refused together with another one

    # --- questions of the model ---------------------------------------------------------------------------------------

    async def _answer_questions(self, wanted: QuestionsWanted) -> None:
        questions = [_read_question(question) for question in wanted.questions]
        answer = await self._bridge.ask(make_form(questions))
        try:
            if isinstance(answer, Yes):
                await self._api.post(f"/question/{wanted.id}/reply", {"answers": _list_choices(questions, answer)})
            else:
                await self._api.post(f"/question/{wanted.id}/reject")
        except ModelError:
            return  # the turn was canceled meanwhile


def _settle_run(shell: PermittedShell, call: ReadCall, refusal: str | None) -> str | None:
    """Let a command be run, or no longer: why it isn't, if so."""
    if refusal is not None:
        shell.withdraw(call.id)
        return refusal
    command, folder = (str(call.arguments.get(name) or "") for name in ("command", "workdir"))
    try:
        shell.permit(call.id, command, folder)
    except FileError as error:
        return str(error)
    return None


def _read_question(said: AgentQuestion) -> PersonQuestion:
    options = [AnswerOption(choice.label, choice.description) for choice in said.options]
    return PersonQuestion(said.question, options, said.header, said.multiple)


def _list_choices(questions: list[PersonQuestion], answer: Yes) -> list[list[str]]:
    """What was chosen for each question, with what the person said in their own words for the last of them."""
    answers = read_answers(questions, answer.content)
    if answers.choices and answers.own_words:
        answers.choices[-1].append(answers.own_words)
    return answers.choices


_ASIDES: Final = frozenset({"external_directory", "doom_loop"})
"""Permissions that OpenCode wants beside that of the tool itself, any number of times."""
_PERMISSIONS: Final[Mapping[str, str]] = {
    "write": "edit",
    "apply_patch": "edit",
    "list_mcp_resources": "read",
    "list_mcp_resource_templates": "read",
    "read_mcp_resource": "read",
}
"""The permission that a tool wants, where it isn't of the same name."""
_CHANGING: Final = frozenset({"edit", "write", "apply_patch"})


def is_aside(wanted: PermissionWanted) -> bool:
    """Whether a permission is wanted beside that of the tool itself."""
    return wanted.permission in _ASIDES


def is_expected(wanted: PermissionWanted, call: ReadCall) -> bool:
    """Whether a permission is one that this tool wants."""
    own = call.name if isinstance(call.tool, McpTool) else _PERMISSIONS.get(call.name, call.name)
    return is_aside(wanted) or wanted.permission == own


def read_report(wanted: PermissionWanted, call: ReadCall, worktree: str = "") -> ActReport | None:
    """What a request says about the call; `None` if it says nothing that can be judged.

    `worktree` is the folder from which OpenCode names the file that it is about to read.
    """
    said = wanted.metadata
    paths = tuple(_list_paths(said))
    match wanted.permission:
        case "bash":
            return ActReport(command=_find_text(said, "command"))
        case "external_directory" if call.name == "bash":
            # Which folders its words look like; where it runs is among the arguments.
            return ActReport(command=_find_text(said, "command"))
        case "edit":
            return ActReport(writes=paths, diff=_find_text(said, "diff") or "")
        case "external_directory" if call.name in _CHANGING:
            return ActReport(writes=paths)
        case "external_directory" | "glob" | "grep":
            return ActReport(reads=paths)
        case "read" if call.name == "read" and worktree:
            return ActReport(reads=tuple(join(worktree, path) for path in wanted.patterns))
        case "webfetch":
            return ActReport(url=_find_text(said, "url"))
        case _:
            return None


def _list_paths(said: Mapping[str, Any]) -> list[str]:
    files = said.get("files")
    entries: Sequence[Any] = files if isinstance(files, list) else ()
    named = [as_mapping(entry).get(key) for entry in entries for key in ("filePath", "movePath")]
    # With several files, `filepath` is a list of them for people.
    found = named or [said.get("filepath"), said.get("path")]
    return [path for path in found if isinstance(path, str) and path]


def _find_text(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) else None
