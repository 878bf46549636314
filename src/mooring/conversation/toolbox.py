"""Which tools one conversation has, under which names, how they are given, and which its model has been shown."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.json import encode

from mooring.conversation.calls import Calls
from mooring.conversation.deferral import Deferral, Selections, make_search_tool
from mooring.conversation.local_tool import LocalTool
from mooring.conversation.scope import ToolScope
from mooring.conversation.tool import AnyTool, Arguments, BuiltinTool, ModelTool, ServerTool
from mooring.core.conversation.call import ToolDefinition
from mooring.core.text.suggestions import nearest
from mooring.errors import BadArguments, ConfigError, UnknownTool
from mooring.tools.arguments.form import ArgumentForm, Repaired
from mooring.tools.catalog.catalog import CatalogEntry, fold_name
from mooring.tools.provider import MOST_TOOLS, ProviderTools
from mooring.tools.results.deliver import Tokens
from mooring.tools.results.outcome import DEFAULT_TOKENS, Media

if TYPE_CHECKING:
    from mooring.tools.schema.adapt import Provider

ListEntries: TypeAlias = Callable[[], tuple[CatalogEntry, ...]]
"""Gives the servers' tools as they are now: the same tuple until one of them changes."""


class ToolOptions(Struct, frozen=True, kw_only=True, dict=True):
    """The tools of one conversation. `Host.conversation` fills in what the settings say."""

    own: bool = True
    """Whether Mooring's own tools are among them: those for searching, for resources and for long results."""
    provider: "Provider | None" = None
    """Whose model it is: names, descriptions and schemas are those that this provider takes."""
    budget: int | None = 20_000
    """How many tokens the definitions of tools may take before they have to be searched for; `None` for any number."""
    always: tuple[str, ...] = ()
    """Globs over `server.tool` of those that are shown whatever they cost."""
    allow: tuple[str, ...] | None = None
    """Globs over `server.tool`, or over shown names, of the only ones available; `None` for all."""
    deny: tuple[str, ...] = ()
    within: ToolScope | None = None
    """What narrows it further, such as the tools that an agent's file selects."""
    loaded: tuple[str, ...] = ()
    """Names that a search found before, when a conversation is resumed."""
    follow: bool = False
    """Whether tools that servers list later, or list differently, take their place as soon as anybody looks."""
    takes: frozenset[Media] = frozenset({"image"})
    """What the model can be given besides text."""
    tokens: Tokens = DEFAULT_TOKENS
    """How much of a result is given at once."""
    lines: int | None = None
    """How many lines of it, for a reader who would have to scroll."""
    background_after: float | None = 120.0
    """Seconds to wait for a call before it continues in the background; `None` waits for every call to end."""

    @cached_property
    def scope(self) -> ToolScope:
        return ToolScope(self.allow, self.deny, outer=self.within)

    def has_builtin(self, name: str) -> bool:
        """Whether one of Mooring's own tools is available."""
        return self.own and self.scope.allows_builtin(name)


class Toolbox:
    """The tools of one conversation: those of servers, Mooring's own, and an agent's."""

    def __init__(
        self,
        calls: Calls,
        list_entries: ListEntries,
        options: ToolOptions,
        builtin: Iterable[BuiltinTool],
        more: Iterable[ModelTool],
        selections: Selections,
    ) -> None:
        """Raises: ConfigError if a name is taken."""
        self._calls = calls
        self._list_entries = list_entries
        self._options = options
        self._builtin = tuple(builtin)
        self._more = tuple(more)
        self._selections = selections
        self._adopt(list_entries(), options.loaded)

    def _adopt(self, entries: tuple[CatalogEntry, ...], loaded: Iterable[str]) -> None:
        options = self._options
        budget = inf if options.budget is None or not options.own else options.budget
        self._entries = entries
        # Where nothing is deferred, everything is shown.
        most = inf if budget == inf else self._count_room()
        self.deferral = Deferral(self._selections.find(entries, options.scope, budget, options.always, most))
        self.deferral.load(loaded)
        self._adapted = self.deferral.selection.for_provider(options.provider)
        self._search = make_search_tool(self._calls, lambda: self.deferral, self._define_entry)
        self._own = self._collect_own()
        self._own_adapted = ProviderTools(options.provider, self._own)
        # Schemas may differ between two snapshots.
        self._own_forms: dict[str, ArgumentForm] = {}
        self._defined: dict[str, ToolDefinition] = {}

    def _count_room(self) -> float:
        """How many tools of servers the provider takes beside Mooring's own and the agent's."""
        own = len(self._builtin) + len(self._more) + 1
        return MOST_TOOLS.get(self._options.provider or "", inf) - own

    def use(self, options: ToolOptions) -> None:
        """Go by other options from now on."""
        self._options = options
        self._adopt(self._entries, self.deferral.loaded)

    def _follow(self) -> bool:
        """Take over what servers list by now, if that is wanted; whether anything changed."""
        if not self._options.follow:
            return False
        entries = self._list_entries()
        if entries is self._entries:
            return False
        self._adopt(entries, self.deferral.loaded)
        return True

    def _collect_own(self) -> dict[str, ModelTool]:
        """Mooring's own tools and an agent's, by every name; a server's tool never takes one of these names."""
        own: dict[str, ModelTool] = {}
        # The order is the one in which a model is shown them.
        builtin = (*self._builtin, self._search) if self._options.own else ()
        for tool in builtin:
            own[tool.name] = tool
        for tool in builtin:
            own |= dict.fromkeys(tool.aliases, tool)
        for added in self._more:
            if added.name in own:
                raise ConfigError(f"A tool is called {added.name} already.")
            own[added.name] = added
            if isinstance(added, LocalTool):
                own |= {name: added for name in added.other_names if name not in own}
        return {name: tool for name, tool in own.items() if self._options.scope.allows_builtin(tool.name)}

    # --- as a model sees them -------------------------------------------------------------------------------------

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """What a model is shown now, in a stable order; a search adds to the end."""
        self._follow()
        own = [tool for name, tool in self._own.items() if name == tool.name and _is_offered(tool)]
        if not self.deferral.has_hidden:
            own = [tool for tool in own if tool is not self._search]
        shown = [self._define(tool) for tool in own]
        shown += [self._define_entry(entry) for entry in self.deferral.offered]
        return tuple(shown)

    @property
    def pairs(self) -> Mapping[str, tuple[str, str]]:
        """The server and the raw name behind each name of a server's tool."""
        self._follow()
        shown_name = self._adapted.shown_name
        by_name = self.deferral.selection.by_name
        return {shown_name(name): (entry.server, entry.tool) for name, entry in by_name.items()}

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names that a search found, as the catalog has them: another provider gets them too."""
        self._follow()
        return self.deferral.loaded

    def search(self, words: str, limit: int) -> tuple[ToolDefinition, ...]:
        """The servers' tools that fit a request, best first."""
        self._follow()
        return tuple(map(self._define_entry, self.deferral.search(words, limit)))

    def look_up(self, name: str) -> ToolDefinition | None:
        """The tool that a name, or `server.tool`, means."""
        self._follow()
        tool = self.find(name)
        return None if tool is None else self._define(tool)

    def show(self, name: str) -> ToolDefinition:
        """Show a tool from now on. Raises: UnknownTool."""
        self._follow()
        tool = self.find(name)
        if tool is None:
            raise self.explain_unknown(name)
        self.deferral.load([tool.name])
        return self._define(tool)

    def _define(self, tool: AnyTool) -> ToolDefinition:
        if isinstance(tool, ServerTool):
            return self._define_entry(tool.entry)
        return self._own_adapted.define(tool.name, tool.definition)

    def _define_entry(self, entry: CatalogEntry) -> ToolDefinition:
        """A server's tool as the model is shown it: always the same object, as long as it is the same tool."""
        made = self._defined.get(entry.name)
        if made is None:
            made = self._defined[entry.name] = self._adapted.define(entry.name, entry.definition, entry.server)
        return made

    # --- for a call -----------------------------------------------------------------------------------------------

    def find(self, name: str) -> AnyTool | None:
        """The tool of that name; a misspelled one only if exactly one fits, and Mooring's own before any server's."""
        found = self._find_known(name)
        # A known name means the tool that was shown by it. An unknown one may be of a server that has connected since.
        if found is None and self._follow():
            return self._find_known(name)
        return found

    def _find_known(self, name: str) -> AnyTool | None:
        own = self._own.get(self._own_adapted.meant_name(name))
        if own is not None:
            return own
        selection = self.deferral.selection
        entry = selection.by_name.get(self._adapted.meant_name(name))
        if entry is not None:
            return ServerTool(entry, self._calls)
        folded = fold_name(name)
        # By identity: a tool and its aliases are one tool.
        own_alike = {id(tool): tool for own_name, tool in self._own.items() if fold_name(own_name) == folded}
        if own_alike:
            return next(iter(own_alike.values())) if len(own_alike) == 1 else None
        alike = selection.alike.get(folded, ())
        return ServerTool(alike[0], self._calls) if len(alike) == 1 else None

    def explain_unknown(self, name: str) -> UnknownTool:
        """The error about a name that no tool has."""
        close = nearest(name, [*self._own, *map(self._adapted.shown_name, self.deferral.selection.by_name)])
        if close:
            return UnknownTool("Mooring", name, close, "")
        hint = "; ToolSearch finds those there are" if self.deferral.has_hidden else ""
        return UnknownTool("Mooring", name, close, f"there is none of that name{hint}")

    def refuse_hidden(self, tool: AnyTool) -> None:
        """Refuse a tool that the model has never been shown: its arguments would be guesses. It is shown now.

        Raises: BadArguments.
        """
        if not (isinstance(tool, ServerTool) and self.deferral.is_hidden(tool.entry)):
            return
        self.deferral.load([tool.entry.name])
        shown = self._define_entry(tool.entry)
        schema = encode(shown.schema).decode()
        words = f"{shown.name} was not called, for ToolSearch had not given it. It can be called now, with: {schema}"
        raise BadArguments(tool.server, "tools/call", "it was not shown yet", words=words)

    def fit_arguments(self, tool: AnyTool, arguments: Arguments) -> Repaired:
        """The arguments as they were certainly meant, with a note on each change. Raises: BadArguments."""
        adapted, forms = self._own_adapted, self._own_forms
        if tool.server is not None:
            adapted, forms = self._adapted, self.deferral.selection.forms
        form = forms.get(tool.name)
        if form is None:
            form = forms[tool.name] = ArgumentForm(tool.definition, must_check=isinstance(tool, BuiltinTool))
        return form.fit(tool.server or "Mooring", adapted.restore(tool.name, tool.definition, tool.server, arguments))


def _is_offered(tool: ModelTool) -> bool:
    return not isinstance(tool, LocalTool) or tool.is_offered
