"""JSON that a person or a model wrote."""

import json
import math
from typing import Any


def loads(text: str) -> Any:
    """JSON, and no more than that: what is no number or too large for one would reach the server as null.

    Raises: ValueError, RecursionError.
    """
    return json.loads(text, parse_constant=_refuse, parse_float=_finite)


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)
