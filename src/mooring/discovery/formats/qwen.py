"""Qwen Code: Gemini's shape, but a URL without a type is SSE, and its own state is elsewhere."""

from mooring.discovery.dialect import GEMINI
from mooring.discovery.format import PROJECT, Format, Switch, fields, project_file, user_file
from mooring.discovery.formats import gemini

_HOME = "${QWEN_HOME:-~/.qwen}"
_FOLDERS = ("qwen-code", "QwenCode", "QWEN_CODE")
_PLACES = (
    *gemini.system_settings(*_FOLDERS),
    project_file(".qwen/settings.json"),
    user_file(f"{_HOME}/settings.json"),
    *gemini.system_defaults(*_FOLDERS),
)
_APPROVALS = user_file(f"{_HOME}/mcpApprovals.json")

FORMAT = Format(
    tool="qwen",
    title="Qwen Code",
    places=(*_PLACES, gemini.extensions(_HOME, "qwen-extension.json")),
    gather=gemini.gather,
    fields={**gemini.FIELDS, **fields(discoveryTimeoutMs="start_timeout", alwaysLoadTools="always_load")},
    untyped_url="sse",
    dialect=GEMINI,
    prepare=gemini.prepare,
    remarks=gemini.remarks,
    off=(*gemini.off_switches(_PLACES, _HOME), Switch(_APPROVALS, (PROJECT,), "rejected")),
    trust_marks=(Switch(_APPROVALS, (PROJECT,), "approved"),),
)
