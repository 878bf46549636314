"""`mooring mcp`: the table of its commands."""

from mooring.cli.base import LazyGroup, Table

TABLE: Table = {
    "list": ("mooring.cli.mcp.list:command", "Every server, where it comes from, and what is wrong."),
    "get": ("mooring.cli.mcp.get:command", "One server's definition in full, secrets masked."),
    "why": ("mooring.cli.mcp.why:command", "Which definitions of a name exist and why one wins."),
    "add": ("mooring.cli.mcp.add:add_command", "Add a server to your configuration, or to another tool's, and try it."),
    "add-json": ("mooring.cli.mcp.add:add_json_command", "Add a server that is described in JSON."),
    "edit": ("mooring.cli.mcp.edit:command", "Change a server's entry, by option or in your editor, and try it."),
    "remove": ("mooring.cli.mcp.remove:command", "Remove a server from the file that it is in."),
    "import": (
        "mooring.cli.mcp.copying:import_command",
        "Copy servers of other tools, or of a file, into Mooring's own.",
    ),
    "export": ("mooring.cli.mcp.copying:export_command", "Copy servers into another tool's file."),
    "enable": ("mooring.cli.mcp.switch:enable", "Turn a server on for good."),
    "disable": ("mooring.cli.mcp.switch:disable", "Turn a server off for good."),
    "test": ("mooring.cli.mcp.test:command", "Connect to a server step by step and show what fails."),
    "reload": ("mooring.cli.mcp.reload:command", "Connect again and show which tools are new, gone or changed."),
    "login": ("mooring.cli.mcp.login:login_command", "Log in to a server in your browser."),
    "logout": ("mooring.cli.mcp.login:logout_command", "Revoke the login of a server, and remove it."),
    "approve": ("mooring.cli.mcp.approve:approve", "Let a project's server be started."),
    "reject": ("mooring.cli.mcp.approve:reject", "Refuse a project's server until it changes."),
    "reset": ("mooring.cli.mcp.reset:command", "Withdraw what you decided about a server or a tool."),
    "pins": ("mooring.cli.mcp.pins:command", "Which tools are held back because they are not what was approved."),
    "doctor": ("mooring.cli.mcp.doctor:command", "What to fix, each with the command that fixes it."),
}

group = LazyGroup(
    "mcp",
    table=TABLE,
    aliases={
        "ls": "list",
        "rm": "remove",
        "reconnect": "reload",
        "reauth": "login",
        "auth": "login",
        "unauth": "logout",
    },
    help="See, approve and change the configured MCP servers.",
    no_args_is_help=True,
)
