"""`ExitPlanMode`: the plan that was made in plan mode, for the person to have carried out, or to send back."""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from mooring.conversation.local_tool import LocalCall, LocalTool, text_result
from mooring.core.conversation.question import Allow, Ask, CarryOutPlan, No, Yes
from mooring.core.conversation.verdict import LocalAccess, Mode
from mooring.core.protocol.result import Result


class PlanMode(Struct, frozen=True):
    """The mode of a conversation, as far as a plan has to do with it."""

    find: Callable[[], Mode]
    change: Callable[[Mode], None]
    """Switches to another; what limits the modes limits that too."""
    on_unheard: Callable[[str], None]
    """Takes a plan that nobody is there to look at."""


class PlanArguments(Struct, forbid_unknown_fields=True):
    plan: Annotated[str, Meta(min_length=1, description="The plan, in Markdown: what will be changed where, and why")]


class ExitPlanModeTool(LocalTool):
    label = "ExitPlanMode"
    description = (
        "Plan mode is on: you may look at everything, and change nothing. Once you know how to do what was asked, call "
        "this with your plan. The person has it carried out, or says what to change about it. A question that needs no "
        "change is answered without this."
    )
    parameters = PlanArguments
    only_reads = True

    def __init__(self, ask: Ask | None, mode: PlanMode) -> None:
        self._ask = ask
        self._mode = mode

    @property
    def is_offered(self) -> bool:  # type: ignore[override]  # it changes with the mode
        return self._mode.find() == "plan"

    def assess(self, arguments: PlanArguments) -> LocalAccess:
        return LocalAccess(is_free=True, why="it only asks you")

    async def run(self, call: LocalCall) -> Result:
        plan: str = call.arguments.plan
        if not self.is_offered:
            return text_result("Plan mode is off. Go on with what was asked.", failed=True)
        answer = No(nobody=True) if self._ask is None else await self._ask(CarryOutPlan(plan))
        match answer:
            case Yes("edits"):
                return self._carry_out("edits")
            case Yes() | Allow():
                return self._carry_out("ask")
            case No(nobody=True):
                self._mode.on_unheard(plan)
                return text_result("There is nobody to ask, so this plan is your answer.")
            case No(reason=reason):
                because = f" They say: {reason}" if reason else " Ask them what to change."
                return text_result(f"The person does not want this plan carried out. Plan mode stays on.{because}")

    def _carry_out(self, mode: Mode) -> Result:
        self._mode.change(mode)
        now = self._mode.find()
        if now == "plan":
            return text_result("The machine's settings keep plan mode on, so nothing can be changed.", failed=True)
        return text_result(f"The person approved the plan. Plan mode is off, and the mode is {now}. Carry it out now.")
