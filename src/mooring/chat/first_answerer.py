"""At the start of a chat for which nobody was chosen: who could answer is offered, and the choice is kept if wanted."""

import asyncio
from typing import TYPE_CHECKING

from mooring.core.conversation.question import Ask, ChooseAnswerer, KeepAnswerer, Yes
from mooring.display.text import safe, short_path
from mooring.verbs.agent.choose_backend import names_answerer

if TYPE_CHECKING:
    from collections.abc import Callable

    from mooring.core.definitions.paths import Workspace
    from mooring.host.host import Host
    from mooring.verbs.agent.offers import AnswererOffer, FoundOffers
    from mooring.verbs.agent.options import ConversationOptions


async def find_answerers(host: "Host", options: "ConversationOptions") -> "FoundOffers | None":
    """Who could answer; `None` if somebody is chosen already."""
    if names_answerer(options.backend, options.model or options.agent, host.workspace, host.settings):
        return None
    from mooring.verbs.agent.offers import find_offers  # most chats have somebody who answers

    return await find_offers(host.workspace.where, host.settings)


async def offer_answerer(found: "FoundOffers", ask: Ask, notice: "Callable[[str], None]") -> "AnswererOffer | None":
    """Who is to answer, if the user picks one; `None` if they go on without."""
    for lack in found.lacks:
        notice(safe(lack))
    if not found.offers:
        return None
    by_name = {offer.name: offer for offer in found.offers}
    answer = await ask(ChooseAnswerer(tuple((offer.name, offer.why) for offer in found.offers)))
    if not isinstance(answer, Yes):
        notice("No one answers: pick tools and call them yourself. To start like that: mooring settings backend manual")
        return None
    return by_name.get(answer.content)


async def keep_answerer(workspace: "Workspace", offer: "AnswererOffer", ask: Ask) -> None:
    """Ask whether it answers in later chats too, and write the setting. Raises: ConfigError, Denied; FileError."""
    from mooring.verbs.config.rules import refuse_below_mooring  # as above
    from mooring.verbs.config.settings import set_setting

    path = short_path(f"{workspace.where.config}/settings.json", workspace.where.home)
    if not isinstance(await ask(KeepAnswerer(offer.name, path)), Yes):
        return
    key, value = offer.setting
    refuse_below_mooring(f"mooring settings {key}")
    await asyncio.to_thread(set_setting, workspace, key, value, False)
