// Plays the sessions with the official TypeScript SDK and records them: `node typescript.mjs OUT`, in a folder in which
// `@modelcontextprotocol/sdk` and the servers are installed.
import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {StdioClientTransport} from "@modelcontextprotocol/sdk/client/stdio.js";
import {mkdtempSync, readFileSync} from "node:fs";
import path from "node:path";

const here = import.meta.dirname;
const folder = mkdtempSync("/tmp/mcp-");
const text = readFileSync(path.join(here, "sessions.json"), "utf8").replaceAll("FOLDER", folder);
for (const {name, server, calls} of JSON.parse(text)) {
  const program = path.join("node_modules/.bin", server[0]);
  const args = [path.join(here, "relay.py"), path.join(process.argv[2], `typescript-${name}.txt`), program];
  const transport = new StdioClientTransport({
    command: "python3",
    args: [...args, ...server.slice(1)],
    env: {...process.env, MEMORY_FILE_PATH: path.join(folder, "memory.jsonl")},
  });
  const client = new Client({name: "recorder", version: "1"}, {capabilities: {roots: {listChanged: true}}});
  await client.connect(transport);
  await client.listTools();
  const offers = client.getServerCapabilities();
  if (offers.resources) await client.listResources();
  if (offers.prompts) await client.listPrompts();
  await client.ping();
  for (const [tool, params] of calls) {
    const call = {name: tool, arguments: params};
    await client.callTool(call, undefined, {onprogress: () => {}}).catch(error => console.error(tool, error.message));
  }
  await client.close();
}
