#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs compilers side by side: a JSON list of [id, words] in, {id: [status, output, seconds]} out.

A program of its own, so that it can run inside the sandbox.
"""
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor


def one(words, scratch, number):
    """Run one command; OUTPUT in its words stands for a file to write."""
    started = time.monotonic()
    target = f"{scratch}/{number}.o"
    done = subprocess.run([word if word != "OUTPUT" else target for word in words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return [done.returncode, done.stdout.decode(errors="replace")[:1 << 20], time.monotonic() - started]


def main():
    """Read the list in argv[1], with argv[2] at a time."""
    with open(sys.argv[1], encoding="utf-8") as file:
        jobs = json.load(file)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(int(sys.argv[2])) as pool:
        found = pool.map(lambda entry: one(entry[1][1], scratch, entry[0]), enumerate(jobs))
        print(json.dumps(dict(zip((name for name, _ in jobs), found))))


if __name__ == "__main__":
    main()
