"""The parameters of every request that a client can make, read in one pass."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import DecodeError, Raw, Struct, field
from msgspec.json import Decoder

from mooring.core.protocol.raw import ABSENT, read_as
from mooring.errors import RpcError
from mooring.wire.rpc.message import INVALID_PARAMS
from mooring.wire.session.client import META

CLIENT: Final = "The client"
"""What the other side is called in errors."""
_PROGRESS: Final = "progressToken"


class CompletedArgument(Struct, frozen=True):
    """The argument that is being typed."""

    name: str = ""
    value: str = ""


class CompletionContext(Struct, frozen=True):
    """The arguments that are known already."""

    arguments: dict[str, str] | None = None


class WantedNotices(Struct, frozen=True, rename="camel"):
    """What a client of the stateless era wants to be notified of."""

    tools_list_changed: bool = False
    resources_list_changed: bool = False
    prompts_list_changed: bool = False
    resource_subscriptions: list[str] = []
    task_ids: list[str] = []


class TaskTerms(Struct, frozen=True):
    """How a client of the handshake era wants a call to be made as a task."""

    ttl: float | None = None
    """For how many milliseconds it is to be kept."""


# One struct for all methods, like `Frame` for all messages: what a method does not use is simply not there.
class Params(Struct, frozen=True, rename="camel"):
    """What came with a request."""

    meta: dict[str, Any] = field(default_factory=dict, name="_meta")
    name: str = ""
    uri: str = ""
    cursor: str | None = None
    arguments: dict[str, Any] | None = None
    level: str = ""
    ref: dict[str, str] = {}
    argument: CompletedArgument = CompletedArgument()
    context: CompletionContext | None = None
    protocol_version: str = ""
    capabilities: dict[str, Any] = {}
    request_state: str | None = None
    input_responses: dict[str, Raw] = {}
    notifications: WantedNotices = WantedNotices()
    task: TaskTerms | None = None
    task_id: str = ""

    @property
    def stateless_version(self) -> Any:
        """The revision that the request names, as only the stateless era does; `None` if it names none."""
        return self.meta.get(f"{META}protocolVersion")

    @property
    def progress_token(self) -> str | int | float | None:
        """What the client wants its reports of progress to name; `None` if it wants none."""
        token = self.meta.get(_PROGRESS)
        is_token = isinstance(token, str | int | float) and not isinstance(token, bool)
        return token if is_token else None

    @property
    def passed_meta(self) -> Mapping[str, Any]:
        """What is passed on of `_meta`: all that is not between the two ends of this one connection."""
        return {key: value for key, value in self.meta.items() if key != _PROGRESS and not key.startswith(META)}


_params = Decoder(Params)
_NO_PARAMS: Final = Params()


def read_params(raw: Raw) -> Params:
    """Read what came with a request. Raises: RpcError if it has the wrong shape."""
    if raw is ABSENT or bytes(raw) == b"null":
        return _NO_PARAMS
    try:
        return read_as(_params, raw)
    except DecodeError as error:
        raise RpcError(CLIENT, INVALID_PARAMS, f"Invalid params: {error}") from error
