"""How much of a project's files is read: a repository must not decide how long a listing takes."""

from mooring.core.definitions.problem import Problem
from mooring.core.protocol.units import MIB
from mooring.errors import ParseError, TooManyValues
from mooring.syntax.document import Document, Kind
from mooring.syntax.parse import parse

MOST_BYTES = 2 * MIB
MOST_VALUES = 50_000
"""How many keys and list elements. Ordinary files of all tools in one project have a few hundred."""
MOST_SERVERS = 1000
# Python's own parser of TOML takes ten times as long as that of JSON, which is written in C.
_WEIGHTS: dict[Kind, int] = {"toml": 4}
_TOO_MUCH = (
    f"is skipped: the files of a project can have {MOST_BYTES // MIB} MiB and {MOST_VALUES:,} values together "
    f"(TOML a quarter of that)"
)


class ProjectBudget:
    """What the files of a project may still cost. A file that does not fit is refused, and a smaller one may fit.

    The person's own files are never charged to it, so that no project keeps them from being read.
    """

    def __init__(self) -> None:
        self._bytes = MOST_BYTES
        self._values = MOST_VALUES
        self._servers = MOST_SERVERS

    def parse(self, data: bytes, kind: Kind) -> Document:
        """Read the bytes of one of the project's files.

        Raises:
            ParseError: they are not valid, or the files before it left too little for it.
        """
        cost = len(data) * _WEIGHTS.get(kind, 1)
        if cost > self._bytes:
            raise ParseError(_TOO_MUCH)
        # Charged before the file is parsed: one that cannot be used has cost its time as well.
        self._bytes -= cost
        try:
            document = parse(data, kind, self._values)
        except TooManyValues:
            raise ParseError(_TOO_MUCH) from None
        self._values -= document.values
        return document

    def take_server(self) -> bool:
        """Whether one more server of the project may be looked at."""
        self._servers -= 1
        return self._servers >= 0

    @property
    def problem(self) -> Problem | None:
        """What to say of the servers that were left out, if any were."""
        if self._servers >= 0:
            return None
        left_out = f"The project's files define {-self._servers} servers more than the {MOST_SERVERS:,} that are read"
        return Problem(None, left_out, "remove what is not needed")
