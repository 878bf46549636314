"""The command line: words go in, data comes out on stdout and everything else on stderr."""

import sys


def main() -> None:
    """The command `mooring`."""
    from mooring.cli.app import run

    sys.exit(run(sys.argv[1:]))
