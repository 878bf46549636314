// The shortest script that calls one tool with the Node SDK: what `mooring call` is measured by.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "once", version: "0" });
await client.connect(await wayTo());
const result = await client.callTool({ name: "echo", arguments: { text: "hello" } });
console.log(result.content[0].text);
await client.close();

async function wayTo() {
  if (command.startsWith("http:")) {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return new StreamableHTTPClientTransport(new URL(command));
  }
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  return new StdioClientTransport({ command, args });
}
