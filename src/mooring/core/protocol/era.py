"""The two eras of the protocol, and which one to try first."""

from typing import Final, Literal, TypeAlias

from msgspec import Struct

EraName: TypeAlias = Literal["handshake", "stateless"]
"""The two eras of the protocol: up to 2025-11-25, and from 2026-07-28 on."""


def find_other_era(era: EraName) -> EraName:
    return "handshake" if era == "stateless" else "stateless"


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
        return find_other_era(self.preferred)

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
