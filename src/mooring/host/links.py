"""Links to resources in results, as one client is shown them: each says which server it belongs to.

A server can give any address to what it links to, also one that another server has. So the address alone never decides
who is asked for it.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import blake2b
from hmac import compare_digest
from typing import Final, TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder, encode

from mooring.conversation.resource_tools import ResourceLinks
from mooring.core.protocol.content import Block, Other, ResourceLink
from mooring.core.protocol.raw import PARTS, read_parts
from mooring.core.protocol.result import FilledPrompt, Result
from mooring.host.exposed_names import qualify_address, split_address

_SEAL_BYTES: Final = 15
_SEAL: Final = "~"
"""What a seal begins with. No scheme of an address does."""
_WEB: Final = ("http://", "https://")
"""Addresses that clients fetch by themselves."""

_ShowLink: TypeAlias = Callable[[str], str]
_Rewrite: TypeAlias = Callable[[Raw, _ShowLink], Raw]
_raws: Final = Decoder(list[Raw])


class FoundAddress(Struct, frozen=True):
    """The server that has a resource, its address there, and whether that server named it to this client."""

    server: str
    uri: str
    is_linked: bool = False


class ServedLinks:
    """The links that one client was given.

    Requests of the stateless era don't say which client they are from. There each link carries a seal, and only those
    who were given it can use it.
    """

    def __init__(self, seal_key: bytes | None = None) -> None:
        """`seal_key` is for the stateless era; without it, there is one client, and its links are remembered."""
        self._key = seal_key
        self._named = ResourceLinks()

    def show_result(self, server: str, result: Result, raw: Raw) -> Raw:
        """The result of a tool for the client, with its links rewritten. They are the client's from now on."""
        return self._show_links(server, result.content, raw, "content", _rewrite_block)

    def show_prompt(self, server: str, filled: FilledPrompt, raw: Raw) -> Raw:
        """The same for a prompt."""
        blocks = tuple(message.content for message in filled.messages)
        return self._show_links(server, blocks, raw, "messages", _rewrite_message)

    def _show_links(self, server: str, blocks: tuple[Block, ...], raw: Raw, key: str, rewrite: _Rewrite) -> Raw:
        if self._key is None:
            self._named.note(server, Result(blocks))
        if not any(map(_may_be_link, blocks)):
            return raw
        show = partial(self._show, server)
        return _rewrite_all(raw, key, lambda each: rewrite(each, show))

    def find(self, address: str, servers: Iterable[str]) -> FoundAddress | None:
        """What an address of ours stands for; `None` if it is not one."""
        found = split_address(address, servers)
        if found is None:
            return None
        server, uri = found
        if uri.startswith(_SEAL) and self._key is not None:
            seal, _, sealed = uri.partition("/")
            if compare_digest(seal.encode(), self._make_seal(server, sealed).encode()):
                return FoundAddress(server, sealed, is_linked=True)
        return FoundAddress(server, uri, self.has(server, uri))

    def has(self, server: str, uri: str) -> bool:
        """Whether this client, and no other, was given a link of a server to its address."""
        return self._named.has(server, uri)

    def _show(self, server: str, uri: str) -> str:
        return qualify_address(server, uri if self._key is None else f"{self._make_seal(server, uri)}/{uri}")

    def _make_seal(self, server: str, uri: str) -> str:
        assert self._key is not None, "only links of the stateless era are sealed"
        text = f"{server}\0{uri}".encode(errors="surrogatepass")
        digest = blake2b(text, digest_size=_SEAL_BYTES, key=self._key).digest()
        return _SEAL + urlsafe_b64encode(digest).decode()


class OwnLinks(ServedLinks):
    """The same for a client that sees a single server: links stay what they are."""

    def show_result(self, server: str, result: Result, raw: Raw) -> Raw:
        self._named.note(server, result)
        return raw

    def show_prompt(self, server: str, filled: FilledPrompt, raw: Raw) -> Raw:
        return raw


def _may_be_link(block: Block) -> bool:
    # A link with a field of the wrong type is not read as one here, but may be by the client.
    return isinstance(block, ResourceLink | Other)


def _rewrite_all(raw: Raw, key: str, change: Callable[[Raw], Raw]) -> Raw:
    """The same answer with every element of one of its lists changed."""
    return _rewrite_part(raw, key, lambda items: Raw(encode([change(each) for each in read_parts(_raws, items)])))


def _rewrite_message(message: Raw, show: _ShowLink) -> Raw:
    return _rewrite_part(message, "content", lambda block: _rewrite_block(block, show))


def _rewrite_part(raw: Raw, key: str, change: Callable[[Raw], Raw]) -> Raw:
    try:
        parts = read_parts(PARTS, raw)
        parts[key] = change(parts[key])
    except (DecodeError, KeyError):
        # It has no such part, so that there are no links in it either.
        return raw
    return Raw(encode(parts))


class _LinkHead(Struct):
    type: str = ""
    uri: str = ""


_link_head: Final = Decoder(_LinkHead)


def _rewrite_block(block: Raw, show: _ShowLink) -> Raw:
    try:
        head = read_parts(_link_head, block)
    except DecodeError:
        return block
    if head.type != "resource_link" or head.uri.lower().startswith(_WEB):
        return block
    parts = read_parts(PARTS, block)
    return Raw(encode({**parts, "uri": show(head.uri)}))
