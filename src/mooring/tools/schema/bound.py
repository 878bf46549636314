"""How long a check against a schema may take at most, known before it is made.

A schema comes from a server, and a check cannot be interrupted: 28 definitions that each refer twice to the next are
two kilobytes, and would keep everybody waiting for 48 seconds. The bound is what the schema comes to when all of its
references are written out, times the size of the arguments. That is far too high for some large arguments; those are
compared with the schema step by step, which is exact and stops at a limit.
"""

from collections.abc import Callable, Collection
from itertools import islice, product
from typing import Any, NamedTuple

from mooring.tools.schema.graph import MAX_DEPTH, SchemaGraph, SchemaNode, SchemaTooLarge

MAX_WORK = 400_000
"""How many comparisons a check may make, at 15 to 50 ns each."""
MAX_UNROLLED = 20_000
"""How many of them one value may take: the library compiles some of what it needs for each when it first needs it."""
MAX_ARGUMENT_DEPTH = 100
MAX_STEPS = 3000
"""How many schemas and values are compared step by step, at 4 microseconds each."""
MAX_COPIED = 20_000
"""How many values arguments may hold if their errors are to be explained."""
MAX_ERROR_COST = 12_000
"""How much errors may cost, in microseconds."""

_CHARACTERS_PER_STATE = 4
"""A state looks at four characters in the time of one comparison, if the pattern is the worst there is (13 ns)."""
_COST_OF_ERROR = 20.0
_COST_OF_VALUE = 0.2
_CHARACTERS_PER_COST = 500
_LEVELS_OF_WORK = 15_000
"""How many nodes are looked at to find out what a schema that contains itself comes to at each depth."""
_ENDLESS = 1 << 62


class Size(NamedTuple):
    """How large arguments are."""

    values: int
    characters: int
    depth: int


class ErrorCost(NamedTuple):
    """What it costs at most, in microseconds, to have all errors reported, or the first one alone."""

    every: float
    first: float


class SchemaBound:
    """What checks against one schema cost at most.

    Raises:
        SchemaTooLarge: it cannot be checked against, whatever the arguments are.
    """

    def __init__(self, schema: Any) -> None:
        self._nodes = SchemaGraph(schema).nodes
        self._order = _sort_by_dependence(self._nodes, lambda node: node.applied)
        if self._order is None:
            raise SchemaTooLarge("it contains itself in a circle")
        if _longest_chain(self._nodes, self._order) > MAX_DEPTH:
            raise SchemaTooLarge("it is nested too deeply")
        everything = _sort_by_dependence(self._nodes, lambda node: [*node.applied, *node.descended])
        self._is_recursive = everything is None
        self._work = self._unroll([node.work for node in self._nodes], everything)
        self._matching = self._unroll([node.matching for node in self._nodes], everything)
        if self._work[0] > MAX_UNROLLED:
            raise SchemaTooLarge(f"it comes to more than {MAX_UNROLLED} comparisons for one value")

    def may_check(self, arguments: Any) -> bool:
        """Whether a check of these arguments ends in time."""
        most_values = MAX_WORK // self._work[0]
        size = measure(arguments, most_values)
        if size is not None and self._estimate(size) <= MAX_WORK:
            return True
        return self.estimate_errors(arguments) is not None

    def estimate_errors(self, arguments: Any) -> ErrorCost | None:
        """What errors in these arguments cost at most; `None` if even that takes too long to find out."""
        if measure(arguments, MAX_COPIED) is None:
            return None
        return _Walk(self._nodes).run(arguments)

    def _estimate(self, size: Size) -> int:
        if self._is_recursive and size.depth >= len(self._work):
            return _ENDLESS
        level = min(size.depth, len(self._work) - 1)
        if self._work[level] > MAX_UNROLLED:
            return _ENDLESS
        characters = -(-size.characters // _CHARACTERS_PER_STATE)
        return self._work[level] * size.values + self._matching[level] * characters

    def _unroll(self, own: list[int], everything: list[int] | None) -> list[int]:
        """What the root comes to with everything written out; for a schema that contains itself, at each depth."""
        if everything is not None:
            totals = list(own)
            for number in everything:
                node = self._nodes[number]
                totals[number] += sum(totals[other] for other in (*node.applied, *node.descended))
            return [totals[0]]
        found: list[int] = []
        deeper = [0] * len(own)
        # Arguments that are nested deeper than this are compared step by step, or not at all.
        levels = min(MAX_ARGUMENT_DEPTH, max(2, _LEVELS_OF_WORK // len(own)))
        for _ in range(levels):
            deeper = self._unroll_level(own, deeper)
            found.append(deeper[0])
        return found

    def _unroll_level(self, own: list[int], deeper: list[int]) -> list[int]:
        totals = list(own)
        for number in self._order or ():
            node = self._nodes[number]
            total = own[number] + sum(totals[other] for other in node.applied)
            total += sum(deeper[other] for other in node.descended)
            totals[number] = min(total, _ENDLESS)
        return totals


def measure(arguments: Any, most_values: int) -> Size | None:
    """How large arguments are; `None` if they hold more than so many values, or are nested too deeply."""
    values = characters = depth = 0
    level = [arguments]
    while level:
        values += len(level)
        if values > most_values or depth > MAX_ARGUMENT_DEPTH:
            return None
        depth += 1
        deeper: list[Any] = []
        for value in level:
            if isinstance(value, str):
                characters += len(value)
            elif isinstance(value, dict):
                characters += sum(map(len, value))
                deeper += value.values()
            elif isinstance(value, list | tuple):
                deeper += value
        level = deeper
    return Size(values, characters, depth - 1)


class _Walk:
    """Compares a schema with arguments step by step, and adds up what a check would do."""

    def __init__(self, nodes: list[SchemaNode]) -> None:
        self._nodes = nodes
        self._copies: dict[int, float] = {}
        self._waiting: list[tuple[int, Any, int]] = []
        """A node, the value that it applies to, and the number of the union that it is in, or 0."""
        self._in_unions = [0.0]
        self._every = 0.0
        self._work = 0

    def run(self, arguments: Any) -> ErrorCost | None:
        self._waiting.append((0, arguments, 0))
        steps = 0
        while self._waiting:
            steps += 1
            self._apply_step(*self._waiting.pop())
            if self._work > MAX_WORK or steps + len(self._waiting) > MAX_STEPS:
                return None
        return ErrorCost(self._every, max(self._in_unions))

    def _apply_step(self, number: int, value: Any, union: int) -> None:
        node = self._nodes[number]
        self._work += node.work + node.matching * _count_characters(value) // _CHARACTERS_PER_STATE
        cost = node.errors * (_COST_OF_ERROR + _COST_OF_VALUE * node.repeats + self._copy_cost(value))
        self._every += cost
        if union:
            self._in_unions[union] += cost
        self._waiting += [(other, value, union) for other in node.same]
        if node.unions:
            self._enter_unions(node, value, union)
        if isinstance(value, dict):
            self._waiting += [(other, value[name], union) for name, other in node.named if name in value]
            self._descend(node.names, value, union)
            self._descend(node.within, value.values(), union)
        elif isinstance(value, list | tuple):
            self._descend(node.within, value, union)

    def _descend(self, numbers: list[int], parts: Collection[Any], union: int) -> None:
        # No more than it takes to exceed the limit: a list of thousands may meet a list of thousands.
        steps = product(numbers, parts, (union,))
        self._waiting += islice(steps, MAX_STEPS)

    def _enter_unions(self, node: SchemaNode, value: Any, union: int) -> None:
        if not union:
            union = len(self._in_unions)
            self._in_unions.append(0.0)
        self._waiting += [(other, value, union) for other in node.unions]

    def _copy_cost(self, value: Any) -> float:
        """Each error has a copy of the value that it is about."""
        if not isinstance(value, dict | list | tuple):
            return _COST_OF_VALUE + _count_characters(value) / _CHARACTERS_PER_COST
        if id(value) not in self._copies:
            parts = value.values() if isinstance(value, dict) else value
            self._copies[id(value)] = _COST_OF_VALUE + sum(map(self._copy_cost, parts))
        return self._copies[id(value)]


def _count_characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(map(len, value)) if isinstance(value, dict) else 0


def _sort_by_dependence(nodes: list[SchemaNode], depend_on: Callable[[SchemaNode], list[int]]) -> list[int] | None:
    """The nodes in an order in which each comes after those that it depends on; `None` if there is a circle."""
    order: list[int] = []
    entered = [False] * len(nodes)
    left = [False] * len(nodes)
    waiting = list(range(len(nodes)))
    while waiting:
        number = waiting[-1]
        if entered[number]:
            waiting.pop()
            if not left[number]:
                left[number] = True
                order.append(number)
            continue
        entered[number] = True
        for other in depend_on(nodes[number]):
            if entered[other] and not left[other]:
                return None
            if not entered[other]:
                waiting.append(other)
    return order


def _longest_chain(nodes: list[SchemaNode], order: list[int]) -> int:
    lengths = [1] * len(nodes)
    for number in order:
        lengths[number] += max((lengths[other] for other in nodes[number].applied), default=0)
    return max(lengths)
