"""Any runtime without a package: keep `reflex eval` open, write one event per line, read one verdict per line."""

import json
import os
import subprocess
import sys

program = os.environ.get("REFLEX", "reflex")
guard = subprocess.Popen([program, "eval"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def judge(event):
    guard.stdin.write(json.dumps(event) + "\n")
    guard.stdin.flush()
    line = guard.stdout.readline()
    if not line:
        raise RuntimeError("reflex eval has ended: do not run the call")
    return json.loads(line)


for command in sys.argv[1:]:
    verdict = judge({"event": "pre-command", "command": command, "cwd": os.getcwd()})
    print(f"{verdict['decision']}: {command}")
guard.stdin.close()
guard.wait()
