"""VS Code: `servers` and `inputs` in `mcp.json`, and the older place inside `settings.json`."""

from mooring.discovery.dialect import EDITOR
from mooring.discovery.format import Format, Place, project, user, without


def _product(folder: str) -> tuple[Place, ...]:
    return (
        user(f"{{app}}/{folder}/User/mcp.json"),
        user(f"{{app}}/{folder}/User/profiles/*/mcp.json"),
        user(f"{{app}}/{folder}/User/settings.json", "mcp", "servers"),
    )


FORMAT = Format(
    tool="vscode",
    title="VS Code",
    places=(
        project(".vscode/mcp.json"),
        project(".vscode/settings.json", "mcp", "servers"),
        *_product("Code"),
        *_product("Code - Insiders"),
    ),
    key=("servers",),
    fields=without("timeout"),
    dialect=EDITOR,
)
