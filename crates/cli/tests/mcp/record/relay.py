"""Runs an MCP server and writes each line of both directions into a file: `> ` from the client, `< ` from the server."""

import subprocess
import sys
import threading

file, server = open(sys.argv[1], "wb"), sys.argv[2:]
lock = threading.Lock()
child = subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def pass_on(mark, source, sink):
    for line in source:
        with lock:
            file.write(mark + line)
            file.flush()
        sink.write(line)
        sink.flush()
    sink.close()


thread = threading.Thread(target=pass_on, args=(b"> ", sys.stdin.buffer, child.stdin), daemon=True)
thread.start()
pass_on(b"< ", child.stdout, sys.stdout.buffer)
sys.exit(child.wait())
