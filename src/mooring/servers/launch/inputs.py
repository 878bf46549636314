"""The inputs of a definition, such as `${input:token}`: asked for when its server is used, and never before.

A start asks nobody. It takes what was answered before, or the default, and fails where there is neither: so a server
that is started in the background, or by a listing of everything, cannot put a question in anybody's way.
"""

from collections.abc import Hashable

from mooring.core.conversation.question import Ask, MissingValue, Yes
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import list_inputs
from mooring.core.definitions.template import InputPart
from mooring.errors import InputMissing
from mooring.servers.launch.expand import Gap
from mooring.servers.launch.secrets import Secrets


def find_missing_inputs(approved: Approved, secrets: Secrets) -> tuple[InputPart, ...]:
    """The inputs without which the server cannot be started."""
    inputs = list_inputs(approved.config.connection, approved.config.oauth)
    return tuple(part for part in inputs if find_input(approved, part, secrets) is None)


def find_unanswered_inputs(approved: Approved, secrets: Secrets) -> tuple[InputPart, ...]:
    """The inputs that the person is asked for when the server is used, those with a default too."""
    inputs = list_inputs(approved.config.connection, approved.config.oauth)
    return tuple(part for part in inputs if secrets.get(_make_key(approved, part)) is None)


def find_input(approved: Approved, part: InputPart, secrets: Secrets) -> str | None:
    """What the person answered, or the default."""
    answered = secrets.get(_make_key(approved, part))
    return part.default if answered is None else answered


async def ask_inputs(approved: Approved, secrets: Secrets, ask: Ask) -> None:
    """Ask for every input that was not answered before, one after the other.

    Raises: InputMissing at the first one that is refused and has no default: no other would be of use.
    """
    for part in list_inputs(approved.config.connection, approved.config.oauth):
        answer = await _ask_once(approved, part, secrets, ask)
        if isinstance(answer, Gap) and part.default is None:
            raise InputMissing(approved.name, part.id)


async def _ask_once(approved: Approved, part: InputPart, secrets: Secrets, ask: Ask) -> str | Gap:
    async def put_question() -> str | Gap:
        question = MissingValue(approved.name, part.id, part.description, part.default, part.secret, part.options)
        match await ask(question):
            case Yes(str(text)):
                return text
            case _:
                return Gap("was not given")

    return await secrets.fetch_once(_make_key(approved, part), put_question)


def _make_key(approved: Approved, part: InputPart) -> Hashable:
    # Servers of one file share the inputs that it defines.
    return "input", approved.config.origin.path, part
