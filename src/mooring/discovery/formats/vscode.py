"""VS Code: `servers` and `inputs` in `mcp.json`, and the older place inside `settings.json`."""

from mooring.discovery.dialect import VSCODE
from mooring.discovery.format import BASIC, Format, Place, Writes, common_without, project_file, user_file


def _product_files(folder: str) -> tuple[Place, ...]:
    return (
        user_file(f"{{app}}/{folder}/User/mcp.json"),
        user_file(f"{{app}}/{folder}/User/profiles/*/mcp.json"),
        user_file(f"{{app}}/{folder}/User/settings.json", "mcp", "servers"),
    )


FORMAT = Format(
    tool="vscode",
    title="VS Code",
    places=(
        project_file(".vscode/mcp.json"),
        project_file(".vscode/settings.json", "mcp", "servers"),
        *_product_files("Code"),
        *_product_files("Code - Insiders"),
    ),
    key=("servers",),
    # VS Code has no timeouts.
    fields=common_without("timeout"),
    dialect=VSCODE,
    writes=Writes(
        user=(user_file("{app}/Code/User/mcp.json"),),
        project=(project_file(".vscode/mcp.json"),),
        slots=(*BASIC, "cwd", "env_file", "oauth"),
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        oauth={"client_id": "clientId"},
    ),
)
