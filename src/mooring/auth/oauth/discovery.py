"""Finds out where to log in: the server's challenge, its metadata, and that of the issuer it names."""

from typing import TypeVar
from urllib.parse import urldefrag

import msgspec
from msgspec import Struct

from mooring.auth.oauth.exchange import JSON, LoginReply, LoginRequest, get_json
from mooring.auth.oauth.metadata import (
    IssuerMetadata,
    ResourceMetadata,
    check_issuer,
    check_resource,
    check_url,
    find_origin,
    list_issuer_documents,
    list_resource_documents,
)
from mooring.auth.oauth.plan import LoginPlan
from mooring.auth.oauth.steps import Flow, Note
from mooring.errors import NoLoginFound
from mooring.wire.http.challenge import Challenge, parse_challenge

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
