"""The secrets that one server was given, kept out of whatever it says: errors, results, progress, logs, its offer."""

from collections.abc import Callable, Mapping

from msgspec import json
from msgspec.structs import replace

from mooring.core.protocol.offer import Offer
from mooring.core.protocol.request_metadata import NO_EXTRAS, CallExtras
from mooring.core.protocol.result import Progress, Result
from mooring.core.text.secret import redact, redact_error
from mooring.errors import ServerError
from mooring.servers.attempt import suggest_login
from mooring.servers.launch.prepare import Endpoint, Launch
from mooring.wire.session.answers import redact_result

_MOST_EARLIER = 100
"""How many secrets of earlier starts are remembered; some servers are given new ones each time."""


class GivenSecrets:
    """What a server was given by its definition and by a login; with each call comes what that brings along."""

    def __init__(self, server: str, logins: Mapping[str, tuple[str, ...]]) -> None:
        """`logins` are the tokens that each server is sent now."""
        self._server = server
        self._logins = logins
        self._given: tuple[str, ...] = ()
        self._endpoint: Endpoint | None = None

    def take(self, ready: Launch | Endpoint) -> None:
        """Note what is about to be started or reached."""
        # Another process of the server may have been given other ones before, and may still repeat them.
        earlier = [secret for secret in self._given if secret not in ready.secrets]
        self._given = (*ready.secrets, *earlier[:_MOST_EARLIER])
        self._endpoint = ready if isinstance(ready, Endpoint) else None

    @property
    def values(self) -> tuple[str, ...]:
        login = self._logins.get(self._server)
        return (*self._given, *login) if login else self._given

    def redact(self, text: str) -> str:
        """The same text without them."""
        return redact(text, self.values)

    def redact_error(self, error: ServerError, extras: CallExtras = NO_EXTRAS) -> ServerError:
        """The same error without them, and with what to do if the server wants a login."""
        redact_error(error, self._list_all(extras))
        if self._endpoint is not None:
            suggest_login(error, self._endpoint)
        return error

    def redact_failure(self, result: Result, extras: CallExtras) -> Result:
        """The same failure of a tool without them."""
        secrets = self._list_all(extras)
        return redact_result(result, secrets) if secrets else result

    def redact_progress(
        self, on_progress: Callable[[Progress], None], extras: CallExtras
    ) -> Callable[[Progress], None]:
        """The same listener, which is not told them."""

        def report(step: Progress) -> None:
            secrets = self._list_all(extras)
            if step.message and secrets:
                step = replace(step, message=redact(step.message, secrets))
            on_progress(step)

        return report

    def are_in(self, offer: Offer) -> bool:
        """Whether an offer repeats one of them."""
        secrets = self.values
        if not secrets:
            return False
        try:
            text = json.encode(offer).decode(errors="replace")
        except (TypeError, ValueError, RecursionError):
            return True  # it could not be kept either
        return any(secret in text for secret in secrets)

    def _list_all(self, extras: CallExtras) -> tuple[str, ...]:
        return self.values if extras.headers is None else (*extras.secrets, *self.values)
