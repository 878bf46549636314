"""What a person can be asked, and what they can answer: the same for every user interface."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import Struct

from mooring.core.protocol.tool import Hints


class Sampling(Struct, frozen=True, tag=True):
    """A server wants a model to write something; `request` is its request, as the protocol defines it."""

    server: str
    request: Mapping[str, Any]
    key: str = ""
    """What the server calls the question, if it says."""


class Form(Struct, frozen=True, tag=True):
    """A server wants some values; `schema` is a flat object of strings, numbers, booleans and choices."""

    server: str
    message: str
    schema: Mapping[str, Any]
    key: str = ""


class Visit(Struct, frozen=True, tag=True):
    """A server wants the person to open an address."""

    server: str
    message: str
    url: str
    id: str
    key: str = ""
    ours: bool = False
    """The message is Mooring's own, about a login to that server."""


class MissingValue(Struct, frozen=True, tag=True):
    """A definition has a placeholder that only the person can fill in, such as `${input:token}`."""

    server: str
    id: str
    description: str = ""
    default: str | None = None
    secret: bool = False
    options: tuple[str, ...] = ()


AnswerScope: TypeAlias = Literal["once", "session", "reads", "always"]
"""How far a yes reaches, shortest first. `reads` trusts the server: whatever it says only reads is called unasked."""


class Permission(Struct, frozen=True, tag=True, rename="camel"):
    """A tool is about to be called, and somebody has to say whether it may be.

    The names and hints are the server's own words, and the arguments come from whoever asked for the call. Trust none
    of them, and make them safe before you show them.
    """

    server: str | None
    """`None` for one of Mooring's own tools."""
    tool: str
    arguments: Mapping[str, Any]
    why: str
    """Why the person is asked."""
    rule: str
    """The rule that would silence the question, as it is written in the settings; empty if no rule there would."""
    origin: str = ""
    """Where the server comes from, in words."""
    hints: Hints | None = None
    scopes: tuple[AnswerScope, ...] = ("once", "session", "always")
    """How far an answer can reach; one that goes further counts as the widest of these. A `reads` that is not among
    them counts as `once`."""
    limit: str = ""
    """Why no answer holds always, or for the session; empty if one does."""
    project_only: bool = False
    """The server came with the project, so that "always" means in this project, whatever the answer says."""
    option: str = ""
    """The option that would silence the question for one command; empty if a rule in the settings is better."""
    preview: str = ""
    """All that the call would do, in lines to be shown in place of the arguments; empty if there is no better form."""
    agent: str = ""
    """The sub-agent that wants to make the call; empty if it is the agent that the person talks to."""
    times: int = 0
    """Which call in a row with the same input it is, if it would be asked about for that too; otherwise 0."""


class RepeatedCall(Struct, frozen=True, tag=True):
    """A model is about to make the same call again, after it made it several times in a row. If permission is asked for
    it anyway, `Permission.times` says so instead.

    `Yes` or `Allow` makes it; anything else refuses this one call. The names and the arguments are others' words, as in
    `Permission`.
    """

    server: str | None
    """`None` for a tool that is no server's."""
    tool: str
    arguments: Mapping[str, Any]
    times: int
    """Which call in a row it is."""
    agent: str = ""
    """The sub-agent that wants to make the call; empty if it is the agent that the person talks to."""


class ContinueTurn(Struct, frozen=True, tag=True):
    """A model was asked as often as it may be in one turn, and has not finished.

    `Yes` lets it be asked as often again; anything else ends the turn.
    """

    requests: int
    """How many times it was asked in this turn."""
    more: int
    """How many times more it may be asked after a yes."""
    server: ClassVar[None] = None
    """Nobody but Mooring asks."""


class CarryOutPlan(Struct, frozen=True, tag=True):
    """A model in plan mode has made a plan.

    `Yes("edits")` has it carried out without asking about edits in the project, `Yes("ask")` with asking about each
    change, and either ends plan mode. `No` goes on planning; the model is told its reason.
    """

    plan: str
    """In Markdown. A model wrote it: make it safe."""
    server: ClassVar[None] = None
    """Nobody but Mooring asks."""


class Approval(Struct, frozen=True, tag=True):
    """A server that came with the project is about to be used, and nobody has approved its definition.

    `Yes` approves it for this project, until its definition changes; nothing else does.
    """

    server: str
    rows: tuple[tuple[str, str], ...]
    """All that its definition says and would do, each with a label. The texts are safe to show, and must not be cut."""
    digest: str
    """Of everything that is shown."""


class ApplyRules(Struct, frozen=True, tag=True):
    """A server of the project was approved, and rules of the person's settings would allow its tools.

    They are for the person's own servers. `Yes` applies them to this one too, until its definition changes.
    """

    server: str
    rules: tuple[str, ...]
    """Each as it reads, such as `allow github.*`. The person wrote them, but make them safe before you show them."""


class ChangedTool(Struct, frozen=True):
    """A tool that is not what was approved. The name and the diff are the server's words: make them safe."""

    tool: str
    """Its name; empty for what the server says about how to use it."""
    kind: Literal["new", "changed", "instructions"]
    diff: str
    """What is different, line by line; all of it if the tool is new."""


class ChangedTools(Struct, frozen=True, tag=True):
    """Tools of a server changed, or are new, since they were approved. `Yes` approves them as they are shown."""

    server: str
    tools: tuple[ChangedTool, ...]


class KeepServer(Struct, frozen=True, tag=True):
    """A server was added and tried. `No` removes it again; anything else keeps it."""

    server: str
    path: str
    """The file that it was added to."""
    failed: bool
    """It could not be connected."""


class RemoveServer(Struct, frozen=True, tag=True):
    """A server is about to be removed from a file. `Yes` removes it; anything else keeps it."""

    server: str
    path: str


class ServerDetail(Struct, frozen=True, tag=True):
    """Somebody describes a server, and one thing about it has to be known next.

    `Yes("text")` answers with what was typed, empty or not; whoever asks checks it, and asks again if need be.
    """

    server: str
    """Empty until it has a name."""
    label: str
    """What is asked for, in a few words."""
    notes: tuple[str, ...] = ()
    """What to know before answering, such as what was wrong with the answer before."""
    default: str | None = None
    """What an empty answer stands for, which may be nothing; `None` if there has to be an answer."""
    options: tuple[str, ...] = ()
    secret: bool = False
    block: bool = False
    """The answer may go on over several lines, as a pasted piece of JSON does."""


class WriteServer(Struct, frozen=True, tag=True):
    """A server is about to be written to a file. `Yes` writes it; anything else leaves the file as it is."""

    server: str
    path: str
    text: str
    """What is written, in the syntax of the file and without secrets."""
    notes: tuple[str, ...] = ()


class ChangeFile(Struct, frozen=True, tag=True):
    """Entries are about to be written into a file. `Yes` writes them; anything else leaves the file as it is."""

    path: str
    servers: tuple[str, ...]
    diff: str
    """What changes in the file, line by line and without secrets. Others may have written some of it: make it safe."""
    notes: tuple[str, ...] = ()
    """What to know before answering."""
    server: ClassVar[None] = None
    """Nobody but Mooring asks."""


class RestoredFile(Struct, frozen=True):
    """A file that becomes what it was before a turn."""

    path: str
    diff: str
    """What changes in it, in the form of `diff -u`. A model wrote some of it: make it safe."""


class UndoTurn(Struct, frozen=True, tag=True):
    """A turn is about to be undone: files become what they were, and the model forgets it.

    `Yes` undoes it; anything else leaves everything as it is.
    """

    said: str
    """What the person said."""
    files: tuple[RestoredFile, ...]
    notes: tuple[str, ...] = ()
    """What stays as it is, and why. Make it safe."""
    server: ClassVar[None] = None
    """Nobody but Mooring asks."""


class Login(Struct, frozen=True, tag=True, rename="camel"):
    """The person is to log in to a server, in a browser: show them `url`, or open it.

    `Yes` waits until the browser comes back, or until `code` was entered. Where the browser cannot come back, because
    it is on another machine, `Yes(content=…)` holds the address that it ended at. `No` ends the login.
    """

    server: str
    issuer: str
    """Who asks for the password, and gives the tokens: name it, so that the person knows whom they trust."""
    url: str
    """The server's words: http or https, nothing else about it is checked."""
    code: str = ""
    """What to enter on that page, on any device; empty if the browser comes back by itself."""
    redirect_uri: str = ""
    """How the address begins that the browser comes back to; empty if there is a code."""
    scopes: tuple[str, ...] = ()
    browser: bool = True
    """Whether a browser on this machine may be opened for it."""


class ChangedIssuer(Struct, frozen=True, tag=True):
    """A server that was logged in to at one issuer names another one now. `Yes` goes on with the login there."""

    server: str
    issuer: str
    former: str


class ChooseAnswerer(Struct, frozen=True, tag=True):
    """Nobody was chosen to answer in a chat, and these could. `Yes(name)` picks one; anything else goes on without."""

    options: tuple[tuple[str, str], ...]
    """The name of each, and what makes it possible. A program on this machine wrote some of it: make it safe."""
    server: ClassVar[None] = None
    """Nobody but Mooring asks."""


class KeepAnswerer(Struct, frozen=True, tag=True):
    """Somebody was chosen to answer in this chat. `Yes` has them answer in those to come, too."""

    answerer: str
    path: str
    """The file that it would be written to."""
    server: ClassVar[None] = None
    """Nobody but Mooring asks."""


Question: TypeAlias = (
    Sampling
    | Form
    | Visit
    | MissingValue
    | Permission
    | RepeatedCall
    | ContinueTurn
    | CarryOutPlan
    | Approval
    | ApplyRules
    | ChangedTools
    | KeepServer
    | ServerDetail
    | WriteServer
    | RemoveServer
    | ChangeFile
    | UndoTurn
    | Login
    | ChangedIssuer
    | ChooseAnswerer
    | KeepAnswerer
)


class Yes(Struct, frozen=True, tag=True):
    """Go on; `content` is the model's message, the form's values, or the text for the placeholder.

    For a project's server, for rules, or for tools that changed, it approves what was shown.
    """

    content: Any = None


class Allow(Struct, frozen=True, tag=True):
    """The tool may be called: this once, for as long as the program runs, or always; or, with `reads`, every tool of
    its server that this says only reads, always and everywhere.

    `where` says what always means: everywhere, or in this project only. Both are saved in the person's own files, since
    a file inside the project could be changed by whoever writes to the repository.
    """

    scope: AnswerScope = "once"
    where: Literal["user", "project-local"] = "user"


class No(Struct, frozen=True, tag=True):
    """Do not; `reason` is for whoever asked, `how` says whether they were refused or the question was dismissed."""

    reason: str = ""
    how: Literal["decline", "cancel"] = "decline"
    nobody: bool = False
    """Nobody could be asked, so that this is nobody's decision."""


Answer: TypeAlias = Yes | Allow | No
Ask: TypeAlias = Callable[[Question], Awaitable[Answer]]
"""Puts a question to the person. Without one, nothing is asked and everything is refused."""


def check_ask(ask: Ask) -> Ask:
    """The same function; an answer that it may not give is an error that says so, wherever the question came from.

    Raises:
        TypeError: it cannot be called. What it returns is checked with each answer.
    """
    if not callable(ask):
        raise TypeError(f"ask takes an async function that returns Yes, Allow or No, not {ask!r}.")

    async def ask_and_check(question: Question) -> Answer:
        answering: Any = ask(question)
        if not hasattr(answering, "__await__"):
            raise TypeError(f"ask has to be an async function; it returned {answering!r} without being awaited.")
        answer: Any = await answering
        if not isinstance(answer, Yes | Allow | No):
            kind = type(question).__name__
            raise TypeError(f"ask has to return Yes(), Allow() or No(); for a {kind}, it returned {answer!r}.")
        return answer

    return ask_and_check
