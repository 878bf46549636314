"""What is known of the own tools of other agents' programs: one file for each program, and `schema.py` for its form."""

from collections.abc import Mapping
from typing import Final

from mooring.backends.own_tools.claude import CLAUDE_TOOLS
from mooring.backends.own_tools.copilot import COPILOT_TOOLS
from mooring.backends.own_tools.opencode import OPENCODE_TOOLS
from mooring.backends.own_tools.schema import ProgramSchema
from mooring.core.conversation.backend_name import ProgramName

OWN_TOOLS: Final[Mapping[ProgramName, ProgramSchema]] = {
    "claude": CLAUDE_TOOLS,
    "copilot": COPILOT_TOOLS,
    "opencode": OPENCODE_TOOLS,
}
