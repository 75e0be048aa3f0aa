#!/usr/bin/env python3
"""Check that what reflex says it kept is really there.

For each case that reflex lets run with a copy kept, the bytes that would be lost
are looked for in reflex's own folder. No command runs, and nothing is restored:
`reflex undo` asks for a person at a terminal.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import compare

FILES = ["src/app.py", "README.md"]
LOST = {  # by case: files of the project, or a ref of git
    "d13": ["data/customers.csv", "data/inputs.json"], "d21": ["data/customers.csv"],
    "d22": FILES, "d23": FILES, "d24": FILES, "d25": FILES[:1],
    "d26": ["data/customers.csv", "data/inputs.json", ".env"],
    "d27": ["refs/stash"], "d31": ["refs/heads/feature/unmerged"],
}


def main():
    """Print one line per kept case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", required=True)
    parser.add_argument("--reflex", required=True)
    parser.add_argument("--scratch", default=".")
    args = parser.parse_args()
    cases = [json.loads(line) for line in Path(args.cases).read_text().splitlines()]
    with tempfile.TemporaryDirectory(prefix="kept-", dir=args.scratch) as scratch:
        for case in (c for c in cases if c["label"] == "dangerous"):
            tool = compare.Tool("reflex", os.path.abspath(args.reflex), Path(scratch).resolve() / case["id"])
            if case.get("setup"):
                subprocess.run(["bash", "-c", case["setup"]], cwd=tool.project, env=tool.env, check=True,
                               capture_output=True)
            outcome, _, text, _ = tool.ask(case["command"])
            if outcome != "kept":
                continue
            number = re.search(r"reflex undo (\w+)", text).group(1)
            stored = [p.read_bytes() for folder in tool.home.rglob(number + "-*") for p in folder.iterdir()]
            missing = []
            for name in LOST.get(case["id"], ["?"]):
                if name.startswith("refs/"):
                    data = subprocess.run(["git", "rev-parse", name], cwd=tool.project, env=tool.env,
                                          capture_output=True, check=True).stdout
                else:
                    data = (tool.project / name).read_bytes() if name != "?" else b"?"
                if data not in stored:
                    missing.append(name)
            print(f"{case['id']} {case['command']}: " + ("missing " + ", ".join(missing) if missing else "all kept"))


if __name__ == "__main__":
    main()
