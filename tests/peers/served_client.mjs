// A client on the official SDK for Node: what it sees through `mooring serve`, as JSON.
//
// Its arguments: the package.json beside which the SDK is installed, the SDK, what to do (`look` at everything, or
// `hang` in a call that takes minutes), and where the server is: a URL, whose token is in TOKEN, or a command.

import { createRequire } from "node:module";

const [installed, sdk, wish, ...target] = process.argv.slice(2);
const load = createRequire(installed);

// What differs between the SDKs: where things are, and how a handler is registered.
const GENERATIONS = {
  "@modelcontextprotocol/sdk": loadFirst,
  "sdk-of-june-2025": loadFirst,
  "@modelcontextprotocol/client": loadSecond,
};

function loadFirst() {
  const { Client } = load(`${sdk}/client/index.js`);
  const { StdioClientTransport } = load(`${sdk}/client/stdio.js`);
  const { StreamableHTTPClientTransport } = load(`${sdk}/client/streamableHttp.js`);
  const { ElicitRequestSchema } = load(`${sdk}/types.js`);
  return { Client, StdioClientTransport, StreamableHTTPClientTransport, elicitation: ElicitRequestSchema };
}

function loadSecond() {
  const { Client, StreamableHTTPClientTransport } = load(sdk);
  const { StdioClientTransport } = load(`${sdk}/stdio`);
  return { Client, StdioClientTransport, StreamableHTTPClientTransport, elicitation: "elicitation/create" };
}

const library = GENERATIONS[sdk]();
const questions = [];
const seen = { questions };

const client = new library.Client(
  { name: "client-of-node", version: "1.0.0" },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: "auto" } },
);
client.setRequestHandler(library.elicitation, ({ params }) => {
  questions.push(params.message);
  const isPermission = "answer" in params.requestedSchema.properties;
  return { action: "accept", content: isPermission ? { answer: "once" } : { name: "Ada" } };
});

await client.connect(noteVersion(makeTransport()));
await { look, hang }[wish]();
await client.close();
process.stdout.write(JSON.stringify(seen));

function makeTransport() {
  if (target.length === 1) {
    const headers = { Authorization: `Bearer ${process.env.TOKEN}` };
    return new library.StreamableHTTPClientTransport(new URL(target[0]), { requestInit: { headers } });
  }
  const [command, ...args] = target;
  return new library.StdioClientTransport({ command, args, env: process.env });
}

// Not every SDK tells which version was agreed on, but each tells its transport.
function noteVersion(transport) {
  const original = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    seen.version = version;
    original?.(version);
  };
  return transport;
}

async function look() {
  seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
  seen.resources = (await client.listResources()).resources.map((resource) => resource.uri);
  seen.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  seen.echoes = [
    await call("mcp__everything__echo", { message: "ahoy ⚓" }),
    await call("mcp__tides__echo", { text: "ahoy ⚓" }),
  ];
  seen.sum = await call("mcp__everything__get-sum", { a: 40, b: 2 });
  seen.read = (await client.readResource({ uri: "tide://now" })).contents[0].text;
  const prompt = await client.getPrompt({ name: "mcp__tides__explain", arguments: { topic: "tides" } });
  seen.prompt = prompt.messages[0].content.text;
  seen.progress = [];
  const onprogress = onServersProgress((progress, total) => seen.progress.push([progress, total]));
  seen.slow = await call("mcp__tides__slow", { steps: 3 }, { onprogress });
  seen.elicited = await call("mcp__everything__trigger-elicitation-request", {});
  seen.cancelled = await cancelInTheMiddle();
  seen.after = await call("mcp__tides__echo", { text: "still here" });
}

async function call(name, given, options) {
  const result = await client.callTool({ name, arguments: given }, ...makeOptions(options));
  return result.content[0].text;
}

async function cancelInTheMiddle() {
  const stop = new AbortController();
  const onprogress = onServersProgress(() => stop.abort("enough"));
  try {
    await call("mcp__tides__slow", { steps: 400 }, { signal: stop.signal, onprogress });
    return "not cancelled";
  } catch (error) {
    return String(error);
  }
}

async function hang() {
  const onprogress = onServersProgress(() => process.stdout.write("in a call\n"));
  await call("mcp__everything__trigger-long-running-operation", { duration: 600, steps: 6000 }, { onprogress });
}

// The second SDK reports progress of its own whenever it has answered a question; that one has no total.
function onServersProgress(report) {
  return ({ progress, total }) => total !== undefined && report(progress, total);
}

// The first SDK takes the schema of the result before the options.
function makeOptions(options) {
  return typeof library.elicitation === "string" ? [options] : [undefined, options];
}
