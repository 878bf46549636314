"""FastMCP: a conversation's tools behind a transport, for `fastmcp.Client` and whatever takes one.

Needs the extra `fastmcp`.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Unpack

from mooring import Allow, Answer, Conversation, Image, No, Outcome, Part, Permission, Question, Text
from mooring.adapters import explain_import

try:
    from fastmcp.client.transports.base import ClientTransport, SessionKwargs, TransportOptions
    from mcp import ClientSession, MCPError
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.server import NotificationOptions, Server
    from mcp.shared.memory import create_client_server_memory_streams
    from mcp_types import (
        AudioContent,
        CallToolRequestParams,
        CallToolResult,
        ImageContent,
        ListToolsResult,
        PaginatedRequestParams,
        TextContent,
        Tool,
    )
except ImportError as error:
    raise explain_import(error, "fastmcp") from error

Context = ServerRequestContext[Any]

_calling: ContextVar[Context] = ContextVar("calling")


async def elicit(question: Question) -> Answer:
    """An `ask` for `Host.conversation`: a call that needs a person goes to the client's `elicitation_handler`.

    Accepting it approves the call. Everything that isn't about a call is refused.
    """
    if not isinstance(question, Permission):
        return No("only calls can be approved here")
    name = f"{question.server}.{question.tool}" if question.server else question.tool
    message = f"Call {name} with {json.dumps(dict(question.arguments))}? {question.why}"
    context = _calling.get()
    try:
        result = await context.session.elicit_form(message, {"type": "object", "properties": {}}, context.request_id)
    except MCPError as error:
        return No(f"nobody could be asked: {error}")
    if result.action == "accept":
        return Allow("once")
    return No(how=result.action)


class MooringTransport(ClientTransport):
    """One server with everything that a model can call in one conversation. What a search finds is listed next time."""

    legacy_only = True
    """In the newer era of the protocol, a server cannot ask the client anything in the middle of a call."""

    def __init__(self, tools: Conversation) -> None:
        self._tools = tools

    @asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_kwargs: Unpack[SessionKwargs]
    ) -> AsyncIterator[ClientSession]:
        server = Server("mooring", on_list_tools=self._list_tools, on_call_tool=self._call_tool)
        hello = server.create_initialization_options(NotificationOptions(tools_changed=True))
        make_session = (transport_options or TransportOptions()).session_class
        async with create_client_server_memory_streams() as (client, ours):
            serving = asyncio.create_task(server.run(*ours, hello))
            try:
                async with make_session(*client, **session_kwargs) as session:
                    yield session
            finally:
                serving.cancel()
                await asyncio.wait([serving])

    async def _list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        # Without output schemas: a client would reject a call that continues in the background, for it has no result.
        tools = [
            Tool(name=tool.name, title=tool.title, description=tool.description, input_schema=dict(tool.schema))
            for tool in self._tools.definitions
        ]
        return ListToolsResult(tools=tools)

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        _calling.set(context)
        before = len(self._tools.definitions)
        outcome = await self._tools.call(params.name, params.arguments)
        if len(self._tools.definitions) != before:
            await context.session.send_tool_list_changed()
        return _make_result(outcome)


def _make_result(outcome: Outcome) -> CallToolResult:
    structured = outcome.structured if isinstance(outcome.structured, dict) else None
    content = [_make_block(part) for part in outcome.parts]
    return CallToolResult(content=list(content), structured_content=structured, is_error=outcome.is_error)


def _make_block(part: Part) -> TextContent | ImageContent | AudioContent:
    if isinstance(part, Text):
        return TextContent(text=part.text)
    if isinstance(part, Image):
        return ImageContent(data=part.data, mime_type=part.mime_type)
    return AudioContent(data=part.data, mime_type=part.mime_type)
