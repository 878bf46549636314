"""What a protocol adds to JSON-RPC: its notifications, its progress, its cancellation."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from msgspec import Raw

from mooring.core.protocol.limits import Limits
from mooring.wire.rpc.anomalies import Anomalies
from mooring.wire.rpc.message import Notification

RequestId: TypeAlias = int | str | float
"""An id that the other side chose; JSON-RPC allows it a string or any number."""
OnProgress: TypeAlias = Callable[[Any], None]
"""Called with each step of a request's progress, as its protocol describes steps."""


class DialectConnection(Protocol):
    """What a dialect may do with the peer that speaks it."""

    limits: Limits
    anomalies: Anomalies

    def new_key(self) -> int:
        """An id that no request has used."""

    def prolong(self, key: int) -> OnProgress | None:
        """Restart the idle time of a request of ours; returns who wants to know of its progress."""

    def cancel_answer(self, key: object) -> None:
        """Stop the answer to a request that the other side took back."""


class ProtocolDialect:
    """Plain JSON-RPC. A protocol overrides what it has words for; one dialect serves one peer."""

    immediate_results: Mapping[str, Any] = {}
    """By method, the results of requests that every peer answers immediately, by itself."""
    uncancellable: frozenset[str] = frozenset()
    """The methods of requests that cannot be taken back."""

    def start(self, connection: DialectConnection) -> None:
        """Get to know the peer, before anything arrives."""

    def receive_notification(self, method: str, params: Raw) -> None:
        """Handle a notification. It must not wait and not fail: the reader calls it."""

    def add_progress_token(self, params: Any, key: int) -> Any:
        """The parameters of a request, with the wish for progress; they may be changed in place."""
        return params

    def make_cancellation(self, key: int, reason: str) -> Notification | None:
        """What takes back the request with this id; `None` where nothing does."""
        return None

    def close(self) -> None:
        """Pass nothing on from now on."""
