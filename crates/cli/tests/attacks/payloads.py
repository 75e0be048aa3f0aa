"""What an agent sends its hook at each moment, and what it makes of the answer."""

import json

HOME = "/home/dev"
TIME = "2026-11-22T10:00:00Z"

# The tool with which an agent runs a command.
SHELLS = {
    "claude": "Bash", "codex": "Bash", "copilot": "bash", "gemini": "run_shell_command", "qwen": "run_shell_command",
    "opencode": "bash", "cursor": "Shell", "windsurf": "run_command", "universal": "Bash",
}
# What an agent sets for the commands that it starts, and the name of its process.
MARKS = {
    "claude": {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}, "codex": {"CODEX_THREAD_ID": "t1"},
    "copilot": {"COPILOT_CLI": "1"}, "gemini": {"GEMINI_CLI": "1"}, "qwen": {"QWEN_CODE": "1"}, "opencode": {"OPENCODE": "1"},
    "cursor": {"CURSOR_AGENT": "1"},
}
MOMENTS = {
    "claude": "PreToolUse", "codex": "PreToolUse", "qwen": "PreToolUse", "copilot": "preToolUse", "gemini": "BeforeTool",
    "opencode": "tool.execute.before", "cursor": "preToolUse", "windsurf": "pre_mcp_tool_use",
}


class Caller:
    """Who makes a call: an agent's session, perhaps a role below it, in a folder."""

    def __init__(self, agent, cwd, project, session=None, role=None):
        self.agent, self.cwd, self.project, self.role = agent, cwd, project, role
        self.named, self.session = session is not None, session or "s1"

    def common(self, word, number):
        """The fields of the agents that speak like Claude Code."""
        fields = {"session_id": self.session, "cwd": self.cwd, "hook_event_name": word}
        if self.agent in ("claude", "qwen", "codex"):
            fields |= {"transcript_path": f"{HOME}/.t.jsonl", "permission_mode": "default"}
        if self.agent == "codex":
            fields |= {"turn_id": "t1", "model": "gpt-5.5"}
        if self.agent == "gemini":
            fields |= {"transcript_path": "", "timestamp": TIME}
        if self.agent == "cursor":
            fields |= {"conversation_id": self.session, "generation_id": "g", "cursor_version": "2.4.0",
                       "workspace_roots": [self.project]}
        if self.role:
            fields |= {"agent_id": f"agent-{self.role}", "agent_type": self.role}
        return fields

    def of_copilot(self):
        role = {"agentId": f"agent-{self.role}", "agentType": self.role} if self.role else {}
        return {"sessionId": self.session, "timestamp": 1763800000000, "cwd": self.cwd, **role}

    def of_universal(self, event):
        fields = {"event": event, "cwd": self.cwd, "workspace": self.project}
        fields |= {"session": self.session} if self.named else {}
        return fields | ({"agent": self.role} if self.role else {})

    def of_windsurf(self, word, info):
        return word, {"agent_action_name": word, "trajectory_id": self.session, "execution_id": "e1", "timestamp": TIME,
                      "tool_info": info}

    def windsurf(self, when, tool, given):
        if tool.removeprefix("pre_") == "run_command":
            command = given.get("command_line", given.get("CommandLine", given.get("command")))
            return f"{when}_run_command", {"command_line": command, "cwd": given.get("cwd", given.get("Cwd", self.cwd))}
        if tool.removeprefix("pre_") in ("write_code", "read_code"):
            return f"{when}_{tool.removeprefix('pre_')}", given
        server, _, name = tool.removeprefix("mcp__").partition("__")
        info = {"mcp_server_name": server if name else "local", "mcp_tool_name": name or tool, "mcp_tool_arguments": given}
        return f"{when}_mcp_tool_use", info

    def before(self, tool, given, number=1):
        """The moment's word and the payload before a tool."""
        if self.agent == "universal":
            return "", {**self.of_universal("pre-tool"), "tool": tool, "arguments": given}
        if self.agent == "windsurf":
            return self.of_windsurf(*self.windsurf("pre", tool, given))
        word = MOMENTS[self.agent]
        if self.agent == "copilot":
            return word, {**self.of_copilot(), "toolName": tool, "toolArgs": given}
        if self.agent == "opencode":
            return word, {"agent": "opencode", "event": word, "tool": tool, "args": given, "session_id": self.session,
                          "call_id": f"c{number}", "cwd": self.cwd, "worktree": self.project}
        call = {} if self.agent == "gemini" else {"tool_use_id": f"u{number}"}
        return word, {**self.common(word, number), "tool_name": tool, "tool_input": given, **call}

    def after(self, tool, given, output, number=1):
        """After a tool: what it answered."""
        text = output if isinstance(output, str) else json.dumps(output)
        word, said = self.before(tool, given, number)
        if self.agent == "universal":
            return "", {**said, "event": "post-tool", "output": text}
        if self.agent == "windsurf":
            word, info = self.windsurf("post", tool, given)
            return self.of_windsurf(word, {**info, "mcp_result": text} if "mcp" in word else info)
        if self.agent == "copilot":
            result = {"resultType": "success", "textResultForLlm": text}
            return "postToolUse", {**said, "toolResult": result}
        if self.agent == "opencode":
            word = "tool.execute.after"
            return word, {**said, "event": word, "title": "", "output": text, "metadata": {}}
        if self.agent == "cursor":
            word = "postToolUse"
            answer = json.dumps({"output": text, "exitCode": 0})
            return word, {**said, "hook_event_name": word, "tool_output": answer, "duration": 12}
        if self.agent == "gemini":
            word = "AfterTool"
            return word, {**said, "hook_event_name": word, "tool_response": {"llmContent": text, "returnDisplay": text}}
        answer = text if self.agent == "codex" else {"llmContent": text, "returnDisplay": text}
        if self.agent == "claude":
            answer = claude_answer(tool, given, output, text)
        return "PostToolUse", {**said, "hook_event_name": "PostToolUse", "tool_response": answer, "duration_ms": 12}

    def failed(self, tool, given, error, number=1):
        """After a tool that failed; agents without such a moment tell it as an answer."""
        word, said = self.before(tool, given, number)
        if self.agent in ("claude", "qwen"):
            word = "PostToolUseFailure"
            return word, {**said, "hook_event_name": word, "error": error, "is_interrupt": False, "duration_ms": 12}
        if self.agent == "cursor":
            word = "postToolUseFailure"
            return word, {**said, "hook_event_name": word, "error_message": error, "failure_type": "error", "duration": 12}
        if self.agent == "copilot":
            return "postToolUseFailure", {**said, "error": error}
        return self.after(tool, given, error, number)

    def prompt(self, text):
        """What a person told the agent."""
        if self.agent == "universal":
            return "", {**self.of_universal("prompt-submit"), "prompt": text}
        if self.agent == "windsurf":
            return self.of_windsurf("pre_user_prompt", {"user_prompt": text})
        if self.agent == "copilot":
            return "userPromptSubmitted", {**self.of_copilot(), "prompt": text}
        if self.agent == "opencode":
            return "chat.message", {"agent": "opencode", "event": "chat.message", "session_id": self.session, "cwd": self.cwd,
                                    "worktree": self.project, "prompt": text}
        word = {"gemini": "BeforeAgent", "cursor": "beforeSubmitPrompt"}.get(self.agent, "UserPromptSubmit")
        return word, {**self.common(word, 1), "prompt": text}


def claude_answer(tool, given, output, text):
    """The form in which Claude Code tells what a tool answered."""
    if not isinstance(output, str):
        return output
    if tool in ("Bash", "BashOutput"):
        return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
    if tool == "WebFetch":
        return {"bytes": len(text), "code": 200, "codeText": "OK", "result": text, "durationMs": 12, "url": given.get("url", "")}
    if tool == "Read":
        count = text.count("\n") + 1
        file = {"filePath": given.get("file_path", ""), "content": text, "numLines": count, "startLine": 1, "totalLines": count}
        return {"type": "text", "file": file}
    if tool == "Write":
        return {"type": "create", "filePath": given.get("file_path", ""), "content": text, "structuredPatch": [],
                "originalFile": None, "userModified": False}
    if tool == "Grep":
        return {"mode": "content", "numFiles": 1, "filenames": [], "content": text, "numLines": text.count("\n") + 1}
    if tool in ("Agent", "Task"):
        return {"status": "completed", "content": [{"type": "text", "text": text}]}
    return [{"type": "text", "text": text}]


def decision(code, out):
    """What a client makes of an answer: `block`, `ask`, `allow`."""
    try:
        said = json.loads(out) if out.strip() else {}
    except ValueError:
        said = {}
    said = said if isinstance(said, dict) else {}
    inner = said.get("hookSpecificOutput") or {}
    words = [said.get("decision"), said.get("permission"), said.get("permissionDecision"), inner.get("permissionDecision"),
             (inner.get("decision") or {}).get("behavior") if isinstance(inner.get("decision"), dict) else None]
    if code == 2 or any(word in ("deny", "block") for word in words):
        # Where an agent cannot ask, what wants a person is a refusal that says so.
        return "ask" if "Needs approval" in out and "Blocked" not in out.split("Needs approval")[0] else "block"
    if any(word in ("ask", "require_approval") for word in words):
        return "ask"
    return "allow"


# Keys of answers whose values are words of the protocol and tell nobody anything.
WORDS = {"hookEventName", "decision", "permission", "permissionDecision", "behavior", "schema", "risk", "id", "continue"}


def texts(out):
    """Every text of an answer that somebody reads."""
    try:
        said = json.loads(out) if out.strip() else {}
    except ValueError:
        return [out]
    found = []

    def walk(value, key):
        if isinstance(value, str) and value.strip() and key not in WORDS:
            found.append(value)
        elif isinstance(value, list):
            for item in value:
                walk(item, key)
        elif isinstance(value, dict):
            for name, item in value.items():
                walk(item, name)

    walk(said, "")
    return found
