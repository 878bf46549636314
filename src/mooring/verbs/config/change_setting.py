"""One more value in a list of the person's own settings; everything else in the file stays as it is."""

import json
from typing import Any

from mooring.core.definitions.paths import Paths
from mooring.errors import ConfigError, ParseError
from mooring.settings import SETTINGS, load, update_settings
from mooring.syntax.edit import edit_bytes, insert_element
from mooring.syntax.parse import parse


def add_to_setting(where: Paths, key: str, value: str) -> str:
    """Add a value to a setting that is a list, unless it has it; the path of the file that holds it.

    Raises:
        ConfigError: the setting is no such list, the machine's settings decide it, or the file cannot be changed.
        FileError: the file cannot be read or written.
    """
    setting = SETTINGS[key]
    if not isinstance(setting.default, list) or not setting.fits([value]):
        raise ConfigError(f"{value} cannot be added to {key}, which is {setting.expects}.")
    current = load(where, None).values[key]
    if current.level == "managed":
        raise ConfigError(f"{key} is set by the machine's settings in {current.path}, which win over yours.")
    path = f"{where.config}/settings.json"

    def change(data: bytes) -> bytes:
        try:
            return edit_bytes(data, lambda text: _add_value(text, key, value))
        except ParseError as error:
            raise ConfigError(f"{path} {error.reason}; add to its `{key}` by hand: {json.dumps(value)}") from None

    update_settings(where, path, change)
    return path


def _add_value(text: str, key: str, value: str) -> str:
    data: Any = parse(text.encode(), "json").data
    values = data.get(key, []) if isinstance(data, dict) else []
    if not isinstance(values, list):
        raise ParseError(f"has a `{key}` that is not a list")
    return text if value in values else insert_element(text, (key, len(values)), value)
