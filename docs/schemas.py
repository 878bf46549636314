"""Writes schemas: of what `mooring chat -p` prints, and of what Mooring's own tools take. `make docs` runs it."""

import json
from collections.abc import Iterator
from functools import reduce
from inspect import cleandoc
from operator import or_
from pathlib import Path
from typing import Any, get_args

import msgspec

import mooring.agents.local.toolbox
import mooring.agents.sub_agent  # noqa: F401 - both define tools, which are found by their class
from mooring.conversation.function import SCHEMAS, write_schema
from mooring.conversation.local_tool import LocalTool
from mooring.core.conversation.event import ConversationEvent, WrittenOutcome
from mooring.core.protocol.tool import Hints
from mooring.verbs.agent.headless import HeadlessAnswer

FOLDER = Path(__file__).with_name("reference") / "schema"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SPARSE = {Hints.__name__}
"""Types that leave out what they don't know. The others always say everything."""


def pages() -> dict[str, str]:
    """The text of each schema, by the name of its file."""
    return {
        "turn-event": _write(_event_type(), "A line of `mooring chat -p --output-format stream-json`"),
        "headless": _write(HeadlessAnswer, "What `mooring chat -p --output-format json` prints"),
    }


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.schema.json"


def _event_type() -> Any:
    """Any event of a conversation, with outcomes as they are written."""
    kinds = [_written_type(kind) if _has_outcome(kind) else kind for kind in get_args(ConversationEvent)]
    return reduce(or_, kinds)


def _has_outcome(kind: type[msgspec.Struct]) -> bool:
    return "outcome" in kind.__struct_fields__


def _written_type(kind: type[msgspec.Struct]) -> type[msgspec.Struct]:
    fields: list[tuple[str, Any]] = [
        (field.name, WrittenOutcome if field.name == "outcome" else field.type)
        for field in msgspec.structs.fields(kind)
    ]
    tag = kind.__struct_config__.tag
    made = msgspec.defstruct(kind.__name__, fields, rename="camel", tag=tag, kw_only=True)
    made.__doc__ = kind.__doc__
    return made


def _write(kind: Any, title: str) -> str:
    schema = msgspec.json.schema(kind)
    for name, definition in schema["$defs"].items():
        if "description" in definition:
            # From Python 3.13 on a docstring has no indentation anyway.
            definition["description"] = cleandoc(definition["description"])
        if name not in SPARSE:
            _require_all(definition)
    return json.dumps({"$schema": DIALECT, "title": title, **schema}, indent=2) + "\n"


def _require_all(definition: dict[str, Any]) -> None:
    """Say that all of it is always there. A default is for reading, and these are written."""
    properties = definition.get("properties", {})
    required = [name for name, each in properties.items() if name in definition["required"] or "default" in each]
    for each in properties.values():
        each.pop("default", None)
    definition["required"] = required


def write_argument_schemas() -> str:
    """The schemas of what Mooring's own tools for this machine take, which are read at each start instead of made."""
    found = {}
    for tool in _list_local_tools(LocalTool):
        parameters = tool.parameters
        schema = write_schema(parameters, tool.label)
        found[f"{parameters.__module__}.{parameters.__qualname__}"] = schema
    return json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False) + "\n"


def _list_local_tools(kind: type[LocalTool]) -> Iterator[type[LocalTool]]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("mooring.") and "parameters" in vars(each):
            yield each
        yield from _list_local_tools(each)


if __name__ == "__main__":
    for name, text in pages().items():
        path_of(name).write_text(text)
    Path(SCHEMAS).write_text(write_argument_schemas())
