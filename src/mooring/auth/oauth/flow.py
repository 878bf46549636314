"""A whole login without I/O, step by step: find out where, become a client, get a token in the way that fits."""

from collections.abc import Callable, Generator
from time import time
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urldefrag

import msgspec
from msgspec import Struct

from mooring.auth.oauth.authorization import Authorization, check_callback, make_authorization, make_authorization_url
from mooring.auth.oauth.client import (
    DEVICE_GRANT,
    OAuthClient,
    authenticate,
    make_known_client,
    make_registration,
    read_registration,
)
from mooring.auth.oauth.exchange import JSON, LoginReply, LoginRequest, get_json, post_form, read_refusal
from mooring.auth.oauth.jwt import NONCE_HEADER, PROOF_HEADER, Prover, SigningKey, make_key
from mooring.auth.oauth.metadata import (
    IssuerMetadata,
    ResourceMetadata,
    check_issuer,
    check_pkce,
    check_resource,
    check_url,
    choose_scopes,
    find_origin,
    list_issuer_documents,
    list_resource_documents,
)
from mooring.auth.oauth.options import LoginOptions
from mooring.auth.oauth.token import (
    EXCHANGE_GRANT,
    ID_JAG,
    ID_TOKEN,
    JWT_BEARER_GRANT,
    DeviceCode,
    Token,
    fill_token,
    make_fields,
    read_device_code,
    read_token_reply,
)
from mooring.errors import GrantRefused, LoginFailed, LoginTimedOut, NoLoginFound
from mooring.wire.http.challenge import Challenge, parse_challenge

R = TypeVar("R")


class LoginPlan(Struct, frozen=True):
    """One login: at which server, as whom, and what is known from earlier."""

    server: str
    url: str
    options: LoginOptions = LoginOptions()
    challenge: Challenge | None = None
    """What the server said when it refused a request; if nobody has heard it yet, it is asked."""
    scopes: tuple[str, ...] = ()
    """Asked for in addition: what a refused request named."""
    held: tuple[str, ...] = ()
    """The scopes of the login so far, which more rights must not cost."""
    former_issuer: str = ""
    """Who gave the tokens so far."""
    client_metadata_url: str = ""
    """Where the document is that describes us, from the person's settings; its address is our client id."""
    without_browser: bool = False
    """No browser can come back to this machine: a code for another device is preferred where it is offered."""
    clock: Callable[[], float] = time

    @property
    def may_sign(self) -> bool:
        """Whether something is likely to be signed on the way."""
        wants_proofs = self.challenge is not None and self.challenge.scheme.lower() == "dpop"
        return wants_proofs or bool(self.options.private_key)


class FindClient(Struct, frozen=True):
    """Answered with the client that was registered with this issuer before, or `None`."""

    issuer: str


class Listen(Struct, frozen=True):
    """Answered with the address that the browser is to be sent back to; `preferred` is the one of the last login."""

    preferred: str


class Browse(Struct, frozen=True):
    """Send the person to a page; answered with the query that their browser came back with."""

    url: str
    authorization: Authorization

    def __repr__(self) -> str:
        return f"<Browse {self.authorization.issuer}>"


class ShowCode(Struct, frozen=True):
    """Show the person a code to enter on any device. Not waited for."""

    issuer: str
    code: DeviceCode


class Confirm(Struct, frozen=True):
    """A server whose tokens came from one issuer names another now. Answered if the person agrees, else not at all."""

    issuer: str
    former: str


class Pause(Struct, frozen=True):
    """Wait before the next request."""

    seconds: float


class Note(Struct, frozen=True):
    """Something that the person may want to know."""

    text: str


LoginStep: TypeAlias = LoginRequest | FindClient | Listen | Browse | ShowCode | Confirm | Pause | Note
Flow: TypeAlias = Generator[LoginStep, Any, R]
"""A part of a login: it yields what it needs, and returns what came of it."""


T = TypeVar("T", ResourceMetadata, IssuerMetadata)

_PROBE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "mooring", "version": "1"}},
}


class Discovery(Struct, frozen=True):
    """Where to log in."""

    challenge: Challenge
    resource: str
    """What the token is for, byte for byte as the server names it."""
    resource_metadata: ResourceMetadata | None
    issuer: IssuerMetadata
    document_url: str = ""
    """Where the issuer's metadata was read, if the definition said where; else the issuer itself was asked."""

    def is_at_issuer(self, endpoint: str) -> bool:
        """Whether an endpoint is the issuer's, by its address or by the issuer's own word.

        Anybody's document can name any issuer. What is signed for that issuer would then go to whoever wrote it.
        """
        origin = find_origin(self.issuer.issuer)
        return not self.document_url or origin in (find_origin(self.document_url), find_origin(endpoint))

    @property
    def wants_dpop(self) -> bool:
        """Whether the server wants tokens that are bound to a key."""
        required = self.resource_metadata is not None and self.resource_metadata.dpop_bound_access_tokens_required
        return bool(required) or self.challenge.scheme.lower() == "dpop"


def discover(plan: LoginPlan) -> Flow[Discovery]:
    """Ask the server, then the issuer. Raises: LoginFailed."""
    check_url(plan.url, plan.url)
    challenge = plan.challenge or (yield from _probe(plan))
    resource_metadata = yield from _find_resource_metadata(plan, challenge)
    if resource_metadata is None:
        # Before 2025-06-18 a server was its own authorization server, and said nothing of resources.
        issuer, resource = find_origin(plan.url), urldefrag(plan.url).url
    else:
        check_resource(resource_metadata, plan.url)
        issuer, resource = _choose_issuer(resource_metadata, plan), resource_metadata.resource
    metadata = yield from _find_issuer_metadata(plan, issuer)
    resource = plan.options.resource or resource
    return Discovery(challenge, resource, resource_metadata, metadata, plan.options.metadata_url)


def _probe(plan: LoginPlan) -> Flow[Challenge]:
    """What the server says to a request without a token."""
    headers = {"Accept": f"{JSON}, text/event-stream", "Content-Type": JSON}
    probe = LoginRequest("POST", plan.url, headers, msgspec.json.encode(_PROBE), head_only=True)
    reply: LoginReply = yield probe
    return parse_challenge([reply.headers.get("www-authenticate", "")])


def _find_resource_metadata(plan: LoginPlan, challenge: Challenge) -> Flow[ResourceMetadata | None]:
    for url in list_resource_documents(plan.url, challenge["resource_metadata"]):
        found = yield from _fetch(url, ResourceMetadata)
        if found is not None and found.resource:
            return found
    return None


def _choose_issuer(metadata: ResourceMetadata, plan: LoginPlan) -> str:
    """The issuer of the login so far if the server still names it, else the first."""
    offered = metadata.authorization_servers or (find_origin(plan.url),)
    return plan.former_issuer if plan.former_issuer in offered else offered[0]


def _find_issuer_metadata(plan: LoginPlan, issuer: str) -> Flow[IssuerMetadata]:
    if plan.options.metadata_url:
        check_url(plan.options.metadata_url, plan.url)
        metadata = yield from _fetch(plan.options.metadata_url, IssuerMetadata)
        if metadata is None or not metadata.issuer:
            raise NoLoginFound(plan.server)
        return metadata
    check_url(issuer, plan.url)
    for url in list_issuer_documents(issuer):
        metadata = yield from _fetch(url, IssuerMetadata)
        if metadata is not None:
            remark = check_issuer(metadata, issuer)
            if remark:
                yield Note(remark)
            return metadata
    raise NoLoginFound(plan.server)


def _fetch(url: str, kind: type[T]) -> Flow[T | None]:
    """A document, or `None` if there is none at this place."""
    reply: LoginReply = yield get_json(url)
    if reply.status != 200:
        return None
    try:
        return msgspec.json.decode(reply.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Sites that are one page answer every address with it.
        return None


_SLOWER = 5.0
"""How many seconds `slow_down` adds to the pause between two looks (RFC 8628, section 3.5)."""
_SHORTEST_PAUSE = 1.0
_NONCES = 3
"""How often a token endpoint is asked that wants another nonce each time."""


def log_in(plan: LoginPlan) -> Flow[Token]:
    """Everything from the server's URL to a token. Raises: LoginFailed."""
    if not plan.options.enabled:
        raise LoginFailed(f"the definition of {plan.server} says `oauth: false`, so nothing was tried")
    found = yield from discover(plan)
    if plan.former_issuer and found.issuer.issuer != plan.former_issuer:
        yield Confirm(found.issuer.issuer, plan.former_issuer)
    return (yield from _Login(plan, found).run())


def refresh(token: Token, private_key: str, clock: Callable[[], float] = time) -> Flow[Token]:
    """A new token for a stale one, by one request. Raises: GrantRefused, LoginFailed."""
    fields = make_fields(token.resource, grant_type="refresh_token", refresh_token=token.refresh)
    return (yield from _request_token(token, fields, private_key, clock))


def revoke(token: Token, private_key: str) -> Flow[bool]:
    """Give a token back; whether the server took it. The refresh token first: with it go the others."""
    if not token.revocation:
        return False
    key = SigningKey(private_key) if private_key else None
    taken = True
    for text, hint in ((token.refresh, "refresh_token"), (token.access, "access_token")):
        if text:
            # RFC 7009, section 2.1.
            headers, fields = authenticate(token.client, {"token": text, "token_type_hint": hint}, key, time())
            reply: LoginReply = yield post_form(token.revocation, fields, headers)
            taken = taken and reply.status < 300
    return taken


class _Login:
    """One login, once it is known where."""

    def __init__(self, plan: LoginPlan, found: Discovery) -> None:
        self._plan = plan
        self._found = found
        self._metadata = found.issuer
        options = plan.options
        challenged = (*found.challenge["scope"].split(), *plan.scopes)
        self._scopes = choose_scopes(options.scopes, challenged, found.resource_metadata, self._metadata, plan.held)
        self._endpoint = self._check(self._metadata.token_endpoint, "token")

    def run(self) -> Flow[Token]:
        """A token in the way that the definition asks for, or that the issuer offers."""
        options = self._plan.options
        if options.id_token:
            return (yield from self._with_identity_provider())
        if options.assertion:
            return (yield from self._with_assertion(options.assertion))
        if options.grant == "client_credentials":
            return (yield from self._as_client())
        if self._plan.without_browser and self._offers_device_codes():
            return (yield from self._on_other_device())
        return (yield from self._in_browser())

    # --- in a browser -------------------------------------------------------------------------------------------------

    def _in_browser(self) -> Flow[Token]:
        if not self._plan.options.assumes_pkce:
            check_pkce(self._metadata)
        page = self._check(self._metadata.authorization_endpoint, "authorization")
        known = None if self._plan.options.client_id else (yield FindClient(self._metadata.issuer))
        redirect_uri: str = yield Listen(known.redirect_uri if known else "")
        client = yield from self._become_client(known, redirect_uri)
        resource = self._found.resource
        authorization = make_authorization(self._metadata, client, redirect_uri, resource, self._scopes)
        query: str = yield Browse(make_authorization_url(authorization, page), authorization)
        fields = make_fields(
            resource,
            grant_type="authorization_code",
            code=check_callback(authorization, query),
            redirect_uri=redirect_uri,
            code_verifier=authorization.verifier,
        )
        return (yield from self._request(fields, client))

    def _become_client(self, known: OAuthClient | None, redirect_uri: str) -> Flow[OAuthClient]:
        """The client of the definition, of our own document, of an earlier login, or a new one, in this order."""
        options, metadata = self._plan.options, self._metadata
        if options.client_id:
            return self._make_named_client()
        document = self._plan.client_metadata_url
        if document and metadata.client_id_metadata_document_supported:
            return make_known_client(metadata, document)
        if known is not None and known.is_usable(metadata.issuer, redirect_uri, self._plan.clock()):
            return known
        if not metadata.registration_endpoint:
            raise LoginFailed(
                f"{metadata.issuer} registers no clients by itself: ask it for a client id, "
                "and write it as `oauth.clientId` in the server's definition"
            )
        endpoint = self._check(metadata.registration_endpoint, "registration")
        reply: LoginReply = yield make_registration(metadata, endpoint, redirect_uri, self._scopes)
        return read_registration(reply, metadata, endpoint, redirect_uri)

    # --- on another device --------------------------------------------------------------------------------------------

    def _offers_device_codes(self) -> bool:
        grants = self._metadata.grant_types_supported
        is_listed = grants is None or DEVICE_GRANT in grants
        return bool(self._metadata.device_authorization_endpoint) and is_listed

    def _on_other_device(self) -> Flow[Token]:
        endpoint = self._check(self._metadata.device_authorization_endpoint, "device")
        known = None if self._plan.options.client_id else (yield FindClient(self._metadata.issuer))
        redirect_uri: str = yield Listen(known.redirect_uri if known else "")
        client = yield from self._become_client(known, redirect_uri)
        resource = self._found.resource
        reply: LoginReply = yield post_form(endpoint, make_fields(resource, self._scopes, client_id=client.id))
        code = read_device_code(reply, endpoint)
        for page in (code.verification_uri, code.verification_uri_complete):
            if page is not None:
                check_url(page, self._plan.url)
        yield ShowCode(self._metadata.issuer, code)
        fields = make_fields(resource, grant_type=DEVICE_GRANT, device_code=code.device_code)
        until = self._plan.clock() + code.expires_in
        pause = max(code.interval, _SHORTEST_PAUSE)
        while self._plan.clock() < until:
            yield Pause(pause)
            try:
                return (yield from self._request(fields, client))
            except GrantRefused as refused:
                if refused.error not in ("authorization_pending", "slow_down"):
                    raise
                pause += _SLOWER if refused.error == "slow_down" else 0.0
        raise LoginTimedOut

    # --- without a person ---------------------------------------------------------------------------------------------

    def _as_client(self) -> Flow[Token]:
        fields = make_fields(self._found.resource, self._scopes, grant_type="client_credentials")
        return (yield from self._request(fields, self._make_named_client()))

    def _with_assertion(self, assertion: str) -> Flow[Token]:
        resource = self._found.resource
        fields = make_fields(resource, self._scopes, grant_type=JWT_BEARER_GRANT, assertion=assertion)
        return (yield from self._request(fields, self._make_named_client()))

    def _with_identity_provider(self) -> Flow[Token]:
        options = self._plan.options
        check_url(options.idp_token_endpoint, self._plan.url)
        self._require_issuer()
        # The login at a company's identity provider becomes a statement for one issuer (RFC 8693, ID-JAG).
        fields = make_fields(
            self._found.resource,
            self._scopes,
            grant_type=EXCHANGE_GRANT,
            requested_token_type=ID_JAG,
            subject_token=options.id_token,
            subject_token_type=ID_TOKEN,
            audience=self._metadata.issuer,
        )
        if options.idp_client_id:
            fields["client_id"] = options.idp_client_id
        reply: LoginReply = yield post_form(options.idp_token_endpoint, fields)
        statement = read_token_reply(reply, options.idp_token_endpoint)
        return (yield from self._with_assertion(statement.access_token))

    # --- what all have in common --------------------------------------------------------------------------------------

    def _make_named_client(self) -> OAuthClient:
        options = self._plan.options
        if not options.client_id:
            raise LoginFailed(f"the definition of {self._plan.server} has no `oauth.clientId`, which this login needs")
        return make_known_client(
            self._metadata, options.client_id, options.client_secret, has_key=bool(options.private_key)
        )

    def _require_issuer(self) -> None:
        """See that a statement for the issuer goes to the issuer. Raises: LoginFailed."""
        if not self._found.is_at_issuer(self._endpoint):
            raise LoginFailed(
                f"{self._found.document_url} names the issuer {self._metadata.issuer}, but what is signed for it would "
                f"go to {self._endpoint}, so nothing was signed; write the issuer's own document as "
                "`oauth.authServerMetadataUrl`"
            )

    def _request(self, fields: dict[str, str], client: OAuthClient) -> Flow[Token]:
        plan = self._plan
        if plan.options.private_key:
            self._require_issuer()
        wanted = Token(
            access="",
            type="Bearer",
            client=client,
            resource=self._found.resource,
            endpoint=self._endpoint,
            scopes=self._scopes,
            revocation=self._find_revocation(),
            key=make_key().text if self._found.wants_dpop else "",
        )
        return (yield from _request_token(wanted, fields, plan.options.private_key, plan.clock))

    def _find_revocation(self) -> str:
        endpoint = self._metadata.revocation_endpoint or ""
        is_signed_for = bool(endpoint and self._plan.options.private_key)
        return "" if is_signed_for and not self._found.is_at_issuer(endpoint) else endpoint

    def _check(self, url: str | None, what: str) -> str:
        """The URL of an endpoint that can be used. Raises: LoginFailed."""
        if not url:
            raise LoginFailed(f"{self._metadata.issuer} names no {what} endpoint")
        check_url(url, self._plan.url)
        return url


def _request_token(asked: Token, fields: dict[str, str], private_key: str, clock: Callable[[], float]) -> Flow[Token]:
    """Ask for a token; again only if its endpoint wants its nonce in the proof. Raises: GrantRefused, LoginFailed."""
    key = SigningKey(private_key) if private_key else None
    prover = Prover(SigningKey(asked.key)) if asked.key else None
    headers, fields = authenticate(asked.client, fields, key, clock())
    for _ in range(_NONCES):
        if prover is not None:
            headers = {**headers, PROOF_HEADER: prover.prove("POST", asked.endpoint, clock())}
        reply: LoginReply = yield post_form(asked.endpoint, fields, headers)
        nonce = reply.headers.get(NONCE_HEADER, "")
        wants_nonce = read_refusal(reply).error == "use_dpop_nonce"
        # Only a nonce that was not sent yet is worth another request.
        if prover is None or not wants_nonce or not prover.store_nonce(asked.endpoint, nonce):
            break
    return fill_token(asked, read_token_reply(reply, asked.endpoint), clock())
