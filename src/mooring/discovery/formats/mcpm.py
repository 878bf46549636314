"""mcpm: the file is the map itself, on every platform in the same folder."""

from mooring.discovery.dialect import WHOLE
from mooring.discovery.format import Format, user

FORMAT = Format(tool="mcpm", title="mcpm", places=(user("~/.config/mcpm/servers.json"),), key=(), dialect=WHOLE)
