"""What a server says about itself when a connection opens."""

from typing import Any

from msgspec import Struct, field


class Implementation(Struct, frozen=True, rename="camel"):
    """The name and version of a program."""

    name: str = ""
    version: str = ""
    title: str | None = None
    website_url: str | None = None


class ServerInfo(Struct, frozen=True, rename="camel"):
    """The revision agreed on, who the server is, what it can do, and its instructions for use."""

    protocol_version: str
    capabilities: dict[str, Any] = {}
    server_info: Implementation = field(default_factory=Implementation)
    instructions: str | None = None

    def __repr__(self) -> str:
        info = self.server_info
        return f"<ServerInfo of {info.name!r} {info.version!r}, {self.protocol_version}>"

    def offers(self, *path: str) -> bool:
        """Whether the capability at the end of `path` is declared, as in `offers("resources", "subscribe")`."""
        declared: Any = self.capabilities
        for name in path:
            if not isinstance(declared, dict):
                return False
            declared = declared.get(name)
        # `{}` declares a capability; `false` and `null` do not.
        return declared is not None and declared is not False
