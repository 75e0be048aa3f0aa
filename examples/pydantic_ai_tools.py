"""Pydantic AI: a toolset that judges each call before it runs.

pip install 'pydantic-ai-slim[openai]' reflex-guard-engine
"""

import os
import subprocess
import sys

from pydantic_ai import Agent, FunctionToolset, ModelRetry, WrapperToolset
from reflex_guard_engine import judge


class Guarded(WrapperToolset):
    async def call_tool(self, name, tool_args, ctx, tool):
        call = {"event": "pre-tool", "tool": name, "cwd": os.getcwd(), "home": os.path.expanduser("~")}
        verdict = judge({**call, "tool_input": tool_args})
        if verdict["decision"] not in ("allow", "warn"):
            # The model reads the reason. Ask your user where the decision is `require_approval`.
            raise ModelRetry(verdict["reasons"][0])
        return await super().call_tool(name, tool_args, ctx, tool)


tools = FunctionToolset()


@tools.tool_plain
def shell(command: str) -> str:
    """Runs a shell command."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


agent = Agent("openai-chat:gpt-5", toolsets=[Guarded(tools)])
print(agent.run_sync(sys.argv[1]).output)
