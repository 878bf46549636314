"""Results on their way to a client, with what its era demands of them."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.protocol.raw import PARTS, read_parts
from mooring.errors import RpcError
from mooring.serve.params import CLIENT
from mooring.wire.rpc.message import INTERNAL_ERROR

UNCACHED: Final = {"ttlMs": 0, "cacheScope": "private"}
"""Nothing is to be kept: what the servers have may change at any time, and changes are announced to who listens."""
_CACHEABLE: Final = ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read")
_COMPLETE: Final = {"resultType": "complete"}


class _Failure(Struct, rename="camel"):
    is_error: bool = False


_failure = Decoder(_Failure)


def complete_result(method: str, result: Any) -> Any:
    """The same result with what the stateless era demands of it; a server of this era has said it itself."""
    demanded = {**_COMPLETE, **UNCACHED} if method in _CACHEABLE else _COMPLETE
    return {**demanded, **_split(result)}


def add_meta(result: Any, meta: Mapping[str, Any]) -> dict[str, Any]:
    """The same result with more keys in its `_meta`."""
    parts = _split(result)
    known = parts.get("_meta")
    return {**parts, "_meta": {**(_split(known) if known else {}), **meta}}


def is_failure(result: Any) -> bool:
    """Whether a tool says that it failed."""
    if isinstance(result, Raw):
        try:
            return read_parts(_failure, result).is_error
        except DecodeError:
            return False
    return bool(result.get("isError"))


def _split(result: Any) -> Mapping[str, Any]:
    """The parts of a result, which stay bytes if they are. Raises: RpcError."""
    if not isinstance(result, Raw):
        found: Mapping[str, Any] = result
        return found
    try:
        return read_parts(PARTS, result)
    except DecodeError as error:
        raise RpcError(CLIENT, INTERNAL_ERROR, "The server's answer cannot be read") from error
