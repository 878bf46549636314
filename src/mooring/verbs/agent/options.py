"""How a conversation is had, and how far its turns may go."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.backend_name import BackendName
from mooring.core.conversation.effort import EffortWish
from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import ConfigError
from mooring.host.options import Policy
from mooring.settings import Settings
from mooring.verbs.agent.choose_backend import SessionStart

if TYPE_CHECKING:
    # A conversation in which a person picks the tools needs none of them.
    from mooring.agents.definition import AgentDefinition
    from mooring.agents.model import Model
    from mooring.backends.host_servers import SwitchServer
    from mooring.backends.manual import Person
    from mooring.conversation.tool import ModelTool
    from mooring.host.first_starts import FirstStarts
    from mooring.verbs.agent.words import AgentWords


class ConversationOptions(Struct, frozen=True, kw_only=True):
    """How a conversation is had: who answers, what they may use, and what they go by.

    The chat, a turn without a person and `mooring.agent` each fill in what they know. `Host.conversation` takes the
    part about tools and permissions by name.
    """

    # Who answers.
    backend: BackendName | None = None
    """`None`: what the settings say; else a model if one is chosen, else the person."""
    model: str | None = None
    """The provider and the model; `None` for what the environment or the settings name. Another agent's program gets it
    as it is."""
    agent: str | None = None
    """The name of a defined agent."""
    session: SessionStart = SessionStart()
    """Which conversation goes on."""
    effort: EffortWish | None = None
    """How much the model is to think; `None` for what the settings say."""
    limits: TurnLimits = TurnLimits()
    """How far a turn may go, as far as somebody said so; the settings hold for the rest."""

    # What they may do, and with what.
    ask: Ask | None = None
    """Puts questions to the person; `None` if nobody is there: then what would be asked is denied."""
    policy: Policy | None = None
    """As in `Host.conversation`; the host's own if it is `None`."""
    rules: tuple[Rule, ...] = ()
    tools: "tuple[ModelTool, ...]" = ()
    """Tools of its own, beside those of servers."""
    local: bool = False
    """Whether it has the tools for this machine: files, commands, pages."""
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    agents: "tuple[AgentDefinition, ...] | None" = None
    """The agents that it can start as sub-agents; `None` for those that files define, if it is `local`."""

    # What they go by.
    instructions: str = ""
    """What the agent is told besides, in its system prompt."""
    words: "AgentWords | None" = None
    """What files say to it, such as AGENTS.md; `None` if they are not read."""
    starts: "FirstStarts | None" = None
    """Has its turns wait for servers that are new, and shows that; by default, nobody sees it."""
    switch: "SwitchServer | None" = None
    """Enables or disables a server until the conversation ends, if that can be done."""
    on_problem: Callable[[Problem], None] = lambda problem: None
    """Told if the conversation can't be stored, and which servers of its own an agent goes without."""

    # The person at a face, who picks tools when nobody else answers, and by commands.
    person: "Person | None" = None
    tokens: int | None = None
    lines: int | None = None
    """How much of a result the person is shown at once."""


def check_limits_given(limits: TurnLimits) -> None:
    """Refuse what is no limit. Raises: ConfigError."""
    for name, count in (("max_turns", limits.max_turns), ("token_budget", limits.token_budget)):
        if count is not None and not (type(count) is int and count >= 1):
            raise ConfigError(f"{name} must be a whole number and at least 1, not {count!r}.")
    cost = limits.max_cost
    if cost is not None and (type(cost) not in (int, float) or not 0 < cost < float("inf")):
        raise ConfigError(f"max_cost must be a number of US dollars above 0, not {cost!r}.")


def add_set_limits(given: TurnLimits, settings: Settings) -> TurnLimits:
    """The limits that were given, and those of the settings for the rest."""
    is_set = settings.values["maxTurns"].level != "default"
    return TurnLimits(
        # A number that nobody chose is not passed on: sub-agents have another one then.
        given.max_turns or (settings["maxTurns"] if is_set else None),
        settings["maxCost"] if given.max_cost is None else given.max_cost,
        given.token_budget or settings["tokenBudget"],
    )


def check_price(limits: TurnLimits, model: "Model") -> None:
    """Refuse a limit on the cost where that is unknown. Raises: ConfigError."""
    if limits.max_cost is None or has_price(model):
        return
    hint = "Leave out --max-cost (max_cost in a program); a token budget holds for every model."
    raise ConfigError(f"The price of {model.name} is unknown, so its cost cannot be limited.", hint)


def has_price(model: "Model") -> bool:
    """Whether it is known what replies of a model cost; one that does not say so may know."""
    return bool(getattr(model, "has_price", True))


def settle_limits(
    given: TurnLimits, own_max_turns: int | None, settings: Settings, model: "Model"
) -> tuple[TurnLimits, tuple[Problem, ...]]:
    """The limits of a conversation with a model, and which settings have no effect on it. `own_max_turns` is how many
    times the model is asked in a turn as the agent's definition has it, which can only lower the number.

    Raises: ConfigError if a limit is invalid, or can't hold because the price of the model is unknown.
    """
    check_limits_given(given)
    check_price(given, model)
    limits = add_set_limits(given, settings)
    if given.max_turns is None:
        limits = limits.narrow(own_max_turns)
    if limits.max_cost is None or has_price(model):
        return limits, ()
    idle = find_idle_cost(settings, f"the price of {model.name} is unknown")
    return replace(limits, max_cost=None), (idle,)


def find_idle_cost(settings: Settings, why: str) -> Problem:
    """The problem that the setting `maxCost` has no effect."""
    path = settings.values["maxCost"].path
    return Problem(path, f"`maxCost` has no effect: {why}", "use `tokenBudget`, which always holds", level="warning")
