"""oh-my-pi: the common shape; the person's own file may switch servers off by name."""

from mooring.discovery.dialect import OWN
from mooring.discovery.format import Format, Switch, project, user

_USER = (
    user("~/.omp/profiles/${OMP_PROFILE}/agent/mcp.json"),
    user("~/.omp/profiles/${OMP_PROFILE}/agent/.mcp.json"),
    user("~/.omp/agent/mcp.json"),
    user("~/.omp/agent/.mcp.json"),
    user("~/.omp/mcp.json"),
)

FORMAT = Format(
    tool="omp",
    title="oh-my-pi",
    places=(project(".omp/mcp.json"), project(".omp/.mcp.json"), *_USER),
    names=r"(?!.{101})[A-Za-z0-9_.:-]+(?: [A-Za-z0-9_.:-]+)*",
    untyped="http",
    dialect=OWN,
    off=tuple(Switch(place, ("disabledServers",)) for place in _USER),
    on=tuple(Switch(place, ("enabledServers",)) for place in _USER),
)
