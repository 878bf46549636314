"""The rows of `mooring`: what each command is called, takes and does."""

from mooring.core.conversation.backend_name import BACKENDS
from mooring.core.conversation.effort import EFFORTS
from mooring.verbs.verb import ADDRESS, CONNECTION, Flag, Option, Row, Verb, VerbArgument, VerbGroup

MODES = ("plan", "ask", "edits", "accept-reads", "bypass")
PERMISSIONS = (
    Option("--allow", "Call these without asking: github.get_* or git.run(log *)", metavar="RULE", many=True),
    Option("--deny", "Never call these: github.delete_*", metavar="RULE", many=True),
    Option("--permission-mode", "For tools that no rule covers.", key="mode", choices=MODES),
    Flag("--dangerously-skip-permissions", "The same as bypass: ask nothing.", key="skip"),
)
RULE_SCOPE = Flag("--project", "For this project alone; the rule stays with you, not with the project.")

ROWS: tuple[Row, ...] = (
    Verb(
        "chat",
        "Talk to all servers: pick a tool, fill in what it needs.",
        help=(
            "Use every configured server: a model answers and calls tools, or you pick them yourself.\n\n"
            "-b api asks a model, manual is you. The others are agents with programs of their own, which get the "
            "servers from here; -m then names a model as they do. `mooring backends` shows which are ready.\n\n"
            "Each call is asked about unless a rule allows it; /help inside shows the rest. With -p nothing is "
            "asked: what would be is denied, and the answer names the rule that would allow it.\n\n"
            "A conversation is continued by whoever answered in it. With -b somebody else goes on, in a new "
            "conversation that is given the transcript; --continue -b claude prefers the last one with claude."
        ),
        examples=(
            "mooring chat -m anthropic:claude-sonnet-5-5",
            "mooring chat -b claude",
            "mooring chat -m ollama:qwen3 -p 'Which of my issues is the oldest?' --allow 'github.list_*'",
            "mooring chat --agent debugger",
            "mooring chat --resume 3fa81c -b opencode",
            "git diff | mooring chat -p 'Review this' --output-format json",
        ),
        parameters=(
            Option("-b --backend", "Who answers and picks the tools.", choices=BACKENDS),
            Option("-m --model", "The model, such as anthropic:claude-sonnet-5-5.", metavar="PROVIDER:MODEL"),
            Option("--effort", "How much the model thinks before it answers.", choices=EFFORTS),
            Option("--agent", "Who answers; see mooring agents.", metavar="NAME", complete="agent"),
            Option("-p --prompt", "Answer this, print the answer, and end; stdin is added to it.", metavar="TEXT"),
            Option(
                "--output-format",
                "What -p prints; text by default.",
                key="output",
                choices=("text", "json", "stream-json", "stream-json-1"),
            ),
            Option(
                "--max-turns", "Ask the model at most N times in a turn (100).", metavar="N", kind="integer", least=1
            ),
            Option("--max-cost", "End a turn that has cost this much.", metavar="USD", kind="dollars"),
            Option("--token-budget", "End a turn that has taken N tokens.", metavar="N", kind="integer", least=1),
            Flag("-c --continue", "Continue the last conversation of this folder.", key="newest"),
            Option("-r --resume", "Continue this conversation.", metavar="ID", complete="session"),
            Flag(
                "--plain",
                "Plain lines instead of the whole screen; `mooring settings chat plain` makes it the default.",
            ),
            Flag("--screen", "The whole screen, whatever that setting says."),
            *PERMISSIONS,
        ),
    ),
    VerbGroup(
        "mcp",
        "See, approve and change the configured MCP servers.",
        "See, approve and change the configured MCP servers.",
        "mooring.verbs.mcp_rows",
    ),
    Verb(
        "tools",
        "The tools of all servers, or of one.",
        help=(
            "The tools of all configured servers, those of one with their parameters, or one tool in full with an "
            "example.\n\n"
            "What a server offered before is known; only those that were never asked are started."
        ),
        examples=(
            "mooring tools github",
            "mooring tools github.create_issue",
            "mooring tools --search 'open an issue'",
            "mooring tools --server 'npx -y @modelcontextprotocol/server-everything'",
        ),
        parameters=(
            VerbArgument("words", metavar="SERVER[.TOOL]", many=True, required=False, complete="tool_words"),
            Flag("--refresh", "Ask every server again, also those whose tools are known."),
            Option("--search", "Those that fit best, the best first.", metavar="WORDS"),
            Flag("--cost", "About how many tokens a model reads for them.", key="counting"),
            *CONNECTION,
        ),
    ),
    Verb(
        "call",
        "Call a tool.",
        help=(
            "Call a tool. NAME=@FILE takes a value from a file, NAME:=JSON any JSON, OBJECT.NAME=VALUE goes into an "
            "object, and --NAME VALUE works where Mooring has no such option: a tool's own url is url=ADDRESS, because "
            "--url names a server. Where both have a name, Mooring's option goes before the tool's name. Exits 1 if "
            "the tool says that it failed.\n\n"
            "SERVER TOOL works too, and so does TOOL alone if only one server is known to have it. NAME=A NAME=B "
            "makes a list; yes, no, true and false are the values of a switch. `mooring tools SERVER.TOOL` shows "
            "the parameters and an example."
        ),
        examples=(
            "mooring call github.search_issues query=words",
            "mooring call time get_current_time timezone=UTC",
            "mooring call --server 'npx -y @modelcontextprotocol/server-everything' echo message=hello",
            "mooring call --url https://example.com/mcp search query=words",
        ),
        parameters=(
            VerbArgument("tool", metavar="SERVER.TOOL", complete="tool"),
            VerbArgument("words", metavar="NAME=VALUE", many=True, required=False, complete="argument", named=True),
            Option("--args", "All arguments as one JSON object; - reads it from stdin.", key="given", metavar="JSON"),
            Option(
                "-o --output",
                "Write the result's text, or its picture or sound, to a file.",
                metavar="FILE",
                complete="file",
            ),
            *PERMISSIONS,
            *CONNECTION,
        ),
    ),
    Verb(
        "resources",
        "The resources of all servers, or of one.",
        help="The resources of all configured servers, or of one: what `mooring read` takes.",
        parameters=(
            VerbArgument("name", metavar="SERVER", required=False, complete="server"),
            Flag("--templates", "List the templates of addresses instead."),
            *CONNECTION,
        ),
    ),
    Verb(
        "read",
        "Read a resource.",
        help=(
            "Read a resource: its text, or its bytes to a file or a pipe. It can be named instead of addressed: "
            "SERVER NAME or SERVER.NAME. SERVER is left out with --server or --url."
        ),
        parameters=(
            VerbArgument("words", metavar="SERVER URI", many=True, required=False, complete="resource"),
            Option("-o --output", "Write its content to a file.", metavar="FILE", complete="file"),
            *CONNECTION,
        ),
    ),
    Verb(
        "prompts",
        "The prompts of all servers, or of one.",
        help="The prompts of all configured servers, or of one: what `mooring prompt` takes.",
        parameters=(VerbArgument("name", metavar="SERVER", required=False, complete="server"), *CONNECTION),
    ),
    Verb(
        "prompt",
        "Fill in a prompt and show its messages.",
        help="Fill in a prompt and show its messages. SERVER is left out with --server or --url.",
        examples=("mooring prompt demo explain topic=tides",),
        parameters=(
            VerbArgument(
                "words",
                metavar="SERVER PROMPT [NAME=VALUE]...",
                many=True,
                required=False,
                complete="prompt",
                named=True,
            ),
            *CONNECTION,
        ),
    ),
    Verb(
        "watch",
        "Print a resource, or what a tool returns, and each change of it.",
        help=(
            "Print what a resource holds, or what a tool returns, and then a line for each change, until Ctrl+C.\n\n"
            "--count N ends it well, with exit code 0; --timeout ends it after that many seconds, with exit code 5."
        ),
        examples=("mooring watch demo demo://clock", "mooring watch github list_notifications --interval 60"),
        parameters=(
            VerbArgument(
                "words",
                metavar="SERVER URI|TOOL [NAME=VALUE]...",
                many=True,
                required=False,
                complete="watched",
                named=True,
            ),
            Option("--interval", "Look every S seconds, at least 1.", metavar="S", kind="number"),
            Option("--count", "End after N changes.", metavar="N", kind="integer", least=1),
            *CONNECTION,
        ),
    ),
    Verb(
        "serve",
        "Offer all servers to other programs as one MCP server.",
        help=(
            "Offer all servers, or some, to other programs as one MCP server, on stdin and stdout or over HTTP.\n\n"
            "On stdin and stdout, the other program starts this command, as it would start any MCP server. Over "
            "HTTP, clients send the token that is shown at the first start. Calls are checked by your rules and "
            "logged. What has to be asked is asked through the client, if it supports elicitation. If not, it is "
            "refused, and the refusal says which rule would allow it."
        ),
        examples=(
            "claude mcp add all -- mooring serve",
            "mooring serve github time --allow 'time.*'",
            "mooring serve --url https://example.com/mcp --names raw",
            "mooring serve --http 127.0.0.1:8080",
        ),
        parameters=(
            VerbArgument("names", metavar="SERVER", many=True, required=False, complete="server"),
            Option(
                "--names",
                "full: mcp__SERVER__TOOL. raw: the servers' own names, as far as no two are the same.",
                key="style",
                default="full",
                choices=("full", "raw"),
            ),
            Flag("--search", "Show a tool to find tools and one to call them, instead of all."),
            Option("--http", "Serve over HTTP, at http://HOST:PORT/mcp.", metavar="HOST:PORT"),
            Flag("--no-token", "Over HTTP: serve any program on this machine, whoever runs it."),
            *PERMISSIONS,
            *ADDRESS,
        ),
    ),
    Verb(
        "backends",
        "Who can answer in a chat: versions, logins, what is missing.",
        help=(
            "Who can answer in a chat: models behind an API, you, and the programs of other agents.\n\n"
            "Each with its state, its version and its login, and the one command that installs it or logs in. The "
            "programs are asked themselves, for some seconds at most. `mooring chat -b NAME` talks to one; the "
            "setting `backend` names the one to talk to by default."
        ),
    ),
    Verb(
        "logs",
        "What a server wrote.",
        help="What a server wrote on stderr and in log messages, whichever mooring started it.",
        parameters=(
            VerbArgument("name", metavar="SERVER", complete="server"),
            Flag("-f --follow", "Print each new line as it is written.", key="following"),
            Option(
                "-n --lines",
                "How many of the last lines to print.",
                metavar="LINES",
                default=100,
                kind="integer",
                least=0,
            ),
        ),
    ),
    Verb(
        "history",
        "Every call: what was called, who allowed it, how it ended.",
        help=(
            "Every call: when, which tool, how it ended, and who or which rule allowed it. Times are local; "
            "--json has UTC.\n\n"
            "Of the arguments only the shape is kept: keys, numbers, and how long each text was."
        ),
        parameters=(
            Option("-n --lines", "How many, the latest last.", default=50, kind="integer", least=1),
            Option("--server", "Only calls of this server.", metavar="NAME", complete="server"),
            Option("--tool", "Only calls of this tool, by its own name.", metavar="TOOL", complete="own_tool"),
            Option(
                "--outcome",
                "Only calls with this outcome.",
                choices=("ok", "error", "is_error", "denied", "unfinished"),
            ),
            Option(
                "--since",
                "Only calls since then: 30m, 1h, 2d, today, yesterday, 2026-11-01 or 2026-11-01T09:30.",
                metavar="TIME",
            ),
        ),
        aliases=("log",),
        action="use.history:history",
    ),
    VerbGroup(
        "agents",
        "Agents that can be used here, and what each may use.",
        "Agents that can be used here. `mooring agents` lists them, `mooring agents NAME` shows one.",
        (
            Verb(
                "show",
                "The agents that can be used here, or all about one.",
                help=(
                    "The agents that can be used here, or with a NAME all about one: its tools, its model, what it is "
                    "told.\n\n"
                    "They come from the agent files of Mooring, OpenCode, Copilot and Claude Code, yours and the "
                    "project's, and from Mooring itself. Nothing in them is run or granted. `show` can be left out."
                ),
                examples=("mooring agents", "mooring agents debugger", "mooring chat --agent debugger"),
                parameters=(VerbArgument("name", required=False, complete="agent"),),
                aliases=("list", "ls"),
                action="agent.agents:show_agents",
            ),
            Verb(
                "approve",
                "Let a project's file have a name of yours or of Mooring's.",
                help=(
                    "Stop being told that a project's agent, command or skill of this NAME is used instead of yours or "
                    "of Mooring's.\n\n"
                    "Read its file first. It counts for this project and for what the file says now: once that "
                    "changes, each use says it again. Of a skill, only SKILL.md is compared."
                ),
                examples=("mooring agents approve explore",),
                parameters=(VerbArgument("names", many=True, complete="taken_name"),),
                action="config.taken_names:approve_taken_names",
            ),
            Verb(
                "reset",
                "Withdraw an approval of a name.",
                help="Withdraw an approval of this NAME: each use says again whose it is.",
                parameters=(VerbArgument("names", many=True, complete="approved_name"),),
                action="config.taken_names:reset_taken_names",
            ),
        ),
        shows="agent",
    ),
    VerbGroup(
        "sessions",
        "Conversations that can be continued: list, show or remove them.",
        "Conversations that can be continued. `mooring sessions` lists those of this folder, `mooring sessions ID` "
        "shows one.",
        (
            Verb(
                "show",
                "The conversations of this folder, or all that was said in one.",
                help=(
                    "The conversations of this folder, the last one first, or with an ID all that was said in one.\n\n"
                    "The first characters of an ID are enough. `show` can be left out. Long results are cut; -v prints "
                    "all of them, and what the model thought."
                ),
                examples=("mooring sessions --all", "mooring sessions 3fa81c"),
                parameters=(
                    VerbArgument("id", required=False, complete="session"),
                    Flag("--all", "List the conversations of all folders.", key="is_all"),
                    Option("-n --lines", "List at most this many.", default=50, kind="integer", least=1),
                ),
                aliases=("list", "ls"),
            ),
            Verb(
                "rm",
                "Remove a conversation, or all of them.",
                help="Remove a conversation for good. The first characters of its ID are enough. An open one stays.",
                parameters=(
                    VerbArgument("id", required=False, complete="session"),
                    Flag("--all", "Remove the conversations of all folders.", key="is_all"),
                ),
                aliases=("remove",),
                action="agent.sessions:remove_sessions",
            ),
        ),
        shows="session",
    ),
    VerbGroup(
        "secret",
        "Keep secrets out of configuration files.",
        "Keep secrets out of configuration files.",
        (
            Verb(
                "set",
                "Store a secret that a definition names as ${keyring:NAME}.",
                help=(
                    "Store a secret in your system's keyring, or in a file that only you can read if there is none.\n\n"
                    "You are asked for the value, and what you type is not shown. In a pipe, the value is what comes "
                    "from stdin, without the end of its last line. In Mooring's own files, ${keyring:NAME} stands "
                    "for it."
                ),
                examples=("mooring secret set github", "op read op://work/github/token | mooring secret set github"),
                parameters=(
                    VerbArgument("name", complete="secret"),
                    VerbArgument("more", metavar="", many=True, required=False),
                ),
            ),
            Verb(
                "list",
                "The names of your secrets, and where each one is stored.",
                help="The names of your secrets, where each one is stored and since when. Values are never shown.",
                aliases=("ls",),
                action="config.secrets:list_secrets",
            ),
            Verb(
                "rm",
                "Remove a secret.",
                help="Remove a secret. Servers whose definition names it can't be started any more.",
                parameters=(VerbArgument("name", complete="secret"),),
                aliases=("remove",),
                action="config.secrets:forget_secret",
            ),
        ),
    ),
    *(
        Verb(
            action,
            f"{summary}, from now on.",
            help=(
                f"{summary}, from now on, by a rule in your own settings: SERVER.TOOL, with * for any name, or a tool "
                "of an agent with what it may touch, such as 'Bash(git log *)'.\n\n"
                "A deny wins over any allow. A rule in your settings that allows is for your own servers; --project "
                "makes one for this project, whose servers it reaches, too."
            ),
            examples=(f"mooring {action} {example}", f"mooring {action} {example} --project"),
            parameters=(VerbArgument("rule", complete="tool"), RULE_SCOPE),
            action=f"config.rules:{action}",
        )
        for action, summary, example in (
            ("allow", "Let tools be called without a question", "github.get_issue"),
            ("deny", "Refuse calls of tools", "'github.delete_*'"),
            ("ask", "Be asked about calls of tools", "'github.create_*'"),
        )
    ),
    Verb(
        "rules",
        "Show the permission rules, or which of them decides about a tool.",
        help=(
            "Show the permission rules in force, highest level first; with SERVER.TOOL, what becomes of a call of it, "
            "and why."
        ),
        examples=("mooring rules", "mooring rules github.create_issue", "mooring rules --remove 'github.get_*'"),
        parameters=(
            VerbArgument("tool", metavar="SERVER.TOOL", required=False, complete="tool"),
            Option(
                "--remove", "Remove a rule of yours, as it is shown.", key="removed", metavar="RULE", complete="rule"
            ),
        ),
        action="config.rules:run_rules",
    ),
    Verb(
        "settings",
        "Show each setting with its origin, or change one.",
        help=(
            "Show each setting with its value and the file that set it, or set one: the value is JSON, or a text. "
            "Values of env are not shown, only their names.\n\n"
            "Without a key, it also shows where your secrets are stored, and why there."
        ),
        examples=(
            "mooring settings model anthropic:claude-sonnet-5-5",
            "mooring settings toolNames mcp_server_tool --project",
            "mooring settings model --unset",
            "mooring settings trustedFolders --add /srv/shared",
        ),
        parameters=(
            VerbArgument("key", required=False, complete="setting"),
            VerbArgument("value", required=False, complete="setting_value"),
            Option(
                "--add",
                "Add a value to a list in your own settings.",
                key="added",
                metavar="VALUE",
                complete="setting_item",
            ),
            Flag("--unset", "Remove it, so that the next file or the default decides."),
            Flag("--user", "In your own settings, which is the default."),
            Flag("--project", "In the project's settings, for everybody who has it."),
        ),
        action="config.settings:run_settings",
    ),
    Verb(
        "completion",
        "Print completion for bash, zsh or fish.",
        help=(
            "Print the completion script of a shell: bash, zsh or fish.\n\n"
            "It completes commands, options, servers, tools, parameters, their values and the addresses of "
            "resources, from what is known; no server is started for it."
        ),
        examples=(
            'bash:  eval "$(mooring completion bash)"',
            'zsh:   eval "$(mooring completion zsh)"',
            "fish:  mooring completion fish > ~/.config/fish/completions/mooring.fish",
        ),
        parameters=(VerbArgument("shell", metavar="SHELL", choices=("bash", "zsh", "fish")),),
    ),
)
