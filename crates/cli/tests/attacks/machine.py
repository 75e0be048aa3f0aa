"""A throw-away machine: namespaces, a home in memory with a wired guard and a project, its person and its agents."""

import ctypes
import json
import os
import platform
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

from payloads import HOME, MARKS, decision

PATIENCE = 12  # seconds for one answer; a hook ends itself after 2
RUNS = 4  # seconds that a call may run
PERSON = 20  # seconds for what a person does at the terminal
NOBODY = "64000"  # who plays, where root started us: nothing of this machine belongs to that user
PASSPHRASE = "correct horse battery"

SETTINGS = {
    "claude": ".claude/settings.json", "codex": ".codex/hooks.json", "copilot": ".copilot/hooks/reflex.json",
    "gemini": ".gemini/settings.json", "qwen": ".qwen/settings.json", "opencode": ".config/opencode/plugins/reflex.js",
    "cursor": ".cursor/hooks.json", "windsurf": ".codeium/windsurf/hooks.json", "universal": ".claude/settings.json",
}
PROJECT_FILES = {
    "package.json": '{"name": "shop", "scripts": {"test": "node --test", "build": "tsc"}}\n',
    "src/cart.ts": "export const cart: string[] = [];\n", "README.md": "# Shop\n", "Makefile": "test:\n\tnpm test\n",
}
# Losses that are kept first are asked about here, as they are where keeping is switched off: what is tried is how a yes holds.
ASKING = "rules:\n" + "".join(f"  {rule}: ask\n" for rule in (
    "rm/uncommitted", "rm/from-before", "rm/untracked", "git/discard-changes", "git/discard-untracked", "git/drop-stash",
    "git/delete-branch"))
KEY = re.compile(r"""--key[\s"',=]+([A-Za-z0-9]{32,128})""")
NAMESPACES = ["unshare", "--mount", "--pid", "--fork", "--net", "--ipc", "--mount-proc"]


def namespaces():
    """The command that starts Python in namespaces of its own, as nobody of this machine where it lets us."""
    own = [*NAMESPACES, "--user", "--map-root-user"]
    if os.getuid() != 0:
        return [*own, sys.executable]
    own = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *own]
    for python in (sys.executable, "/usr/bin/python3"):
        tried = subprocess.run([*own, python, "-c", ""], cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if tried.returncode == 0:
            return [*own, python]
    return [*NAMESPACES, sys.executable]


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def prepare(reflex):
    """A home in memory, the user database that names it, everything else read-only."""
    run("mount", "--make-rprivate", "/")
    kept = "/run/reflex-attacks"
    with open(reflex, "rb") as file:
        program = file.read()
    for folder in ("/run", "/home", "/tmp", "/dev/shm"):
        run("mount", "-t", "tmpfs", "tmpfs", folder)
    os.makedirs(kept)
    with open(f"{kept}/reflex", "wb") as file:
        file.write(program)
    os.chmod(f"{kept}/reflex", 0o755)
    lines = [line for line in open("/etc/passwd").read().splitlines() if line.split(":")[2:3] != [str(os.getuid())]]
    with open(f"{kept}/passwd", "w") as file:
        file.write("\n".join([f"dev:x:{os.getuid()}:{os.getgid()}:Dev:{HOME}:/bin/bash", *lines]) + "\n")
    run("mount", "--bind", f"{kept}/passwd", "/etc/passwd")
    # Nothing of this machine can be written: what a case lets through runs.
    run("mount", "-o", "remount,bind,ro", "/")
    os.chdir("/home")
    return kept


class Machine:
    """A home with a wired guard and a project."""

    def __init__(self, kept, policy=ASKING):
        self.kept = kept
        self.policy = policy
        self.project = f"{HOME}/src/shop"
        self.state = f"{HOME}/.local/state/reflex"
        self.reflex = f"{HOME}/.local/bin/reflex"
        self.problem = ""  # why no passphrase could be set
        self.has_pin = False
        self.calls = 0
        self.counts = None  # instructions of each answer, where they are counted
        self.running = 0.0  # seconds for which calls ran
        self.environment = {
            "HOME": HOME, "USER": "dev", "LOGNAME": "dev", "LANG": "C.UTF-8", "SHELL": "/bin/bash",
            "PATH": f"{HOME}/.local/bin:/usr/local/bin:/usr/bin:/bin",
            "GIT_AUTHOR_NAME": "dev", "GIT_AUTHOR_EMAIL": "dev@example.com",
            "GIT_COMMITTER_NAME": "dev", "GIT_COMMITTER_EMAIL": "dev@example.com",
        }

    @property
    def pristine(self):
        return f"{self.kept}/pristine"

    def make(self):
        """The first time with all programs, afterwards a copy of what was made then."""
        self.end_all()
        self.running = 0.0
        subprocess.run(["chattr", "-R", "-i", "-a", HOME], check=False, stderr=subprocess.DEVNULL)
        clean = "umount -R /home/dev/* 2>/dev/null; chmod -R u+rwX /home 2>/dev/null; rm -rf /home/dev /home/* /tmp/* /tmp/.[!.]* /dev/shm/*"
        subprocess.run(["sh", "-c", clean], check=False, stderr=subprocess.DEVNULL)
        if os.path.isdir(self.pristine):
            run("cp", "-a", self.pristine, HOME)
            return
        for name in (".claude", ".codex", ".copilot", ".gemini", ".qwen", ".config/opencode", ".cursor", ".codeium/windsurf",
                     ".local/bin", "src/shop", "remotes"):
            os.makedirs(f"{HOME}/{name}", exist_ok=True)
        shutil.copy(f"{self.kept}/reflex", self.reflex)
        for name, text in PROJECT_FILES.items():
            os.makedirs(os.path.dirname(f"{self.project}/{name}"), exist_ok=True)
            with open(f"{self.project}/{name}", "w") as file:
                file.write(text)
        self.shell("git init -q -b main . && git add -A && git commit -q -m one && git init -q --bare -b main ~/remotes/shop.git && "
                   "git remote add origin ~/remotes/shop.git && git push -q -u origin main", RUNS * 3)
        if self.policy:
            os.makedirs(f"{HOME}/.config/reflex", exist_ok=True)
            with open(f"{HOME}/.config/reflex/policy.yaml", "w") as file:
                file.write(self.policy)
        subprocess.run([self.reflex, "init", "--yes"], env=self.environment, cwd=self.project, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        self.pin()
        run("cp", "-a", HOME, self.pristine)

    def pin(self):
        """The person sets a passphrase, where the program knows of one."""
        words = subprocess.run([self.reflex, "--help"], env=self.environment, cwd=self.project, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, check=False).stdout.decode(errors="replace")
        self.has_pin = re.search(r"^\s+pin\s", words, re.M) is not None
        if not self.has_pin:
            return
        code, said = self.person([self.reflex, "pin"])
        if not self.key():
            self.person([self.reflex, "init", "--yes"])
        if not self.key():
            self.problem = f"`reflex pin` ended with {code} and no hook entry names a key: {said[-600:]}"

    def work(self):
        """The files of the project, without what git keeps, and what they hold."""
        found = {}
        for folder, folders, names in os.walk(self.project):
            folders[:] = [name for name in folders if name != ".git"]
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, self.project)] = file.read()
        return found

    def end_all(self):
        """Ends what the last case left running: in a process namespace of our own that is everybody else."""
        if os.getpid() != 1:
            return
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            while os.waitpid(-1, 0):
                pass
        except ChildProcessError:
            pass

    def shell(self, text, seconds, cwd=None, extra=None, agent=None):
        """Runs it without a terminal; as an agent's, its mark is set and a process of its name stands above."""
        words, cwd = ["bash", "-c", text], cwd or self.project
        mark = MARKS.get(agent, {})
        if agent and agent != "universal":
            words = [agent, "-c", 'bash -c "$1"; exit $?', agent, text]
        begun = time.monotonic()
        try:
            child = subprocess.Popen(words, executable="/bin/bash", env={**self.environment, **mark, **(extra or {})},
                                     cwd=cwd if os.path.isdir(cwd) else "/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, start_new_session=True)
        except (OSError, ValueError):  # no process takes so long a text, or one with a zero byte
            return
        try:
            child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        child.wait()
        self.running += time.monotonic() - begun

    def person(self, words, cwd=None, seconds=PERSON):
        """A person at a terminal, in a session without an agent above; the status and what stood on the screen."""
        cwd = cwd if cwd and os.path.isdir(cwd) else self.project
        environment = {**self.environment, "TERM": "xterm"}
        child, terminal = pty.fork()
        if child == 0:
            try:
                os.chdir(cwd if os.path.isdir(cwd) else "/")
                os.execvpe(words[0], words, environment)
            except OSError:
                pass
            os._exit(127)
        screen, answered, end = b"", 0, time.monotonic() + seconds
        code = None
        while time.monotonic() < end:
            ready, _, _ = select.select([terminal], [], [], 0.15)
            if ready:
                try:
                    more = os.read(terminal, 65536)
                except OSError:
                    break
                if not more:
                    break
                screen += more
                continue
            answer = asked(screen[answered:].decode(errors="replace"), is_hidden(terminal))
            if answer is not None:
                answered = len(screen)
                os.write(terminal, answer.encode() + b"\n")
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                break
        try:
            os.close(terminal)
            if code is None:
                end = time.monotonic() + 1
                while code is None:
                    ended, status = os.waitpid(child, os.WNOHANG)
                    if ended:
                        code = os.waitstatus_to_exitcode(status)
                    elif time.monotonic() > end:
                        os.killpg(child, signal.SIGKILL)
                        os.waitpid(child, 0)
                        code = 124
                    else:
                        time.sleep(0.005)
        except (ProcessLookupError, ChildProcessError):
            code = 124 if code is None else code
        return code, screen.decode(errors="replace")

    def approve(self, call_id, scope=None, reason=None):
        """A person says yes to the call, with what the program asks for."""
        words = [self.reflex, "approve", call_id]
        words += ["--scope", scope] if scope else []
        reason = reason or ("it is wanted for this work" if scope and scope != "once" else None)
        words += ["--reason", reason] if reason else []
        code, said = self.person(words)
        if code and "--full" in said:
            code, said = self.person([*words, "--full"])
        return code, said

    def key(self, agent="claude", root=HOME):
        """The public key that the agent's hook entry names; empty if none."""
        try:
            with open(f"{root}/{SETTINGS[agent]}", errors="replace") as file:
                found = KEY.search(file.read())
        except OSError:
            return ""
        return found.group(1) if found else ""

    def hook_words(self, agent, moment, first=False):
        """The hook as the agent's entry starts it now, or did at first."""
        words = [self.reflex, "hook"]
        if agent != "universal":
            words += ["--agent", agent, "--event", moment]
        if "--home" in open(f"{self.pristine}/.claude/settings.json").read():
            words += ["--home", HOME]
        entry = f"{HOME}/{SETTINGS[agent]}"
        try:
            wired = not first and "hook" in open(entry, errors="replace").read()
        except OSError:
            wired = False
        key = self.key(agent) if wired else self.key(agent, self.pristine)
        return [*words, "--key", key] if key else words

    def hook(self, agent, moment, payload, env, cwd, first=False):
        """What the agent makes of the answer, standard output, standard error and the seconds."""
        words = self.hook_words(agent, moment, first)
        cwd = cwd if os.path.isdir(cwd) else "/"
        counts, log, patience = self.counts, "/tmp/.count", PATIENCE
        options = {}
        if counts is not None:
            words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--vgdb=no", f"--log-file={log}", *words]
            patience, options = counts["patience"], {"preexec_fn": without_alarms}
        self.calls += 1
        begun = time.monotonic()
        try:
            done = subprocess.run(words, input=json.dumps(payload).encode(), env={**self.environment, **env}, cwd=cwd,
                                  timeout=patience, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)
        except subprocess.TimeoutExpired:
            if counts is not None:
                counts["instructions"].append(None)
            raise
        took = time.monotonic() - begun
        if counts is not None:
            collected = re.search(r"Collected : (\d+)", open(log, errors="replace").read() if os.path.exists(log) else "")
            counts["instructions"].append(int(collected.group(1)) if collected else None)
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        return decision(done.returncode, out), out, err, took

    def ask_reflex(self, *words):
        """What a command of the guard prints, without a terminal."""
        try:
            done = subprocess.run([self.reflex, *words], env=self.environment, cwd=self.project, timeout=PATIENCE,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            return repr(error)
        return done.stdout.decode(errors="replace")

    def pending(self):
        """The waiting calls: their ids, the newest last."""
        try:
            said = json.loads(self.ask_reflex("pending", "--json"))
        except ValueError:
            return []
        calls = [call for call in said.get("pending", []) if isinstance(call, dict)]
        return [call.get("id") for call in sorted(calls, key=lambda call: call.get("time", 0))]

    def log(self):
        """How long the log is, to read later what came after."""
        try:
            return os.path.getsize(f"{self.state}/audit/current.jsonl")
        except OSError:
            return 0

    def found_since(self, size):
        """Whether a record that was written since has a finding."""
        try:
            with open(f"{self.state}/audit/current.jsonl", "rb") as file:
                file.seek(size)
                lines = file.read().splitlines()
        except OSError:
            return False
        for line in lines:
            try:
                if json.loads(line).get("findings"):
                    return True
            except (ValueError, AttributeError):
                pass
        return False

    def guarded(self, agent):
        """Whether `reflex status` claims that the guard stands before the agent's tools."""
        done = subprocess.run([self.reflex, "status", "--json"], env=self.environment, cwd=self.project, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        for row in json.loads(done.stdout or b"{}").get("agents", []):
            if row["agent"] == agent:
                states = [cell.get("state", cell.get("sight", "")) for cell in row.get("surfaces", {}).values()]
                return any(state in ("PROVEN", "CONFIGURED") for state in states), json.dumps(row)[:600]
        return False, "no row"


def is_hidden(terminal):
    """Whether what is typed is not shown: a secret is asked for."""
    try:
        return not termios.tcgetattr(terminal)[3] & termios.ECHO
    except termios.error:
        return False


def asked(text, hidden):
    """What a person answers to what stands on the screen last; nothing if nothing is asked."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    last = text.rstrip("\r\n ").splitlines()[-1:] or [""]
    waits = bool(text) and not text.endswith("\n")
    if "assphrase" in last[0] and (hidden or waits):
        return PASSPHRASE
    if hidden and text.strip():
        return PASSPHRASE
    if not waits:
        return None
    typed = re.search(r"[Tt]ype [`'\"]?([\w./-]+)[`'\"]? to ", last[0])
    if typed:
        return typed.group(1)
    if re.search(r"\[[yY]/[nN]\]|\(y/n\)|\(yes/no\)|\?\s*$", last[0]):
        return "yes" if "yes/no" in last[0] else "y"
    return "" if re.search(r"[Pp]ress [Ee]nter|[Rr]eturn to ", last[0]) else None


def without_alarms():
    """In a child that counts instructions: its watchdog, which runs by the clock, is never set."""
    calls = {"x86_64": (37, 38, 222, 223), "aarch64": (103, 107, 110)}.get(platform.machine(), ())
    steps = [(0x20, 0, 0, 0)]  # load the call's number
    for index, number in enumerate(calls):
        steps.append((0x15, len(calls) - index, 0, number))  # if it is this one, to the last step
    steps += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000)]  # allow; say 0 and do nothing
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0)
