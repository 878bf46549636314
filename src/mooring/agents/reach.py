"""Which files a text may bring along by naming them: a repository's only what is in it, the person's own almost all."""

import os

from msgspec import Struct

from mooring import files
from mooring.agents.local.guarded import GuardedFiles, list_hidden_folders
from mooring.core.definitions.paths import Workspace, is_below
from mooring.settings import find_project_folders


class Reach(Struct, frozen=True):
    """What texts may name on one machine, seen from one project. All paths are without links."""

    project: str
    home: str
    guarded: GuardedFiles

    def find_refusal(self, real: str, fence: str | None) -> str:
        """Why a text may not bring a file along; empty if it may.

        `fence` is the repository that the text belongs to; `None` if the person wrote it.
        """
        if self.guarded.find_privacy(real):
            return "is never given to a model"
        if fence is None:
            return ""
        # A repository that holds the home folder is no project but everything.
        if is_below(self.home, fence) or not is_below(real, fence):
            return "is outside of the project"
        if self.guarded.is_configuration(real):
            return "is a configuration file, and may hold secrets"
        hidden = {name for name in os.path.relpath(real, fence).split("/") if name.startswith(".")}
        # Hidden folders hold keys and tokens; those of agents hold texts, but also settings, logins and histories.
        if hidden - list_hidden_folders() or (hidden and not real.lower().endswith((".md", ".mdc", ".mdx"))):
            return "is hidden, and may hold secrets"
        return ""

    def find_link_refusal(self, base: str, path: str, fence: str | None) -> str:
        """The same for a path that was looked for in a folder of a repository: links on the way may lead elsewhere."""
        expected = os.path.join(os.path.realpath(base), os.path.relpath(path, base))
        real = os.path.realpath(path)
        return "" if fence is None or real == expected else self.find_refusal(real, fence)

    def find_exit(self, path: str, real: str) -> str:
        """The link of the project by which a path leads out of it, if a person may agree to that; empty otherwise."""
        return "" if self.guarded.find_privacy(real) else files.find_exit(path, real, self.project)

    def find_fence(self, real: str) -> str | None:
        """The repository that a file of the person's choice belongs to: what it names in turn they may never have read.

        `None` if it is in none, or in one that holds their home folder.
        """
        if is_below(real, self.project) and not is_below(self.home, self.project):
            return self.project
        root = files.repository_folders(os.path.dirname(real))[-1]
        is_repository = os.path.lexists(os.path.join(root, ".git"))
        return root if is_repository and not is_below(self.home, root) else None


def make_reach(workspace: Workspace) -> Reach:
    """What texts may name from this folder. Looks at the disk."""
    where = workspace.where
    project = os.path.realpath(find_project_folders(where, os.path.realpath(workspace.cwd))[-1])
    return Reach(project, os.path.realpath(where.home), GuardedFiles(where))


def resolve_named(workspace: Workspace, folder: str, named: str) -> tuple[str, str] | None:
    """The file or folder that a text in a folder names: its path with links and without; `None` if there is none."""
    path = f"{workspace.where.home}{named[1:]}" if named.startswith("~/") else os.path.join(folder, named)
    try:
        return (path, os.path.realpath(path)) if os.path.lexists(path) else None
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return None
