"""The permissions of one host: its rules, its log and its pins, and the conversations that are held to them."""

from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

from msgspec import Struct

from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import BYPASSED, Mode, Rule
from mooring.core.definitions.approved import ForeignServers
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.permissions import rules
from mooring.permissions.audit import AuditLog, new_session_id
from mooring.permissions.conversation import ConversationPermissions
from mooring.permissions.gate import Gate, answer_saver
from mooring.permissions.policy import Policy
from mooring.permissions.tool_pins import ToolPins
from mooring.settings import Settings


class _Terms(Struct, frozen=True):
    """What one conversation has of its own, beside the rules that hold for the whole host."""

    mode: Mode | None = None
    session_rules: tuple[Rule, ...] = ()


class HostPermissions:
    """Makes the permissions of each conversation. The rules are compiled once, for all of them."""

    def __init__(
        self,
        where: Paths,
        settings: Settings,
        project: str | None,
        *,
        ask: Ask | None = None,
        mode: Mode | None = None,
        session_rules: Iterable[Rule] = (),
        bypass_reason: str = BYPASSED,
        must_record: bool = False,
        on_problem: Callable[[Problem], None] = lambda problem: None,
    ) -> None:
        """`session_rules` are in force besides those in the settings, for as long as the host is open.

        With `must_record`, a call that cannot be recorded is refused.
        """
        self._where = where
        self._settings = settings
        self._project = project
        self._ask = ask
        self._mode = mode
        self._session_rules = tuple(session_rules)
        self._bypass_reason = bypass_reason
        self._on_problem = on_problem
        self._conversations: WeakKeyDictionary[ConversationPermissions, _Terms] = WeakKeyDictionary()
        self._policy = self._load_policy({})
        self.audit = AuditLog(where, new_session_id(), required=must_record, on_problem=on_problem)
        self.pins = ToolPins(where, on_problem)
        self.own = self.begin()
        """The permissions of the program itself, for calls outside of any conversation."""

    def begin(
        self, ask: Ask | None = None, mode: Mode | None = None, session_rules: Iterable[Rule] = ()
    ) -> ConversationPermissions:
        """The permissions of a new conversation: its questions go to `ask`, and no other conversation has its answers.

        `ask` and `mode` are the host's where they are left out; `session_rules` come before those of the host.
        """
        terms = _Terms(mode, tuple(session_rules))
        gate = Gate(
            self._make_policy(terms),
            ask or self._ask,
            save_answer=answer_saver(self._where, self._project),
            audit=self.audit,
            on_problem=self._on_problem,
        )
        conversation = ConversationPermissions(gate, self.audit, self.pins)
        self._conversations[conversation] = terms
        return conversation

    def use(self, settings: Settings, foreign: ForeignServers) -> None:
        """Take other settings, the person's rules as they are now, and the project's servers with what applies to each.

        Answers of each conversation stay in force, and pins are read again.
        """
        self._settings = settings
        self._policy = self._load_policy(foreign)
        for conversation, terms in self._conversations.items():
            conversation.gate.use(self._make_policy(terms))
        self.pins.forget()

    @property
    def rules_path(self) -> str:
        """The file with the person's rules for projects."""
        return rules.record_path(self._where)

    def close(self) -> None:
        """Write the rest of the log."""
        self.audit.close()

    def _load_policy(self, foreign: ForeignServers) -> Policy:
        return rules.load_policy(
            self._settings, self._where, self._project, self._mode, self._session_rules, self._bypass_reason, foreign
        )

    def _make_policy(self, terms: _Terms) -> Policy:
        """The host's policy, as one conversation has it."""
        if terms == _Terms():
            return self._policy
        mode = rules.choose_mode(self._settings, terms.mode or self._mode)
        return self._policy.with_terms(mode, terms.session_rules)
