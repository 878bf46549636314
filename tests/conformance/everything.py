"""The server that the official suite expects behind `mooring serve`: on the SDK, over stdio, in both eras.

Every name, text and schema is from the descriptions of the suite's scenarios.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

warnings.simplefilter("ignore")

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0D\xac\0\0\x88X\1\0\2\0\x10\0data\0\0\0\0").decode()
NEWEST = "2026-07-28"
KEY = b"only for tests"
BUS = InMemorySubscriptionBus()

Context = Any
Json = dict[str, Any]
Tool = Callable[[Context, Any], Awaitable[Any]]


def text(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=words)])


def form(message: str, **properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sampling(prompt: str, tokens: int = 100) -> Json:
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": tokens}}


ROOTS: Json = {"method": "roots/list", "params": {}}
NAME = form("What is your name?", name={"type": "string"})


def sign(state: str) -> str:
    return f"{state}.{hmac.new(KEY, state.encode(), hashlib.sha256).hexdigest()}"


def verify(signed: str | None) -> str | None:
    """The state that was signed; `None` if there is none. Raises: MCPError."""
    if signed is None:
        return None
    state, _, _ = signed.rpartition(".")
    if not hmac.compare_digest(sign(state), signed):
        raise MCPError(types.INVALID_PARAMS, "The requestState was tampered with")
    return state


def responses(params: Any) -> Json:
    given = params.input_responses or {}
    return {key: dump(value) for key, value in given.items()}


def dump(value: Any) -> Any:
    return value.model_dump(by_alias=True, exclude_none=True) if hasattr(value, "model_dump") else value


async def ask(ctx: Context, params: Any, requests: Json, state: str | None = None) -> Json | types.InputRequiredResult:
    """The answers to what is asked, in the way of the client's era; or the result that asks for it."""
    if ctx.protocol_version != NEWEST:
        return {key: await ask_now(ctx, request) for key, request in requests.items()}
    given = responses(params)
    if set(requests) <= set(given):
        return given
    signed = None if state is None else sign(state)
    return types.InputRequiredResult.model_validate({"inputRequests": requests, "requestState": signed})


async def ask_now(ctx: Context, request: Json) -> Json:
    kinds: dict[str, tuple[Any, Any]] = {
        "elicitation/create": (types.ElicitRequest, types.ElicitResult),
        "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
        "roots/list": (types.ListRootsRequest, types.ListRootsResult),
    }
    kind, result = kinds[request["method"]]
    answered: Json = dump(await ctx.session.send_request(kind.model_validate(request), result))
    return answered


async def answer_with(
    ctx: Context, params: Any, requests: Json, write: Callable[[Json], str], state: str | None = None
) -> Any:
    answers = await ask(ctx, params, requests, state)
    return answers if isinstance(answers, types.InputRequiredResult) else text(write(answers))


def resource(uri: str, kind: str, words: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=kind, text=words)
    return types.EmbeddedResource(type="resource", resource=contents)


# --- tools that answer at once ----------------------------------------------------------------------------------------


async def simple_text(ctx: Context, params: Any) -> Any:
    return text("This is a simple text response for testing.")


async def image(ctx: Context, params: Any) -> Any:
    return types.CallToolResult(content=[types.ImageContent(type="image", data=PNG, mime_type="image/png")])


async def audio(ctx: Context, params: Any) -> Any:
    return types.CallToolResult(content=[types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")])


async def embedded(ctx: Context, params: Any) -> Any:
    held = resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    return types.CallToolResult(content=[held])


async def mixed(ctx: Context, params: Any) -> Any:
    data = json.dumps({"test": "data", "value": 123})
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text="Multiple content types test:"),
            types.ImageContent(type="image", data=PNG, mime_type="image/png"),
            resource("test://mixed-content-resource", "application/json", data),
        ]
    )


async def failing(ctx: Context, params: Any) -> Any:
    words = types.TextContent(type="text", text="This tool intentionally returns an error for testing")
    return types.CallToolResult(content=[words], is_error=True)


# --- tools that report ------------------------------------------------------------------------------------------------


async def log(ctx: Context, params: Any) -> Any:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", words, related_request_id=ctx.request_id)
        await asyncio.sleep(0.05)
    return text("Logged three times.")


async def progress(ctx: Context, params: Any) -> Any:
    for step in (0, 50, 100):
        await ctx.session.report_progress(step, 100)
        await asyncio.sleep(0.05)
    return text("Reported three times.")


async def change_tools(ctx: Context, params: Any) -> Any:
    # Really: a proxy that looks first has nothing to announce otherwise.
    if TOOLS.pop("test_comes_and_goes", None) is None:
        TOOLS["test_comes_and_goes"] = (simple_text, "")
    if ctx.protocol_version == NEWEST:
        await BUS.publish(ToolsListChanged())
    else:
        await ctx.session.send_tool_list_changed()
    return text("Said that the tools changed.")


async def change_prompts(ctx: Context, params: Any) -> Any:
    if ctx.protocol_version == NEWEST:
        await BUS.publish(PromptsListChanged())
    else:
        await ctx.session.send_prompt_list_changed()
    return text("Said that the prompts changed.")


async def update_resource(ctx: Context, params: Any) -> Any:
    uri = "test://watched-resource"
    if ctx.protocol_version == NEWEST:
        await BUS.publish(ResourceUpdated(uri=uri))
    else:
        await ctx.session.send_resource_updated(uri)
    return text("Said that a resource changed.")


# --- tools that ask ---------------------------------------------------------------------------------------------------


async def sample(ctx: Context, params: Any) -> Any:
    requests = {"sample": sampling((params.arguments or {})["prompt"])}
    return await answer_with(ctx, params, requests, lambda got: f"LLM response: {got['sample']['content']['text']}")


async def elicit(ctx: Context, params: Any) -> Any:
    wanted = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    requests = {"user": form((params.arguments or {})["message"], **wanted)}
    return await answer_with(ctx, params, requests, lambda got: f"User response: {json.dumps(got['user'])}")


def describe(got: Json) -> str:
    given = got["form"]
    return f"Elicitation completed: action={given['action']}, content={json.dumps(given.get('content'))}"


async def elicit_defaults(ctx: Context, params: Any) -> Any:
    wanted = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await answer_with(ctx, params, {"form": form("Check these values", **wanted)}, describe)


async def elicit_enums(ctx: Context, params: Any) -> Any:
    options = ["option1", "option2", "option3"]
    titled = [
        {"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)
    ]
    choices = [
        {"const": f"value{n}", "title": f"{word} Choice"} for n, word in enumerate(("First", "Second", "Third"), 1)
    ]
    legacy = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}
    wanted: Json = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", **legacy},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": choices}},
    }
    return await answer_with(ctx, params, {"form": form("Choose", **wanted)}, describe)


async def need_capability(ctx: Context, params: Any) -> Any:
    declared = ctx.session.client_capabilities
    if declared is None or declared.sampling is None:
        data = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling", data)
    return text("The client can sample.")


async def ask_name(ctx: Context, params: Any) -> Any:
    return await answer_with(ctx, params, {"user_name": NAME}, lambda got: f"Hello, {name_of(got['user_name'])}!")


def name_of(answer: Json) -> str:
    return str((answer.get("content") or {}).get("name", "nobody"))


async def ask_model(ctx: Context, params: Any) -> Any:
    requests = {"capital_question": sampling("What is the capital of France?")}
    return await answer_with(ctx, params, requests, lambda got: str(got["capital_question"]["content"]))


async def ask_roots(ctx: Context, params: Any) -> Any:
    return await answer_with(
        ctx, params, {"client_roots": ROOTS}, lambda got: json.dumps(got["client_roots"], default=str)
    )


async def keep_state(ctx: Context, params: Any) -> Any:
    verify(params.request_state)
    requests = {"confirm": form("Please confirm", ok={"type": "boolean"})}
    return await answer_with(ctx, params, requests, lambda got: "state-ok", "first")


async def ask_all(ctx: Context, params: Any) -> Any:
    verify(params.request_state)
    requests = {"user_name": NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": ROOTS}
    return await answer_with(ctx, params, requests, lambda got: ", ".join(sorted(got)), "all")


async def ask_twice(ctx: Context, params: Any) -> Any:
    name = form("Step 1: What is your name?", name={"type": "string"})
    color = form("Step 2: What is your favorite color?", color={"type": "string"})
    if ctx.protocol_version != NEWEST:
        await ask_now(ctx, name)
        await ask_now(ctx, color)
        return text("Thank you.")
    if verify(params.request_state) is None:
        return await ask(ctx, params, {"step1": name}, "one")
    if "step2" not in responses(params):
        return await ask(ctx, params, {"step2": color}, "two")
    return text("Thank you.")


async def ask_what_the_client_can(ctx: Context, params: Any) -> Any:
    declared = ctx.session.client_capabilities
    requests: Json = {}
    if declared is not None and declared.sampling is not None:
        requests["greeting"] = sampling("Generate a greeting", 50)
    if declared is not None and declared.elicitation is not None:
        requests["user_name"] = NAME
    if not requests:
        return text("The client can do nothing.")
    return await answer_with(ctx, params, requests, lambda got: ", ".join(sorted(got)))


TOOLS: dict[str, tuple[Tool, str]] = {
    "test_simple_text": (simple_text, ""),
    "test_image_content": (image, ""),
    "test_audio_content": (audio, ""),
    "test_embedded_resource": (embedded, ""),
    "test_multiple_content_types": (mixed, ""),
    "test_tool_with_logging": (log, ""),
    "test_logging_tool": (log, ""),
    "test_error_handling": (failing, ""),
    "test_tool_with_progress": (progress, ""),
    "test_sampling": (sample, "prompt"),
    "test_elicitation": (elicit, "message"),
    "test_elicitation_sep1034_defaults": (elicit_defaults, ""),
    "test_elicitation_sep1330_enums": (elicit_enums, ""),
    "test_missing_capability": (need_capability, ""),
    "test_streaming_elicitation": (ask_name, ""),
    "test_trigger_tool_change": (change_tools, ""),
    "test_trigger_prompt_change": (change_prompts, ""),
    "test_trigger_resource_update": (update_resource, ""),
    "test_input_required_result_elicitation": (ask_name, ""),
    "test_input_required_result_sampling": (ask_model, ""),
    "test_input_required_result_list_roots": (ask_roots, ""),
    "test_input_required_result_request_state": (keep_state, ""),
    "test_input_required_result_tampered_state": (keep_state, ""),
    "test_input_required_result_multiple_inputs": (ask_all, ""),
    "test_input_required_result_multi_round": (ask_twice, ""),
    "test_input_required_result_capabilities": (ask_what_the_client_can, ""),
}


async def list_tools(ctx: Context, params: Any) -> types.ListToolsResult:
    tools = [
        types.Tool(
            name=name,
            description=f"For the scenario about {name}.",
            input_schema={"type": "object", "properties": {each: {"type": "string"} for each in wanted.split()}},
        )
        for name, (_, wanted) in TOOLS.items()
    ]
    return types.ListToolsResult(tools=tools)


async def call_tool(ctx: Context, params: Any) -> Any:
    found = TOOLS.get(params.name)
    if found is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    return await found[0](ctx, params)


# --- resources and prompts --------------------------------------------------------------------------------------------


async def list_resources(ctx: Context, params: Any) -> types.ListResourcesResult:
    rows = (
        ("test://static-text", "Static text", "text/plain"),
        ("test://static-binary", "Static binary", "image/png"),
        ("test://watched-resource", "Watched resource", "text/plain"),
    )
    made = [types.Resource(uri=uri, name=name, description=f"{name}.", mime_type=kind) for uri, name, kind in rows]
    return types.ListResourcesResult(resources=made)


async def list_templates(ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template="test://template/{id}/data",
        name="Template",
        description="A template.",
        mime_type="application/json",
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ctx: Context, params: Any) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "test://static-binary":
        blob = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        return types.ReadResourceResult(contents=[blob])
    kind, words = "text/plain", ""
    if uri == "test://static-text":
        words = "This is the content of the static text resource."
    elif uri == "test://watched-resource":
        words = "Watched."
    elif uri.startswith("test://template/") and uri.endswith("/data"):
        id = uri.removeprefix("test://template/").removesuffix("/data")
        kind, words = "application/json", json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
    else:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=words)])


async def do_nothing(ctx: Context, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def list_prompts(ctx: Context, params: Any) -> types.ListPromptsResult:
    prompts = [
        types.Prompt(
            name=name,
            description=f"For the scenario about {name}.",
            arguments=[types.PromptArgument(name=each, description="A value.", required=True) for each in wanted],
        )
        for name, wanted in PROMPTS.items()
    ]
    return types.ListPromptsResult(prompts=prompts)


async def get_prompt(ctx: Context, params: Any) -> Any:
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            return messages(types.TextContent(type="text", text="This is a simple prompt for testing."))
        case "test_prompt_with_arguments":
            words = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
            return messages(types.TextContent(type="text", text=words))
        case "test_prompt_with_embedded_resource":
            held = resource(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return messages(held, types.TextContent(type="text", text="Please process the embedded resource above."))
        case "test_prompt_with_image":
            picture = types.ImageContent(type="image", data=PNG, mime_type="image/png")
            return messages(picture, types.TextContent(type="text", text="Please analyze the image above."))
        case "test_input_required_result_prompt":
            request = form("What context should the prompt use?", context={"type": "string"})
            answers = await ask(ctx, params, {"user_context": request})
            if isinstance(answers, types.InputRequiredResult):
                return answers
            return messages(types.TextContent(type="text", text=f"Use this context: {answers['user_context']}"))
        case _:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")


def messages(*blocks: Any) -> types.GetPromptResult:
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=block) for block in blocks])


async def complete(ctx: Context, params: Any) -> types.CompleteResult:
    values = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


SERVER = Server(
    "everything",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_subscribe_resource=do_nothing,
    on_unsubscribe_resource=do_nothing,
    on_subscriptions_listen=ListenHandler(BUS),
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_completion=complete,
    on_set_logging_level=do_nothing,
)


async def main() -> None:
    changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    async with stdio_server() as (incoming, outgoing):
        await SERVER.run(incoming, outgoing, SERVER.create_initialization_options(changes))


if __name__ == "__main__":
    asyncio.run(main())
