"""Types into an interactive shell below a supervised run, at a terminal of its own; fails where an answer is missing."""

import os
import pty
import select
import sys
import time

PATIENCE = 60
# What is typed, and the texts that must appear in this order.
STEPS = [
    (b"", [b"P> "]),
    (b"echo on; sleep 300\n", [b"\non"]),
    (b"\x1a", [b"Stopped", b"P> "]),
    (b"bg\n", [b"sleep 300 &", b"P> "]),
    (b"jobs\n", [b"Running", b"P> "]),
    (b"fg\n", [b"sleep 300"]),
    (b"\x03", [b"P> "]),
    (b"echo status $?\n", [b"\nstatus 130", b"P> "]),
    (b"cat\n", [b"cat"]),
    (b"read this\n", [b"read this", b"read this"]),
    (b"\x04", [b"P> "]),
    (b"rm -rf /etc/nothing; echo status $?\n", [b"Blocked: ", b"\nstatus 126", b"P> "]),
    (b"exit 5\n", []),
]
# Keys and input that are for a job, and its program.
FOR_JOBS = {b"\x1a": "sleep", b"\x03": "sleep", b"\x04": "cat", b"read this\n": "cat"}

process, terminal = pty.fork()
if process == 0:
    os.environ["PS1"] = "P> "
    bash = ["bash", "--norc", "--noprofile", "-i"]
    os.execv(sys.argv[1], [*sys.argv[1:], "run", "--supervise", "--", *bash])

shown = b""


def read(until):
    global shown
    left = until - time.monotonic()
    if left < 0 or not select.select([terminal], [], [], left)[0]:
        return False
    try:
        more = os.read(terminal, 65536)
    except OSError:
        return False
    shown += more
    return bool(more)


def in_foreground():
    try:
        with open(f"/proc/{os.tcgetpgrp(terminal)}/comm") as name:
            return name.read().strip()
    except OSError:
        return None


for typed, expected in STEPS:
    until = time.monotonic() + PATIENCE
    # The shell may give the terminal to a job that still ignores signals as the shell does: its program must run.
    while typed in FOR_JOBS and in_foreground() != FOR_JOBS[typed] and time.monotonic() < until:
        time.sleep(0.01)
    os.write(terminal, typed)
    for text in expected:
        while text not in shown:
            if not read(until):
                sys.exit(f"{typed!r}: no {text!r} in {shown!r}")
        shown = shown[shown.index(text) + len(text) :]

while read(time.monotonic() + PATIENCE):
    pass
print("status", os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
