#!/usr/bin/env python3
"""Compare guards that answer Claude Code's PreToolUse hook.

No command of the cases is run: each is handed to the guards as JSON.
"""
import argparse
import json
import math
import os
import random
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

HOME_FILES = {
    ".bashrc": "export EDITOR=vi\n", "Documents/thesis.txt": "Chapter 1\n",
    ".ssh/id_rsa": "-----BEGIN OPENSSH PRIVATE KEY-----\nfake\n-----END OPENSSH PRIVATE KEY-----\n",
    ".ssh/authorized_keys": "ssh-ed25519 AAAAfake user@host\n",
    ".aws/credentials": "[default]\naws_access_key_id = FAKE\naws_secret_access_key = fake\n",
}
TRACKED = {
    ".gitignore": "node_modules/\ndist/\nbuild/\ncoverage/\n__pycache__/\n.pytest_cache/\n.venv/\n.env\n",
    ".env.example": "API_KEY=\n",
    "README.md": "# Shop\n", "Makefile": "build:\n\tmkdir -p build\nclean:\n\trm -rf build\n",
    "package.json": '{"name": "shop", "version": "1.0.0", "scripts": {"test": "vitest", "build": "tsc"}}\n',
    "requirements.txt": "flask\n", "config.yml": "debug: false\n",
    "docker-compose.yml": "services:\n  db: {image: postgres, volumes: ['db:/data']}\nvolumes: {db: {}}\n",
    "src/app.py": "def total(items):\n    return sum(items)\n",
    "src/util.py": "timeout = 30\n", "tests/test_app.py": "def test_total():\n    assert True\n",
    "docs/notes.md": "Notes\n", "scripts/deploy.sh": "#!/bin/sh\necho deploy\n",
    "migrations/001.sql": "CREATE TABLE users (id int);\n",
}
UNTRACKED = {
    ".env": "API_KEY=fake-1234567890\nDATABASE_URL=postgres://localhost/shop\n",
    "data/customers.csv": "id,name\n1,Ada\n2,Grace\n", "data/inputs.json": "[1, 2, 3]\n",
    "node_modules/left-pad/index.js": "module.exports = 1\n",
    "dist/bundle.js": "1\n", "build/app.o": "1\n", "coverage/index.html": "1\n", "src/__pycache__/app.pyc": "1\n",
}
TOOLS = ("reflex", "nah", "cc-safety-net")


def write(root, files):
    """Write a mapping of relative paths to texts below root."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def make_project(home, env):
    """Make a git repository with uncommitted changes and a local remote."""
    project, remote = home / "work" / "shop", home / "remotes" / "shop.git"
    project.mkdir(parents=True)

    def git(*args):
        subprocess.run(["git", *args], cwd=project, env=env, check=True, capture_output=True)

    git("init", "-q", "--bare", "-b", "main", str(remote))
    git("init", "-q", "-b", "main")
    git("config", "user.name", "Dev")
    git("config", "user.email", "dev@example.net")
    git("remote", "add", "origin", str(remote))
    write(project, {"README.md": "# Shop\n", "src/app.py": "def total(items):\n    return 0\n"})
    git("add", "-A")
    git("commit", "-qm", "Start")
    write(project, TRACKED)
    git("add", "-A")
    git("commit", "-qm", "Add the shop")
    git("push", "-qu", "origin", "main")
    git("commit", "-q", "--allow-empty", "-m", "Not pushed yet")
    git("branch", "feature/merged")
    write(project, UNTRACKED)
    write(project, {name: TRACKED[name] + "# not committed\n" for name in ("src/app.py", "README.md")})
    return project


class Tool:
    """A guard with a home and a project of its own."""

    def __init__(self, name, path, home):
        self.name, self.path, self.home = name, path, home
        write(self.home, HOME_FILES)
        where = os.pathsep.join([str(Path(path).parent), os.environ.get("PATH", os.defpath)])
        self.env = {"HOME": str(self.home), "PATH": where, "LANG": "C.UTF-8"}
        self.project = make_project(self.home, self.env)
        (self.home / "transcript.jsonl").touch()
        self.version = self.find_version()
        self.hook = self.install()

    def run(self, *args):
        """Run the tool itself, for its version or its installer."""
        return subprocess.run([self.path, *args], cwd=self.home, env=self.env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def find_version(self):
        """The first line with a digit of what --version prints."""
        answer = self.run("--version")
        return next((x.strip() for x in answer.stdout.splitlines() if any(map(str.isdigit, x))), "unknown")

    def install(self):
        """Install the hook as the tool's documentation says; return its command line."""
        if self.name == "reflex":
            self.run("--home", str(self.home), "init", "--agent", "claude", "-y")
        elif self.name == "nah":
            self.run("install", "claude")
        else:
            return [self.path, *(["hook", "--coding-cli"] if self.name == "cc-safety-net" else [])]
        settings = json.loads((self.home / ".claude" / "settings.json").read_text())
        entry = next(e for e in settings["hooks"]["PreToolUse"] if e["matcher"] in ("*", "Bash"))
        hook = entry["hooks"][0]
        return [hook["command"], *hook["args"]] if "args" in hook else shlex.split(hook["command"])

    def ask(self, command):
        """Hand one command to the hook in a new session; return (outcome, explicit, text, ms)."""
        payload = json.dumps({
            "session_id": str(uuid.uuid4()), "transcript_path": str(self.home / "transcript.jsonl"),
            "cwd": str(self.project), "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": "toolu_" + uuid.uuid4().hex[:24]})
        start = time.perf_counter()
        try:
            done = subprocess.run(self.hook, input=payload, cwd=self.project, env=self.env,
                                  text=True, capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            return "silent", "", "no answer in 60 s", 60000.0
        ms = (time.perf_counter() - start) * 1000
        return (*read_answer(done), ms)


def read_answer(done):
    """Turn a finished hook into (outcome, explicit decision, text)."""
    if done.returncode == 2:
        return "denied", "deny", done.stderr.strip()
    try:
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
    except ValueError:
        return "silent", "", "not JSON: " + done.stdout.strip()
    inner = answer.get("hookSpecificOutput") or {}
    decision = inner.get("permissionDecision") or answer.get("decision") or ""
    parts = (inner.get("permissionDecisionReason"), inner.get("additionalContext"),
             answer.get("systemMessage"), answer.get("reason"))
    text = "\n".join(p for p in parts if p)
    if done.returncode:
        text = f"exit {done.returncode}: " + (text or done.stderr.strip())
    if decision in ("deny", "block"):
        return "denied", decision, text
    if decision == "ask":
        return "asked", decision, text
    if "Kept" in text or "reflex undo" in text:
        return "kept", decision, text
    return ("message" if text else "silent"), decision, text


def wilson(hits, n, z=1.96):
    """The 95 % Wilson interval of hits out of n, as text."""
    if not n:
        return "-"
    p, d = hits / n, 1 + z * z / n
    mid = (p + z * z / (2 * n)) / d
    half = z / d * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return f"{hits}/{n} = {100 * p:.0f} % ({100 * max(0, mid - half):.0f}–{100 * min(1, mid + half):.0f})"


COUNTS = (
    ("dangerous", "denied", ("denied",)), ("dangerous", "asked", ("asked",)),
    ("dangerous", "runs, files kept", ("kept",)), ("dangerous", "runs (missed)", ("message", "silent")),
    ("ordinary", "denied", ("denied",)), ("ordinary", "asked", ("asked",)),
    ("ordinary", "runs, with a message", ("kept", "message")), ("ordinary", "silent", ("silent",)))
SHARES = (
    ("dangerous", "denied or asked", ("denied", "asked")), ("ordinary", "denied or asked", ("denied", "asked")),
    ("dangerous", "denied, asked or kept", ("denied", "asked", "kept")))


def report(tools, cases, answers, times):
    """Print the table, then the ids of the missed and of the interrupted cases."""
    def ids(tool, label, outcomes):
        return [c["id"] for c in cases if c["label"] == label and answers[tool.name, c["id"]][0] in outcomes]

    rows = [("version", [t.version for t in tools])]
    rows += [(f"{label}: {title}", [str(len(ids(t, label, outcomes))) for t in tools])
             for label, title, outcomes in COUNTS]
    for label, title, outcomes in SHARES:
        total = sum(c["label"] == label for c in cases)
        rows.append((f"**{label}: {title}**, 95 % interval",
                     [wilson(len(ids(t, label, outcomes)), total) for t in tools]))
    for label in ("dangerous", "ordinary"):
        rows.append((f"{label}: explicit allow, which skips the client's own prompt", [str(sum(
            answers[t.name, c["id"]][1] in ("allow", "approve") for c in cases if c["label"] == label)) for t in tools]))
    rows.append(("median ms per call", [f"{statistics.median(times[t.name]):.1f}" for t in tools]))
    print("| | " + " | ".join(t.name for t in tools) + " |\n|---|" + "---:|" * len(tools))
    for title, values in rows:
        print(f"| {title} | " + " | ".join(values) + " |")
    for tool in tools:
        print(f"\n{tool.name}")
        for label, title, outcomes in COUNTS[2:7]:
            print(f"- {label}, {title}: " + (", ".join(ids(tool, label, outcomes)) or "none"))


def main():
    """Read the options, run every case through every tool and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", required=True, help="JSON lines: id, label, command, why, setup")
    for name in TOOLS:
        parser.add_argument(f"--{name}", metavar="PATH", help=f"the executable of {name}")
    parser.add_argument("--rounds", type=int, default=20, help="calls per tool for the time (20)")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="run the cases in another order")
    parser.add_argument("--raw", metavar="FILE", help="write every answer as JSON lines")
    parser.add_argument("--scratch", default=".", metavar="DIR",
                        help="where the throw-away homes go; not /tmp, which guards may treat as scratch (.)")
    args = parser.parse_args()
    cases = [json.loads(line) for line in Path(args.cases).read_text().splitlines() if line.strip()]
    order = cases if args.shuffle is None else random.Random(args.shuffle).sample(cases, len(cases))
    tools, left_out = [], []
    with tempfile.TemporaryDirectory(prefix="compare-", dir=args.scratch) as scratch:
        for name in TOOLS:
            given = vars(args)[name.replace("-", "_")]
            path = given and shutil.which(given)
            if path:
                tools.append(Tool(name, os.path.abspath(path), Path(scratch).resolve() / f"user{len(tools) + 1}"))
            else:
                left_out.append(f"{name} ({'not found' if given else 'not given'})")
        if not tools:
            parser.error("no tool: " + ", ".join(left_out))
        answers, times = {}, {t.name: [] for t in tools}
        for case in order:
            for tool in tools:
                if case.get("setup"):
                    subprocess.run(["bash", "-c", case["setup"]], cwd=tool.project, env=tool.env,
                                   check=True, capture_output=True)
                answers[tool.name, case["id"]] = tool.ask(case["command"])
        for number in range(max(1, args.rounds)):
            for tool in tools[number % len(tools):] + tools[:number % len(tools)]:
                times[tool.name].append(tool.ask("git status")[3])
        if args.raw:
            with open(args.raw, "w") as out:
                for (name, case_id), (outcome, decision, text, ms) in sorted(answers.items()):
                    out.write(json.dumps({"tool": name, "id": case_id, "outcome": outcome, "decision": decision,
                                          "text": text, "ms": round(ms, 1)}) + "\n")
        report(tools, cases, answers, times)
    print("\nLeft out: " + (", ".join(left_out) or "none"))


if __name__ == "__main__":
    main()
