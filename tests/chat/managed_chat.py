"""A program: the chat as `mooring chat` opens it, on a machine whose own settings are below the folder that is named.

A person cannot say where the machine's settings are, and so no command can.
"""

import os
import sys

from msgspec.structs import replace

from mooring.chat.plain.chat import chat_in_lines
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.definitions.paths import Workspace, here

if __name__ == "__main__":
    where = replace(here(os.environ), system=sys.argv[1])
    chat_in_lines(Workspace(where, os.getcwd()), CommandPermissions())
