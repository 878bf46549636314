"""What the very first chat says: what this machine has, and three things to try."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mooring.backends.programs import PROGRAM_FACTS
from mooring.core.conversation.backend_name import PROGRAMS
from mooring.display.text import columns, count_noun, safe

if TYPE_CHECKING:
    from mooring.chat.session import ChatSession
    from mooring.host.host import Host
    from mooring.verbs.agent.offers import FoundOffers

DEMO = "demo"
"""The name of the bundled server."""


def list_welcome(session: "ChatSession", found: "FoundOffers") -> Iterator[str]:
    """What there is, and what to try with it."""
    yield ""
    yield "On this machine:"
    yield from columns(list(_list_findings(session.host, found)))
    yield ""
    yield "Three things to try:"
    yield from columns([(f"  {typed}", what) for typed, what in _list_attempts(session)])


def _list_findings(host: "Host", found: "FoundOffers") -> Iterator[tuple[str, str]]:
    yield "  servers", ", ".join(_count_servers(host)) or "none in the files of your coding tools"
    labels = [PROGRAM_FACTS[name].label for name in PROGRAMS if name in found.programs]
    *others, last = [PROGRAM_FACTS[name].label for name in PROGRAMS]
    yield "  agents", ", ".join(labels) or f"none; Mooring works with {', '.join(others)} and {last}"
    models = [f"{safe(offer.model)} ({safe(offer.why)})" for offer in found.offers if offer.model is not None]
    yield "  models", ", ".join(models) or "no key in the environment, and no model server that runs here"


def _count_servers(host: "Host") -> Iterator[str]:
    """How many servers each coding tool brings; the bundled one by its name."""
    tools = Counter(server.config.origin.tool for server in host.servers.values() if server.name != DEMO)
    for tool, count in tools.most_common():
        yield f"{count_noun(count, 'server')} of {safe(tool)}"
    if DEMO in host.servers:
        yield "the demo server, which comes with Mooring"


def _list_attempts(session: "ChatSession") -> Sequence[tuple[str, str]]:
    host = session.host
    has_model = session.responder.model is not None
    model = ("/model", "have another model or agent answer" if has_model else "have a model or an agent answer")
    look = ("/mcp", "see each server: where it comes from, and what it needs")
    if not host.servers:
        return (
            ("/demo", "use the demo server that comes with Mooring, in this chat"),
            ("/mcp add", "add a server"),
            model,
        )
    if has_model:
        return ("What can you do with my servers?", "ask the model"), look, ("/help", "see every command")
    if DEMO in host.servers:
        return ("add two numbers", "find a tool, fill in its form and call it"), look, model
    return ("/tools", "see what your servers can do"), look, model
