"""A command file or a skill that a person uses, as what they say in a turn."""

import asyncio
from collections.abc import Collection

from msgspec import Struct

from mooring.agents.commands.command_file import CommandArguments, ShellPiece, WrittenCommand, has_fields, split_pieces
from mooring.agents.commands.find import UsedCommand
from mooring.agents.folders import make_reach
from mooring.agents.taken_names import TakenNames
from mooring.conversation.conversation import Conversation
from mooring.core.conversation.mention import TypedMention, find_mentions
from mooring.core.conversation.turn import TurnInput
from mooring.core.definitions.approved import TakenName
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.display.text import escape_marks
from mooring.errors import ConfigError, Denied, FileError
from mooring.host.host import Host
from mooring.tools.results.outcome import Media
from mooring.verbs.agent.mentions import Target, attach_targets, find_targets
from mooring.verbs.agent.named_files import NamedPath, find_path
from mooring.verbs.agent.words import may_read
from mooring.verbs.use.deadline import Deadline

MOST_COMMANDS = 20
"""How many command lines one text may have run."""
LONGEST_OUTPUT = 20_000
"""How many characters of the output of each are put into the text."""


class CommandTurn(Struct, frozen=True):
    """What a command says to the model, and what of it was left out."""

    said: TurnInput
    problems: tuple[Problem, ...] = ()


async def find_taken_name(workspace: Workspace, used: UsedCommand) -> TakenName | None:
    """What the use of a command has to say about its name; `None` if nothing, or the person approved it."""
    return await asyncio.to_thread(TakenNames(workspace).find_command, used.found, used.name)


async def make_command_turn(
    host: Host, conversation: Conversation, used: UsedCommand, takes: Collection[Media], deadline: Deadline
) -> CommandTurn:
    """Fill in a command: its arguments, the output of its command lines, and the files that it names.

    Each command line is a call of `Bash`, and passes the gate like one that the model makes. What the person typed may
    name any file; what a repository's command names has to be in the repository.

    Raises:
        Denied: a command line may not be run, or a rule keeps the file from being read.
        ConfigError: an argument is missing, a command line cannot be run, or there are too many.
        as `expand_mentions`, for what the person typed.
    """
    if not await asyncio.to_thread(may_read, conversation, host.workspace, used.command.path):
        raise Denied(f"/{used.name} was not sent: a rule keeps {used.command.path} from being read.")
    arguments = CommandArguments(used.typed)
    named, problems = await asyncio.to_thread(_find_named, host.workspace, used.command)
    permitted = [path for path in named if may_read(conversation, host.workspace, path.real)]
    targets: list[Target] = [*permitted, *await find_targets(host, find_mentions(arguments.typed))]
    attachments = await attach_targets(host, list(dict.fromkeys(targets)), takes, deadline, conversation)
    text = await _fill(conversation, used, arguments)
    head = f"/{used.name} {arguments.typed}".rstrip()
    return CommandTurn(TurnInput(f"{head}\n\n{text}", attachments), tuple(problems))


async def _fill(conversation: Conversation, used: UsedCommand, arguments: CommandArguments) -> str:
    command = used.command
    pieces = split_pieces(escape_marks(command.body))
    if sum(isinstance(piece, ShellPiece) for piece in pieces) > MOST_COMMANDS:
        raise ConfigError(f"/{used.name} was not sent: it has more than {MOST_COMMANDS} commands to run.")
    # All of them first: nothing runs for a text that cannot be sent.
    filled = [
        ShellPiece(arguments.fill(piece.command)) if isinstance(piece, ShellPiece) else arguments.fill(piece)
        for piece in pieces
    ]
    texts = [
        await _run_shell(conversation, used.name, piece.command) if isinstance(piece, ShellPiece) else piece
        for piece in filled
    ]
    if command.is_skill:
        texts.insert(0, f"[The other files of this skill are in {command.folder}]\n\n")
    if arguments.typed and not has_fields(command.body):
        texts.append(f"\n\nARGUMENTS: {arguments.typed}")
    return "".join(texts)


async def _run_shell(conversation: Conversation, name: str, command: str) -> str:
    """The output of a command line. Raises: Denied, ConfigError."""
    outcome = await conversation.call("Bash", {"command": command, "description": f"For /{name}"})
    if outcome.refusal is not None:
        raise Denied(f"/{name} was not sent: {outcome.refusal.reason}", rule=outcome.refusal.rule)
    if outcome.result is None:  # it could not be started
        raise ConfigError(f"/{name} was not sent: {outcome.for_person or outcome.text}")
    text = escape_marks(outcome.text)
    if len(text) > LONGEST_OUTPUT:
        return f"{text[:LONGEST_OUTPUT]}\n[{len(text) - LONGEST_OUTPUT:,} more characters]"
    return text


# --- files that it names --------------------------------------------------------------------------------------------


def _find_named(workspace: Workspace, command: WrittenCommand) -> tuple[list[NamedPath], list[Problem]]:
    """The files that a command's text names, and a problem for each that it may not name."""
    reach = make_reach(workspace)
    fence = reach.project if command.scope == "project" else None
    found: list[NamedPath] = []
    problems: list[Problem] = []
    for mention in find_mentions(command.body):
        try:
            path = _find_first(workspace, mention)
        except FileError as error:  # one of Mooring's own
            problems.append(_report_refused(command, str(error)))
            continue
        if path is None:
            continue
        refusal = reach.find_refusal(path.real, fence)
        if refusal:
            problems.append(_report_refused(command, f"@{path.shown} {refusal}"))
        else:
            found.append(path)
    return found, problems


def _report_refused(command: WrittenCommand, reason: str) -> Problem:
    message = f"The command names a file that is not attached: {reason}"
    return Problem(command.path, message, "name the file yourself, behind the command", level="warning")


def _find_first(workspace: Workspace, mention: TypedMention) -> NamedPath | None:
    for spelling in mention.spellings:
        path = find_path(workspace, spelling)
        if path is not None:
            return path
    return None
