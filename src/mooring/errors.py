"""Every error that Mooring raises, in one tree.

MooringError
├── ConfigError          a configuration, or something on the command line, cannot be used
│   ├── FileError        a file cannot be read or written
│   ├── NoModel          no model was chosen, or the chosen one cannot be used
│   ├── StoreUnavailable  the keyring that has a secret does not answer
│   └── ParseError       a text does not follow its format
│       └── TooManyValues  a text holds more than it may
├── UnknownServer        no server has that name
├── UnknownTool          the server has no such tool, or the tool cannot be used
│   ├── AmbiguousTool    the name can be read as tools of two servers
│   └── Stale            the tool belongs to a server that has been replaced since
├── BadArguments         the arguments do not fit the tool
├── ServerDisabled       the server is disabled
├── LoginFailed          a login could not be completed
│   ├── NoLoginFound     the server does not say where to log in
│   ├── GrantRefused     the issuer gave no token
│   └── LoginTimedOut    nobody completed the login in time
├── ModelError           a model could not answer
│   ├── ModelOverloaded  it has too much to do; worth another try after a while
│   └── ContextOverflow  it was sent more than fits into its window
├── Denied               it is not allowed
│   ├── NotApproved      a project's server that the user has not approved
│   └── HeldBack         a tool that differs from what the user approved
└── ServerError          a server, or the connection to it, failed
    ├── Unresolved       its definition leads to nothing that could be started
    │   ├── InputMissing  it needs a value that only the person can give
    │   └── SecretMissing  it needs a secret that the person has not stored
    ├── Suspended        it kept failing and is not tried again for now
    ├── SpawnError       its program could not be started
    ├── GuardLost        the process that keeps the servers' processes is gone, and so are they
    ├── ConnectError     it cannot be reached
    │   └── TlsError     it is there, but no secure connection to it can be made
    ├── HttpError        it answered with an HTTP status that is an error
    ├── NeedsLogin       it requires a login
    ├── HandshakeError   it answered, but no connection could be agreed on
    ├── ProtocolError    it broke the protocol
    │   └── TooLarge     it sent more than the limit allows
    ├── ServerDied       it exited, or closed its side
    ├── Clogged          it does not read what it is sent
    ├── Closed           the connection was closed from this side
    ├── TimedOut         no answer came in time
    └── RpcError         it answered with an error of its own

Each message is a sentence that names what failed, where, and what to do about it if anything can be done.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

Stage: TypeAlias = Literal["spawn", "connect", "handshake", "list", "call"]
"""How far a connection had come when it failed."""

MOST_NAMED = 12
"""How many withheld variables are named in a message."""


class MooringError(Exception):
    """The root: catch this to catch everything Mooring raises on purpose.

    `hint` is the part of the message that says what to do, where that is a sentence of its own.
    """

    hint = ""

    for_model = ""
    """What a model reads in place of the message, where that is written for a person."""

    def describe_for_model(self) -> str:
        """The plain cause: the message without the hint, whose commands and files are for a person."""
        if self.for_model:
            return self.for_model
        message = str(self)
        return message.replace(self.hint, "", 1).rstrip(" ;") if self.hint else message


class ConfigError(MooringError):
    """A configuration, or something on the command line, cannot be used."""

    def __init__(self, message: str = "", hint: str = "") -> None:
        super().__init__(f"{message} {hint}" if hint else message)
        self.hint = hint


class FileError(ConfigError):
    """A file cannot be read or written; `reason` says why, without the path, and `fix` what to do if that is known."""

    def __init__(self, path: str, reason: str, fix: str = "") -> None:
        super().__init__(f"{path}: {reason}" + (f"; {fix}" if fix else ""))
        self.path = path
        self.reason = reason
        self.fix = fix


class StoreUnavailable(ConfigError):
    """The system's keyring, which has a secret or should get one, does not answer or has lost it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The store of your secrets cannot be used: {reason}.")
        self.reason = reason


class NoModel(ConfigError):
    """No model was chosen, or the chosen one cannot be used; the hint says what would work."""


class ParseError(ConfigError):
    """A text does not follow its format; the message never quotes the text, which may hold secrets."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.reason = reason
        self.line = line


class TooManyValues(ParseError):
    """A text holds more keys and list elements than it may."""

    def __init__(self, most: float) -> None:
        super().__init__(f"holds more than {most} values")


class UnknownServer(MooringError):
    """No server has that name; `near` holds the most similar names.

    `what` says what else could have had it, and `unread` which files could not be read, if it may be in one of them.
    """

    def __init__(self, name: str, near: Sequence[str] = (), *, what: str = "server") -> None:
        super().__init__(name)
        self.hint = f"Did you mean {' or '.join(near)}?" if near else "`mooring mcp list` shows the known ones."
        self.name = name
        self.near = tuple(near)
        self.what = what
        self.unread = ""

    def __str__(self) -> str:
        sentences = (f"No {self.what} is called {self.name!r}.", self.unread, self.hint)
        return " ".join(filter(None, sentences))

    def describe_for_model(self) -> str:
        # Which names there are helps a model as well.
        return str(self) if self.near else super().describe_for_model()


class UnknownTool(MooringError):
    """The server has no tool of that name, or its definition cannot be used."""

    def __init__(self, server: str, tool: str, near: Sequence[str] = (), reason: str = "") -> None:
        if reason:
            super().__init__(f"{server}'s tool {tool!r} cannot be used: {reason}.")
        else:
            self.hint = f"Did you mean {' or '.join(near)}?" if near else "`mooring tools` shows what it has."
            super().__init__(f"{server} has no tool {tool!r}. {self.hint}")
        self.server = server
        self.tool = tool
        self.near = tuple(near)
        self.reason = reason

    def describe_for_model(self) -> str:
        return str(self) if self.near else super().describe_for_model()


class AmbiguousTool(UnknownTool):
    """The name can be read as tools of two servers; `near` are ways to write each of them that cannot."""

    def __init__(self, name: str, near: Sequence[str]) -> None:
        super().__init__("Mooring", name, near)
        self.hint = f"Write {' or '.join(near)}."
        self.args = (f"{name!r} can be read as a tool of two servers. {self.hint}",)


class Stale(UnknownTool):
    """The tool was listed when its server was another program; the call never reaches the new one."""

    def __init__(self, server: str, tool: str) -> None:
        super().__init__(server, tool, reason="its server was replaced; list the tools again")


class BadArguments(MooringError):
    """The arguments do not fit the tool's schema, or cannot be written as JSON; nothing was sent.

    `parameter` is the path of the value at fault, such as `filter.limit`; empty if it is the arguments as a whole.
    """

    def __init__(self, server: str, method: str, reason: str, *, parameter: str = "", words: str = "") -> None:
        super().__init__(words or f"The arguments of {method} for {server} cannot be written as JSON: {reason}.")
        self.server = server
        self.method = method
        self.reason = reason
        self.parameter = parameter


class ServerDisabled(MooringError):
    """The server is disabled; `by` says where."""

    def __init__(self, server: str, by: str) -> None:
        self.hint = f"Run `mooring mcp enable {server}` first."
        super().__init__(f'Server "{server}" is disabled ({by}). {self.hint}')
        self.server = server
        self.by = by


class LoginFailed(MooringError):
    """A login could not be completed; nothing was stored."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"OAuth authentication failed: {reason}.")
        self.reason = reason


class NoLoginFound(LoginFailed):
    """The server requires a login, but does not say where, or says it in a way that cannot be used."""

    def __init__(self, server: str) -> None:
        reason = f"Authentication required for {server}, but its OAuth endpoints could not be discovered"
        super().__init__(reason)
        self.hint = "If it takes a token, send it as a header: mooring mcp add --token."
        self.args = (f"{reason}. {self.hint}",)


class GrantRefused(LoginFailed):
    """An issuer gave no token; `error` is its code for the reason, such as `invalid_grant`."""

    def __init__(self, endpoint: str, reason: str, error: str) -> None:
        super().__init__(f"{endpoint} gave no token: {reason}")
        self.error = error


class LoginTimedOut(LoginFailed):
    """Nobody completed the login in time."""

    def __init__(self) -> None:
        super().__init__("it took too long")
        self.args = ("OAuth flow timed out. Please try again.",)


class ModelError(MooringError):
    """A model could not answer; `model` is the provider and the model."""

    def __init__(self, model: str, reason: str, hint: str = "") -> None:
        message = f"{model}: {reason}"
        super().__init__(f"{message} {hint}" if hint else message)
        self.model = model
        self.reason = reason
        self.hint = hint


class ModelOverloaded(ModelError):
    """The provider has too much to do, or this account asked too often. It is worth another try after a while."""

    def __init__(self, model: str, reason: str, retry_after: float | None = None, hint: str = "") -> None:
        super().__init__(model, reason, hint)
        self.retry_after = retry_after
        """Seconds to wait, if the provider says how many."""


class ContextOverflow(ModelError):
    """A model was sent more than fits into its window."""


class Denied(MooringError):
    """It is not allowed; nothing was done. `rule` would allow it, if a rule in the settings or an option can."""

    def __init__(self, message: str, for_model: str = "", rule: str = "") -> None:
        super().__init__(message)
        self.for_model = for_model
        self.rule = rule


ApprovalState: TypeAlias = Literal["undecided", "rejected", "declined"]
"""Nobody decided, the user rejected it, or they were asked just now and said no."""


class NotApproved(Denied):
    """A project's server that the user has not approved, or that changed since they did.

    `hint` takes the place of the usual advice, where more is known.
    """

    def __init__(self, server: str, reason: str, state: ApprovalState = "undecided", *, hint: str = "") -> None:
        self.server = server
        self.reason = reason
        self.state = state
        self.hint = hint or self.suggest("mooring mcp approve")
        super().__init__(f"{server} {reason}. {self.hint}".rstrip())

    def suggest(self, command: str) -> str:
        """What to do about it with the command that approves; nothing for a person who has just said no."""
        match self.state:
            case "undecided":
                return f"To look and decide: {command} {self.server}"
            case "rejected":
                return f"To change that: {command} {self.server}"
            case "declined":
                return ""


class HeldBack(Denied):
    """A tool that changed, or was added, since the user approved its server's tools."""

    def __init__(self, server: str, tool: str) -> None:
        self.hint = (
            f"`mooring mcp pins {server}` shows the difference, and `mooring mcp pins {server} --approve` allows it."
        )
        super().__init__(f"{server}'s tool {tool!r} changed or was added since you approved this server. {self.hint}")
        self.server = server
        self.tool = tool


class ServerError(MooringError):
    """A server, or the connection to it, failed.

    `may_have_run` is false only if the server certainly never saw the request; `retry` says whether trying again
    makes sense. `exit_code`, `stderr` (its last lines) and `withheld` (the names of variables that it was not given)
    are what is known of its process. The message never names those: it may be a model that reads it.
    """

    retry = False

    def __init__(self, server: str, message: str, *, stage: Stage = "call", may_have_run: bool = False) -> None:
        super().__init__(message)
        self.server = server
        self.stage: Stage = stage
        self.may_have_run = may_have_run
        self.exit_code: int | None = None
        self.stderr: tuple[str, ...] = ()
        self.withheld: tuple[str, ...] = ()
        self.unset: tuple[str, ...] = ()
        """Variables that its definition names and that are not set, if it refused a request without them."""


class Unresolved(ServerError):
    """The definition leads to nothing that could be started; `where` is the key at fault, such as `env.TOKEN`.

    `fix` is what the person can do about it, where the reason alone does not say that.
    """

    def __init__(self, server: str, where: str, reason: str, *, fix: str = "") -> None:
        words = f"{server} cannot be started: {where} {reason}"
        super().__init__(server, f"{words}; {fix}." if fix else f"{words}.", stage="spawn")
        self.for_model = f"{words}." if fix else ""
        self.where = where


class InputMissing(Unresolved):
    """The definition asks for an input that nobody has given yet; `input` is its id.

    `variables` are those of its environment that the input fills, if it fills nothing else. Nobody is asked about a
    server that they didn't name; with `named=False`, the hint says how to name it.
    """

    def __init__(self, server: str, input: str, variables: Sequence[str] = (), *, named: bool = True) -> None:
        super().__init__(server, f"${{input:{input}}}", "has no value yet")
        command = "this command again" if named else f"`mooring tools {server}`"
        options = " ".join(f"-e {name}=VALUE" for name in variables)
        without = f", or give it with {options}" if options else ""
        self.hint = f"Run {command} in a terminal to be asked for it{without}."
        self.args = (f"{server} needs a value for {input!r}, which only you can give. {self.hint}",)
        self.for_model = f"{server} needs a value for {input!r}, which only the person can give."
        self.input = input
        self.variables = tuple(variables)


class SecretMissing(Unresolved):
    """The definition names a secret that is not in the store; `secret` is its name, `where` the key that names it."""

    def __init__(self, server: str, where: str, secret: str) -> None:
        super().__init__(server, where, f"needs the secret {secret}, which is not stored")
        self.hint = f"To store it: mooring secret set {secret}"
        self.args = (f"{server} needs the secret {secret} for {where}, which is not stored. {self.hint}",)
        self.secret = secret


class Suspended(ServerError):
    """The server kept failing and is not tried again for now; `cause` is the last failure."""

    def __init__(self, server: str, times: int, seconds: float, cause: str, for_model: str = "") -> None:
        words = f"{server} failed {times} times within {seconds:g} s and is suspended for now"
        super().__init__(server, f"{words}; `mooring mcp reload {server}` tries again. The last failure: {cause}")
        self.cause = cause
        self.for_model = f"{words}. The last failure: {for_model or cause}"


class SpawnError(ServerError):
    """A program could not be started; `cause` is the system's name for the error, such as ENOENT.

    `fix` says what to do, where the reason alone does not.
    """

    def __init__(
        self,
        reason: str,
        *,
        fix: str = "",
        command: str,
        cwd: str,
        code: int,
        cause: str,
        server: str = "",
        withheld: Sequence[str] = (),
        for_model: str = "",
    ) -> None:
        words = f"{reason}; {fix}." if fix else reason
        super().__init__(server, words, stage="spawn")
        self.for_model = f"{reason}." if fix else for_model
        self.withheld = tuple(withheld)
        self.reason = reason
        self.fix = fix
        self.command = command
        self.cwd = cwd
        self.code = code
        self.cause = cause


class GuardLost(ServerError):
    """The guard, the process that starts and ends servers, died, and every server it had started was ended."""

    retry = True

    def __init__(self, reason: str) -> None:
        super().__init__("", reason, stage="spawn")


class ConnectError(ServerError):
    """The server cannot be reached."""

    retry = True

    def __init__(self, server: str, reason: str) -> None:
        super().__init__(server, f"{server} cannot be reached: {reason}.", stage="connect")


class TlsError(ConnectError):
    """The server is there, but its certificate is not trusted, or it speaks no TLS."""


class HttpError(ServerError):
    """The server answered with an HTTP status that is an error; `retry_after` is how many seconds it asks to wait."""

    def __init__(
        self, server: str, status: int, reason: str, *, may_have_run: bool = False, retry_after: float | None = None
    ) -> None:
        wait = f" It asks to wait {retry_after:g} s." if retry_after else ""
        words = f"{server} answered with HTTP status {status}: {reason}.{wait}"
        super().__init__(server, words, may_have_run=may_have_run)
        self.status = status
        self.retry_after = retry_after
        self.retry = status in (408, 425, 429, 500, 502, 503, 504)

    def __str__(self) -> str:
        # Put together only now: a transport does not know whether the request was a call, and is told of it later.
        ran = " It may have run." if self.may_have_run and self.stage == "call" else ""
        return f"{super().__str__()}{ran}"


class NeedsLogin(ServerError):
    """The server requires a login, or more rights than the login has; nothing was done.

    `scheme`, `resource_metadata`, `scope`, `error` and `description` are what it said, empty if it said nothing.
    """

    def __init__(
        self,
        server: str,
        status: int,
        *,
        scheme: str = "",
        resource_metadata: str = "",
        scope: str = "",
        error: str = "",
        description: str = "",
    ) -> None:
        said = f" It answered: {description or error}." if description or error else ""
        super().__init__(server, f"{server} requires a login.{said}")
        self.status = status
        self.scheme = scheme
        self.resource_metadata = resource_metadata
        self.scope = scope
        self.error = error
        self.description = description

    def suggest_login(self) -> None:
        """Add the command that logs in, or that asks for the rights that are missing."""
        from shlex import quote  # only here

        target = f"--url {quote(self.server)}" if "://" in self.server else quote(self.server)
        scope = f" --scope {quote(self.scope)}" if self.status == 403 and self.scope else ""
        self.hint = f"Log in with: mooring mcp login {target}{scope}"
        self.args = (f"{self} {self.hint}", *self.args[1:])


class HandshakeError(ServerError):
    """The server answered, but no connection could be agreed on."""

    def __init__(self, server: str, reason: str) -> None:
        super().__init__(server, f"The handshake with {server} failed: {reason}.", stage="handshake")


class ProtocolError(ServerError):
    """The server broke the protocol; the request in question has certainly reached it."""

    def __init__(self, server: str, reason: str, *, stage: Stage = "call") -> None:
        super().__init__(server, f"{server} broke the protocol: {reason}.", stage=stage, may_have_run=True)


class TooLarge(ProtocolError):
    """A message of the server was larger than the limit and was discarded."""

    def __init__(self, server: str, limit: int, *, stage: Stage = "call") -> None:
        size = f"its answer was larger than {limit:,} bytes"
        super().__init__(server, f"{size}; ask for less, or raise maxMessageBytes", stage=stage)
        self.for_model = f"{server} broke the protocol: {size}; ask for less."
        self.limit = limit


class ServerDied(ServerError):
    """The server exited, or closed its side, before it answered."""

    retry = True

    def __init__(
        self,
        server: str,
        what: str,
        *,
        stage: Stage = "call",
        may_have_run: bool = False,
        cause: str = "",
        exit_code: int | None = None,
        stderr: Sequence[str] = (),
        withheld: Sequence[str] = (),
    ) -> None:
        words = (
            f"{server} {_end(exit_code)} before it answered {what}{f' ({cause})' if cause else ''}",
            "; it may have run" if may_have_run and stage == "call" else "",
            f". Its last output: {said}" if (said := _last_words(stderr)) else "",
            ".",
        )
        super().__init__(server, "".join(words), stage=stage, may_have_run=may_have_run)
        self.exit_code = exit_code
        self.stderr = tuple(stderr)
        self.withheld = tuple(withheld)
        self.cause = cause
        self.has_read_nothing = False
        """Whether it ended without having read anything that it was sent: it died of its own start."""


class Clogged(ServerError):
    """The server does not read what it is sent, and too much is waiting for it already."""

    retry = True

    def __init__(self, server: str, waiting: int) -> None:
        words = f"{server} is not reading its input: {waiting:,} bytes wait to be sent."
        super().__init__(server, f"{words} Try again later, or restart it.")


class Closed(ServerError):
    """The connection was closed from this side."""

    retry = True

    def __init__(self, server: str, what: str, *, stage: Stage = "call", may_have_run: bool = False) -> None:
        ran = "; it may have run" if may_have_run else ""
        words = f"The connection to {server} was closed before {what} was answered{ran}."
        super().__init__(server, words, stage=stage, may_have_run=may_have_run)


class TimedOut(ServerError):
    """No answer came in time; a request that had been sent was cancelled.

    `what` was not answered; empty if no connection was made. `seconds` is the whole time that was granted for it.
    """

    retry = True

    def __init__(
        self, server: str, what: str, seconds: float, *, stage: Stage = "call", may_have_run: bool = False
    ) -> None:
        did = f"answer {what}" if what else "connect"
        ran = " It may have run." if may_have_run and stage == "call" else ""
        words = f"{server} did not {did} within {round(max(seconds, 0), 3):g} s.{ran}"
        super().__init__(server, words, stage=stage, may_have_run=may_have_run)
        self.what = what
        self.seconds = seconds

    def reword(self, what: str, seconds: float) -> "TimedOut":
        """The same error about the whole of which this was a part."""
        whole = TimedOut(self.server, what, seconds, stage=self.stage, may_have_run=self.may_have_run)
        whole.stderr, whole.withheld = self.stderr, self.withheld
        return whole


class RpcError(ServerError):
    """The server answered with an error of its own; `data` is what it attached to the error, as plain data."""

    def __init__(self, server: str, code: int, message: str, data: object = None, *, stage: Stage = "call") -> None:
        words = message if message.endswith("..") else message.removesuffix(".")
        super().__init__(server, f"{server} answered: {words} ({code})", stage=stage, may_have_run=True)
        self.code = code
        self.message = message
        self.data = data

    def suggest_handshake(self) -> None:
        """Add how a tool can ask in the middle of its work, which only the handshake era allows."""
        if self.hint:
            return
        self.hint = 'It can ask if its entry in Mooring\'s own mcp.json has `"era": "handshake"`.'
        self.args = (f"{self}. {self.hint}", *self.args[1:])


def _last_words(stderr: Sequence[str]) -> str:
    # Servers made with the Python SDK 1.2 to 1.6 end with an exception group. Python prints it in a frame of dashes,
    # whose last line says nothing.
    said = (line.strip(" |") for line in reversed(stderr) if any(map(str.isalnum, line)))
    return next(said, "")


def _end(exit_code: int | None) -> str:
    if exit_code is None:
        return "closed the connection"
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    from signal import Signals  # it loads enum, and only errors need it

    known = {number.value: number.name for number in Signals}
    return f"was ended by {known.get(-exit_code, f'signal {-exit_code}')}"
