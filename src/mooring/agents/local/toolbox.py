"""The local tools of one conversation, for `Host.conversation(more=…)`."""

from collections.abc import Mapping, Sequence

from mooring.agents.commands.find import CommandFiles
from mooring.agents.history import KeepFile
from mooring.agents.local.ask_user import ASKER, AskUserTool, OnPlan, TodoTool
from mooring.agents.local.bash import BackgroundCommands, BashOutputTool, BashTool, KillShellTool
from mooring.agents.local.finding import GlobTool, GrepTool, ListTool
from mooring.agents.local.notebook import NotebookEditTool, NotebookReadTool
from mooring.agents.local.project_files import ProjectFiles
from mooring.agents.local.reading import ReadTool
from mooring.agents.local.skill import OnTakenName, SkillTool
from mooring.agents.local.web import WebFetchTool, WebSearchTool
from mooring.agents.local.writing import EditTool, WriteTool
from mooring.conversation.local_tool import LocalTool
from mooring.core.conversation.question import Ask
from mooring.core.definitions.paths import Paths
from mooring.process.programs import Guard
from mooring.settings import Settings
from mooring.wire.http.network import Network, Options


def local_tools(
    where: Paths,
    cwd: str,
    guard: Guard,
    *,
    ask: Ask | None = None,
    asker: str = ASKER,
    on_plan: OnPlan | None = None,
    settings: Settings | None = None,
    skills: CommandFiles | None = None,
    on_taken_name: OnTakenName | None = None,
    keep_file: KeepFile = lambda path, before, after: None,
) -> tuple[LocalTool, ...]:
    """The tools for one conversation in a folder. Make them anew for each: what one has read or started is its own.

    `guard` starts commands, and ends them if this program ends; `ask` is whom `AskUserQuestion` asks, and `asker` who
    does. From the settings come the environment of commands, the way to the network, and the tool that searches the
    web. `skills` is where `Skill` looks; without it there is no such tool. `on_taken_name` is told of a skill of the
    project that has a name of the person's own. `keep_file` is told of each file before it is changed.
    """
    env: Mapping[str, str] = settings["env"] if settings is not None else {}
    network = Options(**settings["network"]) if settings is not None else Options()
    search: str = (settings["webSearch"] or "") if settings is not None else ""
    writable: Sequence[str] = settings["writableFolders"] if settings is not None else ()
    workspace = ProjectFiles(where, cwd, writable, keep_file)
    background = BackgroundCommands()
    return (
        ReadTool(workspace),
        WriteTool(workspace),
        EditTool(workspace),
        GlobTool(workspace),
        GrepTool(workspace, guard),
        ListTool(workspace),
        BashTool(workspace, guard, background, env),
        BashOutputTool(background),
        KillShellTool(background),
        NotebookReadTool(workspace),
        NotebookEditTool(workspace),
        TodoTool(on_plan or _tell_nobody),
        WebFetchTool(Network(where.env), network),
        WebSearchTool(search),
        AskUserTool(ask, asker),
        *([SkillTool(workspace, skills, on_taken_name or _tell_nobody)] if skills is not None else []),
    )


def _tell_nobody(_: object) -> None:
    return
