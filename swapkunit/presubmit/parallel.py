#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs commands in parallel: a JSON list of [id, words] in, {id: [status, output, seconds]} out.

A program of its own because it runs inside the sandbox.
"""
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor


def run(words: list[str], target: str) -> tuple[int, str, float]:
    """Run one command; the word OUTPUT stands for the file target."""
    started = time.monotonic()
    done = subprocess.run([word if word != "OUTPUT" else target for word in words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors="replace")[:1 << 20], time.monotonic() - started


def main() -> None:
    """Read the list from the file argv[1] and run argv[2] commands at a time."""
    with open(sys.argv[1], encoding="utf-8") as file:
        jobs = json.load(file)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(int(sys.argv[2])) as pool:
        found = pool.map(lambda entry: run(entry[1][1], f"{scratch}/{entry[0]}.o"), enumerate(jobs))
        print(json.dumps(dict(zip((name for name, _ in jobs), found))))


if __name__ == "__main__":
    main()
