"""OpenAI Agents SDK: a guardrail on the input of a tool.

pip install openai-agents reflex-guard-engine
"""

import json
import os
import subprocess
import sys

from agents import Agent, Runner, ToolGuardrailFunctionOutput, function_tool, tool_input_guardrail
from reflex_guard_engine import judge


@tool_input_guardrail
def guard(data):
    call = {"event": "pre-tool", "tool": data.context.tool_name, "cwd": os.getcwd(), "home": os.path.expanduser("~")}
    verdict = judge({**call, "tool_input": json.loads(data.context.tool_arguments or "{}")})
    if verdict["decision"] in ("allow", "warn"):
        return ToolGuardrailFunctionOutput.allow()
    # Ask your user where the decision is `require_approval`.
    return ToolGuardrailFunctionOutput.reject_content(verdict["reasons"][0])


@function_tool(tool_input_guardrails=[guard])
def shell(command: str) -> str:
    """Runs a shell command."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


agent = Agent(name="shell", tools=[shell])
print(Runner.run_sync(agent, sys.argv[1]).final_output)
