"""What went wrong between us and a model, in one sentence, and whether it is worth another try."""

import re
import ssl
from collections.abc import Iterator

from mooring.auth.oauth.metadata import is_loopback
from mooring.backends.api.codecs.codec import BrokenReply, NoReply
from mooring.backends.api.codecs.refusal import FLAGGED, ApiRefusal
from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.listing import list_models
from mooring.core.text.secret import list_secrets, redact
from mooring.core.text.suggestions import nearest
from mooring.display.text import end_sentence
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded
from mooring.wire.http.refusal import describe_error

LONGEST_REASON = 500
LISTING_SECONDS = 2.0
_OVERFLOW = re.compile(
    r"prompt is too long|context (?:length|window|size|limit)|maximum context|too many (?:input )?tokens"
    r"|input token count|number of tokens allowed|request_too_large",
    re.IGNORECASE,
)
"""How providers, and programs that run models on this machine, say that a request is too long."""
_CREDIT = re.compile(r"credit balance is too low|insufficient (?:quota|credits|balance)", re.IGNORECASE)
_KEY = re.compile(r"API key not valid|API_KEY_INVALID|API key expired", re.IGNORECASE)
"""How Google says it, with the status 400."""

_KEY_WORDS = frozenset({"authentication_error", "invalid_api_key", "UNAUTHENTICATED", "API_KEY_INVALID"})
_MODEL_WORDS = frozenset({"not_found_error", "model_not_found", "NOT_FOUND"})
_QUOTA_WORDS = frozenset({
    "insufficient_quota", "billing_error", "billing_not_active", "billing_hard_limit_reached",
    "credit_balance_exhausted", "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
})  # fmt: skip
_OVERFLOW_WORDS = frozenset({"context_length_exceeded", "request_too_large"})
_OFTEN_WORDS = frozenset({
    "rate_limit_error", "rate_limit_exceeded", "too_many_requests", "RESOURCE_EXHAUSTED", "tokens", "requests",
})  # fmt: skip
_BUSY_WORDS = frozenset({
    "api_error", "overloaded_error", "overloaded", "server_is_overloaded", "timeout_error", "server_error",
    "internal_server_error", "service_unavailable", "service_unavailable_error", "vector_store_timeout",
    "INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED",
})  # fmt: skip


_FLAGGED_WORDS = frozenset({
    FLAGGED, "content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation", "bio_policy",
    "misalignment_policy_violation", "image_content_policy_violation",
})  # fmt: skip
"""Those of moderation: OpenRouter's, Azure's, and OpenAI's own."""


class Unreachable(Exception):
    """There is no way to the endpoint, or the connection broke before it answered."""

    def __init__(self, error: BaseException, *, is_connected: bool = False, proxy: str = "") -> None:
        super().__init__(describe_error(error))
        causes = list(_causes(error))
        self.is_connected = is_connected
        self.proxy = proxy
        """The proxy that leads no further, without its password."""
        self.status: int | None = getattr(error, "status", None)
        """What that proxy answered, if it did."""
        self.is_refused = any(isinstance(cause, ConnectionRefusedError) for cause in causes)
        # The innermost: aiohttp's own around it lack the number of the reason.
        self.tls = next((cause for cause in reversed(causes) if isinstance(cause, ssl.SSLError)), None)


FAILURES = (ApiRefusal, Unreachable, BrokenReply, NoReply)
"""What a request for a reply raises."""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


async def explain_failure(error: Exception, model: str, endpoint: ModelEndpoint) -> ModelError:
    """The error to raise for one of `FAILURES`."""
    match error:
        case ApiRefusal():
            return await _explain_refusal(error, model, endpoint)
        case Unreachable():
            return _explain_unreachable(error, model, endpoint)
        case BrokenReply():
            reason = f": {_shorten(str(error), endpoint)}" if str(error) else "."
            return ModelOverloaded(model, end_sentence(f"the reply broke off before its end{reason}"))
        case _:
            words = f"what {_name(endpoint)} answers is not the reply of a model; it may be a page to log in to."
            return ModelError(model, words, _suggest_address(endpoint))


async def _explain_refusal(refusal: ApiRefusal, model: str, endpoint: ModelEndpoint) -> ModelError:
    reason = end_sentence(_shorten(refusal.message, endpoint) or "it gives no reason")
    status, words = refusal.status, refusal.words
    if status is not None and 300 <= status < 400:
        return ModelError(model, f"{_name(endpoint)} {reason}", _suggest_address(endpoint))
    if _is_overflow(refusal):
        return ContextOverflow(model, f"it was sent more than fits into its window: {reason}")
    if status == 402 or words & _QUOTA_WORDS or _CREDIT.search(refusal.message):
        hint = "Raise it where you have the account, or choose another model with -m."
        return ModelError(model, f"the quota or the credit of the account is used up: {reason}", hint)
    if words & _FLAGGED_WORDS:
        return ModelError(model, f"the request was flagged: {reason}")
    if status == 403 and words & _MODEL_WORDS:
        # The key is one, of a project that may not use this model.
        return ModelError(model, f"{_name(endpoint)} does not give you this model: {reason}")
    if status == 403 and "unsupported_country_region_territory" in words:
        return ModelError(model, f"{_name(endpoint)} refuses requests from where you are: {reason}")
    if status in (401, 403) or words & _KEY_WORDS or (status == 400 and _KEY.search(refusal.message)):
        return _explain_refused_key(model, reason, endpoint)
    if status in (405, 501):
        return ModelError(model, f"{_name(endpoint)} has no models: {reason}", _suggest_address(endpoint))
    if status == 404 or words & _MODEL_WORDS:
        return await _explain_missing(refusal, model, reason, endpoint)
    if refusal.is_final:
        return ModelError(model, reason)
    if status == 429 or words & _OFTEN_WORDS:
        return ModelOverloaded(model, f"it was asked too often: {reason}", refusal.wait)
    if status in (408, 409, 425) or (status or 0) >= 500 or words & _BUSY_WORDS:
        return ModelOverloaded(model, f"{_name(endpoint)} cannot answer now: {reason}", refusal.wait)
    return ModelError(model, reason)


async def _explain_missing(refusal: ApiRefusal, model: str, reason: str, endpoint: ModelEndpoint) -> ModelError:
    """For what is not there: the model, or the address itself, of which every program has words of its own."""
    if hint := await _suggest_model(model, endpoint):
        return ModelError(model, f"{_name(endpoint)} has no such model: {reason}", hint)
    if "model" in refusal.message.lower() or "model_not_found" in refusal.words:
        return ModelError(model, f"{_name(endpoint)} has no such model: {reason}")
    return ModelError(model, f"{_name(endpoint)} does not have what it was asked for: {reason}", _suggest_own(endpoint))


def _is_overflow(refusal: ApiRefusal) -> bool:
    if refusal.words & _OVERFLOW_WORDS or refusal.status == 413:
        return True
    return refusal.status in (None, 400, 422, 500) and bool(_OVERFLOW.search(refusal.message))


def _explain_refused_key(model: str, reason: str, endpoint: ModelEndpoint) -> ModelError:
    if endpoint.key is None:
        return ModelError(model, f"{_name(endpoint)} wants a key: {reason}", _suggest_naming_key(endpoint))
    name = endpoint.key.name
    hint = f"`mooring secret set {name}` stores another; a variable of that name wins over it."
    return ModelError(model, f"{_name(endpoint)} refuses the key {name}: {reason}", hint)


def _explain_unreachable(error: Unreachable, model: str, endpoint: ModelEndpoint) -> ModelError:
    reason = end_sentence(str(error))
    if error.proxy:
        return _explain_proxy(error, model, reason, endpoint)
    if isinstance(error.tls, ssl.SSLCertVerificationError):
        words = f"{_name(endpoint)} shows a certificate that is not trusted: {reason}"
        return ModelError(model, words, _suggest_trust(error.tls, endpoint))
    if error.is_connected:
        return ModelOverloaded(model, f"the connection to {_name(endpoint)} was lost: {reason}")
    if error.is_refused and is_loopback(endpoint.url):
        # Nothing starts it by itself, so that there is no use in waiting.
        return ModelError(model, f"nothing answers at {_name(endpoint)}.", _suggest_starting(endpoint))
    words = f"{_name(endpoint)} cannot be reached: {reason}"
    if error.tls is not None:
        return ModelError(model, words, _suggest_own(endpoint))
    return ModelOverloaded(model, words, hint=_suggest_own(endpoint))


def _explain_proxy(error: Unreachable, model: str, reason: str, endpoint: ModelEndpoint) -> ModelError:
    """Where a proxy is the reason; what it cannot do now, it may be able to do later."""
    place = "the setting `network`" if endpoint.options.proxy else "HTTPS_PROXY or ALL_PROXY"
    hint = f"Check the proxy in {place}."
    if error.status is None:
        words = f"the proxy {error.proxy} cannot be reached: {reason}"
        is_lasting = error.is_refused and is_loopback(error.proxy)
    else:
        words = f"{_name(endpoint)} cannot be reached: {reason}"
        is_lasting = error.status < 500
    return ModelError(model, words, hint) if is_lasting else ModelOverloaded(model, words, hint=hint)


_UNKNOWN_AUTHORITY = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's numbers for a certificate that nobody who is known vouches for."""
_OTHER_NAME = frozenset({62, 64})


def _suggest_trust(error: ssl.SSLCertVerificationError, endpoint: ModelEndpoint) -> str:
    if error.verify_code in _UNKNOWN_AUTHORITY:
        return '"network": {"ca": "FILE"} in your settings names an authority to trust.'
    return _suggest_own(endpoint) if error.verify_code in _OTHER_NAME else ""


def _suggest_starting(endpoint: ModelEndpoint) -> str:
    if endpoint.provider.needs_key or not endpoint.provider.url_names:
        return _suggest_address(endpoint)
    return f"Is {endpoint.provider.word} running?"


def _suggest_address(endpoint: ModelEndpoint) -> str:
    return _suggest_own(endpoint) or "Open the address in a browser to see what answers there."


def _suggest_own(endpoint: ModelEndpoint) -> str:
    """Where to change an address that the user chose; empty for the provider's own."""
    if not endpoint.provider.url_names:
        return "Check the address in the setting `models`."
    return f"Check the address in {endpoint.url_name}." if endpoint.url_name else ""


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


def _name(endpoint: ModelEndpoint) -> str:
    return endpoint.address.name


def _shorten(message: str, endpoint: ModelEndpoint) -> str:
    """What the provider says, in one line and without the key, which some repeat."""
    if endpoint.key is not None:
        # Before it is cut: half a key would stay.
        message = redact(message, list_secrets([endpoint.key.value]))
    reason = " ".join(message[: 4 * LONGEST_REASON].split())
    return reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}…"
