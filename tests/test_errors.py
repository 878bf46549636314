"""The tree of errors is the one its module draws."""

import re

from mooring import errors
from mooring.errors import MooringError


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
