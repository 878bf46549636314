"""Property lists into documents: the managed preferences of a Mac."""

import plistlib
from xml.parsers.expat import ExpatError

from mooring.errors import ParseError
from mooring.syntax.document import Document, count_values


def parse_plist(data: bytes) -> Document:
    """Read a property list, binary or XML. It has no lines to name.

    Raises:
        ParseError: it is none.
    """
    try:
        value = plistlib.loads(data) if data.strip() else {}
        return Document(value, kind="plist", values=count_values(value))
    # A damaged binary list makes the standard library raise any of these.
    except (ValueError, ExpatError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        reason = "is not a property list"
    raise ParseError(reason)
