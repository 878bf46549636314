"""What a server says about itself when a connection opens."""

from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field

EraName: TypeAlias = Literal["handshake", "stateless"]
"""The two eras of the protocol: up to 2025-11-25, and from 2026-07-28 on."""


class EraHint(Struct, frozen=True):
    """Which era to try first with a server that may speak both."""

    preferred: EraName = "stateless"
    refused: EraName | None = None
    """The era that the server was found not to speak."""

    @property
    def first(self) -> EraName:
        """The preferred era, unless the server refused it."""
        if self.refused != self.preferred:
            return self.preferred
        return "handshake" if self.refused == "stateless" else "stateless"

    @property
    def is_only(self) -> bool:
        """Whether the first era to try is the only one that is left."""
        return self.refused is not None

    def find_refused(self, spoken: EraName) -> EraName | None:
        """The era that a server refuses, now that it speaks this one."""
        if spoken != self.first:
            return self.first
        return self.refused


NO_HINT: Final = EraHint()


class Implementation(Struct, frozen=True, rename="camel"):
    """The name and version of a program."""

    name: str = ""
    version: str = ""
    title: str | None = None
    website_url: str | None = None


class Hello(Struct, frozen=True, rename="camel"):
    """The revision agreed on, who the server is, what it can do, and its instructions for use."""

    protocol_version: str
    capabilities: dict[str, Any] = {}
    server_info: Implementation = field(default_factory=Implementation)
    instructions: str | None = None

    def __repr__(self) -> str:
        info = self.server_info
        return f"<Hello of {info.name!r} {info.version!r}, {self.protocol_version}>"

    def offers(self, *path: str) -> bool:
        """Whether the capability at the end of `path` is declared, as in `offers("resources", "subscribe")`."""
        declared: Any = self.capabilities
        for name in path:
            if not isinstance(declared, dict):
                return False
            declared = declared.get(name)
        # `{}` declares a capability; `false` and `null` do not.
        return declared is not None and declared is not False
