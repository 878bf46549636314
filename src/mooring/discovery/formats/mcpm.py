"""mcpm: the file is the map itself, in the same folder on every platform."""

from mooring.discovery.dialect import MCPM
from mooring.discovery.format import Format, Writes, user_file

FORMAT = Format(
    tool="mcpm",
    title="mcpm",
    places=(user_file("~/.config/mcpm/servers.json"),),
    key=(),
    dialect=MCPM,
    writes=Writes(
        user=(user_file("~/.config/mcpm/servers.json"),), types={}, always={"profile_tags": []}, name_key="name"
    ),
)
