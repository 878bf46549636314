"""What went wrong between us and a model, in one sentence, and whether it is worth another try."""

import re
import ssl
from collections.abc import Iterator
from typing import Any

import httpx2
from pydantic_ai import exceptions as library

from mooring.auth.oauth.metadata import is_loopback
from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.listing import list_models
from mooring.core.text.secret import list_secrets, redact
from mooring.core.text.suggestions import nearest
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded

FAILURES = (library.AgentRunError, library.UserError, httpx2.HTTPError, httpx2.StreamError)
"""What the libraries raise for a request that failed."""

LONGEST_REASON = 500
LISTING_SECONDS = 2.0
_MOST_WRAPPED = 5
"""How many objects around the message of an error are opened; providers use two."""
_OVERFLOW = re.compile(
    r"prompt is too long|context (?:length|window|size|limit)|maximum context|too many (?:input )?tokens"
    r"|input token count|number of tokens allowed|request_too_large",
    re.IGNORECASE,
)
"""How providers, and programs that run models on this machine, say that a request is too long."""


async def explain_failure(error: Exception, model: str, endpoint: ModelEndpoint) -> ModelError:
    """The error to raise in place of a library's."""
    reason = _find_reason(error, endpoint)
    if _is_overflow(error, reason):
        return ContextOverflow(model, f"it was sent more than fits into its window: {reason}")
    match error:
        case library.ModelAuthenticationError():
            return _explain_refused_key(model, reason, endpoint)
        case library.ModelNotFoundError():
            hint = await _suggest_model(model, endpoint)
            return ModelError(model, f"{_name(endpoint)} has no such model: {reason}", hint)
        case library.ModelQuotaExceededError():
            return ModelError(model, f"the quota or the credit of the account is used up: {reason}")
        case library.ModelRateLimitError():
            return ModelOverloaded(model, f"it was asked too often: {reason}", _find_wait(error))
        case library.ModelUnavailableError() | library.ModelServerError() | library.ModelRequestTimeout():
            return ModelOverloaded(model, f"{_name(endpoint)} cannot answer now: {reason}", _find_wait(error))
        case library.ModelConnectionError() | httpx2.HTTPError() | httpx2.StreamError():
            return _explain_lost(error, model, reason, endpoint)
        case _ if _is_unreadable(error):
            words = f"what {_name(endpoint)} answers is not the reply of a model; it may be a page to log in to."
            return ModelError(model, words, _suggest_address(endpoint))
        case _:
            return ModelError(model, reason)


def _is_overflow(error: Exception, reason: str) -> bool:
    if isinstance(error, library.ModelContextWindowExceededError):
        return True
    if not isinstance(error, library.ModelHTTPError):
        return False
    return error.status_code == 413 or (error.status_code in (400, 422, 500) and bool(_OVERFLOW.search(reason)))


def _is_unreadable(error: Exception) -> bool:
    """Whether the answer was a page, or anything else that no model sends."""
    # Its subclasses say what was wrong with a reply that could be read.
    if type(error) is library.UnexpectedModelBehavior:
        return True
    # Not JSON, in the words of three libraries.
    return any(isinstance(cause, ValueError) for cause in _causes(error))


def _explain_refused_key(model: str, reason: str, endpoint: ModelEndpoint) -> ModelError:
    if endpoint.key is None:
        return ModelError(model, f"{_name(endpoint)} wants a key: {reason}", _suggest_naming_key(endpoint))
    name = endpoint.key.name
    hint = f"`mooring secret set {name}` stores another; a variable of that name wins over it."
    return ModelError(model, f"{_name(endpoint)} refuses the key {name}: {reason}", hint)


def _suggest_address(endpoint: ModelEndpoint) -> str:
    variables = endpoint.provider.url_names
    if not variables:
        return "Check the address in the setting `models`."
    if endpoint.url.rstrip("/") == endpoint.provider.url.rstrip("/"):
        return "Open the address in a browser to see what answers there."
    return f"Check the address in {variables[0]}."


def _suggest_naming_key(endpoint: ModelEndpoint) -> str:
    names = endpoint.provider.key_names
    if names:
        return f"Store it with `mooring secret set {names[0]}`."
    return f"Give {endpoint.provider.word} a `key` in the setting `models`, and store it with `mooring secret set`."


async def _suggest_model(model: str, endpoint: ModelEndpoint) -> str:
    word, _, name = model.partition(":")
    known = await list_models(
        endpoint.provider.kind, endpoint.url, endpoint.key, LISTING_SECONDS, endpoint.network, endpoint.options
    )
    near = [f"-m {word}:{found}" for found in nearest(name, known)]
    return f"Did you mean {' or '.join(near)}?" if near else ""


def _explain_lost(error: Exception, model: str, reason: str, endpoint: ModelEndpoint) -> ModelError:
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error)):
        hint = '"network": {"ca": "FILE"} in your settings names an authority to trust.'
        return ModelError(model, f"{_name(endpoint)} shows a certificate that is not trusted: {reason}", hint)
    if getattr(error, "phase", None) != "connect":
        return ModelOverloaded(model, f"the connection to {_name(endpoint)} was lost: {reason}")
    if is_loopback(endpoint.url):
        # Nothing starts it by itself, so that there is no use in waiting.
        return ModelError(model, f"nothing answers at {_name(endpoint)}.", f"Is {endpoint.provider.word} running?")
    return ModelOverloaded(model, f"{_name(endpoint)} cannot be reached: {reason}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _name(endpoint: ModelEndpoint) -> str:
    return endpoint.address.name


def _find_reason(error: Exception, endpoint: ModelEndpoint) -> str:
    """What the provider says, in one line and without the key, which some repeat."""
    body = getattr(error, "body", None)
    reason = " ".join((_find_message(body) or str(error) or type(error).__name__).split())
    if endpoint.key is not None:
        reason = redact(reason, list_secrets([endpoint.key.value]))
    return reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}…"


def _find_message(body: Any) -> str | None:
    """The message in the body of an error, whoever wrote it."""
    for _ in range(_MOST_WRAPPED):
        if not isinstance(body, dict):
            return None
        body = body.get("error", body.get("message"))
        if isinstance(body, str):
            return body
    return None


def _find_wait(error: Exception) -> float | None:
    """How long the provider asks to wait, in seconds: in a header, or, as Google does, in the body."""
    wait = getattr(error, "retry_after", None)
    if wait is not None:
        return float(wait)
    told = re.search(r"'retryDelay': '([0-9.]+)s'", str(getattr(error, "body", "")))
    return float(told[1]) if told else None
