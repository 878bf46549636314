"""The rows of `mooring mcp` and `/mcp`: what each verb is called, takes and does."""

from mooring.verbs.verb import CONNECTION, SCOPES, TIMEOUT, Flag, Option, Verb, VerbArgument

TRANSPORTS = ("stdio", "http", "sse")
TARGET = (
    Option(
        "-s --scope",
        "For you everywhere (the default), for everybody in this project, or for you in it (local, for Claude Code).",
        default="user",
        choices=SCOPES,
        faces="both",
    ),
    Option(
        "--to",
        "Write it into this tool's own file.",
        key="tool",
        metavar="TOOL",
        default="mooring",
        complete="writer",
        faces="both",
    ),
    Flag("--no-test", "Only write it; do not try to connect.", faces="both"),
)
DESCRIPTION = (
    Option("-e --env", "A variable for its program.", metavar="KEY=VALUE", many=True, faces="both"),
    Option("-H --header", "A header for its address.", key="headers", metavar="'NAME: VALUE'", many=True, faces="both"),
    Option("-t --transport", "How to talk to it.", choices=TRANSPORTS, faces="both"),
    Option("--url", "Its address.", metavar="URL", faces="both"),
    Option("--token", "A bearer token for its address; best as '${VARIABLE}'.", metavar="TOKEN", faces="both"),
)
COPYING = (
    Option("-s --scope", "Your own file (the default), or the project's.", choices=SCOPES, faces="both"),
    Flag("--replace", "Replace other definitions of the same names.", key="may_replace", faces="both"),
    Flag("--dry-run", "Only show what would change.", faces="both"),
    Flag("-y --yes", "Write without a look at the change; needed where nobody can be asked."),
)
SWITCHING = (
    Option("-s --scope", "Everywhere (user), or in this project only.", choices=SCOPES, faces="both"),
    Flag("--save", "For good, instead of for this session.", faces="chat"),
)
OWNER = Option("--agent", "About the servers in this agent's own file.", metavar="NAME", complete="agent")

ROWS: tuple[Verb, ...] = (
    Verb(
        "list",
        "Every server, where it comes from, and what is wrong.",
        help="Every server, where it comes from, and what is wrong. Nothing is started without --check.",
        parameters=(
            Flag("--all", "Also show shadowed definitions.", key="everything"),
            Flag("--check", "Connect to every server; exits 1 if one is unavailable."),
            Option("--timeout", "With --check: seconds for all.", metavar="S", kind="seconds"),
        ),
        aliases=("ls",),
        in_chat="every server and its status",
    ),
    Verb(
        "get",
        "One server's definition in full, secrets masked.",
        help="One server's definition in full. Values of env and headers are masked.",
        parameters=(VerbArgument("name", complete="server"),),
        in_chat="its definition, secrets masked",
        action="config.definition:get",
    ),
    Verb(
        "why",
        "Which definitions of a name exist and why one wins.",
        help=(
            "Which definitions of a name exist, which one wins and by which rule, and how the others differ from it."
        ),
        parameters=(VerbArgument("name", complete="server"),),
        in_chat="why this definition of it wins",
        action="config.why:why",
    ),
    Verb(
        "add",
        "Add a server to your configuration, or to another tool's, and try it.",
        help=(
            "Add a server, connect to it, and keep it or undo.\n\n"
            "A value may be '${VARIABLE}': the file then holds the reference, not the secret. Without a command "
            "and a URL, you are asked for everything. In place of NAME, a text that describes servers, such as a block "
            "of a README or another tool's command, adds all of them; - reads it from the standard input."
        ),
        examples=(
            "mooring mcp add github -e GITHUB_TOKEN='${GITHUB_TOKEN}' -- npx -y @modelcontextprotocol/server-github",
            "mooring mcp add docs https://example.com/mcp --token '${DOCS_TOKEN}'",
            "mooring mcp add docs https://example.com/mcp --to claude-code -s project",
            "mooring mcp add - <README.md",
        ),
        parameters=(
            VerbArgument("name", required=False, default=""),
            VerbArgument("words", metavar="URL | COMMAND ARGS…", many=True, required=False, raw=True),
            *TARGET,
            *DESCRIPTION,
        ),
        in_chat="add, connect, keep it or undo",
    ),
    Verb(
        "add-json",
        "Add a server that is described in JSON.",
        help="Add a server that is described as in a configuration file.",
        examples=('mooring mcp add-json docs \'{"type": "http", "url": "https://example.com/mcp"}\'',),
        parameters=(VerbArgument("name"), VerbArgument("text", metavar="JSON"), *TARGET),
    ),
    Verb(
        "edit",
        "Change a server's entry, by option or in your editor, and try it.",
        help=(
            "Change a server's entry, and connect to it; every byte outside the entry stays.\n\n"
            "Without anything to change, it opens the entry in your editor (VISUAL or EDITOR). -e KEY= sets an "
            "empty variable; --unset env.KEY removes it. What you make of a project's entry is approved; if the "
            "entry was not, you see all of it first."
        ),
        examples=(
            "mooring mcp edit docs --url https://example.com/v2/mcp",
            "mooring mcp edit github -e LOG=debug --unset env.GITHUB_HOST",
            "mooring mcp edit github --in claude-code -- npx -y @modelcontextprotocol/server-github",
        ),
        parameters=(
            VerbArgument("name", complete="server"),
            VerbArgument("words", metavar="URL | COMMAND ARGS…", many=True, required=False, raw=True),
            *DESCRIPTION,
            Option("--timeout", "For its start and each call; 0: none.", metavar="SECONDS", kind="seconds", least=0),
            Option("--unset", "Remove a key of its entry, such as env.TOKEN.", metavar="KEY", many=True),
            Option(
                "--in",
                "Edit it in this tool's file instead of Mooring's own.",
                key="tool",
                metavar="TOOL",
                complete="holder",
            ),
            Option("-s --scope", "Which of two files.", choices=SCOPES),
            Flag("--no-test", "Only change it; do not try to connect."),
        ),
    ),
    Verb(
        "remove",
        "Remove a server from the file that it is in.",
        help="Remove a server; every other byte of the file stays.",
        examples=("mooring mcp remove github", "mooring mcp remove github --from claude-code -s user"),
        parameters=(
            VerbArgument("name", complete="server"),
            Option(
                "--from",
                "Remove it from this tool's file instead of Mooring's own.",
                key="tool",
                metavar="TOOL",
                complete="holder",
                faces="both",
            ),
            Option("-s --scope", "Which of two files.", choices=SCOPES, faces="both"),
        ),
        aliases=("rm",),
        in_chat="take it out of its file",
    ),
    Verb(
        "import",
        "Copy servers of other tools, or of a file, into Mooring's own.",
        help=(
            "Copy servers of other tools into Mooring's own file.\n\n"
            "References such as ${TOKEN} stay references, and ${input:x} becomes a stored secret. A server whose "
            "copy would lack anything is skipped. A project's server needs your approval first."
        ),
        examples=(
            "mooring mcp import                        # everything that it lacks",
            "mooring mcp import github --from cursor",
            "mooring mcp import --from ./servers.json  # in the format of any tool",
        ),
        parameters=(
            VerbArgument("names", metavar="NAME", many=True, required=False, complete="server"),
            Option(
                "--from",
                "A tool, a file in any tool's format, or - for what is piped in.",
                key="source",
                metavar="TOOL|FILE",
                default="",
                complete="source",
                faces="both",
            ),
            *COPYING,
        ),
        in_chat="copy servers of other tools",
    ),
    Verb(
        "export",
        "Copy servers into another tool's file.",
        help=(
            "Copy servers into another tool's own file, in its own format.\n\n"
            "References such as ${TOKEN} are written as the tool writes them. A server that it cannot express is "
            "skipped."
        ),
        examples=(
            "mooring mcp export --to cursor            # every server that is enabled",
            "mooring mcp export github --to codex -s project",
        ),
        parameters=(
            VerbArgument("names", metavar="NAME", many=True, required=False, complete="server"),
            Option(
                "--to", "The tool whose file is written.", key="tool", metavar="TOOL", required=True, complete="writer"
            ),
            *COPYING,
        ),
    ),
    Verb(
        "enable",
        "Turn a server on for good.",
        help="Turn a server on. Another tool's file stays as it is: Mooring remembers the switch itself.",
        parameters=(VerbArgument("name", complete="server"), *SWITCHING),
        in_chat="on for this session, or for good",
        action="config.switch:enable",
    ),
    Verb(
        "disable",
        "Turn a server off for good.",
        help="Turn a server off. Another tool's file stays as it is: Mooring remembers the switch itself.",
        parameters=(VerbArgument("name", complete="server"), *SWITCHING),
        in_chat="off for this session, or for good",
        action="config.switch:disable",
    ),
    Verb(
        "test",
        "Connect to a server step by step and show what fails.",
        help="Connect to a server, step by step and timed, and say what fails and what may help.",
        examples=("mooring mcp test github", "mooring mcp test --url https://example.com/mcp"),
        parameters=(
            VerbArgument(
                "words", metavar="SERVER", many=True, required=False, unless="--server --url", complete="first_server"
            ),
            *CONNECTION,
        ),
        in_chat="connect step by step",
    ),
    Verb(
        "reload",
        "Connect again and show which tools are new, gone or changed.",
        help=(
            "Forget what is known of a server, or of all, connect again, and show which tools are new, gone or "
            "changed.\n\n"
            "Exits 1 if one of them is unavailable."
        ),
        parameters=(VerbArgument("name", metavar="SERVER", required=False, complete="server"), TIMEOUT),
        aliases=("reconnect",),
        in_chat="restart it, or read all files and list all tools again",
    ),
    Verb(
        "login",
        "Log in to a server in your browser.",
        help=(
            "Log in to a server in your browser, then connect to it.\n\n"
            "The login is kept in your system's keyring, or in a file that only you can read, and renewed by "
            "itself. Where no browser can come back to this machine, enter a code or paste the address that the "
            "browser ends at."
        ),
        examples=("mooring mcp login github", "mooring mcp login --url https://example.com/mcp"),
        parameters=(
            VerbArgument("name", metavar="SERVER", required=False, unless="--url", complete="server"),
            Option("--url", "The address of a server that is not configured.", metavar="URL"),
            Option("--scope", "Also ask for this right.", key="scopes", metavar="SCOPE", many=True, faces="both"),
            Flag("--no-browser", "Show the page's address, and open nothing."),
            TIMEOUT,
        ),
        aliases=("reauth", "auth"),
        in_chat="log in, in your browser",
    ),
    Verb(
        "logout",
        "Revoke the login of a server, and remove it.",
        help="Revoke the login of a server, and remove it from this machine.",
        parameters=(
            VerbArgument("name", metavar="SERVER", required=False, unless="--url", complete="server"),
            Option("--url", "The address of a server that is not configured.", metavar="URL"),
        ),
        aliases=("unauth",),
        in_chat="revoke the login and remove it",
    ),
    Verb(
        "approve",
        "Let a project's server be started.",
        help=(
            "Show exactly what a project's server would start, and let it be started.\n\n"
            "Without a terminal nobody can be asked: it is only printed, with a digest that --digest takes as the "
            "answer.\n\n"
            "An allow rule in your settings is for your own servers. If one would allow tools of this server, you "
            "are asked whether it applies to it, until its definition changes; --apply-rules says yes."
        ),
        parameters=(
            VerbArgument("names", metavar="NAME", many=True, required=False, complete="server"),
            Flag("--all", "Every project server that you haven't decided about.", key="everything"),
            Flag("-y --yes", "Do not ask; what would be started is printed anyway."),
            Option("--digest", "Approve what was printed with this digest, and nothing else.", metavar="DIGEST"),
            Flag("--apply-rules", "Apply your rules that allow its tools to this server, too.", key="with_rules"),
            OWNER,
        ),
        in_chat="decide what the project may start",
    ),
    Verb(
        "reject",
        "Refuse a project's server until it changes.",
        help="Refuse a project's server until its definition changes.",
        parameters=(
            VerbArgument("names", metavar="NAME", many=True, required=False, unless="--all", complete="server"),
            Flag("--all", "Every project server that you haven't decided about.", key="everything"),
            OWNER,
        ),
        in_chat="refuse a server of the project",
    ),
    Verb(
        "reset",
        "Withdraw what you decided about a server or a tool.",
        help=(
            "Withdraw what you decided, so that you are asked again.\n\n"
            "The NAME of a project's server makes it neither approved nor rejected. SERVER.TOOL removes the rule "
            'that an "always" answer about that tool wrote, for all projects and for this one; so does Bash, or '
            "'Bash(npm test)', for an agent's own tools."
        ),
        examples=("mooring mcp reset github", "mooring mcp reset github.create_issue"),
        parameters=(VerbArgument("names", metavar="NAME|SERVER.TOOL", many=True, complete="decided"), OWNER),
        action="config.reset:reset",
    ),
    Verb(
        "pins",
        "Which tools are held back because they are not what was approved.",
        help="Which tools were approved, and which are held back because they changed or are new.",
        parameters=(
            VerbArgument("server", required=False, complete="server"),
            Flag("--approve", "Let the tools of SERVER be called as they are now.", key="agreed"),
            Flag("--off", "Pin the tools of SERVER no longer, or again.", off="--on"),
            Flag("--refresh", "Ask the servers for their tools first."),
        ),
        in_chat="decide about tools that changed",
    ),
    Verb(
        "doctor",
        "What to fix, each with the command that fixes it.",
        help=(
            "What to fix, each with the command that fixes it; exits 1 if anything is unhealthy.\n\n"
            "Without a name and without --check nothing is started. A project's server that you have not approved "
            "never is."
        ),
        examples=(
            "mooring mcp doctor              # what is known: files, programs, variables, the last failures",
            "mooring mcp doctor github       # connect to github now, stage by stage",
            "mooring mcp doctor --check      # connect to every server",
            "mooring mcp doctor --dry-run    # what --fix would change",
        ),
        parameters=(
            VerbArgument("names", metavar="SERVER", many=True, required=False, complete="server"),
            Flag("--check", "Connect to every server that may be started."),
            Flag("--fix", "Fix what is safe to fix in Mooring's own files, and show each change."),
            Flag("--dry-run", "Show what --fix would change."),
            Option("--timeout", "Seconds for all connections.", metavar="S", kind="seconds"),
        ),
        in_chat="what to fix, and how",
    ),
)
