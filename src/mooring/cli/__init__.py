"""The command line: words go in, data comes out on stdout and everything else on stderr."""

import sys

STARTERS = ("call", "tools")
"""Commands that start servers: their guard starts while the rest is loaded."""


def main() -> None:
    """The command `mooring`."""
    begun = None
    if sys.platform != "win32" and any(word in STARTERS for word in sys.argv[1:4]):
        from mooring.wire.guard import begin

        begun = begin()
    from mooring.cli.app import run

    sys.exit(run(sys.argv[1:], begun))
