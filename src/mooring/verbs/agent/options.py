"""How one agent works, and what a conversation that goes on brings with it."""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from mooring.agents.definition import AgentDefinition
from mooring.agents.history import CallResult, Journal, Message
from mooring.agents.model import Model
from mooring.backends.host_servers import SwitchServer
from mooring.conversation.conversation import Conversation
from mooring.conversation.scope import ToolScope
from mooring.conversation.tool import ModelTool
from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.approved import TakenName
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import ConfigError
from mooring.host.first_starts import FirstStarts
from mooring.host.options import Policy
from mooring.settings import Settings
from mooring.verbs.agent.words import AgentWords


class AgentPast(Struct, frozen=True):
    """What a conversation that goes on brings with it."""

    session: str
    turn: int = 0
    messages: tuple[Message, ...] = ()
    ended: tuple[CallResult, ...] = ()
    """Results of the last reply's calls; those without one are made first."""
    loaded: tuple[str, ...] = ()
    """Names of tools that a search found."""


class AgentOptions(Struct, frozen=True, kw_only=True):
    """How one agent works. `mooring.agent` takes the same by name."""

    instructions: str = ""
    """What the agent is told besides, in its system prompt."""
    role: str | Callable[[], str] = ""
    """Who it is, in place of Mooring's own words; a function is called when a turn begins."""
    ask: Ask | None = None
    policy: Policy | None = None
    rules: tuple[Rule, ...] = ()
    tools: tuple[ModelTool, ...] = ()
    """Tools of its own, beside those of servers."""
    local: bool = False
    """Whether it has the tools for this machine: files, commands, pages."""
    words: AgentWords | None = None
    """What files say to it, such as AGENTS.md; `None` if they are not read."""
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    within: ToolScope | None = None
    """What narrows its tools further: those that its definition selects."""
    limits: TurnLimits = TurnLimits()
    """How far a turn may go, as far as somebody said so; the settings hold for the rest."""
    own_max_turns: int | None = None
    """How many times the model is asked in a turn as its definition has it, which can only lower the number."""
    past: AgentPast | None = None
    journal: Journal | None = None
    agent: str | None = None
    """Its name, if it is a defined one."""
    find_taken_name: Callable[[], TakenName | None] = lambda: None
    """Finds out whether it is a project's under a name of somebody else's, as each turn tells."""
    refresh: Callable[[Conversation], Awaitable[None]] | None = None
    """Looks at its definition again, before each turn."""
    brings: AgentDefinition | None = None
    """The definition whose own servers are connected for it."""
    guests: tuple[str, ...] = ()
    """Names of servers that agents above it brought along."""
    startable: frozenset[str] | None = None
    """The only agents that it may start, by name; `None` for all of them."""
    agents: tuple[AgentDefinition, ...] | None = None
    """The agents that it can start as sub-agents; `None` for those that files define, if it is `local`."""
    starts: FirstStarts | None = None
    """Has its turns wait for servers that are new, and shows that; by default, nobody sees it."""
    switch: SwitchServer | None = None
    """How servers of the host are enabled and disabled, if they are."""


def check_limits_given(limits: TurnLimits) -> None:
    """Refuse what is no limit. Raises: ConfigError."""
    if limits.max_turns is not None and not _is_count(limits.max_turns):
        raise ConfigError(f"max_turns must be a whole number and at least 1, not {limits.max_turns!r}.")
    if limits.token_budget is not None and not _is_count(limits.token_budget):
        raise ConfigError(f"token_budget must be a whole number and at least 1, not {limits.token_budget!r}.")
    cost = limits.max_cost
    if cost is not None and (type(cost) not in (int, float) or not 0 < cost < float("inf")):
        raise ConfigError(f"max_cost must be a number of US dollars above 0, not {cost!r}.")


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def add_set_limits(given: TurnLimits, settings: Settings) -> TurnLimits:
    """The limits that were given, and those of the settings for the rest."""
    is_set = settings.values["maxTurns"].level != "default"
    return TurnLimits(
        # A number that nobody chose is not passed on: sub-agents have another one then.
        given.max_turns or (settings["maxTurns"] if is_set else None),
        settings["maxCost"] if given.max_cost is None else given.max_cost,
        given.token_budget or settings["tokenBudget"],
    )


def check_price(limits: TurnLimits, model: Model) -> None:
    """Refuse a limit on the cost where that is unknown. Raises: ConfigError."""
    if limits.max_cost is None or has_price(model):
        return
    hint = "Leave out --max-cost (max_cost in a program); a token budget holds for every model."
    raise ConfigError(f"The price of {model.name} is unknown, so its cost cannot be limited.", hint)


def has_price(model: Model) -> bool:
    """Whether it is known what replies of a model cost; one that does not say so may know."""
    return bool(getattr(model, "has_price", True))


def settle_limits(options: AgentOptions, settings: Settings, model: Model) -> tuple[TurnLimits, tuple[Problem, ...]]:
    """The limits of a conversation with a model, and which settings have no effect on it.

    Raises: ConfigError if a limit is invalid, or can't hold because the price of the model is unknown.
    """
    given = options.limits
    check_limits_given(given)
    check_price(given, model)
    limits = add_set_limits(given, settings)
    if given.max_turns is None:
        limits = limits.narrow(options.own_max_turns)
    if limits.max_cost is None or has_price(model):
        return limits, ()
    idle = find_idle_cost(settings, f"the price of {model.name} is unknown")
    return replace(limits, max_cost=None), (idle,)


def find_idle_cost(settings: Settings, why: str) -> Problem:
    """The problem that the setting `maxCost` has no effect."""
    path = settings.values["maxCost"].path
    return Problem(path, f"`maxCost` has no effect: {why}", "use `tokenBudget`, which always holds", level="warning")
