// The shortest script that calls one tool with the Node SDK: what `mooring call` is measured by.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "once", version: "0" });
await client.connect(new StdioClientTransport({ command, args }));
const result = await client.callTool({ name: "echo", arguments: { text: "hello" } });
console.log(result.content[0].text);
await client.close();
