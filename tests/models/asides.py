"""Requests that agents make beside a conversation, such as for its title, told apart from those that belong to it."""

from tests.models.record import ModelRequest


def is_aside(request: ModelRequest) -> bool:
    """Whether no tools are offered and the system prompt wants a title."""
    return not request.tools and "title" in request.system.lower()
