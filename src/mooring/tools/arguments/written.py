"""JSON as a person or a model wrote it."""

import json
import math
from typing import Any

from mooring.core.protocol.raw import is_too_deep


def loads(text: str) -> Any:
    """Parse JSON, and nothing beyond it: `NaN` or a number that is too large would reach the server as null.

    Raises: ValueError, also if it is nested too deeply.
    """
    if is_too_deep(text.encode(errors="replace")):
        raise ValueError("it is nested too deeply")
    return json.loads(text, parse_constant=_refuse, parse_float=_parse_finite)


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _parse_finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)
