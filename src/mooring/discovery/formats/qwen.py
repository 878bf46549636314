"""Qwen Code: Gemini's shape, but an address without a type is SSE, and its own state is elsewhere."""

from mooring.discovery.dialect import LOOSE
from mooring.discovery.format import PROJECT, Format, Switch, fields, project, user
from mooring.discovery.formats import gemini

_HOME = "${QWEN_HOME:-~/.qwen}"
_OVER, _UNDER = gemini.machine("qwen-code", "QwenCode", "QWEN_CODE")
_PLACES = (*_OVER, project(".qwen/settings.json"), user(f"{_HOME}/settings.json"), *_UNDER)
_APPROVALS = user(f"{_HOME}/mcpApprovals.json")

FORMAT = Format(
    tool="qwen",
    title="Qwen Code",
    places=(*_PLACES, gemini.extensions(_HOME, "qwen-extension.json")),
    fields={**gemini.FIELDS, **fields(discoveryTimeoutMs="start_timeout", alwaysLoadTools="always_load")},
    untyped="sse",
    dialect=LOOSE,
    prepare=gemini.prepare,
    remarks=gemini.remarks,
    gather=gemini.gather,
    off=(*gemini.switches(_PLACES, _HOME), Switch(_APPROVALS, (PROJECT,), "rejected")),
    trust_marks=(Switch(_APPROVALS, (PROJECT,), "approved"),),
)
