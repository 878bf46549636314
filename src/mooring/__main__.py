"""`python -m mooring`."""

import os
import sys

# Python puts the current folder first: a repository's own `msgspec.py` would run in place of the real one.
_INSTALLED_IN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if not sys.flags.safe_path and sys.path[0] != _INSTALLED_IN:
    del sys.path[0]

from mooring.cli import main  # noqa: E402 - not before the line above

main()
