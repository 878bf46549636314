"""Asks the person about a project's server and about their rules for it, and records what they answer."""

import asyncio

from mooring.core.conversation.question import ApplyRules, Ask, Yes
from mooring.core.definitions.paths import Where
from mooring.inventory.approval import ApprovalQuestion, apply_rules, decide
from mooring.inventory.approval_rows import describe_approval
from mooring.inventory.load import Inventory


async def ask_approval(ask: Ask, inventory: Inventory, question: ApprovalQuestion, where: Where) -> bool:
    """Ask whether a server may be started, and after a yes about the person's rules; whether it may.

    Raises: what `ask` raises; FileError if the answers cannot be recorded.
    """
    answer = await ask(describe_approval(question, where.home))
    if not isinstance(answer, Yes):
        return False
    settled = question
    try:
        settled = await ask_about_rules(ask, question)
    finally:
        # It is approved, whatever becomes of the second question.
        await asyncio.to_thread(decide, inventory, [settled], where, True)
    return True


async def ask_about_rules(ask: Ask, question: ApprovalQuestion) -> ApprovalQuestion:
    """Ask whether the person's rules apply to a server that they approve, if there are any; returns the question with
    those that do."""
    if not question.rules:
        return question
    answer = await ask(ApplyRules(question.name, tuple(map(str, question.rules))))
    return apply_rules(question, isinstance(answer, Yes))
