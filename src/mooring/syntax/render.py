"""Values into text, in the syntaxes that are written."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

# A word that is certainly text to every YAML parser, also to those that take `no` and `1e3` for something else.
_PLAIN_WORD = r"(?!(?i:true|false|yes|no|on|off|null|y|n)\Z)[A-Za-z][A-Za-z0-9_/.@-]*"
_BARE_KEY = r"[A-Za-z0-9_-]+"


def render_json(value: Any, indent: str | None = None) -> str:
    """JSON on one line, or on several with this indent; letters stay as they are unless one of them cannot be seen."""
    needs_escapes = not json.dumps(value, ensure_ascii=False).isprintable()
    return json.dumps(value, ensure_ascii=needs_escapes, indent=indent)


def render_inline_toml(value: Any) -> str:
    """A TOML value on one line."""
    match value:
        case Mapping():
            pairs = (f"{render_toml_key(key)} = {render_inline_toml(inner)}" for key, inner in value.items())
            inside = ", ".join(pairs)
            return f"{{ {inside} }}" if inside else "{}"
        case list() | tuple():
            return f"[{', '.join(map(render_inline_toml, value))}]"
        case str():
            return quote(value)
        case _:
            return json.dumps(value)


def render_toml_table(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a table with its header, then those of the tables in it."""
    yield f"[{'.'.join(map(render_toml_key, path))}]"
    inner_tables = {key: value for key, value in table.items() if isinstance(value, Mapping) and value}
    for key, value in table.items():
        if key not in inner_tables:
            yield f"{render_toml_key(key)} = {render_inline_toml(value)}"
    for key, value in inner_tables.items():
        yield ""
        yield from render_toml_table((*path, key), value)


def render_toml_key(key: str) -> str:
    return key if re.fullmatch(_BARE_KEY, key) else quote(key)


def render_yaml_block(value: Any) -> Iterator[str]:
    """The lines of a mapping or a list that is not empty, without indentation."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from render_yaml_member(f"{render_yaml_scalar(key)}:", inner)
    else:
        for inner in value:
            yield from render_yaml_item(inner)


def render_yaml_member(key: str, value: Any) -> Iterator[str]:
    """The lines of a key, as written, with its value."""
    if is_filled(value):
        yield key
        yield from (f"  {line}" for line in render_yaml_block(value))
    else:
        yield f"{key} {render_yaml_scalar(value)}"


def render_yaml_item(value: Any) -> Iterator[str]:
    """The lines of a list's element."""
    if not is_filled(value):
        yield f"- {render_yaml_scalar(value)}"
        return
    mark = "- "
    for line in render_yaml_block(value):
        yield mark + line
        mark = "  "


def render_yaml_scalar(value: Any) -> str:
    """Anything that fits on one line: text, a number, true or false, or an empty container."""
    if not isinstance(value, str):
        return json.dumps(value)
    return value if re.fullmatch(_PLAIN_WORD, value) else quote(value)


def render_flow_yaml(value: Any) -> str:
    """A YAML value on one line, in brackets."""
    match value:
        case Mapping():
            return f"{{{', '.join(f'{quote(key)}: {render_flow_yaml(inner)}' for key, inner in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(render_flow_yaml, value))}]"
        case str():
            return quote(value)
        case _:
            return json.dumps(value)


def is_filled(value: Any) -> bool:
    """Whether a value is a container with something in it."""
    return isinstance(value, Mapping | list | tuple) and bool(value)


def quote(text: str) -> str:
    """Text in double quotes with escapes that TOML and YAML both have. JSON's pairs of surrogates are in neither."""
    return f'"{"".join(map(_escape, text))}"'


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
