"""The tree of errors is the one its module draws, and what they say is possible."""

import re

from mooring import errors
from mooring.errors import MooringError, TimedOut


def descendants(kind):
    for child in kind.__subclasses__():
        yield child
        yield from descendants(child)


def test_every_error_stands_in_the_drawn_tree_under_its_parent():
    drawn = {}
    path = ["MooringError"]
    for line in errors.__doc__.splitlines():
        if found := re.match(r"^([│ ]*)[├└]── (\w+)", line):
            depth = len(found[1]) // 4 + 1
            path[depth:] = [found[2]]
            drawn[found[2]] = path[depth - 1]
    known = [kind for kind in descendants(MooringError) if kind.__module__ == "mooring.errors"]
    assert drawn == {kind.__name__: kind.__base__.__name__ for kind in known}


def test_a_deadline_that_had_passed_already_is_not_a_negative_time():
    assert str(TimedOut("x", "initialize", -0.001)) == "x did not answer initialize within 0 s."
