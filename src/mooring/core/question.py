"""What a person can be asked, and what they answer: the one language back from a face."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct


class Sampling(Struct, frozen=True, tag=True):
    """A server wants a model to write something; `request` is what it asks for, as the protocol has it."""

    server: str
    request: Mapping[str, Any]


class Form(Struct, frozen=True, tag=True):
    """A server wants some values; `schema` is a flat object of strings, numbers, booleans and choices."""

    server: str
    message: str
    schema: Mapping[str, Any]


class Visit(Struct, frozen=True, tag=True):
    """A server wants the person to open an address."""

    server: str
    message: str
    url: str
    id: str


class Value(Struct, frozen=True, tag=True):
    """A definition has a blank that only the person can fill in, such as `${input:token}`."""

    server: str
    id: str
    description: str = ""
    default: str | None = None
    secret: bool = False
    options: tuple[str, ...] = ()


Question: TypeAlias = Sampling | Form | Visit | Value


class Yes(Struct, frozen=True, tag=True):
    """Go on; `content` is the model's message, the form's values, or the text for the blank."""

    content: Any = None


class No(Struct, frozen=True, tag=True):
    """Do not; `reason` is for whoever asked, `how` whether they were refused or just waved away."""

    reason: str = ""
    how: Literal["decline", "cancel"] = "decline"


Answer: TypeAlias = Yes | No
Ask: TypeAlias = Callable[[Question], Awaitable[Answer]]
"""Puts a question to the person. Without one, nothing is asked and everything is refused."""
