"""Plays frozen attacks on the guard, each on a machine of its own, and counts which of them are stopped.

    python3 play.py REFLEX FILE… [--only ID…] [--json]

With `--json` each case is one line of JSON, else misses and sums are printed.

The machine is a mount, process and network namespace: the root is read-only, the home is a file system in memory, the user
database names that home. Calls that the guard lets through really run there, so that what they leave behind is judged too.
The fields of a case: `id`, `kind`, `agent`, `setup` (what a person did before), `env` (of the hook), `cwd`, `calls`, `expect`
(`stop`: asked about or blocked; `block`; `off`: status does not claim that the agent is guarded; `quiet`), `why`.
"""

import argparse
import collections
import json
import os
import shutil
import signal
import subprocess
import sys

HOME = "/home/dev"
PATIENCE = 12  # seconds for one answer; a hook ends itself after 2
RUNS = 4  # seconds that a call may run
INSIDE = "REFLEX_ATTACKS_INSIDE"

SETTINGS = {
    "claude": ".claude/settings.json", "codex": ".codex/hooks.json", "copilot": ".copilot/hooks/reflex.json",
    "gemini": ".gemini/settings.json", "qwen": ".qwen/settings.json", "opencode": ".config/opencode/plugins/reflex.js",
    "cursor": ".cursor/hooks.json", "windsurf": ".codeium/windsurf/hooks.json", "universal": ".claude/settings.json",
}
MOMENTS = {
    "claude": "PreToolUse", "codex": "PreToolUse", "qwen": "PreToolUse", "copilot": "preToolUse", "gemini": "BeforeTool",
    "opencode": "tool.execute.before", "cursor": "preToolUse", "windsurf": "pre_mcp_tool_use",
}
PROJECT_FILES = {
    "package.json": '{"name": "shop", "scripts": {"test": "node --test", "build": "tsc"}}\n',
    "src/cart.ts": "export const cart: string[] = [];\n", "README.md": "# Shop\n", "Makefile": "test:\n\tnpm test\n",
}


def isolate(arguments):
    """Starts this program again in namespaces of its own."""
    if os.environ.get(INSIDE):
        return
    command = ["unshare", "--mount", "--pid", "--fork", "--net", "--ipc", "--mount-proc"]
    if os.getuid() != 0:
        command.append("--map-root-user")
    os.environ[INSIDE] = "1"
    os.execvp(command[0], [*command, sys.executable, os.path.abspath(__file__), *arguments])


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def prepare(reflex):
    """A home in memory, the user database that names it, everything else read-only."""
    run("mount", "--make-rprivate", "/")
    for folder in ("/home", "/tmp", "/run"):
        os.makedirs(folder, exist_ok=True)
    kept = "/run/reflex-attacks"
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    os.makedirs(kept)
    shutil.copy(reflex, f"{kept}/reflex")
    lines = [line for line in open("/etc/passwd").read().splitlines() if line.split(":")[2:3] != [str(os.getuid())]]
    with open(f"{kept}/passwd", "w") as file:
        file.write("\n".join([f"dev:x:{os.getuid()}:{os.getgid()}:Dev:{HOME}:/bin/bash", *lines]) + "\n")
    run("mount", "--bind", f"{kept}/passwd", "/etc/passwd")
    run("mount", "-t", "tmpfs", "tmpfs", "/home")
    run("mount", "-t", "tmpfs", "tmpfs", "/tmp")
    # Nothing of this machine can be written: what a case lets through runs.
    run("mount", "-o", "remount,bind,ro", "/")
    os.chdir("/home")
    return kept


class Machine:
    """A home with a wired guard and a project."""

    def __init__(self, kept):
        self.kept = kept
        self.project = f"{HOME}/src/shop"
        self.reflex = f"{HOME}/.local/bin/reflex"
        self.environment = {
            "HOME": HOME, "USER": "dev", "LOGNAME": "dev", "LANG": "C.UTF-8", "SHELL": "/bin/bash",
            "PATH": f"{HOME}/.local/bin:/usr/local/bin:/usr/bin:/bin",
            "GIT_AUTHOR_NAME": "dev", "GIT_AUTHOR_EMAIL": "dev@example.com",
            "GIT_COMMITTER_NAME": "dev", "GIT_COMMITTER_EMAIL": "dev@example.com",
        }

    def make(self):
        """The first time with all programs, afterwards a copy of what was made then."""
        pristine = f"{self.kept}/pristine"
        subprocess.run(["chattr", "-R", "-i", "-a", HOME], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["sh", "-c", "umount -R /home/dev/* 2>/dev/null; rm -rf /home/dev /home/* /tmp/* /tmp/.[!.]* "], check=False,
                       stderr=subprocess.DEVNULL)
        if os.path.isdir(pristine):
            run("cp", "-a", pristine, HOME)
            return
        for name in (".claude", ".codex", ".copilot", ".gemini", ".qwen", ".config/opencode", ".cursor", ".codeium/windsurf",
                     ".local/bin", "src/shop"):
            os.makedirs(f"{HOME}/{name}", exist_ok=True)
        shutil.copy(f"{self.kept}/reflex", self.reflex)
        for name, text in PROJECT_FILES.items():
            os.makedirs(os.path.dirname(f"{self.project}/{name}"), exist_ok=True)
            with open(f"{self.project}/{name}", "w") as file:
                file.write(text)
        self.shell("git init -q -b main . && git add -A && git commit -q -m one", RUNS * 3)
        subprocess.run([self.reflex, "init", "--yes"], env=self.environment, cwd=self.project, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        run("cp", "-a", HOME, pristine)

    def shell(self, text, seconds, cwd=None, extra=None):
        child = subprocess.Popen(["bash", "-c", text], env={**self.environment, **(extra or {})}, cwd=cwd or self.project,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True)
        try:
            child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        child.wait()

    def fill(self, value, agent):
        if isinstance(value, str):
            names = {"home": HOME, "project": self.project, "state": f"{HOME}/.local/state/reflex",
                     "config": f"{HOME}/.config/reflex", "cache": f"{HOME}/.cache/reflex", "reflex": self.reflex,
                     "settings": f"{HOME}/{SETTINGS[agent]}"}
            for name, text in names.items():
                value = value.replace("{" + name + "}", text)
            return value
        if isinstance(value, list):
            return [self.fill(item, agent) for item in value]
        if isinstance(value, dict):
            return {self.fill(key, agent): self.fill(item, agent) for key, item in value.items()}
        return value

    def hook(self, agent, moment, payload, env, cwd):
        words = [self.reflex, "hook"]
        if agent != "universal":
            words += ["--agent", agent, "--event", moment]
        if "--home" in open(f"{self.kept}/pristine/.claude/settings.json").read():
            words += ["--home", HOME]
        cwd = cwd if os.path.isdir(cwd) else "/"
        done = subprocess.run(words, input=json.dumps(payload).encode(), env={**self.environment, **env}, cwd=cwd,
                              timeout=PATIENCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return decision(done.returncode, done.stdout.decode(errors="replace")), (done.stdout + done.stderr).decode(errors="replace")

    def guarded(self, agent):
        """Whether `reflex status` claims that the guard stands before the agent's tools."""
        done = subprocess.run([self.reflex, "status", "--json"], env=self.environment, cwd=self.project, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for row in json.loads(done.stdout or b"{}").get("agents", []):
            if row["agent"] == agent:
                states = [cell.get("state", cell.get("sight", "")) for cell in row.get("surfaces", {}).values()]
                return any(state in ("PROVEN", "CONFIGURED") for state in states), json.dumps(row)[:600]
        return False, "no row"


def decision(code, out):
    """What a client makes of an answer: `block`, `ask`, `allow`."""
    try:
        said = json.loads(out) if out.strip() else {}
    except ValueError:
        said = {}
    inner = said.get("hookSpecificOutput") or {}
    words = [said.get("decision"), said.get("permission"), said.get("permissionDecision"), inner.get("permissionDecision"),
             (inner.get("decision") or {}).get("behavior") if isinstance(inner.get("decision"), dict) else None]
    if code == 2 or any(word in ("deny", "block") for word in words):
        # Where an agent cannot ask, what wants a person is a refusal that says so.
        return "ask" if "Needs approval" in out and "Blocked" not in out.split("Needs approval")[0] else "block"
    if any(word in ("ask", "require_approval") for word in words):
        return "ask"
    return "allow"


def payload(agent, tool, given, cwd):
    """An agent's own payload before a tool, with the moment's word."""
    common = {"session_id": "s1", "cwd": cwd, "tool_name": tool, "tool_input": given}
    if agent in ("claude", "qwen", "codex"):
        extra = {"turn_id": "t1", "model": "gpt-5.5"} if agent == "codex" else {}
        return "PreToolUse", {**common, **extra, "hook_event_name": "PreToolUse", "transcript_path": f"{HOME}/.t.jsonl",
                              "permission_mode": "default", "tool_use_id": "u1"}
    if agent == "gemini":
        return "BeforeTool", {**common, "hook_event_name": "BeforeTool", "transcript_path": "", "timestamp": "2026-11-22T10:00:00Z"}
    if agent == "copilot":
        return "preToolUse", {"sessionId": "s1", "timestamp": 1763800000000, "cwd": cwd, "toolName": tool, "toolArgs": given}
    if agent == "opencode":
        return "tool.execute.before", {"agent": "opencode", "event": "tool.execute.before", "tool": tool, "args": given,
                                       "session_id": "s1", "call_id": "c1", "cwd": cwd, "worktree": f"{HOME}/src/shop"}
    if agent == "cursor":
        return "preToolUse", {**common, "conversation_id": "s1", "generation_id": "g", "hook_event_name": "preToolUse",
                              "cursor_version": "2.4.0", "workspace_roots": [f"{HOME}/src/shop"], "tool_use_id": "u1"}
    if agent == "windsurf":
        if tool in ("run_command", "pre_run_command"):
            word, info = "pre_run_command", {"command_line": given.get("command_line", given.get("CommandLine", given.get("command"))),
                                             "cwd": given.get("cwd", given.get("Cwd", cwd))}
        elif tool in ("write_code", "pre_write_code", "read_code", "pre_read_code"):
            word, info = f"pre_{tool.removeprefix('pre_')}", given
        else:
            server, _, name = tool.removeprefix("mcp__").partition("__")
            word = "pre_mcp_tool_use"
            info = {"mcp_server_name": server if name else "local", "mcp_tool_name": name or tool, "mcp_tool_arguments": given}
        return word, {"agent_action_name": word, "trajectory_id": "s1", "execution_id": "e1", "timestamp": "2026-11-22T10:00:00Z",
                      "tool_info": info}
    return "", {"event": "pre-tool", "tool": tool, "arguments": given, "cwd": cwd, "workspace": f"{HOME}/src/shop"}


def perform(machine, given, cwd):
    """Does what a call does, where it is a command or a written file."""
    tool_input = given.get("input", given.get("payload", {}).get("tool_input", {}))
    if isinstance(tool_input, dict):
        text = tool_input.get("command", tool_input.get("command_line"))
        path, content = tool_input.get("file_path", tool_input.get("filePath", tool_input.get("path"))), tool_input.get("content")
        if isinstance(text, str):
            machine.shell(text, RUNS, cwd)
        elif isinstance(path, str) and isinstance(content, str):
            machine.shell('mkdir -p "$(dirname "$F")"; printf %s "$C" > "$F"', RUNS, cwd, {"F": path, "C": content})


def play(machine, case):
    """What each call was answered, and whether the case ends as it should."""
    machine.make()
    agent = case.get("agent", "claude")
    case = machine.fill(case, agent)
    if case.get("setup"):
        machine.shell(case["setup"], 30)
    if case["expect"] == "off":
        guarded, row = machine.guarded(agent)
        return not guarded, ["guarded" if guarded else "off"], row
    answers, texts = [], []
    for number, call in enumerate(case["calls"]):
        cwd = call.get("cwd", case.get("cwd", machine.project))
        if "payload" in call:
            who, moment, said = call.get("as", agent), call.get("moment", MOMENTS.get(agent, "")), call["payload"]
        elif "event" in call:
            who, moment, said = "universal", "", call["event"]
        else:
            who = agent
            moment, said = payload(agent, call["tool"], call["input"], cwd)
        try:
            answer, text = machine.hook(who, moment, said, case.get("env", {}), cwd)
        except (OSError, subprocess.SubprocessError) as error:
            answer, text = "gone", str(error)
        answers.append(answer)
        texts.append(text[:400])
        if answer in ("ask", "block"):
            break
        if number + 1 < len(case["calls"]):
            perform(machine, call, cwd)
    wanted = {"stop": ("ask", "block"), "block": ("block",), "quiet": ("allow",)}[case["expect"]]
    good = answers[-1] in wanted if case["expect"] != "quiet" else all(answer == "allow" for answer in answers)
    return good, answers, " | ".join(texts)


def main():
    isolate(sys.argv[1:])
    parser = argparse.ArgumentParser()
    parser.add_argument("reflex")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cases = [json.loads(line) for file in arguments.files for line in open(file) if line.strip()]
    machine = Machine(prepare(arguments.reflex))
    machine.make()
    figures = collections.defaultdict(lambda: [0, 0, 0])
    for case in cases:
        if arguments.only and not any(word == case["id"] or word == case["kind"] for word in arguments.only):
            continue
        try:
            good, answers, told = play(machine, case)
        except Exception as error:  # a case that cannot be played is one that fails, and says why
            good, answers, told = False, ["error"], repr(error)
        stopped = answers[-1] in ("ask", "block", "off")
        for key in (case["kind"], "all"):
            figures[key][0] += 1
            figures[key][1] += good
            figures[key][2] += stopped
        if arguments.json:
            print(json.dumps({"id": case["id"], "kind": case["kind"], "good": good, "answers": answers, "told": told}), flush=True)
        elif not good:
            print(f"MISS {case['id']} {case['kind']} {case.get('agent')} wants {case['expect']}: {' '.join(answers)}", flush=True)
    for kind, (count, good, stopped) in sorted(figures.items() if not arguments.json else []):
        print(f"{kind}: {good} of {count} as wanted, {stopped} stopped")


if __name__ == "__main__":
    main()
