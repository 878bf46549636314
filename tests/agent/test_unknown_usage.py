"""What a provider doesn't say about a reply is unknown, and a turn that needs to know it doesn't go on without."""

from tests.models import Call, FakeModel, Say, Usage

from agent.doors import follow, pick, program
from mooring.core.conversation.event import TokensUsed, TokenUsage, TurnDone, TurnFailed
from support import Home

UNTOLD = [Say("Looking."), Call("Glob", {"pattern": "*.none"}), Usage(is_told=False)]
TOLD = [Say("Nothing."), Usage(input=100, output=10)]


async def test_tokens_that_nobody_counts_are_missing_from_a_turn_which_says_so(home: Home) -> None:
    with FakeModel([UNTOLD, TOLD]) as fake:
        async with program(home, fake, "ollama", local=True) as agent:
            events = await follow(agent, "Look")
    [used] = pick(events, TokensUsed)
    [done] = pick(events, TurnDone)
    assert used.usage == TokenUsage(100, 10)
    assert used.turn_usage == done.usage == TokenUsage(100, 10, partial=True)
    assert (done.reason, done.replies, done.cost) == ("finished", 2, None)


async def test_a_budget_of_tokens_ends_a_turn_whose_tokens_nobody_counts(home: Home) -> None:
    with FakeModel([UNTOLD, TOLD]) as fake:
        async with program(home, fake, "ollama", local=True, token_budget=50_000) as agent:
            events = await follow(agent, "Look")
        assert len(fake.requests) == 1
    [failed] = pick(events, TurnFailed)
    assert "doesn't say how many tokens a reply takes" in failed.error
    assert pick(events, TurnDone)[0].reason == "failed"
