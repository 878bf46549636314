"""What a person uses by its name as what they say in a turn: a command file, a skill, or a prompt of a server."""

import asyncio
from collections.abc import Collection, Sequence

from msgspec import Struct

from mooring.agents.commands.command_file import CommandArguments, ShellPiece, WrittenCommand, has_fields, split_pieces
from mooring.agents.commands.find import UsedCommand, split_line
from mooring.agents.folders import make_reach
from mooring.agents.local.skill import write_server_skill
from mooring.agents.taken_names import TakenNames
from mooring.conversation.conversation import Conversation
from mooring.core.conversation.mention import find_mentions
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.turn import TurnInput
from mooring.core.definitions.approved import TakenName
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.content import Block, Text
from mooring.core.protocol.result import FilledPrompt, Message, Result
from mooring.core.protocol.skill import OfferedSkill
from mooring.display.text import escape_marks
from mooring.errors import ConfigError, Denied, FileError
from mooring.host.host import Host
from mooring.tools.results.outcome import Media
from mooring.verbs.agent.mentions import Target, attach_targets, find_targets, make_delivery
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
            path = find_path(workspace, mention.spellings)
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


# --- a skill or a prompt of a server --------------------------------------------------------------------------------


class UsedSkill(Struct, frozen=True):
    """A server's skill as it was typed."""

    offered: OfferedSkill
    typed: str
    """What is behind its name."""


async def find_used_skill(conversation: Conversation, line: str) -> UsedSkill | None:
    """The skill that a line begins with, as `/server:skill`; `None` if it is just a line.

    Raises: ConfigError if the server has no such skill; Denied; ServerError.
    """
    word, typed = split_line(line)
    offered = await conversation.skills.find(word)
    return UsedSkill(offered, typed) if offered is not None else None


async def add_skill(conversation: Conversation, used: UsedSkill, said: TurnInput) -> TurnInput:
    """What a person said, with the skill behind it. Nothing in the skill is run, and nothing that it names is attached.

    Raises: ConfigError if an argument is missing; Denied; ServerError if the skill is not what the server listed.
    """
    body = await conversation.skills.read(used.offered)
    text = write_server_skill(used.offered, body, used.typed)
    return TurnInput(f"{said.text}\n\n{text}", said.attachments)


async def make_prompt_turn(
    host: Host, server: str, name: str, filled: FilledPrompt, takes: Collection[Media]
) -> TurnInput:
    """What the messages of a prompt say, in order; those that the assistant is to have said are marked.

    Raises: ConfigError if there are none.
    """
    if not filled.messages:
        raise ConfigError(f"{server}'s prompt {name} came back without any messages, so nothing was sent.")
    blocks = _list_blocks(filled.messages)
    delivery = make_delivery(host, takes)
    outcome = await delivery.deliver(Result(tuple(blocks), server=server, tool=name), Outcome(server=server, tool=name))
    first, *others = outcome.parts
    if isinstance(first, Text):
        return TurnInput(first.text, tuple(others))
    return TurnInput("", outcome.parts)


def _list_blocks(messages: Sequence[Message]) -> list[Block]:
    blocks: list[Block] = []
    role = "user"
    for message in messages:
        # Every provider has its own idea of whether a model's words may be put into its mouth: none refuses these.
        if message.role != role:
            blocks.append(Text("[assistant:]" if message.role == "assistant" else "[user:]"))
        role = message.role
        blocks.append(message.content)
    return blocks
