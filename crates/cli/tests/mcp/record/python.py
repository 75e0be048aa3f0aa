"""Plays the sessions with the official Python SDK and records them: `python python.py OUT`, in a folder in which the
servers are installed; the package is `mcp`."""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

HERE = Path(__file__).parent


async def main(out):
    folder = tempfile.mkdtemp(prefix="mcp-")
    for session in json.loads((HERE / "sessions.json").read_text().replace("FOLDER", folder)):
        program = os.path.join("node_modules/.bin", session["server"][0])
        transcript = os.path.join(out, f"python-{session['name']}.txt")
        words = [str(HERE / "relay.py"), transcript, program, *session["server"][1:]]
        environment = {**os.environ, "MEMORY_FILE_PATH": os.path.join(folder, "memory.jsonl")}
        parameters = StdioServerParameters(command="python3", args=words, env=environment)
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            await client.list_tools()
            await client.send_ping()
            for tool, arguments in session["calls"]:
                try:
                    await client.call_tool(tool, arguments)
                except Exception as error:
                    print(tool, error, file=sys.stderr)


asyncio.run(main(sys.argv[1]))
